//! Ctrl-C.

use crate::room::{Ran, Room, until};
use rustix::process::{Pid, Signal, kill_process};
use std::process::Child;

/// A room whose slow operation ends once `hold` is released.
fn room() -> Room {
    let room = Room::new(&["demo"]);
    room.spoil("hold", "");
    room.module(
        "demo",
        "",
        r#"
def resources(config):
    return [
        file("@/before", content = "before"),
        command("slow", run = "touch @/begun; while [ -e @/hold ]; do sleep 0.1; done; touch @/ended", creates = "@/ended"),
        file("@/after", content = "after"),
    ]
"#,
    );
    room
}

fn interrupt(child: &Child) {
    signal(child, Signal::INT);
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(child.id().try_into().expect("a number")).expect("a process");
    kill_process(pid, signal).expect("a signal");
}

/// As long as suil may need to notice a signal.
fn pause() {
    std::thread::sleep(std::time::Duration::from_millis(500));
}

#[test]
fn the_first_one_finishes_the_operation_in_flight_and_exits_130() {
    let room = room();
    let child = room.start(&["apply", "--role", "demo", "--confirm"]);
    until("the slow operation begins", || room.node().join("begun").exists());
    interrupt(&child);
    pause();
    room.release("hold");
    let ran = Ran::of(child.wait_with_output().expect("an end")).expect(130);
    assert!(room.node().join("ended").exists(), "what was in flight is finished");
    assert_eq!(room.there("after"), "none");
    assert!(ran.stderr.contains("stopped after 2 of 3 operations"), "{}", ran.stderr);
    assert!(ran.stdout.contains("here.example.com"), "the node has its last line: {}", ran.stdout);
    assert_eq!(room.performed().len(), 2);
    room.apply(&["--confirm"]).expect(0);
    assert_eq!((room.there("after"), room.performed().len()), ("after".into(), 1));
}

#[test]
fn the_second_one_stops_at_once() {
    let room = room();
    let mut child = room.start(&["apply", "--role", "demo", "--confirm"]);
    until("the slow operation begins", || room.node().join("begun").exists());
    interrupt(&child);
    // Two that come before suil looks count as one.
    while child.try_wait().expect("a child").is_none() {
        pause();
        interrupt(&child);
    }
    let ran = Ran::of(child.wait_with_output().expect("an end")).expect(130);
    assert!(!room.node().join("ended").exists());
    assert_eq!(room.outcome(), "in doubt");
    assert!(ran.stderr.contains("stopped in the middle of operation 2 of 3"), "{}", ran.stderr);
    let run = room.path().parent().expect("the room").join("run");
    until("the session ends", || std::fs::read_dir(&run).expect("a folder").count() == 0);
    room.release("hold");
    pause();
    assert!(!room.node().join("ended").exists(), "what ran on the node was ended with its session");
}

/// What a service manager or a cancelled job of a CI sends.
#[test]
fn a_sigterm_finishes_the_operation_in_flight_too() {
    let room = room();
    let child = room.start(&["apply", "--role", "demo", "--confirm"]);
    until("the slow operation begins", || room.node().join("begun").exists());
    signal(&child, Signal::TERM);
    pause();
    room.release("hold");
    Ran::of(child.wait_with_output().expect("an end")).expect(130);
    assert!(room.node().join("ended").exists() && room.there("after") == "none");
    assert_eq!(room.outcome(), "failed");
}

/// The wish came while the plan was made: the guard of a command is asked for two seconds.
#[test]
fn a_run_that_is_stopped_before_it_changes_anything_says_so() {
    let room = Room::new(&["demo"]);
    let main = r#"
def resources(config):
    return [file("@/one", content = "1"), command("x", run = "true", unless = "touch @/asked; sleep 2; false")]
"#;
    room.module("demo", "", main);
    let child = room.start(&["apply", "--role", "demo", "--confirm"]);
    until("the guard is asked", || room.node().join("asked").exists());
    interrupt(&child);
    let ran = Ran::of(child.wait_with_output().expect("an end")).expect(130);
    assert!(ran.stderr.starts_with("suil: "), "{}", ran.stderr);
    assert_eq!(room.there("one"), "none");
}
