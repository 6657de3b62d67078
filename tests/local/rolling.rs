//! Batches, the order of roles, hooks, and what a run left behind, on several nodes that are this machine.

use crate::room::{Ran, Room, until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;

/// Each node writes one file, and fails before that where `break-NODE` is there; `slow-NODE` makes it wait.
const MAIN: &str = r#"
def resources(config):
    node = config.suil.node
    return [
        command("hurdle", run = "echo broken here; false", only_if = "test -e @/break-%s" % node),
        command("wait", run = "touch @/begun-%s; sleep 2; rm @/slow-%s" % (node, node), only_if = "test -e @/slow-%s" % node),
        file("@/%s" % node, content = config.text),
    ]

def check(config, facts):
    return ["sick: " + config.suil.node] if config.sick == config.suil.node else []
"#;

/// A workspace whose nodes each have a role of this list.
fn room(nodes: &[(&str, &str)]) -> Room {
    let room = Room::new(&[]);
    fs::remove_dir_all(room.path().join("data/nodes")).expect("no nodes");
    room.module("demo", "text = t.string(default = \"1\"), sick = t.string(default = \"\")", MAIN);
    room.write("data/roles/demo.yaml", "modules: []\n");
    for (node, role) in nodes {
        node_file(&room, node, role, "");
        room.write(&format!("data/roles/{role}.yaml"), "modules: [demo]\n");
    }
    room
}

fn node_file(room: &Room, node: &str, role: &str, more: &str) {
    // Each has a folder of its own for its lock.
    let run = room.node().parent().expect("a parent").join(format!("run-{node}"));
    fs::create_dir_all(&run).expect("a folder");
    let deployment = format!("{{transport: exec, exec: [env, XDG_RUNTIME_DIR={}, sh]}}", run.display());
    room.write(&format!("data/nodes/{node}.yaml"), &format!("role: {role}\ndeployment: {deployment}\n{more}"));
}

fn web(names: &[&'static str]) -> Room {
    room(&names.iter().map(|name| (*name, "web")).collect::<Vec<_>>())
}

fn all(room: &Room, more: &[&str]) -> Ran {
    room.suil(&[&["apply", "--node", "*", "--confirm"], more].concat())
}

/// `a: done, b: failed`, of the last run.
fn outcomes(room: &Room) -> String {
    let summary = room.yaml(".runs/latest/summary.yaml");
    let nodes = summary["nodes"].as_object().expect("nodes");
    let word = |(node, end): (&String, &Value)| format!("{node}: {}", end["outcome"].as_str().expect("an outcome"));
    nodes.iter().map(word).collect::<Vec<_>>().join(", ")
}

/// The nodes of each batch that was begun.
fn batches(room: &Room) -> Vec<String> {
    let begun = room.events().into_iter().filter(|event| event["event"] == "batch" && event["state"] == "begun");
    let names = |event: Value| {
        event["nodes"]
            .as_array()
            .expect("nodes")
            .iter()
            .map(|n| n.as_str().expect("a name").to_owned())
            .collect::<Vec<_>>()
    };
    begun.map(|event| names(event).join(" ")).collect()
}

/// Which nodes have this content.
fn have(room: &Room, names: &[&str], text: &str) -> String {
    names.iter().filter(|name| room.there(name) == text).copied().collect::<Vec<_>>().join(" ")
}

const FIVE: [&str; 5] = ["a", "b", "c", "d", "e"];

#[test]
fn a_failed_batch_stops_the_rest_and_the_next_run_takes_what_is_left() {
    let room = web(&FIVE);
    room.spoil("break-c", "");
    let ran = all(&room, &["--batch", "2"]).expect(1);
    assert_eq!(outcomes(&room), "a: done, b: done, c: failed, d: done, e: not reached");
    assert_eq!((have(&room, &FIVE, "1"), batches(&room)), ("a b d".into(), vec!["a b".into(), "c d".into()]));
    for words in ["1 node failed, and none may: batch 3 of 3 was not begun", "not reached: e", "suil apply --failed"] {
        assert!(ran.stderr.contains(words), "{words} in\n{}", ran.stderr);
    }
    assert!(
        ran.stdout
            .contains("3 batches, one after the other; none begins once a node has failed\n  1  a, b (2 nodes)\n"),
        "{}",
        ran.stdout
    );

    fs::remove_file(room.node().join("break-c")).expect("mended");
    room.suil(&["apply", "--failed", "--dry-run"]).expect(0);
    room.suil(&["apply", "--failed", "--confirm"]).expect(0);
    assert_eq!(outcomes(&room), "c: done, e: done");
    assert_eq!(have(&room, &FIVE, "1"), "a b c d e");
    let none = room.suil(&["apply", "--failed", "--confirm"]).expect(0);
    assert!(none.stderr.contains("left no node behind"), "{}", none.stderr);
}

#[test]
fn more_may_fail_where_that_is_said() {
    let room = web(&FIVE);
    for node in ["a", "d"] {
        room.spoil(&format!("break-{node}"), "");
    }
    all(&room, &["--batch", "1", "--max-failures", "1"]).expect(1);
    assert_eq!(outcomes(&room), "a: failed, b: done, c: done, d: failed, e: not reached");
    room.write("data/roles/web.yaml", "modules: [demo]\ndemo: {text: '2'}\n");
    all(&room, &["--batch", "20%", "--max-failures", "40%"]).expect(1);
    assert_eq!(outcomes(&room), "a: failed, b: done, c: done, d: failed, e: done");
    // Without batches nothing stops the others.
    room.write("data/roles/web.yaml", "modules: [demo]\ndemo: {text: '3'}\n");
    all(&room, &[]).expect(1);
    assert_eq!((outcomes(&room), batches(&room).len()), ("a: failed, b: done, c: done, d: failed, e: done".into(), 1));
}

#[test]
fn a_check_that_finds_something_stops_the_rest() {
    let room = web(&FIVE);
    room.write("data/roles/web.yaml", "modules: [demo]\ndemo: {sick: b}\n");
    let ran = all(&room, &["--batch", "2"]).expect(1);
    assert_eq!(outcomes(&room), "a: done, b: failed, c: not reached, d: not reached, e: not reached");
    assert!(ran.stderr.contains("sick: b"), "{}", ran.stderr);
    assert_eq!(have(&room, &FIVE, "1"), "a b");
}

/// A node that is down takes part of what the roll leaves standing: it counts before anything begins.
#[test]
fn a_node_that_cannot_be_planned_counts_from_the_beginning() {
    let room = web(&FIVE);
    room.write("data/nodes/d.yaml", "role: web\ndeployment: {transport: exec, exec: [sh, -c, exit 3]}\n");
    let ran = all(&room, &["--batch", "2"]).expect(1);
    assert!(ran.stderr.contains("1 node failed, and none may: batches 1 to 3 of 3 were not begun"), "{}", ran.stderr);
    assert_eq!((have(&room, &FIVE, "1"), batches(&room).len()), (String::new(), 0));
    assert!(outcomes(&room).ends_with("e: not reached"), "{}", outcomes(&room));
    all(&room, &["--batch", "2", "--max-failures", "1"]).expect(1);
    assert_eq!(outcomes(&room), "a: done, b: done, c: done, d: not reached, e: done");
}

#[test]
fn nodes_with_nothing_to_do_are_no_part_of_what_is_left() {
    let room = web(&FIVE);
    all(&room, &[]).expect(0);
    for node in ["a", "d"] {
        room.spoil(node, "spoilt");
    }
    room.spoil("break-a", "");
    all(&room, &["--batch", "1"]).expect(1);
    assert_eq!(outcomes(&room), "a: failed, b: nothing to do, c: nothing to do, d: not reached, e: nothing to do");
    assert_eq!(room.there("d"), "spoilt");
}

#[test]
fn roles_come_in_their_order_and_a_failed_one_keeps_those_after_it() {
    let nodes = [("a", "app"), ("d", "db"), ("l", "log"), ("w", "web")];
    let names = ["a", "d", "l", "w"];
    let room = room(&nodes);
    room.write("data/roles/app.yaml", "modules: [demo]\nafter: [db]\n");
    room.write("data/roles/web.yaml", "modules: [demo]\nafter: [app]\n");
    all(&room, &[]).expect(0);
    assert_eq!(batches(&room), ["d l", "a", "w"]);

    for node in names {
        room.spoil(node, "spoilt");
    }
    room.spoil("break-d", "");
    let ran = all(&room, &[]).expect(1);
    assert_eq!(outcomes(&room), "a: not reached, d: failed, l: done, w: not reached");
    assert!(ran.stderr.contains("role `app` was not begun: it comes after `db`, where `d` failed"), "{}", ran.stderr);
    assert_eq!(have(&room, &names, "spoilt"), "a d w");
    // With a limit, everybody stops.
    all(&room, &["--batch", "1"]).expect(1);
    assert_eq!(outcomes(&room), "a: not reached, d: failed, l: nothing to do, w: not reached");
    // Who is not selected has not failed.
    room.suil(&["apply", "--role", "web", "--confirm"]).expect(0);
}

#[test]
fn roles_in_a_circle_are_refused_before_anything_connects() {
    let room = room(&[("a", "app"), ("d", "db")]);
    room.write("data/roles/app.yaml", "modules: [demo]\nafter: [db]\n");
    room.write("data/roles/db.yaml", "modules: [demo]\nafter: [app]\n");
    for args in [&["apply", "--node", "*", "--dry-run"][..], &["validate"]] {
        let ran = room.suil(args).expect(1);
        assert!(ran.stderr.contains("roles come after each other in a cycle: app -> db -> app"), "{}", ran.stderr);
    }
}

/// Writes what it is told into `hooks` on the node.
const HOOK: &str = r#"echo "$SUIL_HOOK $SUIL_BATCH/$SUIL_BATCHES $SUIL_ROLES: $SUIL_NODES $SUIL_OUTCOME" >>"#;

fn hooked(room: &Room, more: &str) {
    let log = room.node().join("hooks").display().to_string();
    let hook = format!("{HOOK}{log}");
    let common = room.read("data/common.yaml");
    let common = common.lines().filter(|line| !line.contains("_batch")).collect::<Vec<_>>().join("\n");
    room.write(
        "data/common.yaml",
        &format!("{common}\nbefore_batch: |\n  {hook}\nafter_batch: |\n  {hook}\n  {more}\n"),
    );
}

#[test]
fn hooks_are_told_exactly_the_nodes_that_change() {
    let room = web(&FIVE);
    all(&room, &[]).expect(0);
    hooked(&room, "");
    for node in ["a", "d", "e"] {
        room.spoil(node, "spoilt");
    }
    room.spoil("break-d", "");
    let dry = room.suil(&["apply", "--node", "*", "--dry-run", "--batch", "2"]).expect(0);
    assert!(dry.stdout.contains("before each batch of web: echo "), "{}", dry.stdout);
    let dry = room.suil(&["apply", "--node", "*", "--dry-run", "--batch", "2", "--output", "json"]).expect(0);
    let plan: Value = serde_json::from_str(&dry.stdout).expect("JSON");
    let hooks = |batch: &Value| {
        batch["hooks"].as_array().expect("hooks").iter().map(|hook| hook["nodes"].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(
        plan["batches"].as_array().expect("batches").iter().map(hooks).collect::<Vec<_>>(),
        ["a", "d", "e"].map(|node| vec![format!("[\"{node}\"]"); 2])
    );
    assert_eq!(room.there("hooks"), "none", "a dry run runs none");

    all(&room, &["--batch", "2"]).expect(1);
    assert_eq!(outcomes(&room), "a: done, b: nothing to do, c: nothing to do, d: failed, e: not reached");
    let want = "before_batch 1/3 web: a \nafter_batch 1/3 web: a {\"a\":\"done\"}\n\
                before_batch 2/3 web: d \nafter_batch 2/3 web: d {\"d\":\"failed\"}\n";
    assert_eq!(room.there("hooks"), want);
    let events = room.events();
    let order: Vec<String> = events
        .iter()
        .filter(|event| ["batch", "hook"].contains(&event["event"].as_str().expect("a kind")))
        .take(4)
        .map(|event| {
            format!("{} {}", event["hook"].as_str().unwrap_or("batch"), event["state"].as_str().expect("a state"))
        })
        .collect();
    assert_eq!(order, ["before_batch begun", "before_batch ended", "batch begun", "batch ended"]);
}

#[test]
fn without_batches_hooks_are_run_once_for_each_height_of_roles() {
    let room = room(&[("a", "app"), ("d", "db"), ("l", "log")]);
    hooked(&room, "");
    room.write("data/roles/app.yaml", "modules: [demo]\nafter: [db]\nafter_batch: false\n");
    all(&room, &[]).expect(0);
    let want = "before_batch 1/2 db log: d l \nafter_batch 1/2 db log: d l {\"d\":\"done\",\"l\":\"done\"}\nbefore_batch 2/2 app: a \n";
    assert_eq!(room.there("hooks"), want);
}

#[test]
fn a_batch_is_not_begun_where_the_hook_before_it_fails() {
    let room = web(&["a", "b", "c", "d"]);
    hooked(&room, "");
    let common = room
        .read("data/common.yaml")
        .replace("before_batch: |\n", "before_batch: |\n  echo no balancer; test $SUIL_BATCH != 2 || exit 7\n");
    room.write("data/common.yaml", &common);
    let ran = all(&room, &["--batch", "1"]).expect(1);
    assert_eq!(outcomes(&room), "a: done, b: not reached, c: not reached, d: not reached");
    assert_eq!((have(&room, &FIVE, "1"), batches(&room)), ("a".into(), vec!["a".into()]));
    for words in [
        "`before_batch` of batch 2 of 4 ended with status 7",
        "data/common.yaml:",
        "it said: no balancer",
        "not reached: c, d",
    ] {
        assert!(ran.stderr.contains(words), "{words} in\n{}", ran.stderr);
    }
    assert!(ran.stderr.contains("before_batch 1/4: no balancer\n"), "what hooks say is shown: {}", ran.stderr);
    // What was half drained is told that nothing happened.
    assert!(
        room.there("hooks").ends_with("after_batch 2/4 web: b {\"b\":\"not reached\"}\n"),
        "{}",
        room.there("hooks")
    );
}

#[test]
fn a_hook_that_fails_after_a_batch_stops_the_rest() {
    let room = web(&["a", "b", "c"]);
    hooked(&room, "exit 1");
    let ran = all(&room, &["--batch", "2"]).expect(1);
    assert_eq!(outcomes(&room), "a: done, b: done, c: not reached");
    assert!(ran.stderr.contains("1 hook failed, and none may: batch 2 of 2 was not begun"), "{}", ran.stderr);
    assert!(ran.stderr.contains("`after_batch` of batch 1 of 2 ended with status 1"), "{}", ran.stderr);
    assert_eq!(
        room.yaml(".runs/latest/summary.yaml")["problems"][0],
        "`after_batch` of batch 1 of 2 ended with status 1"
    );
    let shown = room.suil(&["runs", "show"]).expect(0);
    assert!(shown.stdout.contains("problem  `after_batch` of batch 1 of 2 ended with status 1"), "{}", shown.stdout);
    // Every node is well, and suil fails all the same.
    all(&room, &[]).expect(1);
    assert_eq!(outcomes(&room), "a: nothing to do, b: nothing to do, c: done");
}

#[test]
fn a_hook_has_the_run_in_its_environment_and_no_secret() {
    let mut room = web(&["a"]);
    let key = room.node().join("key");
    room.set("SUIL_SUDO_PASSWORD", "open sesame");
    room.set("SUIL_AGE_KEY_FILE", &key.display().to_string());
    room.spoil("key", "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX\n");
    room.write("data/roles/web.yaml", "modules: [demo]\nbefore_batch: [bin/told, '$HOME', 3]\n");
    let out = room.node().join("told").display().to_string();
    let script = format!(
        "#!/bin/sh\necho \"$@\" >{out}; pwd >>{out}; cat >>{out}; env | grep ^SUIL_ | sort >>{out}\n echo open sesame\n"
    );
    room.write("bin/told", &script);
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(room.path().join("bin/told"), fs::Permissions::from_mode(0o755)).expect("a mode");
    let ran = all(&room, &[]).expect(0);
    let work = room.path().canonicalize().expect("a path").display().to_string();
    let run = fs::read_link(room.path().join(".runs/latest")).expect("a run");
    let want = format!(
        "$HOME 3\n{work}\nSUIL_BATCH=1\nSUIL_BATCHES=1\nSUIL_HOOK=before_batch\nSUIL_HOSTS=a\nSUIL_NODES=a\nSUIL_ROLES=web\nSUIL_RUN={work}/.runs/{}\n",
        run.display()
    );
    assert_eq!(room.there("told"), want);
    assert!(!ran.stderr.contains("sesame") && ran.stderr.contains("‹secret"), "{}", ran.stderr);
    let events = room.read(".runs/latest/events.jsonl");
    assert!(!events.contains("sesame") && events.contains("‹secret"), "{events}");
}

#[test]
fn a_hook_that_hangs_is_ended() {
    let room = web(&["a"]);
    room.write("data/roles/web.yaml", "modules: [demo]\nbefore_batch: {run: sleep 60, timeout: 1s}\n");
    let ran = all(&room, &[]).expect(1);
    assert!(ran.stderr.contains("`before_batch` of batch 1 of 1 took longer than 1 s"), "{}", ran.stderr);
    assert!(ran.stderr.contains("data/roles/web.yaml:2:21"), "{}", ran.stderr);
}

#[test]
fn ctrl_c_ends_the_batch_with_its_hook_and_begins_no_other() {
    let room = web(&["a", "b", "c"]);
    hooked(&room, "");
    room.spoil("slow-a", "");
    let child = room.start(&["apply", "--node", "*", "--confirm", "--batch", "1"]);
    until("the slow operation begins", || room.node().join("begun-a").exists());
    let pid = Pid::from_raw(child.id().try_into().expect("a number")).expect("a process");
    kill_process(pid, Signal::INT).expect("a signal");
    let ran = Ran::of(child.wait_with_output().expect("an end")).expect(130);
    assert_eq!(outcomes(&room), "a: failed, b: not reached, c: not reached");
    assert!(ran.stderr.contains("stopped before batches 2 to 3 of 3 were begun"), "{}", ran.stderr);
    assert_eq!(room.there("hooks"), "before_batch 1/3 web: a \nafter_batch 1/3 web: a {\"a\":\"failed\"}\n");
    room.suil(&["apply", "--failed", "--confirm"]).expect(0);
    assert_eq!(have(&room, &FIVE, "1"), "a b c");
}

/// The hook that drains is finished, and what it drained comes back; the batch does not begin.
#[test]
fn ctrl_c_in_a_hook_finishes_the_hook_and_begins_no_batch() {
    let room = web(&["a", "b"]);
    hooked(&room, "");
    let begun = room.node().join("draining");
    let common = room.read("data/common.yaml");
    let slow = format!("before_batch: |\n  touch {}; sleep 1\n", begun.display());
    room.write("data/common.yaml", &common.replace("before_batch: |\n", &slow));
    for (times, status) in [(1, "{\"a\":\"not reached\"}"), (2, "")] {
        let _ = fs::remove_file(&begun);
        let child = room.start(&["apply", "--node", "*", "--confirm", "--batch", "1"]);
        until("the hook begins", || begun.exists());
        for _ in 0..times {
            let pid = Pid::from_raw(child.id().try_into().expect("a number")).expect("a process");
            kill_process(pid, Signal::INT).expect("a signal");
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        Ran::of(child.wait_with_output().expect("an end")).expect(130);
        assert_eq!((outcomes(&room).as_str(), batches(&room).len()), ("a: not reached, b: not reached", 0));
        let told = room.there("hooks");
        match times {
            1 => assert_eq!(told, format!("before_batch 1/2 web: a \nafter_batch 1/2 web: a {status}\n")),
            _ => assert!(!told.contains("before_batch 1/2 web: a \nbefore_batch"), "the hook was ended: {told}"),
        }
    }
    assert_eq!(have(&room, &FIVE, "1"), "");
}

#[test]
fn a_saved_plan_goes_in_batches_as_well() {
    let room = web(&["a", "b", "c"]);
    room.suil(&["plan", "--node", "*", "--out", "saved.json"]).expect(0);
    room.spoil("break-c", "");
    room.suil(&["apply", "--plan", "saved.json", "--confirm", "--batch", "2"]).expect(3);
    fs::remove_file(room.node().join("break-c")).expect("as it was");
    room.suil(&["apply", "--plan", "saved.json", "--confirm", "--batch", "2"]).expect(0);
    assert_eq!(batches(&room), ["a b", "c"]);
}

#[test]
fn what_a_killed_run_did_not_end_is_left_behind() {
    let room = web(&["a", "b", "c"]);
    room.spoil("slow-b", "");
    let mut child = room.start(&["apply", "--node", "*", "--confirm", "--batch", "1"]);
    until("the slow operation begins", || room.node().join("begun-b").exists());
    child.kill().expect("a kill");
    child.wait().expect("an end");
    let dry = room.suil(&["apply", "--failed", "--dry-run", "--output", "json"]).expect(0);
    let plan: Value = serde_json::from_str(&dry.stdout).expect("JSON");
    assert_eq!((&plan["nodes"][0]["node"], &plan["nodes"][1]["node"]), (&"b".into(), &"c".into()));
    assert!(plan["nodes"][2].is_null(), "the node that ended well is no part of it");
    room.suil(&["apply", "--failed", "--confirm"]).expect(0);
    assert_eq!(have(&room, &FIVE, "1"), "a b c");
}

/// The plan was shown; it is not made anew for a node that somebody changed while it waited for its turn.
#[test]
fn a_node_that_changed_while_it_waited_is_left_alone() {
    let room = web(&["a", "b", "c"]);
    room.spoil("slow-a", "");
    let child = room.start(&["apply", "--node", "*", "--confirm", "--batch", "1"]);
    until("the slow operation begins", || room.node().join("begun-a").exists());
    room.spoil("b", "somebody else's");
    let ran = Ran::of(child.wait_with_output().expect("an end")).expect(1);
    assert_eq!(outcomes(&room), "a: done, b: not reached, c: not reached");
    assert_eq!(room.there("b"), "somebody else's");
    assert!(ran.stderr.contains("node `b` has changed since its plan was made, and was left alone"), "{}", ran.stderr);
}

/// Whoever ends the session, the node is as its plan found it.
#[test]
fn a_session_that_broke_while_its_node_waited_is_renewed() {
    let room = web(&["a", "b"]);
    room.spoil("slow-a", "");
    let child = room.start(&["apply", "--node", "*", "--confirm", "--batch", "1"]);
    until("the slow operation begins", || room.node().join("begun-a").exists());
    let run = room.node().parent().expect("a parent").join("run-b");
    let owner =
        fs::read_dir(&run).expect("a folder").flatten().find_map(|e| fs::read_to_string(e.path().join("owner")).ok());
    let pid: i32 = owner.expect("a session").split(' ').next().expect("a number").parse().expect("a number");
    kill_process(Pid::from_raw(pid).expect("a process"), Signal::KILL).expect("a kill");
    Ran::of(child.wait_with_output().expect("an end")).expect(0);
    assert_eq!(outcomes(&room), "a: done, b: done");
    let phases: Vec<Value> = room.events().into_iter().filter(|e| e["event"] == "phase" && e["node"] == "b").collect();
    assert!(phases.iter().any(|phase| phase["phase"] == "connecting again"), "{phases:?}");
}

#[test]
fn a_run_that_applied_nothing_is_no_last_run() {
    let room = web(&["a", "b"]);
    let none = room.suil(&["apply", "--failed", "--confirm"]).expect(1);
    assert!(none.stderr.contains("no run has applied anything in this workspace"), "{}", none.stderr);
    room.suil(&["apply", "--node", "*", "--dry-run"]).expect(0);
    room.suil(&["apply", "--failed", "--confirm"]).expect(1);
    room.spoil("break-b", "");
    all(&room, &[]).expect(1);
    // Neither another dry run nor a look at facts moves it, and it goes with other selections.
    room.suil(&["apply", "--node", "a", "--dry-run"]).expect(0);
    room.suil(&["facts", "--node", "a"]).expect(0);
    let of_a = room.suil(&["apply", "--failed", "--node", "a", "--confirm"]).expect(0);
    assert!(of_a.stderr.contains("left none of these nodes behind"), "{}", of_a.stderr);
    let facts = room.suil(&["facts", "--failed"]).expect(0);
    assert!(facts.stdout.contains("b:") && !facts.stdout.contains("\na:"), "{}", facts.stdout);
    fs::remove_file(room.node().join("break-b")).expect("mended");
    room.suil(&["apply", "--failed", "--role", "w*", "--confirm"]).expect(0);
    assert_eq!(outcomes(&room), "b: done");
}

#[test]
fn batches_of_no_size_are_wrong_on_the_command_line() {
    let room = web(&["a"]);
    for (option, value) in [
        ("--batch", "0"),
        ("--batch", "0%"),
        ("--batch", "101%"),
        ("--batch", "-1"),
        ("--batch", "x"),
        ("--max-failures", "-1"),
        ("--max-failures", "101%"),
    ] {
        let ran = all(&room, &[option, value]).expect(64);
        assert!(ran.stderr.contains(&format!("`{value}` is no value for `{option}`")), "{}", ran.stderr);
        assert!(ran.stderr.contains("expected a"), "{}", ran.stderr);
    }
}

#[test]
fn batches_of_fresh_nodes_can_be_planned() {
    let room = web(&FIVE);
    assert!(!room.path().join("facts").exists());
    let dry = room.suil(&["apply", "--node", "*", "--dry-run", "--batch", "40%", "--output", "json"]).expect(0);
    let plan: Value = serde_json::from_str(&dry.stdout).expect("JSON");
    let sizes: Vec<usize> = plan["batches"]
        .as_array()
        .expect("batches")
        .iter()
        .map(|b| b["nodes"].as_array().expect("nodes").len())
        .collect();
    assert_eq!((sizes, plan["max_failures"].clone()), (vec![2, 2, 1], Value::from(0)));
}
