//! Layers in the graph: what each reads, and from whom, without Terraform.

use std::fs;
use std::path::Path;
use suil::infra::graph::{self, Code, Graph, Need, Query};

const BACKEND: &str = "terraform {\n  backend \"s3\" {\n    bucket = \"state-{{ var.region }}\"\n    key    = \"{{ var.stacks_path }}\"\n  }\n}\n";

const KILN: &str = "module \"pot\" {\n  source = \"./modules/pot\"\n}\nmodule \"rope\" {\n  source = \"../../../../../modules/rope\"\n}\n";

const FERRY: &str = r#"locals {
  id   = "{{ output("id", stack="kiln").deep[0].deeper | upper }}"
  list = "{% for x in resource("a.b", stack="kiln", environment="quay", subenvironment="east", instance="blue") %}{{ x.id }}{% endfor %}"
  size = "{{ variable("size", stack="kiln") }}"
  text = "{{ file("../../words.txt") }}"
  host = "{{ lookup("nginx.port", role="web") | first }}"
}
"#;

/// Two stacks, of which `ferry` reads from both layers of `kiln`.
fn tree() -> tempfile::TempDir {
    let room = tempfile::tempdir().expect("a room");
    for (path, text) in [
        ("environments/harbor/env.tfvars", "region = \"eu\"\n"),
        ("environments/quay/env.tfvars", "region = \"us\"\n"),
        ("environments/quay/east/e.tfvars", "zone = \"e1\"\n"),
        ("stacks/common.tfvars", "owner = \"ops\"\n"),
        ("stacks/backend.tf", BACKEND),
        ("stacks/kiln/base/main.tf", KILN),
        ("stacks/kiln/base/modules/pot/main.tf", "locals {}\n"),
        ("stacks/kiln/layers/harbor/x.tfvars", "size = 3\n"),
        ("stacks/kiln/layers/quay@east_blue/x.tfvars", "size = 4\n"),
        ("stacks/ferry/base/main.tf", FERRY),
        ("stacks/ferry/words.txt", "words"),
        ("stacks/ferry/layers/harbor/x.tfvars", ""),
        ("modules/rope/main.tf", "locals {}\n"),
        // What a render left is no stack.
        ("stacks/kiln/layers/harbor/stacks.out/main.tf", "terraform {\n  backend \"s3\" {}\n}\n"),
    ] {
        write(room.path(), path, text);
    }
    room
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(path, text).expect("written");
}

fn scan(root: &Path) -> Graph {
    graph::scan(root, "o/r").expect("a graph")
}

/// What is affected, and why.
fn touched(graph: &Graph, path: &str) -> Vec<String> {
    let query = Query { changed: vec![path.to_owned()], requested: Vec::new() };
    let all = graph::affected(graph, &query).affected;
    let reasons = |one: &graph::Touched| one.reasons.iter().map(|r| r.name()).collect::<Vec<_>>().join("+");
    all.iter().map(|one| format!("{} {}", one.key, reasons(one))).collect()
}

#[test]
fn every_layer_is_a_stack_with_its_own_state_and_its_edges() {
    let room = tree();
    let graph = scan(room.path());
    assert_eq!(graph.warnings, []);
    let stacks: Vec<_> =
        graph.stacks.iter().map(|s| (s.key.as_str(), s.state.as_deref(), s.environment.as_str())).collect();
    assert_eq!(
        stacks,
        [
            ("stacks/ferry:harbor", Some("s3://state-eu/stacks/ferry/layer/harbor"), "harbor"),
            ("stacks/kiln:harbor", Some("s3://state-eu/stacks/kiln/layer/harbor"), "harbor"),
            ("stacks/kiln:quay@east_blue", Some("s3://state-us/stacks/kiln/layer/quay@east_blue"), "quay"),
        ]
    );
    let reads = graph.edges.iter().filter(|edge| edge.kind == Need::ReadsState);
    let reads: Vec<_> =
        reads.map(|e| (e.to.key.as_str(), e.inferred, e.at.as_ref().map(ToString::to_string))).collect();
    let at = |line: u32, column: u32| Some(format!("stacks/ferry/base/main.tf:{line}:{column}"));
    assert_eq!(reads, [("stacks/kiln:harbor", true, at(2, 14)), ("stacks/kiln:quay@east_blue", true, at(3, 23))]);
    let modules: Vec<&str> = graph.modules.iter().map(|module| module.key.as_str()).collect();
    assert_eq!(modules, ["o/r//modules/rope", "o/r//stacks/kiln/base/modules/pot"]);
}

#[test]
fn a_layer_is_touched_by_what_it_reads_and_by_nothing_else() {
    let room = tree();
    let graph = scan(room.path());
    let all = |kiln: &str, ferry: &str| vec![kiln.to_owned(), ferry.to_owned()];
    for (path, want) in [
        (
            "stacks/kiln/layers/quay@east_blue/new.tfvars",
            all("stacks/kiln:quay@east_blue changed", "stacks/ferry:harbor reads_state"),
        ),
        (
            "environments/quay/east/new.tfvars",
            all("stacks/kiln:quay@east_blue watch_path", "stacks/ferry:harbor reads_state"),
        ),
        (
            "stacks/kiln/layers/harbor/x.tfvars",
            all("stacks/kiln:harbor changed", "stacks/ferry:harbor watch_path+reads_state"),
        ),
        ("stacks/ferry/words.txt", vec!["stacks/ferry:harbor changed".to_owned()]),
        // A layer that is gone touches none that is there.
        ("stacks/kiln/layers/gone/x.tfvars", vec![]),
        ("environments/other/env.tfvars", vec![]),
    ] {
        assert_eq!(touched(&graph, path), want, "{path}");
    }
    assert_eq!(touched(&graph, "stacks/new.tfvars").len(), 3);
    assert_eq!(touched(&graph, "stacks/kiln/base/modules/pot/new.tf").len(), 3);
}

#[test]
fn a_layer_that_does_not_render_is_a_warning_and_keeps_the_edges_that_were_written() {
    let room = tree();
    write(room.path(), "stacks/kiln/base/broken.tf", "x = {{ var.absent }}\n");
    write(room.path(), "stacks/ferry/layers/harbor/.stackorder.yaml", "depends_on: [stacks/kiln]\nenvironment: dock\n");
    let graph = scan(room.path());
    let codes: Vec<_> = graph.warnings.iter().map(|w| (w.code, w.subject.as_str())).collect();
    assert_eq!(
        codes,
        [(Code::LayerUnrendered, "stacks/kiln:harbor"), (Code::LayerUnrendered, "stacks/kiln:quay@east_blue")]
    );
    assert!(graph.warnings[0].at.as_ref().is_some_and(|at| at.file == "stacks/kiln/base/broken.tf"));
    let ferry = graph.stacks.iter().find(|stack| stack.key == "stacks/ferry:harbor").expect("ferry");
    assert_eq!((ferry.environment.as_str(), ferry.layer.as_deref()), ("dock", Some("stacks/ferry/layers/harbor")));
    let edges: Vec<_> = graph.edges.iter().map(|edge| (edge.kind, edge.to.key.as_str())).collect();
    assert!(edges.contains(&(Need::DependsOn, "stacks/kiln:harbor")), "{edges:?}");
}

#[test]
fn an_environment_that_all_may_read_touches_all() {
    let room = tree();
    write(room.path(), "stacks/ferry/base/all.tf", "# {{ var.stacks_environments | length }}\n");
    let graph = scan(room.path());
    let found = touched(&graph, "environments/quay/env.tfvars");
    assert_eq!(found, ["stacks/kiln:quay@east_blue watch_path", "stacks/ferry:harbor watch_path+reads_state"]);
}

#[test]
fn what_is_wrong_in_the_settings_of_the_tree_is_told_once_and_ends_the_scan() {
    let room = tree();
    write(room.path(), "stacks.yaml", "marker: true\n");
    let problems = graph::scan(room.path(), "o/r").expect_err("a problem");
    let place = problems[0].place.map(|place| place.to_string());
    assert_eq!((problems.len(), place.as_deref()), (1, Some("stacks.yaml:1:1")), "{problems:?}");
    assert!(problems[0].expected.is_some());
    std::fs::remove_file(room.path().join("stacks.yaml")).expect("removed");
    write(room.path(), "stacks/ferry/.stackorder.yaml", "instances: [a]\n");
    let problems = graph::scan(room.path(), "o/r").expect_err("a problem");
    let place = problems[0].place.map(|place| place.to_string());
    assert_eq!((problems.len(), place.as_deref()), (1, Some("stacks/ferry/.stackorder.yaml:1:13")), "{problems:?}");
}

/// Every field of the questions to the host data, from a scan and from its cache.
#[test]
fn what_a_layer_asks_of_hosts_is_known_with_its_line() {
    let room = tree();
    let more = "# {{ lookup('disk.serial', nodes='db-*', **{'from': 'facts'}) | join }}\n";
    write(room.path(), "stacks/ferry/base/more.tf", more);
    let asked = |graph: &Graph| {
        let stack = graph.stacks.iter().find(|stack| stack.key == "stacks/ferry:harbor").expect("ferry");
        let read = |read: &graph::HostRead| {
            let at = read.at.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("{} {} {:?} {} {at}", read.field, read.nodes, read.role, read.facts)
        };
        stack.host_reads.iter().map(read).collect::<Vec<String>>()
    };
    let want = [
        r#"nginx.port * Some("web") false stacks/ferry/base/main.tf:6:14"#,
        "disk.serial db-* None true stacks/ferry/base/more.tf:1:6",
    ];
    assert_eq!(asked(&scan(room.path())), want);
    let options = suil::infra::layer::Options::default();
    let open = || {
        let begun = graph::Begun::now(room.path());
        graph::open(room.path(), "o/r", &options, &graph::list(room.path(), &options, false).expect("a list"), begun)
    };
    // A file that was only just written is not trusted to stay.
    std::thread::sleep(std::time::Duration::from_millis(60));
    open().expect("a graph");
    let again = open().expect("a graph");
    assert!(again.cached);
    assert_eq!(asked(&again.graph), want);
}
