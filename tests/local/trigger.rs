//! A trigger fires once, after the last change that asks for it, and is never lost.

use crate::room::{NODE, Room, until};

const MAIN: &str = r#"
def resources(config):
    one = file("@/one", content = config.text)
    two = file("@/two", content = config.text)
    return [
        one,
        command("react", run = "cat @/one @/two | tr -d '\n' >>@/log; echo >>@/log", triggered_by = [one, two]),
        two,
        command("hurdle", run = "test -e @/open", unless = "test -e @/open"),
        command("last", run = "echo last >>@/log", triggered_by = [two]),
    ]
"#;

const KILLED: &str = r#"
def resources(config):
    one = file("@/one", content = "1")
    return [
        one,
        command("slow", run = "touch @/begun; sleep 3", unless = "test -e @/begun"),
        command("react", run = "echo reacted >>@/log", triggered_by = [one]),
    ]
"#;

fn room() -> Room {
    let room = Room::new(&["demo"]);
    room.module("demo", "text = t.string(default = \"a\")", MAIN);
    room
}

#[test]
fn a_trigger_fires_once_after_the_last_change_that_asks_for_it() {
    let room = room();
    room.spoil("open", "");
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(room.there("log"), "aa\nlast\n");
    room.data("demo: {text: b}\n");
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(room.there("log"), "aa\nlast\nbb\nlast\n");
    room.spoil("one", "x");
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(room.there("log"), "aa\nlast\nbb\nlast\nbb\n", "`last` waits for the other file");
}

#[test]
fn what_a_failed_run_still_owes_is_done_by_the_next_one() {
    let room = room();
    let failed = room.apply(&["--confirm"]).expect(1);
    assert!(failed.stderr.contains("`run hurdle`, failed"), "{}", failed.stderr);
    assert_eq!(room.there("log"), "aa\n");
    let owed = room.yaml(&format!("facts/{NODE}/demo.yaml"))["owed"].clone();
    assert!(owed["command last"].as_str().is_some_and(|why| why.contains("write")), "{owed}");

    room.spoil("open", "");
    let dry = room.apply(&["--dry-run", "--output", "json"]).expect(0);
    assert!(dry.stdout.contains("\"owed\": \"`"), "{}", dry.stdout);
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(room.performed(), ["run last"]);
    assert_eq!(room.there("log"), "aa\nlast\n");
    assert!(room.yaml(&format!("facts/{NODE}/demo.yaml"))["owed"].is_null());
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(room.outcome(), "nothing to do");
}

#[test]
fn what_a_killed_run_still_owes_is_done_by_the_next_one() {
    let room = Room::new(&["demo"]);
    room.module("demo", "", KILLED);
    let mut child = room.start(&["apply", "--role", "demo", "--confirm"]);
    until("the slow operation begins", || room.node().join("begun").exists());
    child.kill().expect("a kill");
    child.wait().expect("an end");
    assert_eq!((room.there("one"), room.there("log")), ("1".into(), "none".into()));
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(room.there("log"), "reacted\n");
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(room.outcome(), "nothing to do");
}

/// The guard of a command is asked before the run, but what the command needs may turn it.
#[test]
fn a_guard_is_asked_again_after_what_the_command_needs() {
    let room = Room::new(&["demo"]);
    let main = r#"
def resources(config):
    one = file("@/one", content = config.text)
    return [one, command("copy", run = "cp @/one @/two", unless = "cmp -s @/one @/two"%s)]
"#;
    let schema = "text = t.string(default = \"a\")";
    room.module("demo", schema, &main.replace("%s", ", needs = [one]"));
    room.apply(&["--confirm"]).expect(0);
    room.data("demo: {text: b}\n");
    let dry = room.apply(&["--dry-run"]).expect(0);
    assert!(dry.stdout.contains("run copy") && dry.stdout.contains("judged then: it runs only if"), "{}", dry.stdout);
    room.apply(&["--confirm"]).expect(0);
    assert_eq!((room.there("two"), room.performed().len()), ("b".into(), 2));
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(room.outcome(), "nothing to do");

    room.module("demo", schema, &main.replace("%s", ""));
    room.data("demo: {text: c}\n");
    let failed = room.apply(&["--confirm"]).expect(1);
    assert!(failed.stderr.contains("its guard says that it still has to run"), "{}", failed.stderr);
    assert!(failed.stderr.contains("name in `needs` what turns them"), "{}", failed.stderr);
}

/// The file is one module's, the command that reacts to it another's.
#[test]
fn what_a_run_of_one_module_asks_of_another_is_owed() {
    let room = Room::new(&["files", "reacts"]);
    room.module("files", "", "def resources(config):\n    return [file(\"@/one\", content = \"1\")]\n");
    let reacts = r#"
def resources(config):
    return [command("react", run = "echo reacted >>@/log", triggered_by = ["file @/one"])]
"#;
    room.module("reacts", "", reacts);
    room.apply(&["--module", "files", "--confirm"]).expect(0);
    assert_eq!((room.there("one"), room.there("log")), ("1".into(), "none".into()));
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(room.there("log"), "reacted\n");
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(room.outcome(), "nothing to do");
    // With facts of its own, they stay.
    room.spoil("one", "2");
    room.apply(&["--module", "files", "--confirm"]).expect(0);
    let facts = room.yaml(&format!("facts/{NODE}/reacts.yaml"));
    assert!(facts["signature"].is_string() && facts["owed"]["command react"].is_string(), "{facts}");
    room.apply(&["--module", "reacts", "--confirm"]).expect(0);
    assert_eq!(room.there("log"), "reacted\nreacted\n");
}

/// Another control machine: the same data, and neither facts nor runs.
fn elsewhere(room: &Room) {
    for folder in ["facts", ".runs"] {
        std::fs::remove_dir_all(room.path().join(folder)).expect("it was there");
    }
}

#[test]
fn another_control_machine_finds_what_a_failed_run_still_owes() {
    let room = room();
    room.apply(&["--confirm"]).expect(1);
    elsewhere(&room);
    let dry = room.apply(&["--dry-run"]).expect(0);
    assert!(dry.stdout.contains("owed: `write "), "{}", dry.stdout);
    elsewhere(&room);
    room.spoil("open", "");
    room.apply(&["--confirm"]).expect(0);
    assert_eq!((room.performed(), room.there("log")), (vec!["run last".to_owned()], "aa\nlast\n".into()));
    elsewhere(&room);
    room.apply(&["--confirm"]).expect(0);
    assert_eq!((room.outcome().as_str(), room.state()), ("nothing to do", "none".into()));
}

#[test]
fn another_control_machine_finds_what_a_killed_run_still_owes() {
    let room = Room::new(&["demo"]);
    room.module("demo", "", KILLED);
    let mut child = room.start(&["apply", "--role", "demo", "--confirm"]);
    until("the slow operation begins", || room.node().join("begun").exists());
    child.kill().expect("a kill");
    child.wait().expect("an end");
    elsewhere(&room);
    room.apply(&["--confirm"]).expect(0);
    assert_eq!((room.there("log"), room.state()), ("reacted\n".into(), "none".into()));
}

/// What facts/ of the first machine say is old by then.
#[test]
fn what_another_machine_has_paid_is_owed_no_more() {
    let room = room();
    room.apply(&["--confirm"]).expect(1);
    let kept = room.path().join("kept");
    std::fs::rename(room.path().join("facts"), &kept).expect("a name");
    room.spoil("open", "");
    room.apply(&["--confirm"]).expect(0);
    std::fs::remove_dir_all(room.path().join("facts")).expect("it was there");
    std::fs::rename(&kept, room.path().join("facts")).expect("a name");
    room.apply(&["--confirm"]).expect(0);
    assert_eq!((room.outcome().as_str(), room.there("log")), ("nothing to do", "aa\nlast\n".into()));
    assert!(room.yaml(&format!("facts/{NODE}/demo.yaml"))["owed"].is_null());
}

#[test]
fn another_control_machine_finds_what_a_run_of_one_module_asked_of_another() {
    let room = Room::new(&["files", "reacts"]);
    room.module("files", "", "def resources(config):\n    return [file(\"@/one\", content = \"1\")]\n");
    let reacts = r#"
def resources(config):
    return [command("react", run = "echo reacted >>@/log", triggered_by = ["file @/one"])]
"#;
    room.module("reacts", "", reacts);
    room.apply(&["--module", "files", "--confirm"]).expect(0);
    elsewhere(&room);
    room.apply(&["--module", "files", "--confirm"]).expect(0);
    assert!(room.state().contains("reacts\tcommand react\t"), "left for the module that it is of: {}", room.state());
    elsewhere(&room);
    room.apply(&["--confirm"]).expect(0);
    assert_eq!((room.there("log"), room.state()), ("reacted\n".into(), "none".into()));
}

/// The module no longer has what owes.
#[test]
fn a_debt_of_what_is_gone_is_forgotten() {
    let room = room();
    room.apply(&["--confirm"]).expect(1);
    assert!(room.state().contains("demo\tcommand last\t"), "{}", room.state());
    room.module("demo", "text = t.string(default = \"a\")", "def resources(config):\n    return []\n");
    room.apply(&["--confirm"]).expect(0);
    assert_eq!((room.outcome().as_str(), room.state()), ("nothing to do", "none".into()));
}
