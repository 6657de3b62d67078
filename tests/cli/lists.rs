use crate::room::Room;

pub fn reef() -> Room {
    Room::with(&[
        (
            "data/common.yaml",
            "hierarchy:\n  - os/{family}/{release}.yaml\n  - roles/{role}.yaml\n  - nodes/{node}.yaml\n",
        ),
        ("data/roles/reef.yaml", "modules: [surf]\nsurf: {port: 80, hosts: [a]}\n"),
        ("data/roles/shore.yaml", "modules: []\n"),
        ("data/nodes/kelp-01.yaml", "role: reef\nsurf: {hosts: [b]}\n"),
        ("data/nodes/kelp-02.yaml", "role: reef\nsurf: {port: !replace 8080}\n"),
        ("modules/surf/requires.yaml", "requires: [sand]\n"),
        ("modules/sand/requires.yaml", "requires: []\n"),
        ("facts/kelp-01/suil.yaml", "facts: {family: debian, release: 12}\n"),
    ])
}

#[test]
fn nodes_show_what_was_probed() {
    let want = "\
NODE     ROLE  SYSTEM      FACTS
kelp-01  reef  debian 12   never
kelp-02  reef  not probed  never
";
    reef().run(&["nodes"]).is(0, want, "");
}

#[test]
fn roles_count_their_nodes_and_name_their_modules() {
    let want = "ROLE   NODES    MODULES\nreef   2 nodes  surf\nshore  0 nodes\n";
    reef().run(&["roles"]).is(0, want, "");
}

#[test]
fn modules_stand_in_run_order() {
    let left = reef().run(&["modules"]);
    let order: Vec<&str> = left.stdout.lines().filter(|line| line.contains("workspace")).collect();
    assert_eq!(
        order.iter().map(|line| line.split_whitespace().collect::<Vec<_>>()).collect::<Vec<_>>(),
        [vec!["sand", "workspace"], vec!["surf", "workspace", "sand"]]
    );
}

#[test]
fn every_list_has_a_form_for_programs() {
    let want = r#"{
  "version": 1,
  "nodes": [
    {
      "name": "kelp-01",
      "role": "reef",
      "family": "debian",
      "release": 12,
      "provisional": false,
      "facts": null,
      "file": "data/nodes/kelp-01.yaml"
    },
    {
      "name": "kelp-02",
      "role": "reef",
      "family": null,
      "release": null,
      "provisional": true,
      "facts": null,
      "file": "data/nodes/kelp-02.yaml"
    }
  ],
  "problems": []
}
"#;
    reef().run(&["nodes", "--output", "json"]).is(0, want, "");
    assert!(reef().run(&["roles", "--output", "yaml"]).stdout.starts_with("version: 1\nroles:\n- name: reef\n"));
    assert!(reef().run(&["modules", "--output", "json"]).stdout.contains(r#""requires": ["#));
}

#[test]
fn a_workspace_is_found_from_below_and_by_name() {
    let room = reef();
    let named = room.path().to_string_lossy().into_owned();
    assert_eq!(room.run(&["nodes", "--workspace", &named]).status, 0);
    let want = "\
suil: there is no workspace here or in any folder above: none has data/common.yaml
help: go to one, name it with `--workspace DIR`, or make one with `suil init DIR`
";
    Room::new().run(&["nodes"]).is(1, "", want);
    let want = "\
suil: `nowhere` is no workspace: it has no data/common.yaml
help: `suil init DIR` makes one to start from
";
    Room::new().run(&["nodes", "--workspace", "nowhere"]).is(1, "", want);
}

#[test]
fn config_is_the_public_catalogue() {
    let want = "\
nodes:
- name: kelp-02
  role: reef
  family: null
  release: null
  provisional: true
  modules:
  - surf
  deployment: {}
  config:
    surf:
      port: 8080
      hosts:
      - a
";
    reef().run(&["config", "--node", "kelp-02"]).is(0, want, "");
}

#[test]
fn merged_config_has_the_shape_of_the_corpus() {
    let left = reef().run(&["config", "--merged", "--node", "kelp-01", "--output", "json"]);
    let want = r#"{
  "version": 1,
  "nodes": [
    {
      "name": "kelp-01",
      "role": "reef",
      "family": "debian",
      "release": 12,
      "provisional": false,
      "modules": [
        "sand",
        "surf"
      ],
      "deployment": {},
      "data": {
        "surf": {
          "port": 80,
          "hosts": [
            "a",
            "b"
          ]
        }
      }
    }
  ],
  "problems": []
}
"#;
    left.is(0, want, "");
}

#[test]
fn a_selection_that_matches_nothing_is_an_error() {
    for args in [["config", "--node", "wbe-1"], ["config", "--role", "wbe"], ["config", "--module", "srf"]] {
        let left = reef().run(&args);
        assert_ne!(left.status, 0, "{left:?}");
        assert!(left.stdout.is_empty() && left.stderr.contains(args[2]), "{left:?}");
    }
}
