//! `--affected` selects the nodes that `diff` names, in every command that selects nodes.

use crate::room::Room;
use serde_json::json;

const SITE: &str = "modules: [page]\npage:\n  title: Site\n";

#[test]
fn exactly_the_nodes_that_differ_are_selected() {
    let room = Room::new();
    room.write("data/roles/web.yaml", SITE);
    room.write("data/nodes/db-3.yaml", "role: db\n");
    let config = |more: &[&str]| {
        room.suil(&[&["config", "--output", "json", "--affected", "HEAD"], more].concat()).expect(0).nodes()
    };
    assert_eq!(config(&[]), ["db-3", "web-1", "web-2"]);
    assert_eq!(config(&["--role", "web"]), ["web-1", "web-2"]);
    assert_eq!(config(&["--node", "*-1"]), ["web-1"]);
}

#[test]
fn a_node_that_is_gone_is_told_of_and_not_selected() {
    let room = Room::new();
    room.remove("data/nodes/db-2.yaml");
    let ran = room.suil(&["config", "--affected", "HEAD", "--output", "json"]).expect(0);
    assert!(ran.stderr.contains("warning: a node is gone since `HEAD`: `db-2`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("nothing affected since `HEAD`"), "{}", ran.stderr);
    assert_eq!(ran.json()["nodes"], json!([]));
}

#[test]
fn where_nothing_is_affected_every_command_says_so_and_is_done() {
    let room = Room::new();
    for command in [&["apply", "--dry-run"][..], &["apply", "--confirm"], &["facts"], &["config"]] {
        let ran = room.suil(&[command, &["--affected", "HEAD"]].concat()).expect(0);
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", "suil: warning: nothing affected since `HEAD`\n"));
    }
    // It is a selection: `apply` asks for none beside it.
    let none = room.suil(&["apply", "--dry-run"]).expect(64);
    assert!(none.stderr.contains("no node is selected"), "{}", none.stderr);
    let both = room.suil(&["apply", "--plan", "plan.json", "--affected", "HEAD"]).expect(64);
    assert!(both.stderr.contains("`--plan` and `--affected` exclude each other"), "{}", both.stderr);
    assert!(!room.path().join(".runs").exists(), "nothing was run");
}

#[test]
fn an_apply_is_about_the_affected_nodes_alone() {
    let room = Room::new();
    room.write("data/all.yaml", "deployment: {transport: exec, exec: [\"false\"]}\n");
    room.commit("two");
    room.write("data/roles/web.yaml", SITE);
    let ran = room.suil(&["apply", "--dry-run", "--affected", "HEAD"]).expect(1);
    assert!(ran.stdout.contains("web-1, web-2  web "), "{}", ran.stdout);
    assert!(!ran.stdout.contains("db-1") && !ran.stderr.contains("db-1"), "{}{}", ran.stdout, ran.stderr);
}
