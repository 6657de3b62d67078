//! Records written by hand, of a day long ago, so that whole outputs can be compared; and runs that are killed.

use crate::room::{NODE, Ran, Room, until};
use serde_json::Value;
use std::fs;

const FIRST: &str = "2010-01-01T08-00-00Z";
const SECOND: &str = "2010-01-02T08-00-00Z";

/// `run.yaml`.
fn about(room: &Room, id: &str, mode: &str, command: &str) {
    let text = format!(
        "version: 1\nsuil: '0.1.0'\nstarted: '{}'\nmode: {mode}\nby: anna@desk\ncommand: {command}\nselection:\n  roles: [web]\n  nodes: []\n  modules: []\ncommit: 0123456789abcdef0123456789abcdef01234567\n",
        "2010-01-01T08:00:00Z"
    );
    room.write(&format!(".runs/{id}/run.yaml"), &text);
}

fn operation(id: usize, verb: &str, title: &str, resource: &str, diff: &str) -> String {
    format!(
        r#"{{"id": {id}, "module": "nginx", "resource": "{resource}", "verb": "{verb}", "title": "{title}", "diff": {diff}, "triggered_by": [], "place": null}}"#
    )
}

/// A workspace with two runs over three nodes: all well, and one that failed.
fn told() -> Room {
    let room = Room::new(&[]);
    let mode = r#"{"attributes": [{"name": "mode", "before": "0600", "after": "0644"}], "text": {"before_sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "after_sha256": "b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c"}}"#;
    let none = r#"{"attributes": [], "text": null}"#;
    for (id, port) in [(FIRST, 80), (SECOND, 8080)] {
        let operations = [
            operation(1, "change", "write /etc/nginx.conf", "file /etc/nginx.conf", mode),
            operation(2, "run", "reload nginx", "service nginx", none),
        ];
        let nodes = ["web-1", "web-2", "web-3"].map(|node| match node {
            // It wrote another content in the second run.
            "web-1" if id == SECOND => {
                let first = operations[0].replace("b5bb9d8014a0", "aaaaaaaaaaaa");
                format!(r#"{{"node": "{node}", "operations": [{first}, {}], "problems": []}}"#, operations[1])
            }
            "web-3" => format!(r#"{{"node": "{node}", "operations": [], "problems": []}}"#),
            _ => format!(r#"{{"node": "{node}", "operations": [{}], "problems": []}}"#, operations.join(", ")),
        });
        room.write(&format!(".runs/{id}/plan.json"), &format!(r#"{{"version": 1, "nodes": [{}]}}"#, nodes.join(", ")));
        for node in ["web-1", "web-2", "web-3"] {
            let modules = if id == SECOND && node == "web-3" { "[base, nginx]" } else { "[nginx]" };
            let entry = format!("role: web\nfamily: debian\nrelease: 12\ndeployment: {{}}\nmodules: {modules}\n");
            room.write(&format!(".runs/{id}/{node}/node.yaml"), &entry);
            let config = format!("port: {port}\nkey: sha256:{port}00\nsites: [{{name: a, root: /srv/a}}]\n");
            room.write(&format!(".runs/{id}/{node}/nginx.yaml"), &config);
        }
    }
    about(&room, FIRST, "apply", "suil apply --role web --confirm");
    about(&room, SECOND, "apply", "suil apply --role web");
    let event = |kind: &str, node: &str, id: usize, more: &str| {
        format!(r#"{{"event": "{kind}", "node": "{node}", "operation": {id}, "title": "x"{more}}}"#) + "\n"
    };
    let well = r#", "seconds": 1.25, "problem": null, "output": """#;
    let bad = r#", "seconds": 0.5, "problem": "node `web-2`: operation 2 of 2, `reload nginx`, failed", "output": "no such\nunit\u001b[2J\n""#;
    let mut events = String::new();
    for (node, id) in [("web-1", 1), ("web-1", 2), ("web-2", 1)] {
        events += &(event("starting", node, id, "") + &event("ended", node, id, well));
    }
    let last = event("starting", "web-2", 2, "");
    room.write(&format!(".runs/{FIRST}/events.jsonl"), &format!("{events}{last}{}", event("ended", "web-2", 2, well)));
    room.write(&format!(".runs/{SECOND}/events.jsonl"), &format!("{events}{last}{}", event("ended", "web-2", 2, bad)));
    let done = "outcome: done\n    operations: 2\n    planned: 2\n    problems: []";
    let nothing = "outcome: nothing to do\n    operations: 0\n    planned: 0\n    problems: []";
    let failed = "outcome: failed\n    operations: 1\n    planned: 2\n    problems:\n    - 'node `web-2`: operation 2 of 2, `reload nginx`, failed'";
    let summary = |exit: u8, counts: &str, two: &str| {
        format!(
            "version: 1\nended: '2010-01-01T08:01:05Z'\nseconds: 65.4\nexit: {exit}\ncounts: {counts}\nnodes:\n  web-1:\n    {done}\n  web-2:\n    {two}\n  web-3:\n    {nothing}\n"
        )
    };
    room.write(&format!(".runs/{FIRST}/summary.yaml"), &summary(0, "{failed: 0, done: 2, nothing to do: 1}", done));
    let counts = "{failed: 1, in doubt: 0, done: 1, nothing to do: 1}";
    room.write(&format!(".runs/{SECOND}/summary.yaml"), &summary(1, counts, failed));
    room
}

/// The output with the age of the records, which grows, as `9999 days`.
#[track_caller]
fn shown(ran: Ran) -> String {
    let text = ran.expect(0).stdout;
    let days = regex::Regex::new(r"\d{4} days").expect("a pattern");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    days.replace_all(&text, "9999 days").into_owned()
}

#[test]
fn the_list_tells_how_each_run_went_and_who_ran_it() {
    let room = told();
    about(&room, "2010-01-03T08-00-00Z", "dry run", "suil apply --role web --dry-run");
    room.write(".runs/2010-01-03T08-00-00Z/plan.json", r#"{"version": 1, "nodes": []}"#);
    room.write(".runs/2010-01-03T08-00-00Z/events.jsonl", "");
    // What the Python suil leaves, a broken record, and what is none.
    room.write(".runs/2010-01-04T08-00-00Z/web-1/node.yaml", "role: web\nmodules: [nginx]\n");
    room.write(".runs/2010-01-05T08-00-00Z/summary.yaml", "nodes: [\n");
    room.write(".runs/notes/about.txt", "mine");
    let ran = room.suil(&["runs"]);
    let warned = ran.stderr.clone();
    let want = "\
RUN                   AGE        TOOK       OUTCOME
2010-01-05T08-00-00Z  9999 days             broken
2010-01-04T08-00-00Z  9999 days             configs only
2010-01-03T08-00-00Z  9999 days             unfinished
    anna@desk: suil apply --role web --dry-run
2010-01-02T08-00-00Z  9999 days  1 min 5 s  1 failed, 1 done, 1 nothing to do
    anna@desk: suil apply --role web
2010-01-01T08-00-00Z  9999 days  1 min 5 s  2 done, 1 nothing to do
    anna@desk: suil apply --role web --confirm
";
    assert_eq!(shown(ran), want);
    assert!(
        warned.starts_with("suil: warning: `.runs/2010-01-05T08-00-00Z/summary.yaml` is broken: ")
            && warned.lines().count() == 1,
        "{warned}"
    );
    let list = |args: &[&str]| {
        let ran = room.suil(&[&["runs", "--output", "json"], args].concat()).expect(0);
        let value: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!(value["version"], 1);
        value["runs"].as_array().expect("runs").clone()
    };
    let all = list(&[]);
    let states: Vec<&str> = all.iter().filter_map(|run| run["state"].as_str()).collect();
    assert_eq!(states, ["broken", "configs only", "unfinished", "ended", "ended"]);
    assert!(all[0]["problem"].as_str().is_some_and(|what| what.contains("summary.yaml")), "{}", all[0]);
    assert_eq!((&all[3]["exit"], &all[3]["counts"]["failed"]), (&1.into(), &1.into()));
    assert_eq!(all[3]["selection"]["roles"][0], "web");
    assert_eq!(list(&["--limit", "2"]).len(), 2);
    let ids = |runs: &[Value]| runs.iter().map(|run| run["id"].as_str().expect("an id").to_owned()).collect::<Vec<_>>();
    assert_eq!(ids(&list(&["--node", "web-[3]"])), ["2010-01-05T08-00-00Z", SECOND, FIRST], "broken is not left out");
}

#[test]
fn one_run_is_shown_with_what_became_of_each_operation() {
    let want = "\
run 2010-01-02T08-00-00Z
  when     2010-01-02T08:00:00Z (9999 days ago)
  for      anna@desk: suil apply --role web
  mode     apply
  commit   0123456789abcdef0123456789abcdef01234567
  suil     0.1.0
  took     1 min 5 s
  outcome  1 failed, 1 done, 1 nothing to do
  exit     1

web-1
  done, 2 operations · role web · nginx
  ✓ write /etc/nginx.conf  · nginx · file · 1.2 s
      mode     0600 → 0644
      content  sha256 aaaaaaaaaaaa
  ✓ reload nginx  · nginx · service · 1.2 s

web-2
  failed, 1 of 2 operations · role web · nginx
  ✓ write /etc/nginx.conf  · nginx · file · 1.2 s
      mode     0600 → 0644
      content  sha256 b5bb9d8014a0
  ✗ reload nginx  · nginx · service · 0.5 s
      node `web-2`: operation 2 of 2, `reload nginx`, failed
      | no such
      | unit␛[2J

web-3
  nothing to do · role web · base, nginx
";
    let room = told();
    assert_eq!(shown(room.suil(&["runs", "show"])), want);
    assert_eq!(shown(room.suil(&["runs", "show", "2010-01-02"])), want);
    let first = shown(room.suil(&["runs", "show", "-1"]));
    assert!(first.starts_with("run 2010-01-01T08-00-00Z\n") && first.contains("\nweb-1, web-2 (2 nodes)\n"), "{first}");
    let third = shown(room.suil(&["runs", "show", "--node", "web-3"]));
    assert!(third.ends_with("exit     1\n\nweb-3\n  nothing to do · role web · base, nginx\n"), "{third}");
    let ran = room.suil(&["runs", "show", "--node", "db-1"]).expect(1);
    let want = format!("suil: run `{SECOND}` had no node `db-1`\nhelp: `suil runs show {SECOND}` lists its nodes\n");
    assert_eq!(ran.stderr, want);
}

#[test]
fn a_difference_of_two_runs_names_values_modules_and_operations() {
    let room = told();
    let want = "\
- 2010-01-01T08-00-00Z  anna@desk: suil apply --role web --confirm
+ 2010-01-02T08-00-00Z  anna@desk: suil apply --role web

web-1
  ~ nginx.port  80 → 8080
  ~ nginx.key   sha256:8000 → sha256:808000
  ~ write /etc/nginx.conf  · nginx · operation: another change

web-2
  outcome: done → failed
  ~ nginx.port  80 → 8080
  ~ nginx.key   sha256:8000 → sha256:808000
  ~ reload nginx  · nginx · operation: done → failed

web-3
  + module base
  ~ nginx.port  80 → 8080
  ~ nginx.key   sha256:8000 → sha256:808000
";
    assert_eq!(shown(room.suil(&["runs", "diff"])), want);
    let ran = room.suil(&["runs", "diff", "-1", "latest", "--detailed-exitcode", "--output", "json"]).expect(2);
    let value: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(value["version"], 1);
    let two =
        value["groups"].as_array().expect("groups").iter().find(|group| group["nodes"][0] == "web-2").expect("it");
    assert_eq!(two["outcome"]["after"], "failed");
    assert_eq!(two["values"][0], serde_json::json!({"path": "nginx.port", "before": 80, "after": 8080}));
    let same = room.suil(&["runs", "diff", "latest", "latest", "--detailed-exitcode"]).expect(0).stdout;
    assert!(same.ends_with("\nno difference on 3 nodes\n"), "{same}");
    // A node that was not reached has no config: that is no change of it.
    fs::remove_dir_all(room.path().join(format!(".runs/{SECOND}/web-1"))).expect("removed");
    let shown = shown(room.suil(&["runs", "diff", "--", "-1"]));
    assert!(shown.contains("web-1\n  config: not recorded in the second run: the node was not reached\n"), "{shown}");
}

#[test]
fn a_record_of_the_python_suil_is_read_as_far_as_it_goes() {
    let room = Room::new(&[]);
    let sample =
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance/suil/formats/sample/.runs/2026-11-30T02-54-46Z");
    for node in fs::read_dir(sample).expect("a record") {
        let node = node.expect("a node");
        for file in fs::read_dir(node.path()).expect("a folder") {
            let (name, path) = (node.file_name(), file.expect("a file").path());
            let to = format!(".runs/{FIRST}/{}/{}", name.display(), path.file_name().expect("a name").display());
            room.write(&to, &fs::read_to_string(&path).expect("a file"));
        }
    }
    let text = shown(room.suil(&["runs", "show"]));
    assert!(text.contains("  outcome  configs only\n"), "{text}");
    assert!(text.ends_with("\nkelp-01.reef.test\n  configs only · role reef · surf, bundle\n"), "{text}");
    room.suil(&["runs", "diff", "latest", "latest"]).expect(0);
}

const SLOW: &str = "def resources(config):\n    return [file(\"@/a\", content = \"a\\n\"), command(\"slow\", run = \"touch @/begun; sleep 30\", creates = \"@/done\")]\n";

#[test]
fn a_run_that_goes_on_and_one_that_was_killed_are_told_apart() {
    let room = Room::new(&["demo"]);
    room.module("demo", "", SLOW);
    let mut child = room.start(&["apply", "--node", NODE, "--confirm"]);
    until("the operation runs", || room.node().join("begun").exists());
    let state = || {
        let ran = room.suil(&["runs", "--output", "json"]).expect(0);
        serde_json::from_str::<Value>(&ran.stdout).expect("JSON")["runs"][0]["state"].clone()
    };
    assert_eq!(state(), "going");
    child.kill().expect("killed");
    child.wait().expect("an end");
    assert_eq!(state(), "unfinished");
    let events = room.events();
    assert_eq!(events[0]["event"], "run");
    assert!(events[0]["purpose"].as_str().is_some_and(|what| what.ends_with("--confirm")), "{}", events[0]);
    assert!(room.read(".runs/latest/events.jsonl").ends_with("}\n"), "whole lines");
    let shown = room.suil(&["runs", "show"]).expect(0).stdout;
    assert!(shown.contains("  outcome  unfinished\n"), "{shown}");
    assert!(shown.contains("  ? run slow  · demo · command · in doubt\n"), "{shown}");
    assert!(shown.contains("  the run ended in the middle of `run slow`\n"), "{shown}");
}

#[test]
fn every_file_of_a_record_says_its_version_and_who_ran_it() {
    let mut room = Room::new(&["demo"]);
    room.set("USER", "anna");
    room.module("demo", "", "def resources(config):\n    return [file(\"@/a\", content = \"a\\n\")]\n");
    room.write(".git/HEAD", "ref: refs/heads/main\n");
    room.write(".git/refs/heads/main", "0123456789abcdef0123456789abcdef01234567\n");
    room.apply(&["--confirm"]).expect(0);
    let about = room.yaml(".runs/latest/run.yaml");
    assert_eq!((&about["version"], &about["mode"]), (&1.into(), &"apply".into()));
    assert!(about["by"].as_str().is_some_and(|by| by.starts_with("anna@")), "{about}");
    assert_eq!(about["command"], "suil apply --role demo --confirm");
    assert_eq!(about["commit"], "0123456789abcdef0123456789abcdef01234567");
    assert_eq!(about["selection"]["roles"][0], "demo");
    let summary = room.yaml(".runs/latest/summary.yaml");
    assert_eq!((&summary["version"], &summary["exit"], &summary["counts"]["done"]), (&1.into(), &0.into(), &1.into()));
    let events = room.events();
    let (first, last) = (&events[0], &events[events.len() - 1]);
    assert_eq!((&first["event"], &first["version"]), (&"run".into(), &1.into()));
    assert_eq!((&last["event"], &last["exit"], &last["counts"]["done"]), (&"end".into(), &0.into(), &1.into()));
    let plan: Value = serde_json::from_str(&room.read(".runs/latest/plan.json")).expect("JSON");
    assert_eq!(plan["version"], 1);
    // The dry run after it is one, and the node needs nothing.
    room.apply(&["--dry-run"]).expect(0);
    assert_eq!(room.yaml(".runs/latest/run.yaml")["mode"], "dry run");
    let shown = room.suil(&["runs", "show"]).expect(0).stdout;
    assert!(
        shown.contains("  mode     dry run\n") && shown.contains("\nhere.example.com\n  nothing to do · "),
        "{shown}"
    );
}

#[test]
fn a_workspace_without_runs_says_how_to_get_one() {
    let room = Room::new(&[]);
    assert_eq!(room.suil(&["runs"]).expect(0).stdout, "no runs\n");
    let want = "suil: the workspace has no run yet\nhelp: `suil apply --dry-run --node '*'` makes one\n";
    assert_eq!(room.suil(&["runs", "show"]).expect(1).stderr, want);
}

#[test]
fn the_age_of_facts_is_said_before_a_run_and_in_the_list_of_nodes() {
    let room = told();
    for (node, text) in [("web-1", "facts: {}\ntimestamp: '2010-01-01T08:00:00Z'\n"), ("web-2", "facts: {}\n")] {
        room.write(&format!("data/nodes/{node}.yaml"), "role: demo\n");
        room.write(&format!("facts/{node}/base.yaml"), text);
    }
    let days = regex::Regex::new(r"\d{4} days").expect("a pattern");
    let nodes = room.suil(&["nodes"]).expect(0).stdout;
    let want = "\
NODE              ROLE  SYSTEM      FACTS
here.example.com  demo  not probed  never
web-1             demo  not probed  9999 days
web-2             demo  not probed  never
";
    assert_eq!(days.replace_all(&nodes, "9999 days"), want);
    let ran = room.suil(&["nodes", "--output", "json"]).expect(0);
    let value: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(
        (&value["nodes"][1]["facts"], &value["nodes"][2]["facts"]),
        (&"2010-01-01T08:00:00Z".into(), &Value::Null)
    );
    let brief = room.apply(&["--dry-run"]).expect(0).stdout;
    let want = "\
3 nodes
NODES                           ROLE  FACTS               MODULES
here.example.com, web-1, web-2  demo  2 never, 9999 days  (order provisional: never probed)
";
    let shown = days.replace_all(&brief, "9999 days").replace("   (order", "  (order");
    assert!(shown.starts_with(want), "{shown}");
    let brief = room.apply(&["--dry-run"]).expect(0).stdout;
    assert!(brief.lines().nth(2).is_some_and(|line| line.ends_with("  demo  now")), "{brief}");
}
