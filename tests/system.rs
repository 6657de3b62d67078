//! Packages, services, accounts and the machine: facts in, plan out, as whole text; and that what a plan leaves needs
//! no second run.
//!
//! A file in `tests/system/` maps sentences to cases: `family`, `user` (that suil logs in as), `facts` (by the text of
//! the request, or its beginning), `resources`, and one of `plan`, `problem`, `fire` and `owed` as text. A path that
//! is not among the facts is missing, a folder is there, a unit is not.

use std::path::Path;
use std::sync::Arc;
use suil::base::{Plain, Problem};
use suil::resource::{
    Ahead, Answer, Change, Content, Facts, Fields, Fire, Planned, Request, Resource, build, compare_all,
};

#[test]
fn every_case_is_planned_as_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/system");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("cases").map(|file| file.expect("a file").path()).collect();
    files.sort();
    let (mut count, mut wrong) = (0, String::new());
    for file in &files {
        let text = std::fs::read_to_string(file).expect("a file of cases");
        let cases = Plain::from_yaml(&text).unwrap_or_else(|words| panic!("{}: {words}", file.display()));
        for (sentence, case) in cases.as_map().expect("cases by sentence") {
            count += 1;
            let (key, wanted) = ["plan", "problem", "fire", "owed"]
                .iter()
                .find_map(|key| case.get(key).and_then(Plain::as_str).map(|text| (*key, text)))
                .unwrap_or_else(|| panic!("{sentence}: nothing is expected"));
            let found = outcome(sentence, case, key);
            if found != wanted {
                wrong.push_str(&format!("--- {sentence}\n{found}"));
            }
        }
    }
    assert!(count > 30, "only {count} cases");
    assert_eq!(wrong, "");
}

fn outcome(sentence: &str, case: &Plain, key: &str) -> String {
    let resources = match resources(case) {
        Ok(resources) => resources,
        Err(problem) => return words(&[problem]),
    };
    let facts = facts(sentence, case, &resources);
    let force = case.get("force").and_then(Plain::as_bool).unwrap_or(false);
    let planned = match compare_all(&resources, &facts, &mut Ahead::default(), force) {
        Ok(planned) => planned,
        Err(problems) => return words(&problems),
    };
    match key {
        "fire" => fired(&resources, &facts, &planned),
        "owed" => owed(&resources, &facts),
        _ => {
            at_rest(sentence, &resources, &facts, &planned);
            planned.iter().map(|planned| shown(&planned.change)).collect()
        }
    }
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

#[allow(clippy::field_reassign_with_default)]
fn facts(sentence: &str, case: &Plain, resources: &[Arc<dyn Resource>]) -> Facts {
    let text = |key: &str, default: &str| case.get(key).and_then(Plain::as_str).unwrap_or(default).to_owned();
    let mut facts = Facts::default();
    facts.family = text("family", "debian");
    facts.ssh_user = text("user", "root");
    let given = case.get("facts").and_then(Plain::as_map);
    for request in resources.iter().flat_map(|resource| resource.requests()) {
        let asked = format!("{} {} ", request.kind, request.args.join(" "));
        let given = given.and_then(|given| given.iter().find(|(key, _)| asked.starts_with(&format!("{key} "))));
        let answer = match given {
            Some((_, fields)) => answer(fields),
            None => unsaid(&request).unwrap_or_else(|| panic!("{sentence}: nothing is said of `{asked}`")),
        };
        facts.insert(request, answer);
    }
    facts
}

fn answer(fields: &Plain) -> Answer {
    let text = |value: &Plain| match value {
        Plain::Str(text) => text.clone(),
        Plain::Int(number) => number.to_string(),
        other => panic!("a fact is {other:?}"),
    };
    match fields {
        Plain::Str(words) => Answer::Unknown(words.clone()),
        fields => {
            let mut known = Fields::default();
            for (name, value) in fields.as_map().expect("fields") {
                known.set(name, text(value));
            }
            Answer::Known(known)
        }
    }
}

fn unsaid(request: &Request) -> Option<Answer> {
    let fields = match (request.kind, request.args.get(1).map(String::as_str)) {
        ("path", Some("-")) => Fields::of([("type", "directory")]),
        ("path", _) => Fields::of([("type", "missing")]),
        ("service", _) => Fields::of([("load", "not-found"), ("active", "inactive")]),
        ("mtime" | "user" | "group", _) => Fields::of([("state", "absent")]),
        _ => return None,
    };
    Some(Answer::Known(fields))
}

/// A plan's own account of what it leaves is what it wants.
fn at_rest(sentence: &str, resources: &[Arc<dyn Resource>], facts: &Facts, planned: &[Planned]) {
    let mut settled = facts.clone();
    for planned in planned {
        for index in &planned.resources {
            resources[*index].settle(&mut settled);
        }
    }
    let again = compare_all(resources, &settled, &mut Ahead::default(), false).expect("facts");
    let again: Vec<&str> = again.iter().map(|planned| planned.change.title.as_str()).collect();
    assert_eq!(again, Vec::<&str>::new(), "{sentence}: the second run");
    let owed: Vec<_> = resources.iter().filter_map(|resource| resource.owed(&settled)).collect();
    assert!(planned.is_empty() || owed.is_empty(), "{sentence}: {owed:?}");
}

fn fired(resources: &[Arc<dyn Resource>], facts: &Facts, planned: &[Planned]) -> String {
    let mut out = String::new();
    for (index, resource) in resources.iter().enumerate() {
        let own = planned.iter().filter(|planned| planned.resources.contains(&index));
        let own: Vec<Change> = own.map(|planned| planned.change.clone()).collect();
        for trigger in resource.triggers() {
            let fired = resource.fire(trigger.fire, facts, &own);
            out.push_str(&format!("on {}: {}", trigger.on, fired.as_ref().map_or("nothing\n".to_owned(), shown)));
        }
    }
    out
}

fn owed(resources: &[Arc<dyn Resource>], facts: &Facts) -> String {
    let owed = resources.iter().filter_map(|resource| resource.owed(facts));
    owed.map(|(fire, why)| format!("{}: {why}\n", if fire == Fire::Reload { "reload" } else { "restart" })).collect()
}

/// Everything that a change is, as text.
fn shown(change: &Change) -> String {
    let mut out = format!("{:?}: {}", change.verb, change.title);
    if change.guards_access {
        out.push_str(" (guards access)");
    }
    if let Some(judged) = &change.judged_then {
        out.push_str(&format!(" ({judged})"));
    }
    out.push('\n');
    let word = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
    for attribute in &change.diff.attributes {
        out.push_str(&format!("  {}: {} -> {}\n", attribute.name, word(&attribute.before), word(&attribute.after)));
    }
    if let Some(text) = &change.diff.text {
        out.extend(text.after.lines().map(|line| format!("  + {line}\n")));
    }
    out.extend(change.action.script.lines().map(|line| format!("  $ {line}\n")));
    for upload in &change.action.uploads {
        let Content::Bytes(bytes) = &upload.content else { panic!("no stream here") };
        let place = upload.beside.as_deref().unwrap_or("the private folder");
        out.push_str(&format!("  > {} bytes to {place}\n", bytes.len()));
    }
    out
}

fn words(problems: &[Problem]) -> String {
    let one = |problem: &Problem| {
        let mut out = format!("{}\n", problem.what);
        let expected = problem.expected.iter().map(|text| format!("  {text}\n"));
        let notes = problem.notes.iter().map(|note| format!("  note: {}\n", note.text));
        let help = problem.help.iter().map(|text| format!("  help: {text}\n"));
        out.extend(expected.chain(notes).chain(help));
        out
    };
    problems.iter().map(one).collect()
}
