//! The corpus of layers: every case is rendered by the binary in a room of its own and compared byte for byte.

#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

/// A `case.yaml`; the README of the corpus says what each field means.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    layer: String,
    command: Vec<String>,
    expect: Expect,
    class: Class,
    #[allow(dead_code)]
    note: String,
    better: Option<String>,
    better_expect: Option<Expect>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<String>,
    out: Option<String>,
    #[serde(default)]
    mkdirs: Vec<String>,
    #[serde(default)]
    setup: Vec<Step>,
    #[serde(default)]
    #[allow(dead_code)]
    requires: Vec<String>,
    #[serde(default)]
    compare: BTreeMap<String, String>,
    #[serde(default)]
    ignore: Vec<String>,
    #[serde(default)]
    kept: BTreeMap<String, Option<String>>,
    #[serde(default)]
    modes: BTreeMap<String, String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
enum Expect {
    Ok,
    Error,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
enum Class {
    Spec,
    Quirk,
    Bug,
}

/// A command that runs before the render: of a shell, or of `suil infra` in a layer.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Step {
    #[serde(default)]
    shell: bool,
    layer: Option<String>,
    command: Vec<String>,
}

/// An `expected.yaml`.
#[derive(Deserialize, Default, Debug)]
struct Failure {
    #[serde(default)]
    error_contains: Vec<String>,
    #[serde(default)]
    better_contains: Vec<String>,
}

/// Where suil does not do what the original did; each has a `better` in its case.
const DEVIATIONS: &[(&str, &str, Check)] = &[
    ("015-layer-name-no-environment", "a layer's name names an environment", |left| {
        refused(left, &["names no environment"])
    }),
    ("038-declared-variables-left-out", "declarations in *.tf.json count", |left| {
        differ(left, "stacks.tf.json", &[("/variable/declared_in_json", None)])
    }),
    ("043b-rare-filters", "`urlize` is left out", |left| refused(left, &["there is no filter `urlize`"])),
    ("062b-deepformat-specifications", "attributes are not for templates", |left| {
        refused(left, &["base/main.tf:4", "deepformat", "`{x.real}`"])
    }),
    ("064b-json-oddities", "unknown arguments are refused", |left| refused(left, &["base/main.tf:2", "jsonencode"])),
    ("081-strings-escape-bugs", "HCL knows its escapes", |left| {
        refused(left, &["layers/harbor/l.tfvars:7:17", r"unknown escape `\q`", "layers/harbor/l.tfvars:10:22"])
    }),
    ("083-numbers-odd", "numbers side by side are no number", |left| {
        refused(left, &["layers/harbor/l.tfvars:7:16", "layers/harbor/l.tfvars:8:15"])
    }),
    ("084-bool-null-identifiers", "a bare word is no text", |left| {
        refused(left, &["layers/harbor/l.tfvars:6:9", "`string`", "`number`"])
    }),
    ("085-heredocs", "a here document keeps its line ends", |left| {
        let text = |path, text: &str| (path, Some(serde_json::Value::from(text)));
        let values = [
            text("/plain", "first line\n  second  \n\n\n"),
            text("/flush", "four\n  six\nfour again\n"),
            text("/indented_end", "body\n"),
            text("/quotes", "say \"hi\" and \\\"escaped\\\"\n"),
            text("/listed/0", "in a list\n"),
            text("/mapped/k", "in a map\n"),
            text("/json", "{\"a\": [1, \"x\"]}\n"),
            text("/hash", "# not a comment\n"),
            text("/word", "EOT2 and xEOT EOT\n"),
            text("/jinja", "{{ var.town }}\n"),
        ];
        differ(left, "zzz.auto.tfvars.json", &values)
    }),
    ("088-expressions", "what needs a context is refused", |left| {
        refused(left, &["layers/harbor/l.tfvars:4:13", "`upper`", "`concat`"])
    }),
    ("089-comments-and-layout", "what HCL refuses is refused", |left| {
        refused(left, &["layers/harbor/l.tfvars:10:7", "layers/harbor/l.tfvars:16:9"])
    }),
];

/// Cases whose files hold values that Terraform reads otherwise than the original did; there `hcl_oracle.json` is right.
const READ_AS_TERRAFORM: &[(&str, &str, Check)] = &[
    ("036-several-environments", "`upper(\"x\")` is no value", |left| {
        refused(left, &["environments/lighthouse/env.tfvars:2:8", "`upper`"])
    }),
    ("047-hcl-and-jinja-side-by-side", "`\"${x}\"` is refused", |left| {
        refused(left, &["layers/harbor/l.tfvars:1:15", "`module`"])
    }),
    ("049-jinja-writes-variables", "a here document keeps its last line end", |left| {
        differ(left, "zzz.auto.tfvars.json", &[("/lines", Some("\nline a\n\nline b\n\n".into()))])
    }),
    ("087-collections", "a comma is needed, and `a.b` is no key", |left| {
        refused(left, &["layers/harbor/l.tfvars:20:19", "layers/harbor/l.tfvars:23:13"])
    }),
    ("095-crlf-and-no-final-newline", "CRLF stays in a here document", |left| {
        differ(left, "zzz.auto.tfvars.json", &[("/h", Some("one\r\ntwo\r\n".into()))])
    }),
];

/// What must hold of a deviation.
type Check = fn(&Left) -> Result<(), String>;

/// What a render left.
struct Left {
    room: TempDir,
    case: Case,
    folder: PathBuf,
    status: i32,
    stderr: String,
}

impl Left {
    fn out(&self) -> PathBuf {
        self.input().join(&self.case.layer).join(self.case.out.as_deref().unwrap_or("stacks.out"))
    }

    fn input(&self) -> PathBuf {
        self.room.path().join("input")
    }
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/stacks")
}

fn cases() -> Vec<PathBuf> {
    let entries = fs::read_dir(corpus().join("cases")).expect("the corpus");
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    found.sort();
    found
}

/// Renders a case in a room of its own.
fn render(folder: &Path) -> Result<Left, String> {
    let text = fs::read_to_string(folder.join("case.yaml")).map_err(|e| e.to_string())?;
    let case: Case = serde_saphyr::from_str(&text).map_err(|e| e.to_string())?;
    let room = tempfile::tempdir().map_err(|e| e.to_string())?;
    let input = room.path().join("input");
    copy(&folder.join("input"), &input);
    for path in case.mkdirs.iter().chain([&case.layer]) {
        fs::create_dir_all(input.join(path)).map_err(|e| e.to_string())?;
    }
    let fill = |text: &str| filled(text, &input);
    for step in case.setup.iter().filter(|step| step.shell && step.layer.is_none()) {
        let script = step.command.iter().map(|line| fill(line)).collect::<Vec<_>>().join("\n");
        fs::create_dir_all(input.join("secrets")).map_err(|e| e.to_string())?;
        let status = Command::new("sh").args(["-ec", &script]).current_dir(&input).status();
        if !status.is_ok_and(|status| status.success()) {
            return Err(format!("setup failed: {script}"));
        }
    }
    for step in case.setup.iter().filter_map(|step| Some((step.layer.as_ref()?, &step.command))) {
        let (layer, command) = step;
        let said = suil(&room, &case, command.iter().map(|word| fill(word)), &input.join(layer))?;
        if !said.status.success() {
            return Err(format!("setup failed: {command:?}\n{}", String::from_utf8_lossy(&said.stderr)));
        }
    }
    let here = input.join(case.cwd.as_ref().unwrap_or(&case.layer));
    fs::create_dir_all(&here).map_err(|e| e.to_string())?;
    let output = suil(&room, &case, case.command.iter().cloned(), &here)?;
    let stderr = String::from_utf8_lossy(&output.stderr).replace(&room.path().display().to_string(), "[ROOM]");
    Ok(Left { folder: folder.to_owned(), room, status: output.status.code().unwrap_or(-1), stderr, case })
}

/// Runs `suil infra` in a folder, with the environment of a case.
fn suil(room: &TempDir, case: &Case, words: impl Iterator<Item = String>, here: &Path) -> Result<Output, String> {
    let fill = |text: &str| filled(text, &room.path().join("input"));
    Command::new(env!("CARGO_BIN_EXE_suil"))
        .arg("infra")
        .args(words)
        .current_dir(here)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", room.path())
        .envs(case.env.iter().map(|(name, value)| (name, fill(value))))
        .output()
        .map_err(|e| e.to_string())
}

/// A text of a case with its names filled in.
fn filled(text: &str, input: &Path) -> String {
    let keys = corpus().join("keys").display().to_string();
    text.replace("{keys}", &keys).replace("{input}", &input.display().to_string())
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        let kind = entry.file_type().expect("a kind");
        if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(entry.path()).expect("a link"), to).expect("a link");
        } else if kind.is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).expect("a file");
        }
    }
}

/// The files below a folder, `.terraform` left out.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut due = vec![PathBuf::new()];
    while let Some(below) = due.pop() {
        let Ok(entries) = fs::read_dir(folder.join(&below)) else { continue };
        for entry in entries {
            let entry = entry.expect("an entry");
            let path = below.join(entry.file_name());
            if entry.path().is_dir() {
                if path != Path::new(".terraform") {
                    due.push(path);
                }
            } else {
                found.insert(path.display().to_string(), fs::read(entry.path()).expect("a file"));
            }
        }
    }
    found
}

/// Compares what a render left with what the original left.
fn compare(left: &Left) -> Result<(), String> {
    if left.status != 0 {
        return Err(format!("exit {}\n{}", left.status, left.stderr));
    }
    let (want, found) = (files(&left.folder.join("expected")), files(&left.out()));
    let names: BTreeSet<&String> = want.keys().chain(found.keys()).collect();
    let mut wrong = Vec::new();
    for name in names {
        if left.case.kept.contains_key(name) || left.case.ignore.iter().any(|path| path.ends_with(name.as_str())) {
            continue;
        }
        match (want.get(name), found.get(name)) {
            (Some(want), Some(found)) if want == found => {}
            (Some(want), Some(found)) if left.case.compare.contains_key(name) => {
                let same = left.case.compare.get(name).is_some_and(|how| how == "json-any-environment-order");
                if !same || sorted(want)? != sorted(found)? {
                    wrong.push(difference(name, want, found));
                }
            }
            (Some(want), Some(found)) => wrong.push(difference(name, want, found)),
            (Some(_), None) => wrong.push(format!("{name} is missing")),
            (None, _) => wrong.push(format!("{name} is one too many")),
        }
    }
    for (name, text) in &left.case.kept {
        let path = left.out().join(name);
        // Where the original deleted what is kept, the input says what it was.
        let before = left.folder.join("input").join(&left.case.layer).join("stacks.out").join(name);
        let want = text.clone().or_else(|| fs::read_to_string(before).ok());
        if fs::read_to_string(&path).ok().map(|t| t.trim_end().to_owned()) != want.map(|t| t.trim_end().to_owned()) {
            wrong.push(format!("{name} was not kept"));
        }
    }
    for name in left.case.modes.keys() {
        let mode = |path: PathBuf| fs::metadata(path).map(|found| found.permissions().mode() & 0o111 != 0).ok();
        // Bits of the mode are kept everywhere; the case says where the original kept them.
        let base = left.folder.join("input/stacks/kiln/base");
        if mode(left.out().join(name)) != mode(base.join(name)) {
            wrong.push(format!("{name} has not the mode that it has in base"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// JSON with the environments in the order of their names.
fn sorted(bytes: &[u8]) -> Result<serde_json::Value, String> {
    let mut value: serde_json::Value = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
    if let Some(map) = value.get_mut("stacks_environments").and_then(|v| v.as_object_mut()) {
        let mut pairs: Vec<_> = std::mem::take(map).into_iter().collect();
        pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
        map.extend(pairs);
    }
    // As text, so that the order of keys counts.
    Ok(serde_json::Value::String(value.to_string()))
}

fn difference(name: &str, want: &[u8], found: &[u8]) -> String {
    let (want, found) = (String::from_utf8_lossy(want), String::from_utf8_lossy(found));
    let line = want.lines().zip(found.lines()).position(|(a, b)| a != b);
    let at = line.unwrap_or_else(|| want.lines().count().min(found.lines().count()));
    let show = |text: &str| text.lines().nth(at).unwrap_or("(the end)").chars().take(300).collect::<String>();
    format!("{name} differs in line {}:\n    want  {}\n    found {}", at + 1, show(&want), show(&found))
}

/// Looks whether a render failed as it should.
fn failed(left: &Left) -> Result<(), String> {
    if left.status != 1 {
        return Err(format!("exit {}, expected 1\n{}", left.status, left.stderr));
    }
    let text = fs::read_to_string(left.folder.join("expected.yaml")).map_err(|e| e.to_string())?;
    let want: Failure = serde_saphyr::from_str(&text).map_err(|e| e.to_string())?;
    // The higher bar replaces the words of the original where it says what to name.
    let words = match want.better_contains.is_empty() {
        true => &want.error_contains,
        false => &want.better_contains,
    };
    let missing: Vec<&String> = words
        .iter()
        .filter(|word| match word.strip_prefix("re:") {
            Some(pattern) => !regex::Regex::new(pattern).expect("a pattern").is_match(&left.stderr),
            None => !left.stderr.contains(word.as_str()),
        })
        .collect();
    if !missing.is_empty() {
        return Err(format!("the error does not say {missing:?}:\n{}", left.stderr));
    }
    let before = files(&left.folder.join("input").join(&left.case.layer).join("stacks.out"));
    if files(&left.out()) != before {
        return Err("the output folder changed".to_owned());
    }
    Ok(())
}

/// A deviation that fails, with these words, and leaves no output.
fn refused(left: &Left, words: &[&str]) -> Result<(), String> {
    let missing: Vec<&&str> = words.iter().filter(|word| !left.stderr.contains(**word)).collect();
    match left.status == 1 && missing.is_empty() && files(&left.out()).is_empty() {
        true => Ok(()),
        false => Err(format!("exit {}, without {missing:?}\n{}", left.status, left.stderr)),
    }
}

/// A deviation in values of a JSON file, which are these; the rest of the file is as the original has it.
fn differ(left: &Left, name: &str, values: &[(&str, Option<serde_json::Value>)]) -> Result<(), String> {
    let read = |folder: &Path| -> Result<serde_json::Value, String> {
        let bytes = fs::read(folder.join(name)).map_err(|e| format!("{name}: {e}\n{}", left.stderr))?;
        serde_json::from_slice(&bytes).map_err(|e| e.to_string())
    };
    let (mut want, mut found) = (read(&left.folder.join("expected"))?, read(&left.out())?);
    for (path, value) in values {
        if found.pointer(path) != value.as_ref() {
            return Err(format!("{name}{path} is {:?}", found.pointer(path)));
        }
        let (above, key) = path.rsplit_once('/').expect("a path");
        for whole in [&mut want, &mut found] {
            match whole.pointer_mut(above) {
                Some(serde_json::Value::Object(map)) => drop(map.shift_remove(key)),
                Some(serde_json::Value::Array(items)) => items[key.parse::<usize>().expect("a number")] = "".into(),
                _ => return Err(format!("{name} has no {above}")),
            }
        }
    }
    // As text, so that the order of keys counts.
    let [want, found] = [want, found].map(|value| value.to_string());
    match want == found {
        true => Ok(()),
        false => Err(format!("{name} differs elsewhere:\n{want}\n{found}")),
    }
}

fn check(folder: &Path) -> Result<(), String> {
    let left = render(folder)?;
    if let Some((_, _, check)) = DEVIATIONS.iter().find(|(id, _, _)| *id == left.case.id) {
        assert!(left.case.better.is_some() && left.case.class != Class::Spec, "{} may not deviate", left.case.id);
        return check(&left);
    }
    if let Some((_, _, check)) = READ_AS_TERRAFORM.iter().find(|(id, _, _)| *id == left.case.id) {
        return check(&left);
    }
    match left.case.better_expect.unwrap_or(left.case.expect) {
        // The original has no answer where it fails.
        Expect::Ok if left.case.expect == Expect::Error => match left.status {
            0 => Ok(()),
            status => Err(format!("exit {status}\n{}", left.stderr)),
        },
        Expect::Ok => compare(&left),
        Expect::Error => failed(&left),
    }
}

#[test]
fn every_case_of_the_corpus_renders_as_it_should() {
    let all = cases();
    assert!(all.len() >= 98, "only {} cases", all.len());
    let only = std::env::var("STACKS_CASE").unwrap_or_default();
    let due: Vec<&PathBuf> = all.iter().filter(|path| path.display().to_string().contains(&only)).collect();
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(path) = due.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(words) = check(path) {
                        let id = path.file_name().expect("a name").to_string_lossy().into_owned();
                        wrong.lock().expect("the lock").insert(id, words);
                    }
                }
            });
        }
    });
    for (id, why, _) in DEVIATIONS.iter().chain(READ_AS_TERRAFORM) {
        println!("otherwise: {id}: {why}");
    }
    let wrong = wrong.into_inner().expect("the lock");
    let report: String = wrong.iter().map(|(id, words)| format!("== {id}\n{words}\n")).collect();
    assert!(wrong.is_empty(), "{} of {} cases are wrong\n{report}", wrong.len(), due.len());
}

#[test]
fn the_lists_name_cases_of_the_corpus() {
    let names: BTreeSet<String> =
        cases().iter().map(|path| path.file_name().expect("a name").to_string_lossy().into_owned()).collect();
    for (id, _, _) in DEVIATIONS.iter().chain(READ_AS_TERRAFORM) {
        assert!(names.contains(*id), "{id}");
    }
}
