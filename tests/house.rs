//! Who may import whom: the table of the rooms, kept true.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const ALL: &[&str] = &["base", "data", "catalogue", "module", "resource", "node", "plan", "run", "infra", "ui", "cli"];

/// Room, and what it may import beside itself.
const ROOMS: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("data", &["base"]),
    ("catalogue", &["base", "data"]),
    ("module", &["base", "data", "resource"]),
    ("resource", &["base"]),
    ("node", &["base", "resource"]),
    // `data` for the vault alone: a plan holds what a module makes of revealed secrets.
    ("plan", &["base", "data", "catalogue", "module", "resource"]),
    ("run", &["base", "catalogue", "node", "plan"]),
    // `module` for its template engine alone.
    ("infra", &["base", "data", "module"]),
    ("ui", &["base", "data", "catalogue", "module", "resource", "node", "plan", "run", "infra"]),
    ("cli", ALL),
];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Every Rust file below `folder`.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false if path.extension().is_some_and(|e| e == "rs") => found.push(path),
            false => {}
        }
    }
    found.sort();
    found
}

/// The rooms that a source text names: `crate::data::…`, and `crate::{data::…, ui}`.
fn imports(text: &str) -> BTreeSet<String> {
    let code: String =
        text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut found = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        let Some(group) = rest.strip_prefix('{') else {
            found.insert(word(rest));
            continue;
        };
        let mut depth = 0;
        let end = group.find(|c| {
            depth += match c {
                '{' => 1,
                '}' => -1,
                _ => 0,
            };
            depth < 0
        });
        let mut depth = 0;
        let parts = group[..end.expect("a closed brace")].split(|c| {
            depth += match c {
                '{' => 1,
                '}' => -1,
                _ => 0,
            };
            c == ',' && depth == 0
        });
        found.extend(parts.map(|part| word(part.trim())).filter(|w| !w.is_empty()));
    }
    found.into_iter().filter(|name| ALL.contains(&name.as_str())).collect()
}

#[test]
fn no_room_imports_what_the_table_forbids() {
    let mut wrong = Vec::new();
    for (room, allowed) in ROOMS.iter().filter(|(room, _)| source().join(room).is_dir()) {
        for file in files(&source().join(room)) {
            let text = fs::read_to_string(&file).expect("a source file");
            for name in imports(&text).iter().filter(|name| *name != room && !allowed.contains(&name.as_str())) {
                wrong.push(format!("{} imports {name}, but {room} may import only {allowed:?}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_room_is_in_the_table() {
    for entry in fs::read_dir(source()).expect("src") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().and_then(|n| n.to_str()).expect("a name");
        let known = if path.is_dir() {
            name == "bin" || ALL.contains(&name)
        } else {
            ["droch-shuil", "lib", "main"].contains(&name)
        };
        assert!(known, "{} is no room of the house", path.display());
    }
}

#[test]
fn a_planted_fault_is_seen() {
    let text = "use crate::base::{Place, Problem};\nuse crate::{data::{Map, Value}, ui};\n// crate::cli is only named\nfn f() { crate::run::x() }";
    assert_eq!(imports(text), ["base", "data", "run", "ui"].map(str::to_owned).into());
}
