//! Resources against a real folder, under every shell: what the plan says, what the actions leave, and that a second
//! look finds nothing to do.
//!
//! A case is a file in `tests/collector/cases/`: `before` (sh that prepares the folder), `resources`, `plan` (the titles) or
//! `problems` (words of each), `diff` (optional: attributes and changed lines), `after` (sh that must succeed). `ROOT`
//! stands for the folder.

use crate::shells::{Shell, shells};
use std::path::Path;
use std::sync::Arc;
use suil::base::{Plain, Problem};
use suil::resource::{Action, Ahead, Change, Content, Facts, Planned, Request, Resource, build, compare_all};

#[test]
fn every_case_is_planned_performed_and_then_at_rest() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/collector/cases");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("cases").map(|entry| entry.expect("a case").path()).collect();
    files.sort();
    assert!(files.len() > 10);
    for shell in shells() {
        for file in &files {
            let text = std::fs::read_to_string(file).expect("a case");
            case(&shell, &file.file_stem().expect("a name").to_string_lossy(), &text);
        }
    }
}

fn case(shell: &Shell, name: &str, text: &str) {
    let root = tempfile::tempdir().expect("a folder");
    let text = text.replace("ROOT", root.path().to_str().expect("text"));
    let case = Plain::from_yaml(&text).unwrap_or_else(|words| panic!("{name}: {words}"));
    let at = format!("{name} under {}", shell.name);
    sh(root.path(), case.get("before"), &at);
    let wanted = words(case.get("problems"));
    let resources = match resources(&case) {
        Ok(resources) => resources,
        Err(problem) => return problems(&at, &[problem], &wanted),
    };
    let facts = ask(shell, &resources);
    let planned = match compare_all(&resources, &facts, &mut Ahead::default(), false) {
        Ok(planned) => planned,
        Err(found) => return problems(&at, &found, &wanted),
    };
    assert_eq!(wanted, Vec::<String>::new(), "{at}");
    let titles: Vec<&str> = planned.iter().map(|planned| planned.change.title.as_str()).collect();
    assert_eq!(titles, words(case.get("plan")), "{at}");
    if let Some(diff) = case.get("diff") {
        assert_eq!(shown(&planned), words(Some(diff)), "{at}");
    }
    let mut settled = facts.clone();
    for planned in &planned {
        for index in &planned.resources {
            resources[*index].settle(&mut settled);
        }
    }
    at_rest(&format!("{at}, by its own account"), &resources, &settled);
    let fails = words(case.get("fails"));
    for planned in &planned {
        let output = perform(shell, &planned.change.action);
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            assert!(!fails.is_empty() && fails.iter().all(|words| said.contains(words)), "{at}: {said}");
            break;
        }
        assert!(fails.is_empty(), "{at}: it should fail");
    }
    sh(root.path(), case.get("after"), &at);
    let left = std::process::Command::new("find").arg(root.path()).args(["-name", "*suil*"]).output().expect("find");
    assert_eq!(String::from_utf8_lossy(&left.stdout), "", "{at}: something was left behind");
    if fails.is_empty() {
        at_rest(&at, &resources, &ask(shell, &resources));
    }
}

fn at_rest(at: &str, resources: &[Arc<dyn Resource>], facts: &Facts) {
    let again = compare_all(resources, facts, &mut Ahead::default(), false).expect("facts");
    let again: Vec<&str> = again.iter().map(|planned| planned.change.title.as_str()).collect();
    assert_eq!(again, Vec::<&str>::new(), "{at}: the second run");
}

fn resources(case: &Plain) -> Result<Vec<Arc<dyn Resource>>, Problem> {
    let declared = case.get("resources").and_then(Plain::as_list).expect("resources");
    let one = |declared: &Plain| {
        let mut attributes = declared.as_map().expect("a mapping").clone();
        let mut take = |key| match attributes.shift_remove(key) {
            Some(Plain::Str(text)) => text,
            other => panic!("{key} is {other:?}"),
        };
        let (kind, name) = (take("kind"), take("name"));
        build(&kind, &name, &Plain::Map(attributes), None, None)
    };
    declared.iter().map(one).collect()
}

fn ask(shell: &Shell, resources: &[Arc<dyn Resource>]) -> Facts {
    let mut requests: Vec<Request> = resources.iter().flat_map(|resource| resource.requests()).collect();
    requests.sort();
    requests.dedup();
    shell.ask(&requests)
}

/// Stages the uploads as the session does, and runs the script.
fn perform(shell: &Shell, action: &Action) -> std::process::Output {
    let mut staged = Vec::new();
    for (n, upload) in action.uploads.iter().enumerate() {
        let Content::Bytes(bytes) = &upload.content else { panic!("no stream here") };
        let beside = upload.beside.as_ref().expect("a place");
        let path = Path::new(beside).parent().expect("a folder").join(format!(".suil-{n}"));
        std::fs::write(&path, bytes).expect("staged");
        staged.push(path.to_str().expect("text").to_owned());
    }
    let words: Vec<&str> = staged.iter().map(String::as_str).collect();
    shell.run(&format!("(\nset -eu\n{})\n", action.script), &words)
}

fn shown(planned: &[Planned]) -> Vec<String> {
    let attributes = |change: &Change| {
        let words = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
        let one =
            change.diff.attributes.iter().map(|a| format!("{}: {} -> {}", a.name, words(&a.before), words(&a.after)));
        one.collect::<Vec<_>>()
    };
    let text = |change: &Change| {
        let Some(diff) = &change.diff.text else { return Vec::new() };
        let lines = similar::TextDiff::from_lines(&diff.before, &diff.after);
        let changed = lines.iter_all_changes().filter(|line| line.tag() != similar::ChangeTag::Equal);
        changed.map(|line| format!("{}{}", line.tag(), line.value().trim_end())).collect()
    };
    planned.iter().flat_map(|planned| [attributes(&planned.change), text(&planned.change)].concat()).collect()
}

fn problems(at: &str, found: &[Problem], wanted: &[String]) {
    let said: Vec<String> = found
        .iter()
        .map(|p| {
            let notes = p.notes.iter().map(|note| note.text.clone());
            let parts = [Some(p.what.clone()), p.expected.clone(), p.help.clone()].into_iter().flatten();
            parts.chain(notes).collect::<Vec<_>>().join(" | ")
        })
        .collect();
    assert_eq!(said.len(), wanted.len(), "{at}: {said:?}");
    for (said, wanted) in said.iter().zip(wanted) {
        assert!(said.contains(wanted.as_str()), "{at}: {said}");
    }
}

fn words(list: Option<&Plain>) -> Vec<String> {
    let items = list.and_then(Plain::as_list).unwrap_or_default();
    items.iter().map(|item| item.as_str().unwrap_or_else(|| panic!("no string: {item:?}")).to_owned()).collect()
}

fn sh(root: &Path, text: Option<&Plain>, at: &str) {
    let Some(text) = text.and_then(Plain::as_str) else { return };
    let output = std::process::Command::new("sh").args(["-euxc", text]).current_dir(root).output().expect("sh runs");
    assert!(output.status.success(), "{at}: {}", String::from_utf8_lossy(&output.stderr));
}
