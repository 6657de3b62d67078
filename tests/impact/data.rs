//! Changes of data.

use crate::room::{COMMON, Room};
use serde_json::json;

#[test]
fn a_value_in_a_role_names_the_nodes_of_that_role_with_both_places() {
    let room = Room::new();
    assert_eq!(room.diff(&["HEAD"]).json()["nodes"], json!([]));
    room.write(
        "data/roles/web.yaml",
        "modules: [page]\n# moved down\npage:\n  title: Site\n  lines: [one, two, three]\n",
    );
    let ran = room.diff(&["HEAD"]);
    assert_eq!(ran.nodes(), ["web-1", "web-2"]);
    assert_eq!(
        ran.json()["nodes"][0]["values"],
        json!([
            {
                "key": "page.title",
                "change": "changed",
                "before": {"value": "Web", "file": "HEAD:data/roles/web.yaml", "line": 3, "column": 10},
                "after": {"value": "Site", "file": "data/roles/web.yaml", "line": 4, "column": 10},
            },
            {
                "key": "page.lines.2",
                "change": "added",
                "before": null,
                "after": {"value": "three", "file": "data/roles/web.yaml", "line": 5, "column": 21},
            },
        ])
    );
    assert_eq!(ran.json()["nodes"][1]["values"], ran.json()["nodes"][0]["values"]);
}

#[test]
fn nodes_come_and_go_and_change_their_role() {
    let room = Room::new();
    room.write("data/nodes/web-3.yaml", "role: web\n");
    room.remove("data/nodes/db-2.yaml");
    room.write("data/nodes/db-1.yaml", "role: web\n");
    let ran = room.diff(&["HEAD"]);
    let told = ran.json()["nodes"]
        .as_array()
        .expect("nodes")
        .iter()
        .map(|n| json!([n["node"], n["change"], n["role"]]))
        .collect::<Vec<_>>();
    assert_eq!(
        json!(told),
        json!([
            ["db-1", "changed", {"before": "db", "after": "web"}],
            ["db-2", "removed", {"before": "db", "after": null}],
            ["web-3", "added", {"before": null, "after": "web"}],
        ])
    );
    room.write("data/roles/bare.yaml", "modules: []\n");
    room.write("data/nodes/bare-1.yaml", "role: bare\n");
    assert_eq!(room.diff(&["HEAD", "--role", "bare"]).nodes(), ["bare-1"]);
    // A node that changes its role is one of both.
    assert_eq!(room.diff(&["HEAD", "--role", "web"]).nodes(), ["db-1", "web-3"]);
    assert_eq!(room.diff(&["HEAD", "--role", "db"]).nodes(), ["db-1", "db-2"]);
    assert_eq!(room.diff(&["HEAD", "--node", "db-2"]).nodes(), ["db-2"]);
    let nobody = room.suil(&["diff", "HEAD", "--node", "db-9"]).expect(1);
    assert!(nobody.stderr.contains("node `db-9` has no file"), "{}", nobody.stderr);
}

#[test]
fn modules_come_go_and_run_in_another_order() {
    let room = Room::new();
    for module in ["other", "third"] {
        room.write(&format!("modules/{module}/code/main.star"), "def resources(config):\n    return []\n");
    }
    room.write("data/roles/web.yaml", "modules: [page, other, third]\npage: {title: Web}\n");
    room.write("data/roles/db.yaml", "modules: [page, other]\npage: {title: Database}\n");
    room.commit("two");
    room.write("data/roles/web.yaml", "modules: [third, page]\npage: {title: Web}\n");
    room.write("data/roles/db.yaml", "modules: [other, page]\npage: {title: Database}\n");
    let ran = room.suil(&["diff", "HEAD"]).expect(0).stdout;
    let want = "\
db-1, db-2 (2 nodes)
  ~ the modules run in another order: other, page

web-1, web-2 (2 nodes)
  - module other
  ~ the modules run in another order: third, page

impact: 4 nodes changed
";
    assert_eq!(ran, want);
    assert_eq!(room.diff(&["HEAD", "--module", "other"]).nodes(), ["web-1", "web-2"]);
}

#[test]
fn a_lookup_touches_the_node_that_reads_it() {
    let room = Room::new();
    let role = "modules: [page]\npage:\n  title: Web\n  peers: !LOOKUP {field: page.title, nodes: \"db-*\", format: \"{node}={value}\"}\n";
    room.write("data/roles/web.yaml", role);
    room.commit("two");
    room.write("data/nodes/db-2.yaml", "role: db\npage: {title: Standby}\n");
    let ran = room.diff(&["HEAD"]);
    assert_eq!(ran.nodes(), ["db-2", "web-1", "web-2"]);
    let value = &ran.json()["nodes"][1]["values"][0];
    assert_eq!(
        (&value["key"], &value["before"]["value"], &value["after"]["value"]),
        (&json!("page.peers.1"), &json!("db-2=Database"), &json!("db-2=Standby"))
    );
}

/// A schema has the last word on how a scalar was meant, and a template may go through a mapping in its order.
#[test]
fn another_spelling_and_another_order_of_keys_count() {
    let room = Room::new();
    room.write("data/roles/db.yaml", "modules: [page]\npage:\n  title: no\n");
    room.commit("two");
    room.write("data/roles/db.yaml", "modules: [page]\npage:\n  title: No\n");
    room.write("data/roles/web.yaml", "modules: [page]\npage:\n  lines: [one, two]\n  title: Web\n");
    let ran = room.suil(&["diff", "HEAD"]).expect(0).stdout;
    assert!(ran.contains("db-1, db-2 (2 nodes)\n  ~ page.title"), "{ran}");
    assert!(ran.contains("-# no\n      +# No"), "{ran}");
    assert!(ran.contains("web-1, web-2 (2 nodes)\n  ~ page: its keys stand in another order"), "{ran}");
}

#[test]
fn data_that_no_module_of_a_node_reads_does_nothing_to_it() {
    let room = Room::new();
    room.write("modules/other/code/main.star", "def resources(config):\n    return []\n");
    room.commit("two");
    room.write("data/all.yaml", "other: {size: 5}\n");
    assert_eq!(room.diff(&["HEAD"]).json()["nodes"], json!([]));
    room.write("data/all.yaml", "deployment: {ssh_port: 2222}\n");
    assert_eq!(room.diff(&["HEAD"]).nodes().len(), 4);
}

/// Nobody knows which OS layer such a node reads, so that one that changes may be its own.
#[test]
fn an_os_layer_counts_for_a_node_that_was_never_probed() {
    let room = Room::new();
    room.remove("facts/web-1/suil.yaml");
    room.write("data/os/debian/13.yaml", "page: {lines: [thirteen]}\n");
    let ran = room.diff(&["HEAD"]);
    assert_eq!(ran.nodes(), ["web-1"]);
    assert_eq!(ran.json()["nodes"][0]["unseen"], json!(["data/os/debian/13.yaml"]));
    room.write("data/os/debian/12.yaml", "page: {lines: [twelve]}\n");
    assert_eq!(room.diff(&["HEAD"]).nodes().len(), 4);
    // The order of layers is data, too.
    room.commit("two");
    room.write(
        "data/common.yaml",
        &COMMON.replace("all.yaml, \"os/{family}/{release}.yaml\"", "\"os/{family}/{release}.yaml\", all.yaml"),
    );
    assert_eq!(room.diff(&["HEAD"]).nodes(), ["web-1"]);
}

#[test]
fn named_items_of_a_list_are_followed_by_their_names() {
    let room = Room::new();
    room.write("modules/sites/code/main.star", "def resources(config):\n    return []\n");
    let role = |sites: &str| format!("modules: [sites]\nsites:\n  all:\n{sites}");
    room.write("data/roles/web.yaml", &role("    - {name: a, root: /a}\n    - {name: b, root: /b}\n"));
    room.commit("two");
    room.write(
        "data/roles/web.yaml",
        &role("    - {name: c, root: /c}\n    - {name: a, root: /a}\n    - {name: b, root: /bb}\n"),
    );
    let ran = room.diff(&["HEAD", "--node", "web-1"]);
    let values: Vec<_> = ran.json()["nodes"][0]["values"]
        .as_array()
        .expect("values")
        .iter()
        .map(|v| json!([v["key"], v["change"]]))
        .collect();
    assert_eq!(json!(values), json!([["sites.all.0", "added"], ["sites.all.2.root", "changed"]]));
}
