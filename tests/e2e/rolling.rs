//! Ten nodes in batches: what is touched, what is not, and who finds what is still to be done.

use crate::fleet::{Ran, Workspace, address, change, on, until};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MAIN: &str = r#"
def resources(config):
    return [
        directory("/etc/roll"),
        command("hurdle", run = "echo broken here; exit 1", only_if = "test -e /run/roll-break"),
        command("wait", run = "sleep 3; rm /run/roll-slow", only_if = "test -e /run/roll-slow"),
        file("/etc/roll/conf", content = "for %s: %s\n" % (config.suil.node, config.text)),
    ]
"#;

/// `n01` is `debian1`: suil sorts by name.
fn name(n: usize) -> String {
    format!("n{n:02}")
}

fn ten() -> Vec<String> {
    (1..=10).map(name).collect()
}

fn workspace() -> Workspace {
    let workspace = Workspace::new(&[]);
    workspace.role("modules: [roll]\n");
    workspace.module("roll", "Config = schema(text = t.string(default = \"one\"))\n", MAIN);
    for n in 1..=10 {
        workspace.node(&name(n), &address(&format!("debian{n}")), "");
        on(&format!("debian{n}"), "rm -rf /etc/roll /run/roll-*");
    }
    workspace
}

/// The nodes that have the file.
fn have() -> Vec<String> {
    let there = |n: &usize| on(&format!("debian{n}"), "cat /etc/roll/conf 2>/dev/null || echo none") != "none\n";
    (1..=10).filter(there).map(name).collect()
}

fn names(numbers: impl IntoIterator<Item = usize>) -> Vec<String> {
    numbers.into_iter().map(name).collect()
}

/// The nodes of the last run that ended so.
fn ended(workspace: &Workspace, word: &str) -> Vec<String> {
    let summary: Value = serde_saphyr::from_str(&workspace.read(".runs/latest/summary.yaml")).expect("a summary");
    let nodes = summary["nodes"].as_object().expect("nodes");
    nodes.iter().filter(|(_, end)| end["outcome"] == word).map(|(node, _)| node.clone()).collect()
}

/// Hooks that write down what they are told.
fn hooks(workspace: &Workspace) -> PathBuf {
    let log = workspace.path().join("hooks");
    let hook =
        |name: &str| format!("{name}: 'echo \"{name} $SUIL_BATCH/$SUIL_BATCHES $SUIL_NODES $SUIL_HOSTS\" >>hooks'\n");
    workspace.role(&format!("modules: [roll]\n{}{}", hook("before_batch"), hook("after_batch")));
    log
}

/// What both hooks write for a batch of these nodes.
fn told(batch: &str, numbers: &[usize]) -> String {
    let names: Vec<String> = numbers.iter().map(|n| name(*n)).collect();
    let hosts: Vec<String> = numbers.iter().map(|n| address(&format!("debian{n}"))).collect();
    let line = |hook: &str| format!("{hook} {batch} {} {}\n", names.join(" "), hosts.join(" "));
    line("before_batch") + &line("after_batch")
}

#[test]
#[ignore = "needs the fleet"]
fn a_fault_in_the_fourth_node_leaves_exactly_the_last_four_untouched() {
    let workspace = workspace();
    let log = hooks(&workspace);
    let dry = workspace.suil(&["apply", "--role", "web", "--dry-run", "--batch", "3"]).expect(0);
    assert!(dry.stdout.contains("4 batches, one after the other"), "fresh nodes can be planned: {}", dry.stdout);
    assert!(have().is_empty() && !log.exists(), "a dry run changes nothing and runs no hook");

    let _mend = change("debian4", "touch /run/roll-break", "rm -f /run/roll-break");
    let ran = workspace.suil(&["apply", "--role", "web", "--confirm", "--batch", "3"]).expect(1);
    assert_eq!(ended(&workspace, "done"), names([1, 2, 3, 5, 6]));
    assert_eq!(ended(&workspace, "failed"), names([4]));
    assert_eq!(ended(&workspace, "not reached"), names(7..=10));
    assert_eq!(have(), names([1, 2, 3, 5, 6]));
    assert_eq!(on("debian7", "ls -d /etc/roll 2>/dev/null || echo untouched"), "untouched\n");
    assert_eq!(fs::read_to_string(&log).expect("a log"), told("1/4", &[1, 2, 3]) + &told("2/4", &[4, 5, 6]));
    assert!(ran.stderr.contains("1 node failed, and none may: batches 3 to 4 of 4 were not begun"), "{}", ran.stderr);

    on("debian4", "rm /run/roll-break");
    fs::remove_file(&log).expect("a log");
    workspace.suil(&["apply", "--failed", "--confirm", "--batch", "3"]).expect(0);
    assert_eq!(ended(&workspace, "done"), names([4, 7, 8, 9, 10]));
    assert_eq!(have(), ten());
    assert_eq!(fs::read_to_string(&log).expect("a log"), told("1/2", &[4, 7, 8]) + &told("2/2", &[9, 10]));

    workspace.suil(&["apply", "--role", "web", "--confirm", "--batch", "25%"]).expect(0);
    assert_eq!(ended(&workspace, "nothing to do"), ten());
    assert_eq!(fs::read_to_string(&log).expect("a log").lines().count(), 4, "nothing to do, nothing to drain");
}

#[test]
#[ignore = "needs the fleet"]
fn a_run_that_is_killed_in_its_second_batch_is_ended_by_the_next() {
    let workspace = workspace();
    let _clean = change("debian5", "touch /run/roll-slow", "rm -f /run/roll-slow");
    let mut command = workspace.command(&["apply", "--role", "web", "--confirm", "--batch", "3"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("suil starts");
    let begun = || {
        let log = fs::read_to_string(workspace.path().join(".runs/latest/events.jsonl")).unwrap_or_default();
        log.lines().any(|line| line.contains(r#""node":"n05""#) && line.contains("run wait"))
            && ["n04", "n06"].iter().all(|n| log.contains(&format!(r#""event":"finished","node":"{n}""#)))
    };
    until("the second batch is under way", begun);
    child.kill().expect("a kill");
    child.wait().expect("an end");
    let events = workspace.read(".runs/latest/events.jsonl");
    assert!(begun() && !workspace.path().join(".runs/latest/summary.yaml").exists(), "{events}");

    let dry = workspace.suil(&["plan", "--failed", "--output", "json"]).expect(0);
    let plan: Value = serde_json::from_str(&dry.stdout).expect("JSON");
    let planned: Vec<&str> =
        plan["nodes"].as_array().expect("nodes").iter().filter_map(|n| n["node"].as_str()).collect();
    assert_eq!(planned, names([5, 7, 8, 9, 10]));
    workspace.suil(&["apply", "--failed", "--confirm"]).expect(0);
    assert_eq!(ended(&workspace, "done"), names([5, 7, 8, 9, 10]));
    assert_eq!(have(), ten());
}

#[test]
#[ignore = "needs the fleet"]
fn a_connection_that_breaks_while_its_node_waits_is_made_again() {
    let workspace = workspace();
    let _clean = change("debian1", "touch /run/roll-slow", "rm -f /run/roll-slow");
    let mut command = workspace.command(&["apply", "--node", "n01", "n02", "n03", "--confirm", "--batch", "1"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("suil starts");
    until("the slow operation begins", || {
        let log = fs::read_to_string(workspace.path().join(".runs/latest/events.jsonl")).unwrap_or_default();
        log.contains("run wait")
    });
    on("debian2", "pkill -9 -u deploy");
    // The other one is changed by somebody meanwhile.
    on("debian3", "mkdir -p /etc/roll; echo mine >/etc/roll/conf");
    let ran = Ran::of(child.wait_with_output().expect("an end")).expect(1);
    assert_eq!((ended(&workspace, "done"), ended(&workspace, "not reached")), (names([1, 2]), names([3])));
    assert!(ran.stderr.contains("node `n03` has changed since its plan was made"), "{}", ran.stderr);
    assert_eq!(on("debian3", "cat /etc/roll/conf"), "mine\n");
}

/// Two units that say when they were started and reloaded; a hurdle stands between their file and them.
fn owing() -> String {
    let unit = "[Service]\\nExecStart=/bin/sh -c 'echo started >>/run/%N.log; exec sleep infinity'\\nExecReload=/bin/sh -c 'echo reloaded >>/run/%N.log'\\n";
    format!(
        r#"
UNIT = "{unit}"

def resources(config):
    conf = file("/etc/roll/conf", content = config.text + "\n")
    units = [unit("roll-restart.service", content = UNIT), unit("roll-reload.service", content = UNIT)]
    return [directory("/etc/roll")] + units + [
        conf,
        command("hurdle", run = "exit 1", only_if = "test -e /run/roll-break"),
        service("roll-restart", running = True, restart_on = [conf]),
        service("roll-reload", running = True, reload_on = [conf]),
        command("roll-react", run = "echo reacted >>/run/roll-react.log", triggered_by = [conf]),
    ]
"#
    )
}

/// A second control machine: a copy of the workspace without `facts/` and `.runs/`.
fn second(first: &Workspace) -> Workspace {
    let second = Workspace::new(&[]);
    for folder in ["data", "modules"] {
        let status = Command::new("cp").arg("-r").arg(first.path().join(folder)).arg(second.path()).status();
        assert!(status.expect("cp runs").success());
    }
    assert!(!Path::new(&second.path().join("facts")).exists());
    second
}

#[test]
#[ignore = "needs the fleet"]
fn another_control_machine_does_what_a_failed_run_still_owes() {
    const LOGS: &str = "cat /run/roll-restart.log /run/roll-reload.log /run/roll-react.log 2>/dev/null; true";
    const CLEAN: &str = "systemctl stop roll-restart roll-reload 2>/dev/null; \
        rm -rf /etc/roll /run/roll-* /etc/systemd/system/roll-*.service /var/lib/suil; systemctl daemon-reload";
    let _clean = change("debian6", CLEAN, CLEAN);
    let first = Workspace::new(&[]);
    first.role("modules: [owing]\n");
    first.module("owing", "Config = schema(text = t.string(default = \"one\"))\n", &owing());
    first.node("n06", &address("debian6"), "");
    first.suil(&["apply", "--node", "n06", "--confirm"]).expect(0);
    assert_eq!(on("debian6", LOGS), "started\nstarted\nreacted\n");
    assert_eq!(on("debian6", "ls -d /var/lib/suil 2>/dev/null || echo none"), "none\n");

    first.role("modules: [owing]\nowing: {text: two}\n");
    on("debian6", "touch /run/roll-break");
    first.suil(&["apply", "--node", "n06", "--confirm"]).expect(1);
    assert_eq!(
        on("debian6", "stat -c '%a %U' /var/lib/suil /var/lib/suil/owed; wc -l </var/lib/suil/owed"),
        "700 root\n600 root\n3\n"
    );
    on("debian6", "rm /run/roll-break");

    let titles = |ran: &Ran| -> Vec<String> {
        let plan: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let operations = plan["nodes"][0]["operations"].as_array().expect("operations");
        operations.iter().map(|op| op["title"].as_str().expect("a title").to_owned()).collect()
    };
    let owed = ["restart roll-restart", "reload roll-reload", "run roll-react"];
    let dry = second(&first).suil(&["plan", "--node", "n06", "--output", "json"]).expect(0);
    assert_eq!(titles(&dry), owed);
    // Services tell even without a word of what is owed: they are older than their file.
    on("debian6", "mv /var/lib/suil/owed /run/roll-owed");
    let dry = second(&first).suil(&["plan", "--node", "n06", "--output", "json"]).expect(0);
    assert_eq!(titles(&dry), owed[..2]);
    on("debian6", "mv /run/roll-owed /var/lib/suil/owed");

    let second = second(&first);
    second.suil(&["apply", "--node", "n06", "--confirm"]).expect(0);
    assert_eq!(on("debian6", LOGS), "started\nstarted\nstarted\nreloaded\nreacted\nreacted\n");
    assert_eq!(on("debian6", "ls -d /var/lib/suil 2>/dev/null || echo none"), "none\n");
    // The first machine believes what the node says, not what it remembers.
    for workspace in [&first, &second] {
        workspace.suil(&["apply", "--node", "n06", "--confirm"]).expect(0);
        assert_eq!(workspace.outcome("n06"), "nothing to do");
    }
}
