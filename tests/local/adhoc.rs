//! One command on nodes: what is run, what is shown, how it ends.

use crate::room::{NODE, Ran, Room, until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// A room with three nodes, all of them this machine. Their modules are broken, which hinders nothing.
fn room() -> Room {
    let room = Room::new(&["no-such-module"]);
    for node in ["web-01", "web-02", "web-03"] {
        room.write(&format!("data/nodes/{node}.yaml"), "role: demo\n");
    }
    room
}

fn run(room: &Room, command: &[&str]) -> Ran {
    room.suil(&[&["run", "--node", "web-*", "--"], command].concat())
}

#[test]
fn equal_answers_are_shown_once_under_folded_names() {
    let room = room();
    let ran = run(&room, &["echo", "a  b", "$HOME"]).expect(0);
    assert_eq!(ran.stdout, "web-[01-03] (3 nodes)\na  b $HOME\n\n3 nodes: 3 done\n");
    assert_eq!(ran.stderr, "");
}

#[test]
fn one_word_is_a_line_for_sh_and_stderr_stands_apart() {
    let room = room();
    let ran = run(&room, &["echo out | tr o O; echo err >&2; exit 3"]).expect(1);
    assert_eq!(ran.stdout, "web-[01-03] (3 nodes)  exit 3\nOut\nstderr:\nerr\n\n3 nodes: 3 failed\n");
}

#[test]
fn the_larger_group_comes_first() {
    let room = room();
    let script =
        "mkdir @/first 2>/dev/null && echo alone || echo others".replace('@', &room.node().display().to_string());
    let ran = run(&room, &[&script]).expect(0);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!((lines[1], lines[4]), ("others", "alone"), "{}", ran.stdout);
    assert!(lines[0].ends_with("(2 nodes)"), "{}", ran.stdout);
}

#[test]
fn a_script_has_dev_null_as_stdin_and_none_of_suils_functions() {
    let room = room();
    let script = room.path().join("script");
    std::fs::write(&script, "#!/bin/sh\ncat; need sh || echo none; echo \"$#\"\n").expect("a file");
    let ran = room.suil(&["run", "--node", NODE, "--script", "script"]).expect(0);
    assert!(ran.stdout.starts_with(&format!("{NODE}\nnone\n0\nstderr:\n")), "{}", ran.stdout);
    std::fs::write(&script, "#!/bin/bash\necho ${BASH_VERSION:+bash} ${0##*/}\n").expect("a file");
    let ran = room.suil(&["run", "--node", NODE, "--script", "script"]).expect(0);
    assert_eq!(ran.stdout, format!("{NODE}\nbash script\n"));
}

#[test]
fn a_program_reads_every_node_with_its_status() {
    let room = room();
    room.write("data/nodes/web-02.yaml", "role: demo\ndeployment: {transport: exec, exec: [/bin/false]}\n");
    let ran = room.suil(&["run", "--node", "web-*", "--output", "json", "--", "echo x; exit 2"]).expect(1);
    let value: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(value["version"], 1);
    let brief = |i: usize| {
        let node = &value["nodes"][i];
        json!([node["node"], node["outcome"], node["status"], node["stdout"], node["problem"].is_null()])
    };
    assert_eq!(brief(0), json!(["web-01", "failed", 2, "x\n", true]));
    assert_eq!(brief(1), json!(["web-02", "not reached", null, "", false]));
    assert_eq!(brief(2), json!(["web-03", "failed", 2, "x\n", true]));
    assert!(value["nodes"][0]["seconds"].is_number());
    assert!(ran.stderr.contains("node `web-02`"), "{}", ran.stderr);
    let ran = run(&room, &["exit 2"]).expect(1);
    assert!(ran.stdout.ends_with("3 nodes: 2 failed, 1 not reached\n"), "{}", ran.stdout);
}

#[test]
fn a_command_that_takes_too_long_is_ended() {
    let room = room();
    let begun = std::time::Instant::now();
    let ran = room.suil(&["run", "--node", NODE, "--timeout", "1", "--", "sleep", "77"]).expect(1);
    assert!(begun.elapsed().as_secs() < 15 && ran.stderr.contains("took longer than 1 s"), "{}", ran.stderr);
}

#[test]
fn an_interrupt_ends_what_runs_on_the_node() {
    let room = room();
    let script = "touch @/begun; trap 'touch @/told' TERM; while :; do sleep 0.1; done"
        .replace('@', &room.node().display().to_string());
    let child = room.start(&["run", "--node", NODE, "--", &script]);
    until("the command begins", || room.node().join("begun").exists());
    let pid = Pid::from_raw(child.id().try_into().expect("a number")).expect("a process");
    kill_process(pid, Signal::INT).expect("a signal");
    let ran = Ran::of(child.wait_with_output().expect("an end")).expect(130);
    assert!(ran.stderr.contains("in the middle of the command, which was ended"), "{}", ran.stderr);
    until("the command was told", || room.node().join("told").exists());
}

#[test]
fn a_selection_of_nothing_and_a_command_of_nothing_are_refused() {
    let room = room();
    assert!(room.suil(&["run", "--", "true"]).expect(64).stderr.contains("no node is selected"));
    assert!(room.suil(&["run", "--node", NODE]).expect(64).stderr.contains("is missing"));
    assert!(room.suil(&["run", "--node", NODE, "--", " "]).expect(64).stderr.contains("the command is empty"));
}

/// It is no apply: somebody else's lock does not hinder it, unless it is asked to.
#[test]
fn the_lock_is_taken_only_where_it_is_asked_for() {
    let mut room = room();
    room.set("USER", "anna");
    room.spoil("hold", "");
    let script =
        "touch @/begun; while [ -e @/hold ]; do sleep 0.1; done".replace('@', &room.node().display().to_string());
    let first = room.start(&["run", "--node", NODE, "--lock", "--reason", "a new kernel", "--", &script]);
    until("the command begins", || room.node().join("begun").exists());
    room.suil(&["run", "--node", NODE, "--", "true"]).expect(0);
    let second = room.suil(&["run", "--node", NODE, "--lock", "--", "true"]).expect(3);
    assert!(second.stderr.contains("is being changed by somebody else: anna@"), "{}", second.stderr);
    assert!(second.stderr.contains(": a new kernel (suil run --node"), "{}", second.stderr);
    assert!(second.stderr.contains(" ago\n"), "{}", second.stderr);
    room.release("hold");
    Ran::of(first.wait_with_output().expect("an end")).expect(0);
}

#[test]
fn ssh_becomes_the_shell_of_a_local_node_and_hands_its_status_on() {
    let mut room = room();
    room.set("SHELL", "/bin/sh");
    let ran = room.suil(&["ssh", "web-01", "--", "echo $0; exit 7"]).expect(7);
    assert_eq!(ran.stdout, "/bin/sh\n");
    let several = room.suil(&["ssh", "web-*"]).expect(64);
    assert!(several.stderr.contains("`web-*` matches 3 nodes"), "{}", several.stderr);
    assert!(several.stderr.contains("web-[01-03]"), "{}", several.stderr);
    assert_eq!(room.suil(&["ssh", "web-?2", "--print", "--", "a b"]).expect(0).stdout, "/bin/sh -c 'a b'\n");
}

/// A command may print what a module brought to the node, though the run itself has no use for it.
#[test]
fn secrets_of_the_workspace_are_masked_in_what_a_command_prints() {
    use age::secrecy::ExposeSecret;
    let identity = age::x25519::Identity::generate();
    let mut room = room();
    room.set("SUIL_AGE_KEY", identity.to_string().expose_secret());
    room.set("SUIL_AGE_RECIPIENT", &identity.to_public().to_string());
    let marker = room.suil(&["encrypt", "s3cret-word"]).expect(0).stdout;
    room.write("data/nodes/web-01.yaml", &format!("role: demo\ndemo:\n  deep: [{}]\n", marker.trim()));
    room.write("data/roles/demo.yaml", "modules: [demo]\n");
    room.module("demo", "deep = t.list(t.secret())", "def resources(config):\n    return []\n");
    let ran = room.suil(&["run", "--node", "web-01", "--", "echo the s3cret-word; echo s3cret-word >&2"]).expect(0);
    assert!(!ran.stdout.contains("s3cret-word") && ran.stdout.contains("the ‹secret "), "{}", ran.stdout);
    let refused = room.suil(&["run", "--node", "web-01", "--module", "demo", "--", "true"]).expect(64);
    assert!(refused.stderr.contains("whole nodes"), "{}", refused.stderr);
}
