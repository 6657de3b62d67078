//! Commands and sessions on real nodes.

use crate::fleet::{Workspace, on, until};
use std::time::{Duration, Instant};

const NODES: [&str; 3] = ["debian1", "debian2", "debian3"];

#[test]
#[ignore = "needs the fleet"]
fn a_command_runs_as_root_or_as_the_login_user_on_all_nodes_at_once() {
    let workspace = Workspace::new(&NODES);
    workspace.role("modules: [nowhere]\n");
    let begun = Instant::now();
    let ran =
        workspace.suil(&["run", "--role", "web", "--", "sleep 4; id -un; pwd; echo $PATH | cut -c1-15"]).expect(0);
    assert!(begun.elapsed() < Duration::from_secs(12), "{:?}", begun.elapsed());
    assert_eq!(ran.stdout, "debian[1-3] (3 nodes)\nroot\n/\n/usr/local/sbin\n\n3 nodes: 3 done\n");
    let ran = workspace.suil(&["run", "--role", "web", "--no-sudo", "--", "id", "-un"]).expect(0);
    assert!(ran.stdout.contains("\ndeploy\n"), "{}", ran.stdout);
}

#[test]
#[ignore = "needs the fleet"]
fn a_node_that_is_not_reached_is_another_thing_than_a_command_that_fails() {
    let workspace = Workspace::new(&NODES);
    workspace.role("");
    workspace.node("gone", "10.255.255.1", "  connect_timeout: 2s\n");
    let ran = workspace.suil(&["run", "--node", "*", "--", "test \"$(hostname)\" != debian2"]).expect(1);
    assert!(ran.stdout.contains("debian2  exit 1\n"), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("4 nodes: 2 done, 1 failed, 1 not reached\n"), "{}", ran.stdout);
    assert!(ran.stderr.contains("node `gone` is unreachable"), "{}", ran.stderr);
}

#[test]
#[ignore = "needs the fleet"]
fn an_interrupt_ends_the_command_on_every_node() {
    let workspace = Workspace::new(&NODES);
    workspace.role("");
    let mut command = workspace.command(&["run", "--role", "web", "--", "sleep", "4321"]);
    let child =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().expect("suil");
    let sleeps = || NODES.map(|node| on(node, "pgrep -cx -f 'sleep 432[1]' || true").trim().to_owned());
    until("it runs everywhere", || sleeps() == ["1", "1", "1"]);
    let pid = rustix::process::Pid::from_raw(child.id().try_into().expect("a number")).expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("a signal");
    let output = child.wait_with_output().expect("an end");
    assert_eq!(output.status.code(), Some(130));
    until("it is ended everywhere", || sleeps() == ["0", "0", "0"]);
}

#[test]
#[ignore = "needs the fleet"]
fn ssh_reaches_a_node_as_suil_does() {
    let workspace = Workspace::new(&NODES);
    workspace.role("");
    let ran = workspace.suil(&["ssh", "debian2", "--", "hostname; id -un; exit 9"]).expect(9);
    assert_eq!(ran.stdout, "debian2\ndeploy\n");
    let line = workspace.suil(&["ssh", "*3", "--print"]).expect(0).stdout;
    assert!(line.starts_with("ssh -o ") && line.contains("ControlPath=") && line.contains(" -- deploy@"), "{line}");
    workspace.suil(&["ssh", "debian*"]).expect(64);
}
