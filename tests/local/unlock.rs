//! The lock of a node that is looked at and taken away.

use crate::room::{NODE, Ran, Room, until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::fs;

const MAIN: &str = r#"
def resources(config):
    return [
        command("slow", run = "touch @/begun; while [ -e @/hold ]; do sleep 0.1; done; touch @/ended", creates = "@/ended"),
        file("@/after", content = "after"),
    ]
"#;

/// A room and a run in it that holds the lock until `hold` is released.
fn held() -> (Room, std::process::Child) {
    let mut room = Room::new(&["demo"]);
    room.spoil("hold", "");
    room.set("USER", "anna");
    room.module("demo", "", MAIN);
    let first = room.start(&["apply", "--role", "demo", "--confirm", "--reason", "new disk"]);
    until("the slow operation begins", || room.node().join("begun").exists());
    (room, first)
}

#[test]
fn a_lock_is_shown_with_its_holder_and_nothing_is_asked_where_there_is_none() {
    let (room, first) = held();
    let shown = room.suil(&["unlock", NODE, "--dry-run"]).expect(0).stdout;
    assert!(
        shown.contains("  held  anna@") && shown.contains(": new disk (suil apply --role demo --confirm)"),
        "{shown}"
    );
    assert!(shown.contains(", since 20") && shown.contains(" s ago"), "{shown}");
    let refused = room.suil(&["unlock", NODE]).expect(64);
    assert!(refused.stderr.contains("--confirm"), "{}", refused.stderr);
    room.release("hold");
    Ran::of(first.wait_with_output().expect("an end")).expect(0);
    assert!(room.suil(&["unlock", NODE]).expect(0).stdout.contains("not locked"));
    room.suil(&["unlock"]).expect(64);
}

#[test]
fn a_run_that_lost_its_lock_finishes_what_it_does_and_begins_nothing_more() {
    let (room, first) = held();
    let ran = room.suil(&["unlock", NODE, "--confirm", "--reason", "it hangs", "--output", "json"]).expect(0);
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let node = &value["nodes"][0];
    assert_eq!(json!([node["node"], node["lock"], node["alive"]]), json!([NODE, "removed", true]));
    room.release("hold");
    let lost = Ran::of(first.wait_with_output().expect("an end"));
    assert!(lost.stderr.contains("the lock was taken away by anna@"), "{}", lost.stderr);
    assert!(lost.stderr.contains(": it hangs (suil unlock"), "{}", lost.stderr);
    assert_eq!(lost.status, 3, "{}", lost.stderr);
    assert!(room.node().join("ended").exists() && room.there("after") == "none");
    assert_eq!(room.outcome(), "failed");
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(room.there("after"), "after");
}

/// The lock of the next run is its own: the end of the one that lost it must not take it along.
#[test]
fn the_end_of_a_run_that_lost_its_lock_leaves_that_of_the_next() {
    let (room, first) = held();
    room.suil(&["unlock", NODE, "--confirm"]).expect(0);
    room.spoil("on", "");
    let script =
        "touch @/second; while [ -e @/on ]; do sleep 0.1; done".replace('@', &room.node().display().to_string());
    let second = room.start(&["run", "--node", NODE, "--lock", "--", &script]);
    until("the second holds the lock", || room.node().join("second").exists());
    room.release("hold");
    first.wait_with_output().expect("an end");
    let shown = room.suil(&["unlock", NODE, "--dry-run"]).expect(0).stdout;
    assert!(shown.contains("  held  anna@") && shown.contains("suil run --node"), "{shown}");
    room.release("on");
    Ran::of(second.wait_with_output().expect("an end")).expect(0);
}

#[test]
fn a_lock_whose_session_was_killed_is_stale() {
    let (room, mut first) = held();
    let folder = fs::read_dir(room.path().parent().expect("the room").join("run")).expect("a folder");
    let lock = folder.flatten().map(|entry| entry.path()).find(|path| path.extension().is_some_and(|e| e == "lock"));
    let owner = fs::read_to_string(lock.expect("a lock").join("owner")).expect("its owner");
    let session = owner.split(' ').next().and_then(|number| number.parse().ok()).and_then(Pid::from_raw);
    kill_process(session.expect("a process"), Signal::KILL).expect("a kill");
    room.release("hold");
    first.wait().expect("an end");
    let shown = room.suil(&["unlock", NODE, "--dry-run"]).expect(0).stdout;
    assert!(shown.contains("  stale  anna@"), "{shown}");
    assert!(room.suil(&["unlock", NODE, "--confirm"]).expect(0).stdout.contains("  removed  anna@"));
    assert!(room.suil(&["unlock", NODE]).expect(0).stdout.contains("not locked"));
}
