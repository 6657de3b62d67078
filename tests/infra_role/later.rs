//! Layers that come after other nodes: their templates read facts of the same run, or they need a layer that another
//! node holds.

use crate::room::{Ran, Room};
use crate::{NODE, nest, sealed};
use serde_json::{Value, json};
use std::fs;

/// Writes its text into a file of the node, and says what stands there.
const SITE: &str =
    "def resources(config):\n    return [file(\"@/\" + config.suil.node, content = config.text + \"\\n\")]\n";

const COLLECTOR: &str = r#"#!/bin/sh
config=$(cat)
name=${config#*'"name":'}
name=${name#*\"}
echo "{\"text\": \"$(cat "@/${name%%\"*}" 2>/dev/null || echo none)\"}"
"#;

const YARD: &str = r#"
terraform {
  backend "local" {}
}
resource "terraform_data" "yard" { input = "{{ READS | join('+') }}" }
output "texts" { value = terraform_data.yard.output }
"#;

/// `here` holds `kiln/harbor` and `yard/harbor`, whose template reads the text that stands in a file of each of `sites`.
fn yard(sites: &[(&str, &str)], reads: &str) -> Room {
    let room = nest(&["harbor"]);
    room.module("site", "name = t.string(), text = t.string()", SITE);
    let collector = COLLECTOR.replace('@', &room.node().display().to_string());
    room.write("modules/site/facts/collector.sh", &collector);
    room.write("data/roles/site.yaml", "modules: [site]\n");
    for (site, text) in sites {
        set(&room, site, text);
    }
    room.write("infra/stacks/yard/base/main.tf", &YARD.replace("READS", reads));
    room.write("infra/stacks/yard/layers/harbor/layer.tfvars", "");
    room.data("infra: {layers: [yard/harbor, kiln/harbor]}\n");
    room
}

const READS: &str = "lookup('site.text', role='site', **{'from': 'facts'})";

fn set(room: &Room, site: &str, text: &str) {
    room.write(&format!("data/nodes/{site}.yaml"), &format!("role: site\nsite: {{name: {site}, text: {text}}}\n"));
}

fn all(room: &Room, more: &[&str]) -> Ran {
    sealed(room, room.suil(&[&["apply", "--node", "*"], more].concat()))
}

/// The text of the output, as the facts of the node that holds the layer have it.
fn texts(room: &Room) -> Value {
    room.yaml(&format!("facts/{NODE}/infra.yaml"))["facts"]["yard/harbor"]["texts"].clone()
}

#[test]
fn a_layer_whose_template_reads_facts_comes_after_the_nodes_that_they_are_of() {
    let room = yard(&[("site-1", "one"), ("site-2", "two")], READS);
    let ran = all(&room, &["--dry-run"]).expect(0);
    let words = "its template reads `site.text` of `site-1` and `site-2`, which are to be applied first";
    assert!(
        ran.stderr.contains("layer `yard/harbor` has no part in this plan") && ran.stderr.contains(words),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("+ apply kiln/harbor"), "{}", ran.stdout);

    let ran = all(&room, &["--confirm"]).expect(0);
    let (first, second) = ran.stdout.split_once("1 node to come").expect("two rounds");
    assert!(first.contains("+ apply kiln/harbor") && !first.contains("yard/harbor"), "{}", ran.stdout);
    assert!(second.contains("+ apply yard/harbor"), "{}", ran.stdout);
    assert_eq!(texts(&room), json!("one+two"));

    // Where nothing differs one plan is about all, and it is made on the facts of this run.
    let ran = all(&room, &["--confirm"]).expect(0);
    assert!(ran.stdout.contains("nothing to do: here.example.com, site-1, site-2 (3 nodes)"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("to come") && !ran.stderr.contains("no part"), "{ran:?}");
    room.spoil("site-2", "other\n");
    room.write("modules/site/code/main.star", "def resources(config):\n    return []\n");
    let ran = all(&room, &["--confirm"]).expect(0);
    assert!(ran.stdout.contains("~ apply yard/harbor") && !ran.stdout.contains("to come"), "{}", ran.stdout);
    assert_eq!(texts(&room), json!("one+other"));
}

#[test]
fn a_node_between_two_layers_of_one_node_comes_between_them() {
    let room = yard(&[("site-1", "one")], READS);
    room.module(
        "site",
        "name = t.string(), texts = t.list(t.string())",
        &SITE.replace("config.text", "\" \".join(config.texts)"),
    );
    let read = "texts: !LOOKUP {from: facts, field: infra.kiln/harbor.address}";
    room.write("data/nodes/site-1.yaml", &format!("role: site\nsite:\n  name: site-1\n  {read}\n"));
    let ran = all(&room, &["--confirm"]).expect(0);
    let lines = ran.stdout.lines().filter(|line| line.contains("  + ") || line.contains("to come:"));
    let told: Vec<&str> = lines.map(|line| line.trim().split("  ").next().unwrap_or_default()).collect();
    let node = room.node();
    let wanted = [
        "+ apply kiln/harbor: 2 to add".to_owned(),
        "2 nodes to come: what they waited for is there now.".to_owned(),
        format!("+ write {}/site-1", node.display()),
        "1 node to come: what it waited for is there now.".to_owned(),
        "+ apply yard/harbor: 1 to add".to_owned(),
    ];
    assert_eq!(told, wanted, "{}", ran.stdout);
    assert_eq!(texts(&room), json!("harbor-1"));

    room.write("infra/stacks/kiln/layers/harbor/layer.tfvars", "door = \"2\"\n");
    all(&room, &["--confirm"]).expect(0);
    assert_eq!(texts(&room), json!("harbor-2"));
    let ran = all(&room, &["--confirm"]).expect(0);
    assert!(ran.stdout.contains("nothing to do: here.example.com, site-1 (2 nodes)"), "{}", ran.stdout);
}

#[test]
fn a_layer_does_not_come_where_a_node_that_it_reads_failed_and_the_others_do() {
    let room = yard(&[("site-1", "one"), ("site-2", "two")], READS);
    // The file of the second cannot be written: a folder stands there.
    fs::create_dir(room.node().join("site-2")).expect("a folder");
    let ran = all(&room, &["--confirm"]).expect(1);
    let told = "layer `yard/harbor` of node `here.example.com` was not begun: it waits for `site-2`";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert!(ran.stderr.contains("infra/stacks/yard/base/main.tf:5:"), "{}", ran.stderr);
    let ends = room.yaml(".runs/latest/summary.yaml")["nodes"].clone();
    let word = |node: &str| ends[node]["outcome"].clone();
    assert_eq!((word(NODE), word("site-1"), word("site-2")), (json!("failed"), json!("done"), json!("failed")));
    assert_eq!(room.yaml(&format!("facts/{NODE}/infra.yaml"))["facts"]["kiln/harbor"]["address"], json!("harbor-1"));
    assert_eq!(texts(&room), Value::Null);
    fs::remove_dir(room.node().join("site-2")).expect("removed");
    sealed(&room, room.suil(&["apply", "--failed", "--confirm"])).expect(0);
    assert_eq!(texts(&room), json!("one+two"));
}

#[test]
fn nodes_and_layers_that_wait_for_each_other_are_named() {
    let room = yard(&[("site-1", "one")], READS);
    let data = "role: site\nsite:\n  name: site-1\n  text: x\n  texts: !LOOKUP {from: facts, field: infra.yard/harbor.texts}\n";
    room.write("data/nodes/site-1.yaml", data);
    let ran = all(&room, &["--confirm"]).expect(1);
    let told = "\
suil: nodes and layers wait for each other in a circle: `site-1` -> `yard/harbor` of `here.example.com` -> `site-1`
 --> data/nodes/site-1.yaml:5:10
";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert!(
        ran.stderr.contains(
            "the template of `yard/harbor` reads `site.text` of `site-1` at infra/stacks/yard/base/main.tf:5:"
        ),
        "{}",
        ran.stderr
    );
    assert!(!room.path().join(".runs").exists());
    let ran = room.suil(&["validate"]).expect(1);
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
}

#[test]
fn a_saved_plan_has_no_part_of_a_layer_that_waits_and_one_that_was_made_after_has() {
    let room = yard(&[("site-1", "one")], READS);
    room.suil(&["plan", "--node", "*", "--out", "it.plan"]).expect(0);
    let ran = sealed(&room, room.suil(&["apply", "--plan", "it.plan", "--confirm"])).expect(0);
    assert!(ran.stderr.contains("`here.example.com`: a layer that waited for others can be planned now"), "{ran:?}");
    assert_eq!((texts(&room), room.there("site-1")), (Value::Null, "one\n".to_owned()));
    room.suil(&["plan", "--node", "*", "--out", "it.plan"]).expect(0);
    sealed(&room, room.suil(&["apply", "--plan", "it.plan", "--confirm"])).expect(0);
    assert_eq!(texts(&room), json!("one"));
}

/// What was read last counts, where the node is no part of the run.
#[test]
fn a_node_that_is_not_selected_is_not_waited_for_and_one_that_cannot_be_reached_is() {
    let room = yard(&[("site-1", "one")], READS);
    all(&room, &["--confirm"]).expect(0);
    let data = "role: site\nsite: {name: site-1, text: two}\ndeployment: {transport: exec, exec: \"false\"}\n";
    room.write("data/nodes/site-1.yaml", data);
    sealed(&room, room.apply(&["--confirm"])).expect(0);
    let ran = all(&room, &["--confirm"]).expect(1);
    let words = "its template reads `site.text` of `site-1`, which could not be read";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
    assert!(ran.stderr.contains("was not begun: it waits for `site-1`"), "{}", ran.stderr);
    assert_eq!(texts(&room), json!("one"), "its facts are kept");
}

#[test]
fn a_layer_comes_after_the_one_of_another_node_that_it_needs() {
    let room = yard(&[], "[output('address', stack='kiln')]");
    room.data("infra: {layers: [yard/harbor]}\n");
    room.write("data/nodes/there.example.com.yaml", "role: demo\ninfra: {layers: [kiln/harbor]}\n");
    let ran = all(&room, &["--confirm"]).expect(0);
    let (first, second) = ran.stdout.split_once("1 node to come").expect("two rounds");
    assert!(first.contains("+ apply kiln/harbor") && !first.contains("+ apply yard/harbor"), "{}", ran.stdout);
    assert!(second.contains("+ apply yard/harbor"), "{}", ran.stdout);
    assert!(ran.stderr.contains("it needs layer `kiln/harbor` of `there.example.com`, which is to be applied first"));
    assert_eq!(texts(&room), json!("harbor-1"));

    room.write("infra/stacks/kiln/layers/harbor/layer.tfvars", "door = \"2\"\n");
    all(&room, &["--confirm"]).expect(0);
    assert_eq!(texts(&room), json!("harbor-2"));
}
