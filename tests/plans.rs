//! Saved plans, on a node that is this machine: what is applied is what was planned, or nothing.

#![allow(clippy::disallowed_methods)]

#[path = "local/room.rs"]
mod room;

use room::{Ran, Room};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const MAIN: &str = r#"
def resources(config):
    conf = file("@/app.conf", content = render("app.j2", config), mode = "0640")
    return [
        file("@/motd", content = "welcome\n"),
        conf,
        command("load", run = "cat @/app.conf >>@/loaded", triggered_by = [conf]),
    ]

def deploy(config, facts, force):
    if config.beat:
        run("echo beat >>@/beats")
"#;

const SCHEMA: &str =
    "workers = t.int(default = 2), beat = t.bool(default = True), sites = t.list(t.string(), default = [])";

/// A workspace with two modules of which one has all that can move.
fn workspace() -> Room {
    let room = Room::new(&["app", "other"]);
    room.module("app", SCHEMA, MAIN);
    room.write("modules/app/templates/app.j2", "workers = {{ workers }}\n");
    room.module(
        "other",
        "text = t.string(default = \"x\"), unused = t.int(default = 1)",
        "def resources(config):\n    return [file(\"@/other\", content = config.text)]\n",
    );
    room.data("app:\n  workers: 4\n");
    room
}

/// Plans into `plan.json`.
#[track_caller]
fn plan(room: &Room, more: &[&str]) -> Ran {
    room.suil(&[&["plan", "--role", "demo", "--out", "plan.json"], more].concat()).expect(0)
}

#[track_caller]
fn apply(room: &Room, status: i32) -> Ran {
    room.suil(&["apply", "--plan", "plan.json", "--confirm"]).expect(status)
}

/// All that stands on the node: name and content of each file.
fn disk(room: &Room) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = fs::read_dir(room.node())
        .expect("a folder")
        .map(|entry| entry.expect("an entry"))
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name.clone(), room.there(&name))
        })
        .collect();
    all.sort();
    all
}

/// The plan is refused, each of `words` is said, and nothing on the node or in the record changed.
#[track_caller]
fn refused(room: &Room, words: &[&str]) -> Ran {
    let (before, runs) = (disk(room), room.path().join(".runs").read_dir().map(Iterator::count).unwrap_or(0));
    let ran = apply(room, 3);
    for word in words {
        assert!(ran.stderr.contains(word), "{word} in\n{}", ran.stderr);
    }
    assert_eq!(disk(room), before, "nothing is changed");
    assert_eq!(room.path().join(".runs").read_dir().map(Iterator::count).unwrap_or(0), runs, "no run is recorded");
    ran
}

fn titles(plan: &Value) -> Vec<String> {
    let operations = plan["nodes"][0]["operations"].as_array().expect("operations").iter();
    operations.map(|operation| operation["title"].as_str().expect("a title").to_owned()).collect()
}

fn file_of(room: &Room) -> Value {
    serde_json::from_str(&room.read("plan.json")).expect("JSON")
}

#[test]
fn exactly_the_operations_of_the_plan_are_performed() {
    let room = workspace();
    let planned = plan(&room, &[]);
    let mode = fs::metadata(room.path().join("plan.json")).expect("a file").permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    assert_eq!(disk(&room), []);
    let saved = file_of(&room);
    let ran = apply(&room, 0);
    assert_eq!(
        room.performed(),
        titles(&saved).iter().map(|t| t.replace(&room.node().display().to_string(), "@")).collect::<Vec<_>>()
    );
    assert_eq!(room.performed().len(), 5, "{:?}", room.performed());
    let shown = planned.stdout.find("  + write").and_then(|from| planned.stdout.get(from..)).expect("a plan");
    let shown = shown.split("plan: ").next().expect("a plan");
    assert!(ran.stdout.contains(shown), "the plan is shown again:\n{}", ran.stdout);
    assert_eq!(room.there("app.conf"), "workers = 4\n");
    let record: Value = serde_json::from_str(&room.read(".runs/latest/plan.json")).expect("JSON");
    assert_eq!(record["saved"]["sha256"], saved["sha256"]);
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(room.there("beats"), "beat\nbeat\n");
}
