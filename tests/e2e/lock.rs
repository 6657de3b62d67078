//! Two suil processes and one node.

use crate::fleet::{Ran, Workspace, on, there, until};
use std::process::{Child, Stdio};

const NODE: &str = "debian2";

/// A run that holds the lock until it is let go, under way.
fn holder(workspace: &Workspace) -> Child {
    on(NODE, "rm -rf /run/lock-begun /run/lock-ended /run/lock-after; touch /run/lock-hold");
    workspace.role("modules: [slow]\n");
    workspace.module(
        "slow",
        "Config = schema()\n",
        r#"
def resources(config):
    return [
        command("slow", run = "touch /run/lock-begun; while [ -e /run/lock-hold ]; do sleep 0.1; done; touch /run/lock-ended", creates = "/run/lock-ended"),
        file("/run/lock-after", content = "after"),
    ]
"#,
    );
    let mut command = workspace.command(&["apply", "--node", NODE, "--confirm", "--reason", "a test"]);
    command.env("USER", "anna");
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("suil starts");
    until("the first run begins", || there(NODE, "/run/lock-begun"));
    child
}

fn let_go() {
    on(NODE, "rm /run/lock-hold");
}

fn shown(workspace: &Workspace) -> String {
    workspace.suil(&["unlock", NODE, "--dry-run"]).expect(0).stdout
}

#[test]
#[ignore = "needs the fleet"]
fn the_second_is_refused_with_the_owner_and_the_time_of_the_first() {
    let workspace = Workspace::new(&[NODE]);
    let first = holder(&workspace);
    let second = workspace.suil(&["apply", "--node", NODE, "--confirm"]).expect(3);
    assert!(second.stderr.contains("is being changed by somebody else: anna@"), "{}", second.stderr);
    assert!(second.stderr.contains(": a test (suil apply --node debian2 --confirm), since 20"), "{}", second.stderr);
    assert!(second.stderr.contains(" ago\n"), "{}", second.stderr);
    assert_eq!(workspace.outcome(NODE), "not reached");
    assert!(shown(&workspace).contains("held  anna@"));
    let_go();
    Ran::of(first.wait_with_output().expect("an end")).expect(0);
    assert!(shown(&workspace).contains("not locked"));
}

#[test]
#[ignore = "needs the fleet"]
fn a_live_lock_that_is_taken_away_stops_its_holder_before_the_next_operation() {
    let workspace = Workspace::new(&[NODE]);
    let first = holder(&workspace);
    workspace.suil(&["unlock", NODE, "--confirm"]).expect(0);
    let_go();
    let first = Ran::of(first.wait_with_output().expect("an end")).expect(3);
    assert!(first.stderr.contains("the lock was taken away by "), "{}", first.stderr);
    assert_eq!(on(NODE, "ls /run/lock-ended /run/lock-after 2>/dev/null; true"), "/run/lock-ended\n");
    assert_eq!(on(NODE, "ls -d /run/suil* 2>/dev/null; true"), "");
}

#[test]
#[ignore = "needs the fleet"]
fn the_lock_of_a_session_that_was_killed_hard_is_stale_and_hinders_nobody() {
    let workspace = Workspace::new(&[NODE]);
    for unlock in [true, false] {
        let mut first = holder(&workspace);
        on(NODE, "kill -9 $(head -1 /run/suil.lock/owner | cut -d' ' -f1)");
        first.kill().expect("a kill");
        first.wait().expect("an end");
        assert!(shown(&workspace).contains("stale  anna@"), "{}", shown(&workspace));
        let_go();
        match unlock {
            true => assert!(workspace.suil(&["unlock", NODE, "--confirm"]).expect(0).stdout.contains("removed")),
            false => drop(workspace.suil(&["apply", "--node", NODE, "--confirm"]).expect(0)),
        }
        assert!(shown(&workspace).contains("not locked"));
    }
}

/// A reboot clears /run; so does this.
#[test]
#[ignore = "needs the fleet"]
fn after_a_reboot_nothing_is_locked() {
    let workspace = Workspace::new(&[NODE]);
    let mut first = holder(&workspace);
    on(NODE, "kill -9 $(head -1 /run/suil.lock/owner | cut -d' ' -f1); rm -rf /run/suil*");
    first.kill().expect("a kill");
    first.wait().expect("an end");
    assert!(shown(&workspace).contains("not locked"));
    assert!(workspace.suil(&["unlock", NODE]).expect(0).stdout.contains("not locked"));
    let_go();
    workspace.suil(&["apply", "--node", NODE, "--confirm"]).expect(0);
}
