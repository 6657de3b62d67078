//! An apply, the one after it, and what a dry run promises.

use crate::room::{NODE, Room};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const MAIN: &str = r#"
def resources(config):
    conf = file("@/app/conf", content = "size = %d\n" % config.size, mode = "0640")
    return [
        directory("@/app", mode = "0750"),
        conf,
        link("@/app/current", target = "conf"),
        line("@/app/list", line = "SIZE=%d" % config.size, match = "^SIZE=", create = True),
        block("@/app/hosts", marker = "demo", content = "192.0.2.1 demo\n", create = True),
        command("note", run = "cp @/app/conf @/app/noted", creates = "@/app/noted"),
        command("count", run = "echo once >>@/app/count", triggered_by = [conf]),
    ]
"#;

fn room() -> Room {
    let room = Room::new(&["demo"]);
    room.module("demo", "size = t.int(default = 64)", MAIN);
    room
}

/// `id title` of each planned operation.
fn planned(plan: &str) -> Vec<(u64, String)> {
    let plan: Value = serde_json::from_str(plan).expect("a plan");
    assert_eq!(plan["nodes"][0]["node"], NODE);
    let operations = plan["nodes"][0]["operations"].as_array().expect("operations").iter();
    operations.map(|o| (o["id"].as_u64().expect("an id"), o["title"].as_str().expect("a title").to_owned())).collect()
}

fn mode(room: &Room, path: &str) -> u32 {
    fs::metadata(room.node().join(path)).expect("it is there").permissions().mode() & 0o7777
}

#[test]
fn what_a_dry_run_prints_is_what_an_apply_does_and_a_second_apply_does_nothing() {
    let room = room();
    let dry = room.apply(&["--dry-run", "--output", "json"]).expect(0);
    assert!(!room.node().join("app").exists(), "a dry run changes nothing");
    assert_eq!(room.outcome(), "planned");
    room.apply(&["--confirm"]).expect(0);
    let ended = room.events().into_iter().filter(|event| event["event"] == "ended");
    let performed: Vec<(u64, String)> = ended
        .map(|e| (e["operation"].as_u64().expect("an id"), e["title"].as_str().expect("a title").to_owned()))
        .collect();
    assert_eq!(planned(&dry.stdout), performed);
    assert_eq!(performed.len(), 7, "{performed:?}");
    assert_eq!(planned(&room.read(".runs/latest/plan.json")), performed);
    assert_eq!(
        (room.there("app/conf"), mode(&room, "app/conf"), mode(&room, "app")),
        ("size = 64\n".into(), 0o640, 0o750)
    );
    assert_eq!((room.there("app/noted"), room.there("app/count")), ("size = 64\n".into(), "once\n".into()));
    assert_eq!(fs::read_link(room.node().join("app/current")).expect("a link").to_str(), Some("conf"));

    let stamp = |path: &str| fs::symlink_metadata(room.node().join(path)).expect("it is there");
    let before = ["app", "app/conf", "app/list", "app/hosts", "app/current", "app/noted"].map(stamp);
    let again = room.apply(&["--confirm"]).expect(0);
    assert_eq!(room.performed(), Vec::<String>::new());
    assert_eq!(room.outcome(), "nothing to do");
    assert!(again.stdout.contains("Nothing to apply."), "{}", again.stdout);
    let after = ["app", "app/conf", "app/list", "app/hosts", "app/current", "app/noted"].map(stamp);
    for (before, after) in before.iter().zip(&after) {
        use std::os::unix::fs::MetadataExt;
        assert_eq!(
            (before.ino(), before.ctime(), before.ctime_nsec()),
            (after.ino(), after.ctime(), after.ctime_nsec())
        );
    }
}

#[test]
fn a_spoiled_file_is_shown_with_its_diff_and_repaired() {
    let room = room();
    room.apply(&["--confirm"]).expect(0);
    room.spoil("app/conf", "spoiled\n");
    fs::set_permissions(room.node().join("app/conf"), fs::Permissions::from_mode(0o666)).expect("a mode");
    let found = room.apply(&["--dry-run", "--detailed-exitcode"]).expect(2);
    for words in ["-spoiled", "+size = 64", "0666", "0640"] {
        assert!(found.stdout.contains(words), "{words} in\n{}", found.stdout);
    }
    assert_eq!(room.there("app/conf"), "spoiled\n");
    room.apply(&["--confirm"]).expect(0);
    assert_eq!((room.there("app/conf"), mode(&room, "app/conf")), ("size = 64\n".into(), 0o640));
    assert_eq!(room.there("app/count"), "once\nonce\n");
    room.apply(&["--dry-run", "--detailed-exitcode"]).expect(0);
}

#[test]
fn force_asserts_every_resource_even_where_nothing_differs() {
    let room = room();
    room.apply(&["--confirm"]).expect(0);
    let forced = room.apply(&["--confirm", "--force"]).expect(0);
    let performed = room.performed();
    assert!(performed.iter().any(|title| title.contains("@/app/conf")), "{performed:?}\n{}", forced.stdout);
    assert_eq!(room.outcome(), "done");
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(room.outcome(), "nothing to do");
}

#[test]
fn only_the_named_modules_are_applied() {
    let room = Room::new(&["one", "two"]);
    for name in ["one", "two"] {
        let main = format!("def resources(config):\n    return [file(\"@/{name}\", content = \"{name}\")]\n");
        room.module(name, "", &main);
    }
    room.apply(&["--confirm", "--module", "two"]).expect(0);
    assert_eq!((room.there("one"), room.there("two")), ("none".into(), "two".into()));
    let unknown = room.apply(&["--confirm", "--module", "tow"]).expect(1);
    assert!(unknown.stderr.contains("did you mean `two`"), "{}", unknown.stderr);
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(room.there("one"), "one");
}

#[test]
fn an_absent_file_is_removed_and_a_folder_in_its_way_is_not() {
    let room = Room::new(&["gone"]);
    room.module("gone", "", "def resources(config):\n    return [file(\"@/old\", ensure = \"absent\")]\n");
    room.spoil("old", "old\n");
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(room.there("old"), "none");
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(room.outcome(), "nothing to do");
    fs::create_dir(room.node().join("old")).expect("a folder");
    let refused = room.apply(&["--confirm"]).expect(1);
    assert!(refused.stderr.contains("modules/gone/code/main.star:2:"), "{}", refused.stderr);
    assert!(room.node().join("old").is_dir());
}

/// What opens the secrets of the workspace is suil's alone: an operation would inherit it, and ssh would send it on.
#[test]
fn the_keys_of_the_environment_do_not_reach_what_suil_starts() {
    let mut room = Room::new(&["demo"]);
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/data-example/demo-key.txt");
    room.set("SUIL_AGE_KEY", &fs::read_to_string(demo).expect("the demo key"));
    room.set("SUIL_SUDO_PASSWORD", "canary-word");
    let main = r#"
def resources(config):
    return [command("look", run = "env >@/env", creates = "@/env")]
"#;
    room.module("demo", "", main);
    room.apply(&["--confirm"]).expect(0);
    let there = room.there("env");
    assert!(there.contains("PATH=") && !there.contains("SUIL_") && !there.contains("canary"), "{there}");
}
