//! The corpus of workspaces under `tests/conformance/suil`: what the data of a workspace resolves to, to the letter.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use suil::base::{Mask, Plain, Problem, Problems};
use suil::catalogue::{Catalogue, Selection, Workspace};
use suil::data::secret::{Keys, Vault};

#[path = "deviate/command.rs"]
mod command;
#[path = "deviate/mod.rs"]
mod deviate;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/suil")
}

struct Case {
    name: String,
    folder: PathBuf,
    about: Plain,
}

impl Case {
    fn all() -> Vec<Case> {
        let mut cases: Vec<Case> = fs::read_dir(corpus().join("cases"))
            .expect("corpus")
            .map(|entry| {
                let folder = entry.expect("case").path();
                let name = folder.file_name().expect("name").to_string_lossy().into_owned();
                let about = yaml(&folder.join("case.yaml"));
                Case { name, folder, about }
            })
            .collect();
        cases.sort_by(|a, b| a.name.cmp(&b.name));
        cases
    }

    fn says(&self, key: &str) -> Option<&str> {
        self.about.get(key).and_then(Plain::as_str)
    }

    fn selection(&self) -> Selection {
        match (self.says("role"), self.says("node")) {
            (Some(role), None) => Selection::role(role),
            (None, Some(node)) => Selection::node(node),
            _ => panic!("{} selects neither a role nor a node", self.name),
        }
    }

    fn run(&self) -> Result<(Plain, Problems), Problems> {
        let workspace = Workspace::open(&self.folder.join("workspace"))?;
        let catalogue = Catalogue::build(&workspace, &self.selection())?;
        Ok((catalogue.merged(&vault())?, catalogue.warnings))
    }
}

fn vault() -> Vault {
    let text = fs::read_to_string(corpus().join("keys/TEST-ONLY-identity.txt")).expect("identity");
    Vault::new(Some(Keys::parse(&text, "the test identity").expect("keys")), Mask::new())
}

fn yaml(path: &Path) -> Plain {
    let text = fs::read_to_string(path).expect("file");
    Plain::from_yaml(&text).unwrap_or_else(|words| panic!("{}: {words}", path.display()))
}

/// All that a person gets to read of a problem.
fn words(problem: &Problem) -> String {
    let mut words = vec![problem.what.clone()];
    words.extend(problem.place.map(|place| place.to_string()));
    words.extend(problem.expected.clone());
    words.extend(
        problem
            .notes
            .iter()
            .map(|note| format!("{} {}", note.text, note.place.map_or(String::new(), |p| p.to_string()))),
    );
    words.extend(problem.help.clone());
    words.join("\n")
}

fn all_words(problems: &Problems) -> String {
    problems.iter().map(words).collect::<Vec<_>>().join("\n\n")
}

/// The lines in which two answers differ first.
fn first_difference(want: &str, found: &str) -> String {
    let (want, found): (Vec<_>, Vec<_>) = (want.lines().collect(), found.lines().collect());
    let at = (0..want.len().max(found.len())).find(|i| want.get(*i) != found.get(*i)).unwrap_or(0);
    let from = at.saturating_sub(3);
    let part = |lines: &[&str]| lines.iter().skip(from).take(8).copied().collect::<Vec<_>>().join("\n    ");
    format!("  line {at}: want\n    {}\n  found\n    {}", part(&want), part(&found))
}

fn judge(case: &Case) -> Option<String> {
    let result = case.run();
    if case.says("expect") == Some("error") {
        let needle = case.says("error_contains").expect("error_contains");
        return match result {
            Ok((found, _)) => Some(format!("  no error; found {}", found.to_json_line())),
            Err(problems) if all_words(&problems).contains(needle) => None,
            Err(problems) => Some(format!("  want an error with {needle:?}, found\n{}", all_words(&problems))),
        };
    }
    let want = yaml(&case.folder.join("expected.yaml")).to_json();
    match result {
        Ok((found, _)) if found.to_json() == want => None,
        Ok((found, _)) => Some(first_difference(&want, &found.to_json())),
        Err(problems) => Some(format!("  unexpected:\n{}", all_words(&problems))),
    }
}

#[test]
fn every_followed_and_decided_case_gives_the_expected_answer() {
    let mut failures = Vec::new();
    let mut count = 0;
    for case in Case::all() {
        if matches!(case.says("peer"), Some("follow" | "decide")) {
            count += 1;
            failures.extend(judge(&case).map(|words| format!("{}\n{words}", case.name)));
        }
    }
    assert!(count > 60, "only {count} cases were found");
    assert!(failures.is_empty(), "{} of {count} cases fail:\n\n{}", failures.len(), failures.join("\n\n"));
}

#[test]
fn every_deviating_case_gives_the_better_answer() {
    let mut failures = Vec::new();
    for case in Case::all() {
        if case.says("peer") != Some("deviate") {
            continue;
        }
        let Some(want) = deviate::TABLE.iter().find(|row| row.0 == case.name).map(|row| &row.1) else { continue };
        let found = case.run();
        let shown = match &found {
            Ok((plain, warnings)) => format!("{}\nwarnings: {}", plain.to_json(), all_words(warnings)),
            Err(problems) => all_words(problems),
        };
        for want in want.iter() {
            let found = found.as_ref().map(|(plain, warnings)| (plain, all_words(warnings)));
            if let Err(reason) = want.judge(found, &shown) {
                failures.push(format!("{}: {reason}\n{shown}", case.name));
            }
        }
    }
    assert!(failures.is_empty(), "{} cases fail:\n\n{}", failures.len(), failures.join("\n\n"));
}

#[test]
fn no_case_is_forgotten() {
    let deviating: BTreeSet<String> =
        Case::all().into_iter().filter(|case| case.says("peer") == Some("deviate")).map(|case| case.name).collect();
    let tested: BTreeSet<String> = deviate::TABLE.iter().map(|row| row.0.to_owned()).collect();
    assert_eq!(tested.len(), deviate::TABLE.len(), "a case stands in the table twice");
    assert_eq!(deviating, tested);
    for case in Case::all() {
        let peer = case.says("peer").expect("peer");
        assert!(matches!(peer, "follow" | "decide" | "deviate"), "{}: nobody tests peer: {peer}", case.name);
        let known = ["case.yaml", "expected.yaml", "peer.yaml", "workspace"];
        for entry in fs::read_dir(&case.folder).expect("case") {
            let name = entry.expect("entry").file_name();
            assert!(known.iter().any(|k| name == *k), "{}: nobody reads {name:?}", case.name);
        }
    }
}

/// The benchmark workspace is made by a script, so this one needs `python3`.
#[test]
#[allow(clippy::disallowed_methods, reason = "the script is part of the corpus")]
fn the_benchmark_workspace_gives_the_measured_answer() {
    let folder = tempfile::tempdir().expect("folder");
    let made = std::process::Command::new("python3")
        .arg(corpus().join("gen.py"))
        .args(["--nodes", "10", "--no-stubs", "--out"])
        .arg(folder.path())
        .status()
        .expect("python3");
    assert!(made.success());
    let workspace = Workspace::open(folder.path()).unwrap_or_else(|problems| panic!("{}", all_words(&problems)));
    let catalogue = Catalogue::build(&workspace, &Selection::role("reef"))
        .unwrap_or_else(|problems| panic!("{}", all_words(&problems)));
    let found = catalogue.merged(&vault()).expect("merged").to_json();
    let want = yaml(&corpus().join("expected-ws-10-reef.yaml")).to_json();
    assert!(found == want, "{}", first_difference(&want, &found));
}

fn files_below(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).expect("folder") {
            let entry = entry.expect("entry");
            match entry.file_type().expect("type").is_dir() {
                true => open.push(entry.path()),
                false if entry.path().is_file() => {
                    let name = entry.path().strip_prefix(folder).expect("below").to_owned();
                    files.push((name, fs::read(entry.path()).expect("file")));
                }
                false => {}
            }
        }
    }
    files.sort();
    files
}

#[test]
fn the_corpora_are_the_shared_ones_byte_for_byte() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (own, shared) in
        [("tests/conformance/suil", "conformance/suil"), ("tests/cases", "cases"), ("tests/fleet", "fleet")]
    {
        let own = files_below(&root.join(own));
        assert!(!own.is_empty());
        for above in root.ancestors().map(|folder| folder.join("shared").join(shared)).filter(|folder| folder.is_dir())
        {
            let shared = files_below(&above);
            let names = |files: &[(PathBuf, Vec<u8>)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
            assert_eq!(names(&own), names(&shared), "{}", above.display());
            for ((name, own), (_, shared)) in own.iter().zip(&shared) {
                assert!(own == shared, "{} differs from the shared one", name.display());
            }
        }
    }
}
