//! Plans that are saved on one machine and applied from another.

use crate::apply::{CONFIG, MAIN, performed, planned, reset};
use crate::fleet::{Workspace, address, change, on, wait_for_sshd};
use serde_json::Value;
use std::fs;

const NODES: [&str; 2] = ["debian1", "debian2"];

fn workspace() -> Workspace {
    let workspace = Workspace::new(&NODES);
    workspace.role("modules: [e2e]\n");
    workspace.module("e2e", CONFIG, MAIN);
    for node in NODES {
        reset(node);
    }
    workspace
}

/// A plan of the role, in `plan.json`; what it lists comes back as `node id title`.
fn plan(workspace: &Workspace) -> Vec<String> {
    let ran = workspace.suil(&["plan", "--role", "web", "--out", "plan.json", "--output", "json"]).expect(0);
    planned(&ran.stdout)
}

fn apply(workspace: &Workspace, status: i32) -> crate::fleet::Ran {
    workspace.suil(&["apply", "--plan", "plan.json", "--confirm"]).expect(status)
}

/// What changed on the nodes since `mark`.
fn touched() -> String {
    let find = "find /etc /opt /srv /home -xdev -newer /root/mark ! -path '/home/*/.bash_history' ! -path '/home/*'";
    NODES.iter().map(|node| on(node, find)).collect()
}

fn mark() {
    for node in NODES {
        on(node, "touch /root/mark; sleep 0.1");
    }
}

#[test]
#[ignore = "needs the fleet"]
fn another_control_machine_does_exactly_what_was_planned() {
    let workspace = workspace();
    let titles = plan(&workspace);
    assert!(titles.len() > 20, "{titles:?}");
    // A checkout that never saw the nodes, a moment later.
    for folder in ["facts", ".runs"] {
        fs::remove_dir_all(workspace.path().join(folder)).expect("a folder");
    }
    std::thread::sleep(std::time::Duration::from_secs(2));
    apply(&workspace, 0);
    assert_eq!(performed(&workspace.read(".runs/latest/events.jsonl")), titles, "the plan is the truth");
    for node in NODES {
        assert_eq!(workspace.outcome(node), "done");
    }
    mark();
    let again = apply(&workspace, 3);
    for node in NODES {
        let words = format!("node `{node}` is already as planned: nothing is left of this plan");
        assert!(again.stderr.contains(&words), "{}", again.stderr);
    }
    assert_eq!(touched(), "");
    // What is planned on a configured node is small, and a restart belongs to it.
    workspace.role("modules: [e2e]\ne2e:\n  greeting: again\n");
    let titles = plan(&workspace);
    assert_eq!(titles.len(), 4, "{titles:?}");
    apply(&workspace, 0);
    assert_eq!(performed(&workspace.read(".runs/latest/events.jsonl")), titles);
    let record: Value = serde_json::from_str(&workspace.read(".runs/latest/plan.json")).expect("JSON");
    let saved: Value = serde_json::from_str(&workspace.read("plan.json")).expect("JSON");
    assert_eq!(record["saved"]["sha256"], saved["sha256"]);
}

#[test]
#[ignore = "needs the fleet"]
fn what_moved_on_one_node_is_named_and_no_node_is_changed() {
    let workspace = workspace();
    workspace.suil(&["apply", "--role", "web", "--confirm"]).expect(0);
    workspace.role("modules: [e2e]\ne2e:\n  greeting: again\n");
    plan(&workspace);
    for (spoil, back, words) in [
        ("systemctl stop fleet-svc", "systemctl start fleet-svc", "`service fleet-svc` on node `debian2`"),
        ("chmod 0600 /etc/e2e/svc.conf", "chmod 0640 /etc/e2e/svc.conf", "`file /etc/e2e/svc.conf` on node `debian2`"),
        (
            "sysctl -qw net.ipv4.ip_forward=0",
            "sysctl -qw net.ipv4.ip_forward=1",
            "`sysctl net.ipv4.ip_forward` on node",
        ),
        ("usermod -s /bin/bash e2e", "usermod -s /bin/sh e2e", "`user e2e` on node `debian2`"),
        ("rm /etc/cron.d/*e2e*", "true", "`cron e2e` on node `debian2`"),
    ] {
        let _undo = change("debian2", spoil, back);
        mark();
        let ran = apply(&workspace, 3);
        assert!(ran.stderr.contains(words), "{spoil}:\n{}", ran.stderr);
        assert!(!ran.stderr.contains("`debian1`"), "{spoil}: only what moved is named:\n{}", ran.stderr);
        assert_eq!(touched(), "", "{spoil}");
    }
    workspace.suil(&["apply", "--role", "web", "--confirm"]).expect(0);
}

#[test]
#[ignore = "needs the fleet"]
fn a_node_that_moved_elsewhere_is_not_even_connected_to() {
    let workspace = workspace();
    plan(&workspace);
    workspace.node("debian2", &address("debian1"), "");
    let ran = apply(&workspace, 3);
    let words = format!("`ssh_host` is `{}`, and was `{}`", address("debian1"), address("debian2"));
    assert!(ran.stderr.contains(&words) && ran.stderr.contains("data/nodes/debian2.yaml:3:13"), "{}", ran.stderr);
    assert!(!ran.stdout.contains("debian1"), "{}", ran.stdout);
}

#[test]
#[ignore = "needs the fleet"]
fn a_stopped_sshd_leaves_the_rest_of_the_plan() {
    let workspace = workspace();
    workspace.node("debian2", &address("debian2"), "  ssh_persist: false\n");
    plan(&workspace);
    on(
        "debian2",
        "systemd-run -q sh -c \"sleep 12; systemctl start ssh\"; systemctl stop ssh ssh.socket 2>/dev/null; true",
    );
    let ran = apply(&workspace, 1);
    assert!(ran.stderr.contains("node `debian2` is unreachable"), "{}", ran.stderr);
    assert_eq!((workspace.outcome("debian1"), workspace.outcome("debian2")), ("done".into(), "not reached".into()));
    wait_for_sshd("debian2");
    let ran = apply(&workspace, 3);
    assert!(ran.stderr.contains("node `debian1` is already as planned"), "{}", ran.stderr);
}
