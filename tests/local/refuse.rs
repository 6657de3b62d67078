//! What fails a run, and what is left then.

use crate::room::{NODE, Ran, Room, until};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn nothing_runs_after_a_failed_operation_and_the_record_is_there() {
    let room = Room::new(&["first", "second"]);
    room.module(
        "first",
        "",
        r#"
def resources(config):
    return [
        file("@/before", content = "before"),
        command("middle", run = "echo to stdout; echo it broke >&2; exit 3", unless = "false"),
        file("@/after", content = "after"),
    ]
"#,
    );
    room.module("second", "", "def resources(config):\n    return [file(\"@/other\", content = \"other\")]\n");
    let failed = room.apply(&["--confirm"]).expect(1);
    assert_eq!(
        (room.there("before"), room.there("after"), room.there("other")),
        ("before".into(), "none".into(), "none".into())
    );
    for words in [
        "suil: node `here.example.com`: operation 2 of 4, `run middle`, failed\n",
        "--> modules/first/code/main.star:5:9",
        "note: here.example.com: it broke",
        "help: mend the cause",
    ] {
        assert!(failed.stderr.contains(words), "{words} in\n{}", failed.stderr);
    }
    assert!(failed.stdout.contains("here.example.com  failed  1 of 4 operations"), "{}", failed.stdout);
    assert_eq!(room.performed().len(), 2, "{:?}", room.performed());
    let summary = room.yaml(".runs/latest/summary.yaml")["nodes"][NODE].clone();
    assert_eq!(
        (summary["outcome"].clone(), summary["operations"].clone(), summary["planned"].clone()),
        (json!("failed"), json!(1), json!(4))
    );
    let facts = room.yaml(&format!("facts/{NODE}/first.yaml"));
    assert!(facts["facts"]["files"][room.node().join("before").to_str().expect("UTF-8")].is_string(), "{facts}");
    assert!(facts["signature"].is_null(), "it was not applied: {facts}");
}

#[test]
fn what_check_finds_fails_the_run() {
    let room = Room::new(&["demo"]);
    room.module(
        "demo",
        "",
        r#"
def resources(config):
    return [file("@/f", content = "f")]

def check(config, facts):
    return ["the moon is full"]
"#,
    );
    for _ in 0..2 {
        let failed = room.apply(&["--confirm"]).expect(1);
        assert!(failed.stderr.contains("the moon is full"), "{}", failed.stderr);
        assert_eq!(room.outcome(), "failed");
    }
    assert_eq!(room.there("f"), "f");
}

#[test]
fn drift_after_an_apply_fails_the_run() {
    let room = Room::new(&["demo"]);
    room.module(
        "demo",
        "",
        r#"
def resources(config):
    conf = file("@/f", content = "f\n")
    return [conf, command("reset", run = "echo g >@/f", triggered_by = [conf])]
"#,
    );
    let failed = room.apply(&["--confirm"]).expect(1);
    assert!(failed.stderr.contains("drifted: `file "), "{}", failed.stderr);
    assert!(failed.stderr.contains("modules/demo/code/main.star:3:"), "{}", failed.stderr);
    assert_eq!(room.outcome(), "failed");
}

#[test]
fn two_modules_that_claim_one_path_differently_fail_with_both_places() {
    let room = Room::new(&["one", "two"]);
    for name in ["one", "two"] {
        let main = format!("def resources(config):\n    return [file(\"@/f\", content = \"{name}\")]\n");
        room.module(name, "", &main);
    }
    let failed = room.apply(&["--confirm"]).expect(1);
    for words in ["`one`", "`two`", "modules/one/code/main.star:2:", "modules/two/code/main.star:2:"] {
        assert!(failed.stderr.contains(words), "{words} in\n{}", failed.stderr);
    }
    assert_eq!(room.there("f"), "none");
    room.module("two", "", "def resources(config):\n    return [file(\"@/f\", content = \"one\")]\n");
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(room.there("f"), "one");
}

#[test]
fn without_a_terminal_nothing_is_asked_and_nothing_is_changed() {
    let room = Room::new(&["demo"]);
    room.module("demo", "", "def resources(config):\n    return [file(\"@/f\", content = \"f\")]\n");
    let refused = room.apply(&[]);
    assert_ne!(refused.status, 0, "{refused:?}");
    assert!(refused.stderr.contains("--confirm") && refused.stderr.contains("--dry-run"), "{}", refused.stderr);
    let alone = room.suil(&[]);
    assert_ne!(alone.status, 0, "{alone:?}");
    assert!(alone.stderr.contains("suil apply --role"), "{}", alone.stderr);
    assert_eq!(room.there("f"), "none");
    assert!(!room.path().join(".runs").exists());
}

#[test]
fn a_selection_of_nothing_is_refused() {
    let room = Room::new(&["demo"]);
    room.module("demo", "", "def resources(config):\n    return []\n");
    room.suil(&["apply", "--confirm"]).expect(64);
    let unknown = room.suil(&["apply", "--confirm", "--role", "dmeo"]).expect(1);
    assert!(unknown.stderr.contains("did you mean `demo`"), "{}", unknown.stderr);
}

#[test]
fn a_file_that_cannot_be_written_is_said_in_the_nodes_words() {
    let room = Room::new(&["demo"]);
    room.module("demo", "", "def resources(config):\n    return [file(\"/proc/version\", content = \"f\")]\n");
    let failed = room.apply(&["--confirm"]).expect(1);
    assert!(failed.stderr.contains("/proc/version"), "{}", failed.stderr);
    assert!(!failed.stderr.contains("os error"), "{}", failed.stderr);
    assert!(fs::read_dir(room.path().join(".runs")).expect("a record").count() > 0);
}

/// Two operators cannot change one node at once, and looking at it is no change.
#[test]
fn a_node_that_somebody_else_changes_is_refused_and_says_who() {
    let mut room = Room::new(&["demo"]);
    room.set("USER", "anna");
    let main = r#"
def resources(config):
    return [command("slow", run = "touch @/begun; while [ -e @/hold ]; do sleep 0.1; done; touch @/ended", creates = "@/ended")]
"#;
    room.module("demo", "", main);
    room.spoil("hold", "");
    let first = room.start(&["apply", "--role", "demo", "--confirm"]);
    until("the slow operation begins", || room.node().join("begun").exists());
    let dry = room.apply(&["--dry-run"]).expect(0);
    assert!(dry.stdout.contains("run slow"), "{}", dry.stdout);
    let second = room.apply(&["--confirm"]).expect(3);
    assert!(second.stderr.contains("is being changed by somebody else: anna@"), "{}", second.stderr);
    assert!(second.stderr.contains("suil apply --role demo --confirm, since 20"), "{}", second.stderr);
    assert_eq!(room.outcome(), "not reached");
    room.release("hold");
    Ran::of(first.wait_with_output().expect("an end")).expect(0);
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(room.outcome(), "nothing to do");
}

/// What a killed run holds is let go within moments, so that the next one waits for it.
#[test]
fn the_lock_of_a_killed_run_is_waited_for() {
    let room = Room::new(&["demo"]);
    let main = r#"
def resources(config):
    return [command("slow", run = "[ -e @/begun ] || { touch @/begun; sleep 8; }; touch @/ended", creates = "@/ended")]
"#;
    room.module("demo", "", main);
    let mut first = room.start(&["apply", "--role", "demo", "--confirm"]);
    until("the slow operation begins", || room.node().join("begun").exists());
    first.kill().expect("a kill");
    first.wait().expect("an end");
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(room.outcome(), "done");
}

/// The node was reached, so it is not its address that is wrong.
#[test]
fn an_upload_that_cannot_be_stored_points_at_the_resource() {
    let room = Room::new(&["demo"]);
    room.module("demo", "", "def resources(config):\n    return [file(\"@/closed/x\", content = \"x\")]\n");
    let closed = room.node().join("closed");
    fs::create_dir(&closed).expect("a folder");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).expect("its mode");
    let ran = room.apply(&["--confirm"]).expect(1);
    assert!(ran.stderr.contains("cannot store an upload"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--> modules/demo/code/main.star:2:13"), "{}", ran.stderr);
}

/// A node that says nothing of its address was told to be wrong where the login user stands.
#[test]
fn a_node_without_an_address_is_told_where_it_is_named_and_a_login_where_the_user_is() {
    use std::os::unix::fs::PermissionsExt;
    let mut room = Room::new(&[]);
    let common = "deployment:\n  ssh_user: deploy\nhierarchy: [\"roles/{role}.yaml\", \"nodes/{node}.yaml\"]\n";
    room.write("data/common.yaml", common);
    room.set("PATH", &format!("{}/bin:/usr/bin:/bin", room.path().display()));
    let says = |words: &str| {
        let ssh = room.path().join("bin/ssh");
        room.write("bin/ssh", &format!("#!/bin/sh\necho '{words}' >&2\nexit 255\n"));
        std::fs::set_permissions(&ssh, std::fs::Permissions::from_mode(0o755)).expect("a program");
        room.apply(&["--dry-run"]).expect(1).stderr
    };
    let told = says("ssh: Could not resolve hostname here.example.com: Name or service not known");
    let want = "\
suil: node `here.example.com` is unreachable: no address for the name `here.example.com`
 --> data/nodes/here.example.com.yaml:1:1
  |
1 | role: demo
  | ^ expected `ssh_host` in `deployment`, unless the name is the address
";
    assert!(told.starts_with(want), "{told}");
    let told = says("Permission denied (publickey).");
    assert!(told.contains("\n --> data/common.yaml:2:13\n"), "{told}");
    room.data("deployment: {ssh_host: 192.0.2.7}\n");
    let told = says("ssh: connect to host 192.0.2.7 port 22: No route to host");
    assert!(told.contains("no route to 192.0.2.7:22\n --> data/nodes/here.example.com.yaml:2:24\n"), "{told}");
    assert!(told.contains("^ expected an SSH server here"), "{told}");
}
