//! What suil tells programs: every command in both forms, held against `docs/output.md`, and every exit code.
//!
//! A key that occurs and is not documented fails, and so does a documented one that never occurs, a command without a
//! documented shape, and one that is never run here.

#![allow(clippy::disallowed_methods)]

#[path = "faces/compared.rs"]
mod compared;
#[path = "faces/documented.rs"]
mod documented;
#[path = "faces/exits.rs"]
mod exits;
#[path = "store/filled.rs"]
mod filled;
#[path = "faces/planned.rs"]
mod planned;
#[path = "cli/room.rs"]
#[allow(dead_code, reason = "others need the rest")]
mod room;
#[path = "faces/scenes.rs"]
mod scenes;

use clap::{Command, CommandFactory};
use documented::{Manual, Path, paths};
use scenes::scenes;
use std::collections::{BTreeMap, BTreeSet};
use suil::base::Plain;

/// Every command that does something when it stands alone: `apply`, `runs`, `runs show`, …
fn commands(command: &Command, above: &str) -> Vec<String> {
    let below = command.get_subcommands().filter(|below| below.get_name() != "help");
    below
        .flat_map(|below| {
            let name = format!("{above} {}", below.get_name()).trim().to_owned();
            let alone = (!below.is_subcommand_required_set()).then(|| name.clone());
            alone.into_iter().chain(commands(below, &name)).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn every_command_has_a_documented_shape_and_is_run_here() {
    let manual = Manual::read();
    let mut cli = suil::cli::Cli::command();
    cli.build();
    let all = commands(&cli, "");
    assert!(all.len() > 15, "{all:?}");
    assert_eq!(manual.repeated(), [""; 0], "each section and each key of it stands once");
    let documented = manual.commands();
    let run: BTreeSet<String> = scenes().iter().map(|scene| scene.command(&all)).collect();
    let mut wrong = Vec::new();
    for command in &all {
        match (manual.shapeless.contains(command), documented.contains(command), run.contains(command)) {
            (true, false, _) | (false, true, true) => {}
            (true, true, _) => wrong.push(format!("`suil {command}` has a shape, and stands among those without one")),
            (false, false, _) => wrong.push(format!("`suil {command}` has no shape in docs/output.md")),
            (false, true, false) => wrong.push(format!("`suil {command}` is never run here")),
        }
    }
    for command in manual.shapeless.iter().chain(&documented).filter(|command| !all.contains(command)) {
        wrong.push(format!("docs/output.md speaks of `suil {command}`, which is no command"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_occurs_is_documented_and_what_is_documented_occurs() {
    let manual = Manual::read();
    let mut found: BTreeMap<&str, BTreeSet<Path>> = BTreeMap::new();
    let scenes = scenes();
    let mut wrong = Vec::new();
    for scene in scenes {
        if let [json, yaml] = scene.values.as_slice()
            && scene.same
            && json != yaml
        {
            wrong.push(format!("{}: JSON and YAML differ\n{}\n{}", scene.title(), json.to_json(), yaml.to_json()));
        }
        for value in &scene.values {
            if scene.result {
                let keys: Vec<&str> = value.as_map().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
                if value.get("version") != Some(&Plain::Int(1)) || keys.first() != Some(&"version") {
                    wrong.push(format!("{}: no `version: 1` stands first", scene.title()));
                }
                if value.get("problems").and_then(Plain::as_list).is_none() {
                    wrong.push(format!("{}: no list of `problems`", scene.title()));
                }
            }
            found.entry(scene.section.as_str()).or_default().extend(paths(value));
        }
    }
    let mut common = BTreeSet::new();
    for (section, found) in &found {
        common.extend(found.iter().cloned());
        let Some(shape) = manual.shape(section) else {
            let keys: Vec<String> = found.iter().map(ToString::to_string).collect();
            wrong.push(format!("docs/output.md has no section {section}, of {}", keys.join(", ")));
            continue;
        };
        for path in found {
            if !shape.iter().chain(&manual.common).any(|key| key.covers(path)) {
                wrong.push(format!("{section}: `{path}` occurs and is not documented"));
            }
        }
        for key in shape.iter().filter(|key| !found.iter().any(|path| key.is(path))) {
            wrong.push(format!("{section}: `{key}` is documented and never occurs"));
        }
    }
    for key in manual.common.iter().filter(|key| !common.iter().any(|path| key.is(path))) {
        wrong.push(format!("`{key}` of every result never occurs"));
    }
    for section in manual.sections().filter(|section| !found.contains_key(section)) {
        wrong.push(format!("docs/output.md: section {section} is of nothing that is run here"));
    }
    wrong.dedup();
    assert!(wrong.is_empty(), "{} faults\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_example_has_the_documented_shape() {
    let manual = Manual::read();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (section, shape, example) in manual.examples() {
        seen += 1;
        for path in paths(example) {
            if !shape.iter().chain(&manual.common).any(|key| key.covers(&path)) {
                wrong.push(format!("{section}: the example has `{path}`, which is not documented"));
            }
        }
    }
    assert!(seen >= manual.sections().count(), "{seen} examples of {} sections", manual.sections().count());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_planted_fault_is_seen() {
    let manual = Manual::parse(
        "# x\n\n## Every result\n\n| key | value |\n| --- | --- |\n| `version` | 1 |\n\n## `suil a`, `suil b --c`\n\n\
         | key | value |\n| --- | --- |\n| `list[].name` | x |\n| `by.NODE.open.*` | y |\n\n```json\n{\"list\": []}\n```\n\n\
         ## Without a result\n\n- `suil d`: z\n",
    );
    assert_eq!(manual.commands(), ["a", "b"].map(str::to_owned).into());
    assert_eq!(manual.shapeless, ["d"].map(str::to_owned).into());
    let shape = manual.shape("`suil a`, `suil b --c`").expect("a shape");
    let value = Plain::from_json(r#"{"list": [{"name": 1, "nmae": 2}], "by": {"n.x": {"open": {"a": {"b": 1}}}}}"#);
    let found = paths(&value.expect("JSON"));
    let left: Vec<String> =
        found.iter().filter(|path| !shape.iter().any(|key| key.covers(path))).map(ToString::to_string).collect();
    assert_eq!(left, ["list[].nmae"]);
    assert!(shape.iter().all(|key| found.iter().any(|path| key.is(path))));
    let twice = "## `suil a`\n\n| `b` | |\n| `b` | |\n\n## `suil a`\n";
    assert_eq!(Manual::parse(&format!("\n{twice}")).repeated(), ["`suil a`: `b`", "`suil a`"]);
    let none = paths(&Plain::from_json(r#"{"list": []}"#).expect("JSON"));
    assert_eq!(shape.iter().filter(|key| none.iter().any(|path| key.is(path))).count(), 0);
}
