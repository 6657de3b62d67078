use crate::lists::reef;
use crate::room::Room;

#[test]
fn every_layer_that_touched_a_key_is_named() {
    let want = "\
surf.port on kelp-02: 8080
  data/roles/reef.yaml:2:8     set: 80
  data/nodes/kelp-02.yaml:2:8  !replace: 8080
  provisional: the node was never probed, no OS layer is read
";
    reef().run(&["explain", "kelp-02", "surf.port"]).is(0, want, "");
}

#[test]
fn a_program_gets_places_as_numbers() {
    let left = reef().run(&["explain", "kelp-01", "surf.hosts", "--output", "json"]);
    assert_eq!(left.status, 0);
    let compact: String = left.stdout.split_whitespace().collect();
    assert!(
        compact.contains(r#""value":["a","b"],"layers":[{"file":"data/roles/reef.yaml","line":2,"column":"#),
        "{left:?}"
    );
}

#[test]
fn an_unknown_node_gets_a_guess() {
    let left = reef().run(&["explain", "kelp-1", "surf"]);
    assert_ne!(left.status, 0);
    assert!(left.stderr.starts_with("suil: ") && left.stderr.contains("did you mean `kelp-01`?"), "{left:?}");
}

/// Each layer says something else about each key.
fn layered() -> Room {
    Room::with(&[
        (
            "data/common.yaml",
            "deployment: {ssh_user: root}\n\
             hierarchy: [\"os/{family}/{release}.yaml\", \"roles/{role}.yaml\", \"nodes/{node}.yaml\"]\n",
        ),
        (
            "modules/a/data/x.yaml",
            "a:\n  list: [1, 2]\n  items: [{name: x, v: 1}, {name: y}]\n  map: {k: 1, j: 2}\n  gone: x\n",
        ),
        (
            "modules/b/code/config.star",
            "Config = schema(\n    port = t.int(default = 80),\n    keys = t.map(t.string(), default = {}),\n)\n",
        ),
        ("data/os/debian/12.yaml", "a: {list: [3], map: {k: 5}}\n"),
        (
            "data/roles/r.yaml",
            "modules: [a]\na:\n  list: !replace [9]\n  items: !merge [{name: x, w: 3}]\n  map: !append {m: 3}\n  gone: !delete\n  \
             pool: [one, !LOOKUP {field: b.ip}, two]\n",
        ),
        (
            "data/nodes/n.yaml",
            "role: r\nmodules: !append [b]\ndeployment: {ssh_user: bob}\n\
             a:\n  list: !append [10]\n  items: !delete [y]\n  map: !delete [j]\n  s: [{k: v}]\n\
             b: {keys: {net.ipv4.ip_forward: \"1\"}}\n",
        ),
        ("data/nodes/other.yaml", "role: r\nb: {ip: 192.0.2.2}\n"),
        ("facts/n/suil.yaml", "facts: {family: debian, release: 12}\n"),
    ])
}

#[test]
fn each_strategy_is_named_with_what_it_makes() {
    let room = layered();
    for (key, want) in [
        (
            "a.list",
            "[9,10]|modules/a/data/x.yaml:2:3   set: [1,2]|data/os/debian/12.yaml:1:5  concatenate: [1,2,3]|\
             data/roles/r.yaml:3:3       !replace: [9]|data/nodes/n.yaml:5:3       !append: [9,10]",
        ),
        (
            "a.items",
            "[{\"name\":\"x\",\"v\":1,\"w\":3}]|modules/a/data/x.yaml:3:3  set: [{\"name\":\"x\",\"v\":1},{\"name\":\"y\"}]|\
             data/roles/r.yaml:4:3      !merge: [{\"name\":\"x\",\"v\":1,\"w\":3},{\"name\":\"y\"}]|\
             data/nodes/n.yaml:6:3      !delete: [{\"name\":\"x\",\"v\":1,\"w\":3}]",
        ),
        (
            "a.map",
            "{\"k\":5,\"m\":3}|modules/a/data/x.yaml:4:3    set: {\"k\":1,\"j\":2}|\
             data/os/debian/12.yaml:1:16  deep merge: {\"k\":5,\"j\":2}|\
             data/roles/r.yaml:5:3        !append: {\"k\":5,\"j\":2,\"m\":3}|\
             data/nodes/n.yaml:7:3        !delete: {\"k\":5,\"m\":3}",
        ),
        ("a.map.k", "5|modules/a/data/x.yaml:4:9    set: 1|data/os/debian/12.yaml:1:22  replace: 5"),
        ("a.gone", "no value|modules/a/data/x.yaml:5:3  set: x|data/roles/r.yaml:6:3      !delete: no value"),
        (
            "a.pool",
            "[\"one\",\"192.0.2.2\",\"two\"]|data/roles/r.yaml:7:3   set: [\"one\",\"!LOOKUP b.ip\",\"two\"]|\
             data/roles/r.yaml:7:15  lookup: [\"one\",\"192.0.2.2\",\"two\"]",
        ),
        ("modules", "[\"a\",\"b\"]|data/roles/r.yaml:1:1  set: [\"a\"]|data/nodes/n.yaml:2:1  !append: [\"a\",\"b\"]"),
        ("role", "r|data/nodes/n.yaml:1:1  set: r"),
        ("deployment.ssh_user", "bob|data/common.yaml:1:14   set: root|data/nodes/n.yaml:3:14  replace: bob"),
        // A key with dots of its own, an index in brackets, and what only the schema says.
        ("b.keys.net.ipv4.ip_forward", "\"1\"|data/nodes/n.yaml:9:12  set: \"1\""),
        ("a.s[0].k", "v|data/nodes/n.yaml:8:3  set: v"),
        ("b.port", "80|modules/b/code/config.star:2:12  default: 80"),
    ] {
        let want = format!("{key} on n: {}\n", want.replace('|', "\n  "));
        room.run(&["explain", "n", key]).is(0, &want, "");
    }
}

#[test]
fn a_node_that_was_never_probed_is_provisional() {
    let want = "\
a.map.k on other: 1
  modules/a/data/x.yaml:4:9  set: 1
  provisional: the node was never probed, no OS layer is read
";
    layered().run(&["explain", "other", "a.map.k"]).is(0, want, "");
}

#[test]
fn several_nodes_and_a_key_of_no_layer_are_refused() {
    layered().run(&["explain", "*", "a"]).is(64, "", "suil: `*` names 2 nodes\nhelp: explain one node at a time\n");
    let want = "suil: no layer of node `n` has the key `a.lits`\nhelp: did you mean `a.list`?\n";
    layered().run(&["explain", "n", "a.lits"]).is(1, "", want);
}
