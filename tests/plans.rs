//! Saved plans, on a node that is this machine: what is applied is what was planned, or nothing.

#![allow(clippy::disallowed_methods)]

#[path = "local/room.rs"]
mod room;

use room::{NODE, Ran, Room, until};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

const MAIN: &str = r#"
def resources(config):
    conf = file("@/app.conf", content = render("app.j2", config), mode = "0640")
    return [
        file("@/motd", content = "welcome\n"),
        conf,
        command("load", run = "cat @/app.conf >>@/loaded", triggered_by = [conf]),
    ]

def deploy(config, facts, force):
    if config.beat:
        run("echo beat >>@/beats")
"#;

const SCHEMA: &str =
    "workers = t.int(default = 2), beat = t.bool(default = True), sites = t.list(t.string(), default = [])";

/// A workspace with two modules of which one has all that can move.
fn workspace() -> Room {
    let room = Room::new(&["app", "other"]);
    room.module("app", SCHEMA, MAIN);
    room.write("modules/app/templates/app.j2", "workers = {{ workers }}\n");
    room.module(
        "other",
        "text = t.string(default = \"x\"), unused = t.int(default = 1)",
        "def resources(config):\n    return [file(\"@/other\", content = config.text)]\n",
    );
    room.data("app:\n  workers: 4\n");
    room
}

/// Plans into `plan.json`.
#[track_caller]
fn plan(room: &Room, more: &[&str]) -> Ran {
    room.suil(&[&["plan", "--role", "demo", "--out", "plan.json"], more].concat()).expect(0)
}

#[track_caller]
fn apply(room: &Room, status: i32) -> Ran {
    room.suil(&["apply", "--plan", "plan.json", "--confirm"]).expect(status)
}

/// All that stands on the node: name and content of each file.
fn disk(room: &Room) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = fs::read_dir(room.node())
        .expect("a folder")
        .map(|entry| entry.expect("an entry"))
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name.clone(), room.there(&name))
        })
        .collect();
    all.sort();
    all
}

/// The plan is refused, each of `words` is said, and nothing on the node or in the record changed.
#[track_caller]
fn refused(room: &Room, words: &[&str]) -> Ran {
    let (before, runs) = (disk(room), room.path().join(".runs").read_dir().map(Iterator::count).unwrap_or(0));
    let ran = apply(room, 3);
    for word in words {
        assert!(ran.stderr.contains(word), "{word} in\n{}", ran.stderr);
    }
    assert_eq!(disk(room), before, "nothing is changed");
    assert_eq!(room.path().join(".runs").read_dir().map(Iterator::count).unwrap_or(0), runs, "no run is recorded");
    ran
}

fn titles(plan: &Value) -> Vec<String> {
    let operations = plan["nodes"][0]["operations"].as_array().expect("operations").iter();
    operations.map(|operation| operation["title"].as_str().expect("a title").to_owned()).collect()
}

fn file_of(room: &Room) -> Value {
    serde_json::from_str(&room.read("plan.json")).expect("JSON")
}

#[test]
fn exactly_the_operations_of_the_plan_are_performed() {
    let room = workspace();
    let planned = plan(&room, &[]);
    let mode = fs::metadata(room.path().join("plan.json")).expect("a file").permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    assert_eq!(disk(&room), []);
    let saved = file_of(&room);
    let ran = apply(&room, 0);
    assert_eq!(
        room.performed(),
        titles(&saved).iter().map(|t| t.replace(&room.node().display().to_string(), "@")).collect::<Vec<_>>()
    );
    assert_eq!(room.performed().len(), 5, "{:?}", room.performed());
    let shown = planned.stdout.find("  + write").and_then(|from| planned.stdout.get(from..)).expect("a plan");
    let shown = shown.split("plan: ").next().expect("a plan");
    assert!(ran.stdout.contains(shown), "the plan is shown again:\n{}", ran.stdout);
    assert_eq!(room.there("app.conf"), "workers = 4\n");
    let record: Value = serde_json::from_str(&room.read(".runs/latest/plan.json")).expect("JSON");
    assert_eq!(record["saved"]["sha256"], saved["sha256"]);
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(room.there("beats"), "beat\nbeat\n");
}

/// Changes the plan as somebody would who knows how it is sealed.
fn forge(room: &Room, change: impl FnOnce(&mut Value)) {
    let mut plan = file_of(room);
    change(&mut plan);
    for node in plan["nodes"].as_array_mut().expect("nodes") {
        for operation in node["operations"].as_array_mut().expect("operations") {
            seal(operation);
        }
    }
    seal(&mut plan);
    room.write("plan.json", &plan.to_string());
}

fn seal(value: &mut Value) {
    value.as_object_mut().expect("a mapping").shift_remove("sha256");
    let digest = suil::base::digest::sha256(sorted(value).to_string().as_bytes());
    value["sha256"] = json!(digest);
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort();
            keys.into_iter().map(|key| (key.clone(), sorted(&map[key]))).collect()
        }
        other => other.clone(),
    }
}

type Change = fn(&Room);

/// What moves, and the words of the refusal.
const MATTERS: &[(&str, Change, &[&str])] = &[
    (
        "a value",
        |room| room.data("app:\n  workers: 5\n"),
        &["`workers` of module `app` changed", "data/nodes/here.example.com.yaml:3:12", "on node `here.example.com`"],
    ),
    (
        "a value of the role",
        |room| room.write("data/roles/demo.yaml", "modules: [app, other]\nother: {text: y}\n"),
        &["`text` of module `other` changed", "data/roles/demo.yaml:2:15"],
    ),
    ("a value that is no more", |room| room.data(""), &["`workers` of module `app` changed since the plan was made"]),
    (
        "what deploy() queues",
        |room| room.data("app: {workers: 4, beat: no}\n"),
        &["`beat` of module `app` changed", "data/nodes/here.example.com.yaml:2:25"],
    ),
    (
        "a template",
        |room| room.write("modules/app/templates/app.j2", "workers: {{ workers }}\n"),
        &["module `app` changed since the plan was made: `templates/app.j2`"],
    ),
    (
        "code",
        |room| room.write("modules/app/code/main.star", &(room.read("modules/app/code/main.star") + "# more\n")),
        &["module `app` changed since the plan was made: `code/main.star`"],
    ),
    (
        "a file that is new in a module",
        |room| room.write("modules/other/files/new", "new"),
        &["module `other` changed since the plan was made: `files/new` is new"],
    ),
    (
        "a file that the plan would make is there",
        |room| room.spoil("motd", "somebody else\n"),
        &["`file ", "node/motd` on node `here.example.com` is not as when planned"],
    ),
    (
        "a node that joins the role",
        |room| room.write("data/nodes/more.example.com.yaml", "role: demo\n"),
        &["node `more.example.com` is selected now, and was not when planned"],
    ),
    (
        "a node that leaves the role",
        |room| {
            room.write("data/roles/rest.yaml", "modules: []\n");
            room.write(&format!("data/nodes/{NODE}.yaml"), "role: rest\n");
        },
        &["node `here.example.com` is not selected any more"],
    ),
    (
        "a node that leaves the workspace",
        |room| fs::remove_file(room.path().join(format!("data/nodes/{NODE}.yaml"))).expect("a file"),
        &["node `here.example.com` is not in the workspace any more"],
    ),
    (
        "how the node is entered",
        |room| room.data("deployment: {sudo: doas}\napp: {workers: 4}\n"),
        &["is reached otherwise: `sudo` is `doas`, and was `no` when planned", "data/nodes/here.example.com.yaml:2:20"],
    ),
    (
        "where the node is",
        |room| room.data("deployment: {transport: exec, exec: sh}\napp: {workers: 4}\n"),
        &["is reached otherwise: `transport` is `exec`, and was `local`"],
    ),
    (
        "the order of the modules",
        |room| room.write("data/roles/demo.yaml", "modules: [other, app]\n"),
        &[
            "the modules of node `here.example.com` come in another order than when planned",
            "now other, app; when planned app, other",
        ],
    ),
    (
        "a module more",
        |room| {
            room.module("more", "", "def resources(config):\n    return []\n");
            room.write("data/roles/demo.yaml", "modules: [app, other, more]\n");
        },
        &["the modules of node `here.example.com` are not those that were planned", "now app, other, more"],
    ),
    (
        "a module that is gone",
        |room| {
            room.write("data/roles/demo.yaml", "modules: [app]\n");
            fs::remove_dir_all(room.path().join("modules/other")).expect("a folder");
        },
        &["module `other` is gone since the plan was made", "when planned app, other"],
    ),
    (
        "the version of suil",
        |room| forge(room, |plan| plan["suil"] = json!("0.0.1")),
        &["this is suil 0.1.0, and the plan was made by suil 0.0.1"],
    ),
    (
        "the version of suil by hand",
        |room| room.write("plan.json", &room.read("plan.json").replace("\"suil\": \"0.1.0\"", "\"suil\": \"0.0.1\"")),
        &["the plan was made by suil 0.0.1", "`plan.json` is not as suil wrote it"],
    ),
    (
        "the release of the system",
        |room| forge(room, |plan| plan["nodes"][0]["system"] = json!("debian 2")),
        &["node `here.example.com` is ", ", and was debian 2 when planned"],
    ),
    (
        "an operation by hand",
        |room| {
            room.write(
                "plan.json",
                &room.read("plan.json").replace("\"title\": \"run load\"", "\"title\": \"run loot\""),
            )
        },
        &["`plan.json`: operation 3 of node `here.example.com`, `run loot`, was changed by hand"],
    ),
    (
        "an operation by a forger",
        |room| forge(room, |plan| plan["nodes"][0]["operations"][2]["script"] = json!("0".repeat(64))),
        &["operation 3 of node `here.example.com`, `run load`, is another now: script"],
    ),
    (
        "an operation less",
        |room| {
            forge(room, |plan| drop(plan["nodes"][0]["operations"].as_array_mut().expect("operations").remove(3)));
        },
        &["operation 4 of node `here.example.com`, `run echo beat ", "was not planned"],
    ),
    (
        "the order of operations",
        |room| forge(room, |plan| plan["nodes"][0]["operations"].as_array_mut().expect("operations").swap(0, 1)),
        &["the operations of node `here.example.com` come in another order than planned"],
    ),
];

#[test]
fn every_input_that_matters_is_named_and_nothing_is_changed() {
    for (name, change, words) in MATTERS {
        let room = workspace();
        plan(&room, &[]);
        change(&room);
        let ran = refused(&room, words);
        assert!(ran.stdout.find("write").is_none(), "{name}: no plan is shown:\n{}", ran.stdout);
        if *name != "the version of suil by hand" && *name != "an operation by hand" {
            assert!(ran.stderr.contains("the plan in `plan.json` is stale, and nothing was changed"), "{}", ran.stderr);
        }
    }
}

/// What cannot alter an operation is no reason to plan again.
const HARMLESS: &[(&str, Change)] = &[
    ("nothing", |_| ()),
    ("a comment and another layout of the data", |room| room.data("# more\napp:   {workers:   4}  # so many\n")),
    ("the order of keys", |room| room.write("data/roles/demo.yaml", "other: {}\nmodules: [app, other]\n")),
    ("the layer that says it", |room| {
        room.data("");
        room.write("data/roles/demo.yaml", "modules: [app, other]\napp: {workers: 4}\n");
    }),
    ("a value that no operation comes from", |room| room.data("app: {workers: 4, sites: [a]}\nother: {unused: 7}\n")),
    ("another node of another role", |room| {
        room.write("data/roles/rest.yaml", "modules: []\n");
        room.write("data/nodes/more.example.com.yaml", "role: rest\n");
    }),
    ("a module that no node of the plan has", |room| {
        room.module("more", "", "def resources(config):\n    return []\n");
    }),
    ("what belongs to no signature", |room| {
        room.write("modules/app/README.md", "more");
        room.write("modules/app/tests/a.yaml", "config: {}\n");
    }),
    ("defaults of a module that say the same", |room| {
        room.write("modules/app/data/main.yaml", "# the default\napp: {}\n")
    }),
    ("settings of the connection that lead nowhere else", |room| {
        room.data("deployment: {connect_timeout: 7s, ssh_persist: no}\napp: {workers: 4}\n");
    }),
    ("what nobody manages on the node", |room| room.spoil("unmanaged", "x")),
    ("a workspace that never saw the node", |room| {
        fs::remove_dir_all(room.path().join("facts")).expect("a folder");
    }),
    ("a cache that says another release of the node", |room| {
        room.write(&format!("facts/{NODE}/suil.yaml"), "facts: {family: redhat, release: 3}\n");
    }),
    ("another layout of the plan", |room| {
        let plan = sorted(&file_of(room));
        room.write("plan.json", &plan.to_string());
    }),
    ("another run of the same plan", |room| drop(room.apply(&["--dry-run"]).expect(0))),
];

#[test]
fn what_cannot_alter_an_operation_does_not_refuse() {
    for (name, change) in HARMLESS {
        let room = workspace();
        plan(&room, &[]);
        change(&room);
        let ran = room.suil(&["apply", "--plan", "plan.json", "--confirm"]);
        assert_eq!(ran.status, 0, "{name}:\n{}", ran.stderr);
        assert_eq!(room.performed().len(), 5, "{name}");
    }
}

#[test]
fn a_plan_of_some_modules_is_not_about_the_others() {
    let room = workspace();
    plan(&room, &["--module", "other"]);
    room.data("app: {workers: 9}\n");
    room.write("modules/app/templates/app.j2", "changed\n");
    room.spoil("motd", "changed\n");
    apply(&room, 0);
    assert_eq!(room.performed(), ["write @/other"]);
    assert_eq!(room.there("motd"), "changed\n");
    plan(&room, &["--module", "app"]);
    room.write("data/roles/demo.yaml", "modules: [other]\n");
    room.data("");
    refused(&room, &["the modules of node `here.example.com` are not those that were planned", "when planned app"]);
}

/// Whether a fact matters is decided by what comes of it.
#[test]
fn a_fact_counts_where_an_operation_comes_from_it() {
    let room = workspace();
    room.apply(&["--confirm"]).expect(0);
    room.data("app: {workers: 5, beat: no}\n");
    plan(&room, &[]);
    // It was well when planned, and is not now.
    room.spoil("motd", "spoiled\n");
    let ran = refused(&room, &["node/motd` on node `here.example.com` is not as when planned"]);
    assert!(!ran.stderr.contains("app.conf"), "only what moved is named: {}", ran.stderr);
    room.spoil("motd", "welcome\n");
    // The same would be written over it, but it is not what the diff showed.
    room.spoil("app.conf", "workers = 9\n");
    refused(&room, &["node/app.conf` on node `here.example.com` is not as when planned"]);
    room.spoil("app.conf", "workers = 4\n");
    apply(&room, 0);
    assert_eq!(room.there("app.conf"), "workers = 5\n");
}

#[test]
fn a_content_that_no_diff_shows_counts_too() {
    let room = Room::new(&["app"]);
    room.module("app", "", "def resources(config):\n    return [file(\"@/large\", content = \"x\" * 4000000)]\n");
    room.spoil("large", &"y".repeat(4_000_000));
    let ran = plan(&room, &[]);
    assert!(!ran.stdout.contains("+xxx") && !ran.stdout.contains("-yyy"));
    room.spoil("large", &"z".repeat(4_000_000));
    refused(&room, &["node/large` on node `here.example.com` is not as when planned"]);
    room.spoil("large", &"y".repeat(4_000_000));
    apply(&room, 0);
}

#[test]
fn what_the_module_s_own_collector_reports_is_named() {
    let room = Room::new(&["app"]);
    let main = "def deploy(config, facts, force):\n    if facts.get(\"size\") != 3:\n        run(\"echo grow %s\" % facts.get(\"size\"))\n";
    room.module("app", "", main);
    let node = room.node().display().to_string();
    room.spoil("size", "1");
    room.write(
        "modules/app/facts/collector",
        &format!("#!/bin/sh\ncat >/dev/null\nprintf '{{\"size\": %s, \"noise\": %s}}' \"$(cat {node}/size)\" $$\n"),
    );
    plan(&room, &[]);
    apply(&room, 0);
    plan(&room, &[]);
    room.spoil("size", "2");
    refused(&room, &["the fact `size` of module `app` on node `here.example.com` is not as when planned"]);
}

#[test]
fn what_a_failed_run_owes_is_part_of_the_plan() {
    let room = Room::new(&["app"]);
    let main = r#"
def resources(config):
    conf = file("@/conf", content = "conf\n")
    return [
        conf,
        command("gate", run = "test -e @/open && touch @/passed", creates = "@/passed"),
        command("load", run = "cat @/conf >>@/loaded", triggered_by = [conf]),
    ]
"#;
    room.module("app", "", main);
    room.apply(&["--confirm"]).expect(1);
    assert_eq!((room.there("conf"), room.there("loaded")), ("conf\n".into(), "none".into()));
    plan(&room, &[]);
    assert_eq!(titles(&file_of(&room)), ["run gate", "run load"]);
    room.spoil("open", "");
    apply(&room, 0);
    assert_eq!(room.performed(), ["run gate", "run load"]);
    assert_eq!(room.there("loaded"), "conf\n");
}

#[test]
fn what_was_applied_in_between_is_named_where_it_decides() {
    let room = Room::new(&["app"]);
    let main = "def resources(config):\n    return [file(\"@/f\", content = config.text)]\n\ndef deploy(config, facts, force):\n    if force:\n        run(\"echo forced\")\n";
    room.module("app", "text = t.string(default = \"a\")", main);
    room.apply(&["--confirm"]).expect(0);
    room.data("app: {text: b}\n");
    plan(&room, &[]);
    let path = format!("facts/{NODE}/app.yaml");
    let facts = room.read(&path);
    let at = facts.find("sha256:").expect("a signature") + "sha256:".len();
    room.write(&path, &format!("{}{}{}", &facts[..at], "0".repeat(64), &facts[at + 64..]));
    refused(&room, &["what earlier runs left for module `app` on node `here.example.com` is not as when planned"]);
    room.write(&path, &facts);
    apply(&room, 0);
    assert_eq!(room.performed(), ["write @/f"]);
}

#[test]
fn the_role_of_a_node_is_named_where_it_decides() {
    let room = Room::new(&["app"]);
    let main = "def resources(config):\n    return [file(\"@/role\", content = config.suil.role)]\n";
    room.module("app", "", main);
    room.suil(&["plan", "--node", NODE, "--out", "plan.json"]).expect(0);
    room.write("data/roles/rest.yaml", "modules: [app]\n");
    room.write(&format!("data/nodes/{NODE}.yaml"), "role: rest\n");
    refused(&room, &["the role of node `here.example.com` is `rest`, and was `demo`"]);
}

/// What a module wants is what another decides, where both want the same.
#[test]
fn a_module_that_decides_for_another_is_named() {
    let room = Room::new(&["app", "other"]);
    let main = "def resources(config):\n    conf = file(\"@/f\", content = \"f\")\n    return [conf] + ([command(\"c\", run = \"true\", triggered_by = [conf])] if config.too else [])\n";
    for name in ["app", "other"] {
        room.module(name, "too = t.bool(default = False)", main);
    }
    plan(&room, &[]);
    room.data("other: {too: yes}\n");
    refused(&room, &["`too` of module `other` changed", "data/nodes/here.example.com.yaml:2:14"]);
}

#[test]
fn a_plan_that_is_done_is_refused() {
    let room = workspace();
    room.data("app: {workers: 4, beat: no}\n");
    plan(&room, &[]);
    apply(&room, 0);
    refused(&room, &["node `here.example.com` is already as planned: nothing is left of this plan"]);
    // A plan of nothing can be applied as often as one likes.
    plan(&room, &[]);
    let ran = apply(&room, 0);
    assert!(ran.stdout.contains("Nothing to apply."), "{}", ran.stdout);
    apply(&room, 0);
}

#[test]
fn a_plan_that_is_half_done_is_refused() {
    let room = workspace();
    room.data("app: {workers: 4, beat: no}\n");
    plan(&room, &[]);
    room.apply(&["--module", "other", "--confirm"]).expect(0);
    refused(&room, &["node/other` on node `here.example.com` is not as when planned"]);
}

#[test]
fn a_plan_under_force_is_applied_under_force() {
    let room = workspace();
    room.apply(&["--confirm"]).expect(0);
    plan(&room, &["--force"]);
    apply(&room, 0);
    assert!(room.performed().contains(&"write @/motd".to_owned()), "{:?}", room.performed());
}

/// Two more nodes of the role: one behind a door that can be shut, and one whose door is shut already.
fn three() -> Room {
    let room = workspace();
    let main = "def resources(config):\n    return [file(\"@/%s\" % config.suil.node, content = config.text)]\n";
    room.module("other", "text = t.string(default = \"x\")", main);
    room.write("data/roles/demo.yaml", "modules: [other]\n");
    room.data("");
    for name in ["open", "shut"] {
        let door = room.path().join(name);
        room.write(name, if name == "open" { "exec /bin/sh \"$@\"\n" } else { "exit 1\n" });
        let data = format!("role: demo\ndeployment: {{transport: exec, exec: [sh, {}]}}\n", door.display());
        room.write(&format!("data/nodes/{name}.example.com.yaml"), &data);
    }
    room
}

#[test]
fn a_node_that_is_not_reached_takes_no_other_with_it() {
    let room = three();
    let ran = room.suil(&["plan", "--role", "demo", "--out", "plan.json"]).expect(1);
    assert!(ran.stdout.contains("The plan is in plan.json"), "{}", ran.stdout);
    assert!(file_of(&room)["left_out"]["shut.example.com"].is_string());
    // The one went away, and the other came back: the plan is not about it.
    room.write("open", "exit 1\n");
    room.write("shut", "exec /bin/sh \"$@\"\n");
    let ran = apply(&room, 1);
    assert!(ran.stderr.contains("warning: node `shut.example.com` could not be planned"), "{}", ran.stderr);
    let summary = room.yaml(".runs/latest/summary.yaml")["nodes"].clone();
    assert_eq!(summary["open.example.com"]["outcome"], "not reached");
    assert_eq!(summary[NODE]["outcome"], "done");
    assert!(summary["shut.example.com"].is_null(), "{summary}");
    assert_eq!(room.there("shut.example.com"), "none");
}

#[test]
fn one_stale_node_stops_the_change_of_all() {
    let room = three();
    room.suil(&["plan", "--role", "demo", "--out", "plan.json"]).expect(1);
    room.spoil("open.example.com", "somebody else");
    refused(&room, &["node/open.example.com` on node `open.example.com` is not as when planned"]);
    assert_eq!(room.there(NODE), "none");
}

/// Of the nodes that a plan names, only the one that went is told.
#[test]
fn a_node_that_goes_takes_no_other_with_it() {
    let room = three();
    room.suil(&["plan", "--node", NODE, "open.example.com", "--out", "plan.json"]).expect(0);
    fs::remove_file(room.path().join("data/nodes/open.example.com.yaml")).expect("a file");
    let ran = refused(&room, &["node `open.example.com` is not in the workspace any more"]);
    assert!(!ran.stderr.contains(&format!("`{NODE}`")), "{}", ran.stderr);
}

/// Nodes that no name and no role selects stand in the plan by their names.
#[test]
fn a_plan_of_what_a_change_affects() {
    let room = three();
    room.write("shut", "exec /bin/sh \"$@\"\n");
    for args in [&["init", "-q"][..], &["add", "data", "modules"], &["commit", "-qm", "first"]] {
        let mut git = std::process::Command::new("git");
        git.args(["-c", "user.name=anna", "-c", "user.email=anna@example.com", "-c", "safe.directory=*"]);
        assert!(git.args(args).current_dir(room.path()).status().expect("git runs").success());
    }
    let plan = |room: &Room, status| room.suil(&["plan", "--affected", "HEAD", "--out", "plan.json"]).expect(status);
    let ran = plan(&room, 0);
    assert!(ran.stderr.contains("nothing affected"), "{}", ran.stderr);
    let ran = apply(&room, 0);
    assert_eq!(ran.stdout, "Nothing to apply.\n");
    room.data("other: {text: y}\n");
    plan(&room, 0);
    assert_eq!(file_of(&room)["selection"]["nodes"], json!([NODE]));
    room.write("data/roles/demo.yaml", "modules: [other]\nother: {text: z}\n");
    apply(&room, 0);
    assert_eq!((room.there(NODE), room.there("open.example.com")), ("y".into(), "none".into()));
}

#[test]
fn what_moved_on_many_nodes_is_told_once() {
    let room = three();
    room.suil(&["plan", "--role", "demo", "--out", "plan.json"]).expect(1);
    room.write("data/roles/demo.yaml", "modules: [other]\nother: {text: z}\n");
    let ran = refused(&room, &["`text` of module `other` changed", "on nodes `here.example.com`, `open.example.com`"]);
    assert_eq!(ran.stderr.matches("`text` of module").count(), 1, "{}", ran.stderr);
}

#[test]
fn a_plan_without_any_node_is_not_written() {
    let room = three();
    let ran = room.suil(&["plan", "--node", "shut.example.com", "--out", "plan.json"]).expect(1);
    assert!(ran.stderr.contains("no node could be planned, and `plan.json` was not written"), "{}", ran.stderr);
    assert!(!room.path().join("plan.json").exists());
}

#[test]
fn a_file_that_is_no_whole_plan_is_refused_without_a_word_of_rust() {
    let room = workspace();
    plan(&room, &[]);
    let whole = room.read("plan.json");
    let cuts = (0..whole.len() - 2).step_by(whole.len() / 12).map(|end| whole[..end].to_owned());
    let mut texts: Vec<String> = cuts.collect();
    texts.extend(
        ["[]", "{}", "null", "{\"version\": 1}", "{\"version\": 1, \"nodes\": []}", "\u{0}"].map(str::to_owned),
    );
    texts.push(whole.replace("\"nodes\": [", "\"nodes\": {} , \"n\": ["));
    texts.push(room.read(".runs/latest/plan.json"));
    for text in texts {
        room.write("plan.json", &text);
        let ran = refused(&room, &["suil: `plan.json` is no"]);
        assert!(!ran.stderr.contains("panicked") && !ran.stderr.contains("serde"), "{}", ran.stderr);
    }
    room.write("plan.json", &whole.replace("\"version\": 1", "\"version\": 2"));
    refused(&room, &["`plan.json` is a plan of version 2", "expected version 1", "it was made by suil 0.1.0"]);
    fs::write(room.path().join("plan.json"), b"\xff\xfe").expect("a file");
    let ran = room.suil(&["apply", "--plan", "plan.json", "--confirm"]).expect(1);
    assert!(ran.stderr.contains("`plan.json`: it is not UTF-8"), "{}", ran.stderr);
    let ran = room.suil(&["apply", "--plan", "none.json", "--confirm"]).expect(1);
    assert!(ran.stderr.contains("cannot read `none.json`: no such file"), "{}", ran.stderr);
}

#[test]
fn what_the_plan_decides_cannot_be_asked_for_beside_it() {
    let room = workspace();
    plan(&room, &[]);
    for other in [&["--role", "demo"][..], &["--node", NODE], &["--module", "app"], &["--force"], &["--dry-run"]] {
        let ran = room.suil(&[&["apply", "--plan", "plan.json"], other].concat()).expect(64);
        let word = format!("`{}`", other[0]);
        assert!(ran.stderr.contains(&word) && ran.stderr.contains("exclude each other"), "{}", ran.stderr);
    }
    room.suil(&["apply", "--role", "demo", "--out", "x.json"]).expect(64);
    // It asks as ever, and there is nobody to ask.
    room.suil(&["apply", "--plan", "plan.json"]).expect(64);
    room.suil(&["apply", "--plan", "plan.json", "--confirm", "--parallel", "1"]).expect(0);
}

#[test]
fn a_file_that_cannot_be_written_leaves_the_old_one() {
    let room = workspace();
    for (path, words) in [
        ("none/plan.json", "there is no folder `none`"),
        ("data", "it is there and is no regular file"),
        ("..", "that names no file"),
        ("/dev/null", "it is there and is no regular file"),
    ] {
        let ran = room.suil(&["plan", "--role", "demo", "--out", path]).expect(64);
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
    room.write("out/plan.json", "old");
    let folder = room.path().join("out");
    let mut command = room.command(&["plan", "--role", "demo", "--out", "out/plan.json"]);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).expect("its mode");
    let ran = Ran::of(command.output().expect("suil runs")).expect(1);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).expect("its mode");
    assert!(ran.stdout.contains("+ write"), "the plan itself is shown: {}", ran.stdout);
    assert!(ran.stderr.contains("cannot write `out/plan.json`: permission denied"), "{}", ran.stderr);
    assert_eq!(room.read("out/plan.json"), "old");
    assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1, "nothing is left beside it");
}

#[test]
fn a_link_to_a_file_stays_one() {
    let room = workspace();
    room.write("kept/there.json", "old");
    std::os::unix::fs::symlink("kept/there.json", room.path().join("plan.json")).expect("a link");
    plan(&room, &[]);
    assert!(room.path().join("plan.json").is_symlink());
    assert!(room.read("kept/there.json").contains("\"version\": 1"));
    apply(&room, 0);
}

#[test]
fn a_killed_run_leaves_the_old_file() {
    let room = workspace();
    room.write("plan.json", "old");
    let begun = room.node().join("begun");
    room.write(
        "modules/app/facts/collector",
        &format!("#!/bin/sh\ncat >/dev/null\ntouch {}\nsleep 3\necho '{{}}'\n", begun.display()),
    );
    let mut child = room.start(&["plan", "--role", "demo", "--out", "plan.json"]);
    until("the node is asked", || begun.exists());
    child.kill().expect("a kill");
    child.wait().expect("an end");
    assert_eq!(room.read("plan.json"), "old");
    assert_eq!(
        fs::read_dir(room.path())
            .expect("a folder")
            .filter_map(Result::ok)
            .filter(|e| e.file_name().to_string_lossy().starts_with(".suil-"))
            .count(),
        0
    );
}

#[test]
fn results_for_programs_name_the_plan() {
    let room = workspace();
    let planned = room
        .suil(&["plan", "--role", "demo", "--out", "plan.json", "--output", "json", "--detailed-exitcode"])
        .expect(2);
    let planned: Value = serde_json::from_str(&planned.stdout).expect("JSON");
    assert_eq!(planned["nodes"][0]["operations"].as_array().map(Vec::len), Some(5));
    let ran = room.suil(&["apply", "--plan", "plan.json", "--confirm", "--output", "json"]).expect(0);
    let result: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(result["plan"]["sha256"], file_of(&room)["sha256"]);
    assert_eq!(result["nodes"][0]["outcome"], "done");
}

/// The same text encrypted again is the same value; another text is another, and is named without being shown.
#[test]
fn a_secret_counts_by_its_plaintext() {
    let mut room = Room::new(&["app"]);
    room.set("SUIL_AGE_KEY", "AGE-SECRET-KEY-12GYFDP8EJUL8X9LYVLFEDFMTRPFRA8EF9U5LW70KL0UJL3R60FPSCTX67M");
    room.set("SUIL_AGE_RECIPIENT", "age1t2k99x76e30vpcas8he2mc7ezaplyc400ap32l83zjthzwp469fsfyqpv2");
    room.module("app", "key = t.secret()", "def resources(config):\n    return [command(\"use\", run = \"echo %s >@/key\" % config.key, unless = \"grep -qsF %s @/key\" % config.key)]\n");
    let encrypt = |text: &str| {
        let marker = room.suil(&["encrypt", text]).expect(0).stdout;
        room.data(&format!("app:\n  key: {}\n", marker.trim()));
    };
    encrypt("hunter22");
    plan(&room, &[]);
    let (whole, data) = (room.read("plan.json"), room.read(&format!("data/nodes/{NODE}.yaml")));
    assert!(!whole.contains("hunter22"));
    encrypt("hunter22");
    assert_ne!(data, room.read(&format!("data/nodes/{NODE}.yaml")), "it is another ciphertext");
    apply(&room, 0);
    plan(&room, &[]);
    encrypt("hunter23");
    let ran = refused(&room, &["`key` of module `app` changed", "data/nodes/here.example.com.yaml:3:8"]);
    assert!(!ran.stderr.contains("hunter"), "{}", ran.stderr);
    assert_eq!(room.there("key"), "hunter22\n");
}
