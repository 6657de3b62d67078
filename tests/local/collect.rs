//! Collectors, `expected()`, `deploy()` and signatures.

use crate::room::{NODE, Room};
use serde_json::json;

const MAIN: &str = r#"
def expected(config):
    return {"height": config.height}

def deploy(config, facts, force):
    for difference in diff(expected(config), facts):
        run(["sh", "-c", "echo %d >@/height" % config.height], title = "raise to %d" % config.height)
    if force:
        run("echo forced >>@/forced", title = "assert")

def check(config, facts):
    return [] if facts["seen"] == config.height else ["the collector was given %s" % facts["seen"]]
"#;

const SHELL: &str = r#"#!/bin/sh
config=$(cat)
seen=${config#*'"height":'}
seen=${seen%%[!0-9 ]*}
echo "{\"height\": $(cat @/height 2>/dev/null || echo null), \"seen\": $((seen))}"
"#;

const FACTER: &str = r#"
from suil.sdk import Facter


class Surf(Facter):

    def collect(self) -> dict:
        print("noise")
        try:
            height = int(open("@/height").read())
        except OSError:
            height = None
        return {"height": height, "seen": self.config.height}
"#;

fn room(file: &str, text: &str) -> Room {
    let room = Room::new(&["demo"]);
    room.module("demo", "height = t.int(default = 3)", MAIN);
    room.write(&format!("modules/demo/facts/{file}"), &text.replace('@', &room.node().display().to_string()));
    room
}

fn collects(file: &str, text: &str) {
    let room = room(file, text);
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(room.performed(), ["raise to 3"]);
    let facts = room.yaml(&format!("facts/{NODE}/demo.yaml"))["facts"].clone();
    assert_eq!((facts["height"].clone(), facts["seen"].clone()), (json!(3), json!(3)));
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(room.outcome(), "nothing to do");
    let shown = room.suil(&["facts", "--role", "demo", "--output", "json"]).expect(0);
    let shown: serde_json::Value = serde_json::from_str(&shown.stdout).expect("JSON");
    assert_eq!(shown["facts"][NODE]["demo"]["height"], json!(3), "{shown}");
}

#[test]
fn a_collector_is_run_by_its_shebang() {
    collects("collector.sh", SHELL);
}

#[test]
fn a_collector_of_the_python_suil_is_run_through_facter() {
    collects("collector.py", FACTER);
}

#[test]
fn a_changed_module_tells_deploy_once() {
    let room = room("collector.sh", SHELL);
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(room.there("forced"), "none", "a module that was never applied has not changed");
    let signature = |room: &Room| room.yaml(&format!("facts/{NODE}/demo.yaml"))["signature"].clone();
    let before = signature(&room);
    room.write("modules/demo/data/note.yaml", "demo: {}\n");
    room.suil(&["facts", "--role", "demo"]).expect(0);
    assert_eq!(signature(&room), before, "collecting facts applies nothing");
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(room.performed(), ["assert"]);
    assert_ne!(signature(&room), before);
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(room.outcome(), "nothing to do");
    room.apply(&["--confirm", "--force"]).expect(0);
    assert_eq!(room.there("forced"), "forced\nforced\n");
}

#[test]
fn a_fact_that_is_not_as_expected_after_the_run_fails_it() {
    let room = room("collector.sh", SHELL);
    room.module(
        "demo",
        "height = t.int(default = 3)",
        "def expected(config):\n    return {\"height\": config.height}\n",
    );
    let failed = room.apply(&["--confirm"]).expect(1);
    assert!(failed.stderr.contains("`height` of module `demo` is not as expected"), "{}", failed.stderr);
    assert!(failed.stderr.contains("expected 3, found null"), "{}", failed.stderr);
}

#[test]
fn a_collector_that_fails_is_reported_and_nothing_is_decided_on_it() {
    let room = room("collector.sh", "#!/bin/sh\necho '{\"height\": 1}'\necho cannot look >&2\nexit 4\n");
    let failed = room.apply(&["--confirm"]).expect(1);
    assert!(failed.stderr.contains("cannot look"), "{}", failed.stderr);
    assert_eq!(room.performed(), Vec::<String>::new());
    assert_eq!(room.there("height"), "none");
}
