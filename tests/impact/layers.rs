//! Layers of Terraform that nodes hold: a change of their code, or of the host data that their templates read, is a change
//! of the nodes that hold them, and of those whose data reads their outputs.

use crate::room::Room;
use serde_json::json;

const READS: &str =
    "modules: [page]\npage:\n  title: Site\n  links: !LOOKUP {from: facts, field: infra.net/prod.address}\n";

/// `cloud` holds two layers of one stack; `web-1` and `web-2` read an output of the first. The template of the second
/// reads the data of `db-1` and `db-2`.
fn room() -> Room {
    let room = Room::new();
    room.write("data/nodes/cloud.yaml", "role: cloud\n");
    room.write("data/roles/cloud.yaml", "modules: [infra]\ninfra: {layers: [net/prod, hosts/prod]}\n");
    room.write("data/roles/web.yaml", READS);
    room.write(
        "modules/page/code/config.star",
        "Config = schema(title = t.string(default = \"\"), links = t.list(t.string(), default = []))\n",
    );
    room.write("infra/environments/prod/env.tfvars", "town = \"harbor\"\n");
    room.write("infra/stacks/net/base/main.tf", "output \"address\" { value = \"{{ var.town }}\" }\n");
    room.write("infra/stacks/net/layers/prod/layer.tfvars", "");
    room.write(
        "infra/stacks/hosts/base/main.tf",
        "# {{ lookup('page.title', role='db', required=false) | join(' ') }}\n",
    );
    room.write("infra/stacks/hosts/layers/prod/layer.tfvars", "");
    room.write(
        "facts/cloud/infra.yaml",
        "facts:\n  net/prod: {address: 192.0.2.7}\n  layers: {net/prod: {clean: true}}\n",
    );
    room.write(".gitignore", "/facts\n");
    room.commit("layers");
    room
}

#[test]
fn a_change_of_a_layer_is_one_of_its_node_and_of_those_that_read_it() {
    let room = room();
    assert_eq!(room.suil(&["diff", "HEAD", "--output", "json"]).expect(0).nodes(), Vec::<String>::new());
    room.write("infra/environments/prod/env.tfvars", "town = \"island\"\n");
    let ran = room.suil(&["diff", "HEAD"]).expect(0);
    let told = "\
cloud
  ~ layer hosts/prod: zzz.auto.tfvars.json
  ~ layer net/prod: base_main.tf, zzz.auto.tfvars.json

web-1, web-2 (2 nodes)
  ? infra.net/prod.address of cloud may be another value

impact: 3 nodes changed, 2 as before
";
    assert_eq!(ran.stdout, told);
    let found = room.suil(&["diff", "HEAD", "--output", "json"]).expect(0).json();
    let files = json!(["base_main.tf", "zzz.auto.tfvars.json"]);
    let layer = json!({"layer": "net/prod", "change": "changed", "files": files, "why": null});
    assert_eq!(found["nodes"][0]["layers"][1], layer);
    assert_eq!(found["nodes"][1]["reads"], json!([{"node": "cloud", "field": "infra.net/prod.address"}]));
    let config = room.suil(&["config", "--affected", "HEAD", "--output", "json"]).expect(0);
    assert_eq!(config.nodes(), ["cloud", "web-1", "web-2"]);
    let config = room.suil(&["config", "--affected", "HEAD", "--role", "web", "--output", "json"]).expect(0);
    assert_eq!(config.nodes(), ["web-1", "web-2"]);
}

#[test]
fn a_change_of_host_data_is_one_of_the_layer_whose_template_reads_it() {
    let room = room();
    room.write("data/nodes/db-1.yaml", "role: db\npage: {title: Other}\n");
    let ran = room.suil(&["diff", "HEAD", "--node", "cloud"]).expect(0);
    assert_eq!(ran.stdout, "cloud\n  ~ layer hosts/prod: base_main.tf\n\nimpact: 1 node changed\n");
    room.commit("two");
    let ran = room.suil(&["diff", "HEAD~1", "HEAD", "--node", "cloud"]).expect(0);
    assert!(ran.stdout.contains("~ layer hosts/prod: base_main.tf"), "{}", ran.stdout);
    assert_eq!(room.suil(&["diff", "HEAD", "--output", "json"]).expect(0).nodes(), Vec::<String>::new());
}

#[test]
fn a_layer_that_comes_or_goes_or_cannot_be_rendered_differs() {
    let room = room();
    room.write("infra/stacks/net/base/main.tf", "{{ var.nothing }}\n");
    room.write("data/roles/cloud.yaml", "modules: [infra]\ninfra: {layers: [net/prod, new/prod]}\n");
    room.write("infra/stacks/new/base/main.tf", "");
    room.write("infra/stacks/new/layers/prod/layer.tfvars", "");
    let ran = room.suil(&["diff", "HEAD", "--node", "cloud"]).expect(0);
    assert!(ran.stdout.contains("? layer net/prod cannot be compared: "), "{}", ran.stdout);
    assert!(ran.stdout.contains("  + layer new/prod\n"), "{}", ran.stdout);
}

/// The stacks of `infra affected` with their reasons, and the nodes with what they hold and read.
fn affected(room: &Room) -> (Vec<String>, Vec<String>) {
    let ran = room.suil_in(&room.path().join("infra"), &["infra", "affected", "--base", "HEAD", "--output", "json"]);
    let found = ran.json();
    let all = |key: &str| found[key].as_array().expect("a list").clone();
    let stacks = all("affected").iter().map(|stack| format!("{} {}", stack["key"], stack["reasons"])).collect();
    let nodes =
        all("nodes").iter().map(|node| format!("{} {} {}", node["node"], node["holds"], node["reads"])).collect();
    (stacks, nodes)
}

#[test]
fn affected_stacks_name_the_nodes_that_hold_and_read_them() {
    let room = room();
    assert_eq!(affected(&room), (Vec::new(), Vec::new()));
    room.write("infra/stacks/net/layers/prod/layer.tfvars", "door = 1\n");
    let read = r#"[{"node":"cloud","field":"infra.net/prod.address"}]"#;
    let holds = r#""cloud" ["stacks/net:prod"] []"#.to_owned();
    let readers = ["web-1", "web-2"].map(|node| format!("\"{node}\" [] {read}"));
    let nodes: Vec<String> = std::iter::once(holds).chain(readers).collect();
    assert_eq!(affected(&room), (vec![r#""stacks/net:prod" ["changed"]"#.to_owned()], nodes));
}

#[test]
fn a_stack_is_affected_by_the_host_data_that_its_templates_read_and_by_no_other() {
    let room = room();
    room.write("data/nodes/db-1.yaml", "role: db\npage: {lines: [x]}\n");
    assert_eq!(affected(&room), (Vec::new(), Vec::new()));
    room.write("data/nodes/db-1.yaml", "role: db\npage: {title: Other}\n");
    let stacks = vec![r#""stacks/hosts:prod" ["host_data"]"#.to_owned()];
    assert_eq!(affected(&room), (stacks, vec![r#""cloud" ["stacks/hosts:prod"] []"#.to_owned()]));
}

/// What `suil infra graph --nodes` prints of the edges, in each form that people and programs draw.
#[test]
fn nodes_are_drawn_between_the_stacks_that_they_read_and_those_that_read_them() {
    let room = room();
    let drawn = |more: &[&str]| {
        let words = [&["infra", "graph", "--nodes"], more].concat();
        room.suil_in(&room.path().join("infra"), &words).expect(0).stdout
    };
    let text = drawn(&[]);
    let (head, rest) = text.split_once('\n').expect("lines");
    assert!(head.ends_with(": 2 stacks, 0 modules, 4 nodes, 4 edges"), "{head}");
    let want = "\
stacks/hosts:prod  local://stacks/hosts/layers/prod/stacks.out/terraform.tfstate
  reads_host_data db-1  (inferred)
  reads_host_data db-2  (inferred)
stacks/net:prod  local://stacks/net/layers/prod/stacks.out/terraform.tfstate
db-1  (node, db)
db-2  (node, db)
web-1  (node, web)
  reads_output stacks/net:prod  (inferred)
web-2  (node, web)
  reads_output stacks/net:prod  (inferred)
";
    assert_eq!(rest, want);
    let dot = drawn(&["--output", "dot"]);
    for line in [
        r#"  "node:web-1" [label="web-1", shape=ellipse];"#,
        r#"  "node:web-1" -> "stack:stacks/net:prod" [label="reads_output", style=dashed];"#,
        r#"  "stack:stacks/hosts:prod" -> "node:db-1" [label="reads_host_data", style=dashed];"#,
    ] {
        assert!(dot.contains(line), "{dot}");
    }
    let mermaid = drawn(&["--output", "mermaid"]);
    assert!(mermaid.contains("([\"web-1\"]):::host") && mermaid.contains("-. reads_output .->"), "{mermaid}");
    let edges =
        serde_json::from_str::<serde_json::Value>(&drawn(&["--output", "json"])).expect("JSON")["edges"].clone();
    let read = json!({
        "from": {"kind": "node", "key": "web-1"}, "to": {"kind": "stack", "key": "stacks/net:prod"}, "type": "reads_output",
        "inferred": true, "meta": {"fields": "infra.net/prod.address"}, "at": {"file": "data/roles/web.yaml", "line": 4, "column": 10}
    });
    assert!(edges.as_array().expect("edges").contains(&read), "{edges}");
    // Without the flag the shape is the one of a tree alone.
    let plain = room.suil_in(&room.path().join("infra"), &["infra", "graph", "--output", "json"]).expect(0).json();
    assert_eq!((plain.get("nodes"), plain["edges"].clone()), (None, json!([])));

    let why = room.suil_in(&room.path().join("infra"), &["infra", "why", "stacks/hosts:prod"]).expect(0).stdout;
    assert!(why.contains("db-1   reads_host_data page.title, inferred  stacks/hosts/base/main.tf:1\n"), "{why}");
    let why = room.suil_in(&room.path().join("infra"), &["infra", "why", "stacks/net:prod"]).expect(0).stdout;
    assert!(why.contains("web-1      reads_output infra.net/prod.address, inferred  data/roles/web.yaml:4\n"), "{why}");
    room.write("data/nodes/db-1.yaml", "role: db\npage: {title: Other}\n");
    let why = room.suil_in(&room.path().join("infra"), &["infra", "why", "stacks/hosts:prod", "--base", "HEAD"]);
    assert!(why.stdout.contains("  affected     wave 0: host_data\n"), "{}", why.stdout);
}

#[test]
fn a_tree_without_a_workspace_has_no_nodes_to_draw() {
    let room = room();
    std::fs::remove_dir_all(room.path().join("data")).expect("removed");
    let ran = room.suil_in(&room.path().join("infra"), &["infra", "graph", "--nodes"]).expect(1);
    assert!(ran.stderr.starts_with("suil: there are no nodes around this tree\n"), "{}", ran.stderr);
    room.suil_in(&room.path().join("infra"), &["infra", "graph", "--output", "html", "--write", "x.html"]).expect(0);
}
