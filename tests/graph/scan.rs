//! What the corpus does not have: other backends, OpenTofu's files, links, the cache, and files of any content.

use proptest::prelude::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use suil::infra::graph::{self, Code, Graph, Query};
use suil::infra::layer::Options;

fn room(files: &[(&str, &str)]) -> tempfile::TempDir {
    let room = tempfile::tempdir().expect("a room");
    files.iter().for_each(|(path, text)| write(room.path(), path, text));
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

fn codes(graph: &Graph) -> Vec<(Code, &str)> {
    graph.warnings.iter().map(|warning| (warning.code, warning.subject.as_str())).collect()
}

const GCS: &str = "terraform {\n  backend \"gcs\" {\n    bucket = \"b\"\n    prefix = \"p\"\n  }\n}\n";
const S3: &str = "terraform {\n  backend \"s3\" {\n    bucket = \"b\"\n    key    = \"k\"\n  }\n}\n";
const READS: &str = "terraform {\n  backend \"local\" {}\n}\ndata \"terraform_remote_state\" \"a\" {\n  backend = \"gcs\"\n  config = {\n    bucket = \"b\"\n    prefix = \"p\"\n  }\n}\n";

#[test]
fn every_backend_counts_unless_the_root_says_s3_alone() {
    let room = room(&[("stacks/a/main.tf", GCS), ("stacks/b/main.tf", READS)]);
    let graph = scan(room.path());
    let states: Vec<_> = graph.stacks.iter().map(|stack| stack.state.as_deref()).collect();
    assert_eq!(states, [Some("gcs://b/p/default.tfstate"), Some("local://stacks/b/terraform.tfstate")]);
    assert_eq!(graph.edges.len(), 1);
    write(room.path(), "stackorder.yaml", "version: 1\n");
    let graph = scan(room.path());
    assert_eq!(codes(&graph), [(Code::BackendNotS3, "stacks/a"), (Code::BackendNotS3, "stacks/b")]);
    write(room.path(), "stackorder.yaml", "version: 1\nstacks:\n  backends: all\n");
    assert_eq!(scan(room.path()).edges.len(), 1);
}

#[test]
fn files_for_opentofu_stand_for_their_twins_and_name_the_tool() {
    let room = room(&[
        ("stacks/a/main.tf", GCS),
        ("stacks/a/main.tofu", S3),
        ("stacks/b/x.tofu.json", r#"{"terraform": {"backend": {"s3": {"bucket": "b", "key": "j"}}}}"#),
    ]);
    let graph = scan(room.path());
    let found: Vec<_> = graph.stacks.iter().map(|s| (s.state.as_deref(), s.tool.as_str())).collect();
    assert_eq!(found, [(Some("s3://b/k"), "tofu"), (Some("s3://b/j"), "tofu")]);
    write(room.path(), "stacks/a/.stackorder.yaml", "tool: terraform\n");
    let graph = scan(room.path());
    assert_eq!(graph.stacks[0].state.as_deref(), Some("gcs://b/p/default.tfstate"));
}

#[test]
fn a_link_out_of_the_tree_is_not_followed_and_one_inside_is() {
    let outside = room(&[("main.tf", S3), ("stackorder.yaml", "version: 1\n")]);
    let room = room(&[("shared/main.tf", S3)]);
    for stack in ["a", "b"] {
        fs::create_dir_all(room.path().join("stacks").join(stack)).expect("made");
    }
    symlink(outside.path().join("main.tf"), room.path().join("stacks/a/main.tf")).expect("a link");
    symlink("../../shared/main.tf", room.path().join("stacks/b/main.tf")).expect("a link");
    let graph = scan(room.path());
    assert_eq!(graph.stacks.iter().map(|s| s.key.as_str()).collect::<Vec<_>>(), ["stacks/b"]);
    symlink(outside.path().join("stackorder.yaml"), room.path().join("stackorder.yaml")).expect("a link");
    let problems = graph::scan(room.path(), "o/r").expect_err("a problem");
    assert!(problems[0].what.contains("leads out of the tree"), "{problems:?}");
}

#[test]
fn mistakes_of_all_files_are_told_at_once_and_at_their_places() {
    let room = room(&[
        ("stacks/a/main.tf", S3),
        ("stacks/b/main.tf", S3),
        ("stacks/a/.stackorder.yaml", "depends_on: [/abs]\ninstances: [Default]\n"),
        ("stacks/b/.stackorder.yaml", "depend_on: [x]\nbackend_config: [none.tfbackend]\n"),
    ]);
    let problems = graph::scan(room.path(), "o/r").expect_err("problems");
    let places: Vec<_> = problems.iter().map(|p| p.place.map(|place| place.to_string()).unwrap_or_default()).collect();
    assert_eq!(places, ["stacks/a/.stackorder.yaml:2:13", "stacks/b/.stackorder.yaml:1:1"], "{problems:?}");
    assert_eq!(problems[1].help.as_deref(), Some("did you mean `depends_on`?"));
    write(room.path(), "stacks/a/.stackorder.yaml", "depends_on: [/abs, ../up]\n");
    write(room.path(), "stacks/b/.stackorder.yaml", "backend_config: [none.tfbackend, '../x']\n");
    assert_eq!(graph::scan(room.path(), "o/r").expect_err("problems").len(), 4);
}

#[test]
fn ignoring_a_stack_that_there_is_not_is_a_warning() {
    let room = room(&[("stacks/a/main.tf", S3), ("stacks/a/.stackorder.yaml", "ignore_inferred: [stacks/nope]\n")]);
    assert_eq!(codes(&scan(room.path())), [(Code::UnknownIgnored, "stacks/a -> stacks/nope")]);
}

#[test]
fn code_that_is_broken_is_a_warning_for_its_file() {
    let room = room(&[("stacks/a/main.tf", S3), ("stacks/a/x.tf", "module \"m\" {\n  source = = 1\n}\n")]);
    write(room.path(), "stacks/a/y.tf", "");
    fs::write(room.path().join("stacks/a/y.tf"), [0xff, 0xfe]).expect("written");
    let graph = scan(room.path());
    assert_eq!(codes(&graph)[0], (Code::HclSyntax, "stacks/a/x.tf"));
    assert!(codes(&graph).contains(&(Code::NotText, "stacks/a/y.tf")), "{:?}", graph.warnings);
    assert_eq!(graph.stacks.len(), 1);
    // What cannot be read may have been what makes a stack: nobody loses one without a word.
    fs::write(room.path().join("stacks/a/main.tf"), [0xff, 0xfe]).expect("written");
    let graph = scan(room.path());
    assert!(graph.stacks.is_empty() && codes(&graph).contains(&(Code::NotText, "stacks/a/main.tf")), "{graph:?}");
}

/// Scans through the cache, as the commands do.
fn open(root: &Path) -> (Graph, bool) {
    let options = Options::default();
    let begun = graph::Begun::now(root);
    let listing = graph::list(root, &options, false).expect("a listing");
    let opened = graph::open(root, "o/r", &options, &listing, begun).expect("a graph");
    (opened.graph, opened.cached)
}

#[test]
fn a_folder_in_the_place_of_a_configuration_is_an_error() {
    for folder in ["stackorder.yaml", "stacks/a/.stackorder.yaml"] {
        let room = room(&[("stacks/a/main.tf", S3)]);
        fs::create_dir(room.path().join(folder)).expect("made");
        let problems = graph::scan(room.path(), "o/r").expect_err("a problem");
        assert_eq!((problems.len(), problems[0].what.clone()), (1, format!("`{folder}` is a folder")));
    }
}

#[test]
fn a_password_in_a_source_is_told_to_nobody_but_who_asks_there() {
    let source = "git::https://bob:hunter2@git.example.com/a/b.git?ref=v1";
    let code = format!("{S3}module \"m\" {{\n  source = \"{source}\"\n}}\n");
    let room = room(&[("stacks/a/main.tf", &code)]);
    settle();
    for cached in [false, true] {
        let (graph, was) = open(room.path());
        let text = serde_json::to_string(&graph).expect("JSON");
        assert!(cached == was && text.contains("git::https://bob:***@git.example.com/") && !text.contains("hunter2"));
        assert_eq!(graph.closed.values().collect::<Vec<_>>(), [source]);
    }
}

#[test]
fn a_secret_among_the_settings_of_a_backend_is_kept_for_terraform_and_told_to_nobody() {
    let own = "backend_config: [\"key=k\", \"secret_key=hunter2\", \"endpoint=https://bob:hunter2@h\"]\n";
    let room = room(&[("stacks/a/main.tf", S3), ("stacks/a/.stackorder.yaml", own)]);
    settle();
    for cached in [false, true] {
        let (graph, was) = open(room.path());
        let text = serde_json::to_string(&graph).expect("JSON");
        let shown = r#""backend_config":["key=k","secret_key=***","endpoint=***"]"#;
        assert!(cached == was && text.contains(shown) && !text.contains("hunter2"), "{text}");
        assert_eq!(graph.stacks[0].config.backend_config[1], "secret_key=hunter2");
    }
}

/// A file that has just changed is not trusted to stay.
fn settle() {
    std::thread::sleep(std::time::Duration::from_millis(80));
}

#[test]
fn the_cache_is_good_until_a_file_changes_and_never_trusted_when_it_is_not_whole() {
    let room = room(&[
        ("stackorder.yaml", "version: 1\nbackend_config: [shared/all.conf]\nenv: {TOKEN: abc}\n"),
        ("shared/all.conf", "bucket = \"one\"\n"),
        ("stacks/a/main.tf", S3),
    ]);
    let root = room.path();
    settle();
    let (first, cached) = open(root);
    assert!(!cached);
    let (second, cached) = open(root);
    assert!(cached);
    assert_eq!(first, second);
    assert_eq!(second.stacks[0].config.env["TOKEN"].plan.as_deref(), Some("abc"));
    let mode = |path: &str| fs::metadata(root.join(path)).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(".suil"), mode(".suil/graph")), (0o700, 0o600));
    // A file that no pattern speaks of, but that was read.
    write(root, "shared/all.conf", "bucket = \"two\"\n");
    settle();
    let (third, cached) = open(root);
    assert_eq!((cached, third.stacks[0].state.as_deref()), (false, Some("s3://two/k")));
    assert!(open(root).1);
    let path = root.join(".suil/graph");
    let good = fs::read(&path).expect("the cache");
    let mut bad = good.clone();
    let at = bad.len() - 40;
    bad[at] ^= 1;
    for broken in [bad, good[..good.len() / 2].to_vec(), Vec::new(), b"{}\n{}".to_vec()] {
        fs::write(&path, broken).expect("written");
        let (graph, cached) = open(root);
        assert_eq!((cached, graph == third), (false, true));
    }
    fs::write(&path, &good).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).expect("a mode");
    assert!(!open(root).1, "what others can write is not the user's own");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn code_of_any_content_makes_no_panic_and_the_same_graph_twice(
        texts in proptest::collection::vec("[a-z{}\"=\\n .$/<~#\\[\\]()%-]{0,80}", 1..4),
        config in "[a-z_:\\[\\]{},.\\n \"'!&*-]{0,60}",
    ) {
        let room = room(&[("stacks/z/main.tf", S3)]);
        for (at, text) in texts.iter().enumerate() {
            write(room.path(), &format!("stacks/s{at}/main.tf"), &format!("{S3}{text}\nmodule \"m\" {{\n  source = \"{text}\"\n}}\n"));
            write(room.path(), &format!("stacks/s{at}/x.tf.json"), text);
        }
        write(room.path(), "stacks/z/.stackorder.yaml", &config);
        let one = graph::scan(room.path(), "o/r");
        let other = graph::scan(room.path(), "o/r");
        match (one, other) {
            (Ok(one), Ok(other)) => prop_assert_eq!(one, other),
            (Err(one), Err(other)) => prop_assert_eq!(one.len(), other.len()),
            _ => prop_assert!(false, "once a graph, and once none"),
        }
    }

    #[test]
    fn waves_never_put_a_stack_before_what_it_needs(
        edges in proptest::collection::btree_set((0usize..12, 0usize..12), 0..24),
        changed in proptest::collection::btree_set(0usize..12, 0..6),
        asked in proptest::collection::btree_set(0usize..12, 0..4),
    ) {
        let room = tempfile::tempdir().expect("a room");
        for stack in 0..12 {
            write(room.path(), &format!("stacks/s{stack:02}/main.tf"), &S3.replace("\"k\"", &format!("\"k{stack}\"")));
            let needs = edges.iter().filter(|(from, to)| *from == stack && from != to);
            let needs: Vec<String> = needs.map(|(_, to)| format!("stacks/s{to:02}")).collect();
            write(room.path(), &format!("stacks/s{stack:02}/.stackorder.yaml"), &format!("depends_on: [{}]\n", needs.join(", ")));
        }
        let graph = scan(room.path());
        let query = Query {
            changed: changed.iter().map(|n| format!("stacks/s{n:02}/main.tf")).collect(),
            requested: asked.iter().map(|n| format!("stacks/s{n:02}")).collect(),
        };
        let answer = graph::affected(&graph, &query);
        prop_assert_eq!(&answer, &graph::affected(&graph, &query));
        let wave = |key: &str| answer.affected.iter().find(|one| one.key == key).map(|one| one.wave);
        if answer.cycles.is_empty() {
            for edge in &graph.edges {
                if let (Some(from), Some(to)) = (wave(&edge.from.key), wave(&edge.to.key)) {
                    prop_assert!(to < from, "{} before {}", edge.from.key, edge.to.key);
                }
            }
            prop_assert_eq!(answer.waves.iter().flatten().count(), answer.affected.len());
        } else {
            prop_assert!(answer.waves.is_empty() && answer.matrix.include.is_empty());
        }
        for cycle in &answer.cycles {
            prop_assert_eq!(cycle.first(), cycle.last());
            for pair in cycle.windows(2) {
                prop_assert!(graph.edges.iter().any(|e| e.from.key == pair[0] && e.to.key == pair[1]));
            }
        }
        let keys = answer.affected.iter().map(|one| one.key.clone()).collect();
        let before = graph::Order::new(&graph).predecessors(&keys);
        for (key, all) in &before {
            prop_assert!(all.iter().all(|other| keys.contains(other) && other != key));
        }
    }
}
