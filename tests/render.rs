//! `suil infra render` on its whole path: what it leaves, whatever happens.

#![allow(clippy::disallowed_methods)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

const LAYER: &str = "stacks/kiln/layers/harbor";

/// A tree with two environments, one stack and three layers; it goes when the test ends.
struct Tree(TempDir);

struct Left {
    status: i32,
    stdout: String,
    stderr: String,
}

impl Tree {
    fn new() -> Tree {
        Tree::named("tree")
    }

    /// A tree in a folder of this name.
    fn named(name: &str) -> Tree {
        let room = tempfile::Builder::new().prefix(name).tempdir().expect("a folder");
        let tree = Tree(room);
        for (path, text) in [
            ("environments/harbor/env.tfvars", "town = \"harbor\"\n"),
            ("environments/meadow/env.tfvars", "town = \"meadow\"\n"),
            ("stacks/kiln/base/main.tf", "locals {\n  town = \"{{ var.town }}\"\n}\n"),
            ("stacks/kiln/layers/harbor/l.tfvars", "size = 1\n"),
            ("stacks/kiln/layers/harbor_blue/l.tfvars", "size = 2\n"),
            ("stacks/kiln/layers/meadow/l.tfvars", "size = 3\n"),
        ] {
            tree.write(path, text);
        }
        tree
    }

    fn root(&self) -> &Path {
        self.0.path()
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    fn mode(&self, path: &str) -> u32 {
        fs::metadata(self.path(path)).expect("a file").permissions().mode() & 0o7777
    }

    fn command(&self, here: &str, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_suil"));
        command.args(["infra", "render"]).args(args).current_dir(self.path(here)).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", self.root());
        command
    }

    fn render(&self, here: &str, args: &[&str]) -> Left {
        let args: Vec<&str> = args.iter().copied().chain(["--init", "never"]).collect();
        ended(&mut self.command(here, &args))
    }

    fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(path)).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect();
        names.sort();
        names
    }
}

fn ended(command: &mut Command) -> Left {
    let output = command.output().expect("suil");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Left { status: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn key(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/stacks/keys").join(name).display().to_string()
}

#[test]
fn a_layer_is_rendered_where_one_stands() {
    let tree = Tree::new();
    let left = tree.render(LAYER, &[]);
    assert_eq!((left.status, left.stderr.as_str()), (0, ""));
    assert_eq!(left.stdout, "stacks/kiln/layers/harbor: rendered, 3 files\n");
    assert_eq!(tree.names(&format!("{LAYER}/stacks.out")), ["base_main.tf", "stacks.tf.json", "zzz.auto.tfvars.json"]);
    assert_eq!(tree.names(LAYER), ["l.tfvars", "stacks.out"]);
}

#[test]
fn a_render_that_fails_leaves_the_last_good_output() {
    let tree = Tree::new();
    assert_eq!(tree.render(LAYER, &[]).status, 0);
    let before = tree.read(&format!("{LAYER}/stacks.out/base_main.tf"));
    tree.write("stacks/kiln/base/main.tf", "x = {{ var.absent }}\n");
    tree.write("stacks/kiln/base/more.tf", "{{ var.missing }}\n");
    let left = tree.render(LAYER, &[]);
    assert_eq!((left.status, left.stdout.as_str()), (1, "stacks/kiln/layers/harbor: failed, 2 problems\n"));
    for words in ["stacks/kiln/base/main.tf:1:8", "absent", "stacks/kiln/base/more.tf:1:4", "missing"] {
        assert!(left.stderr.contains(words), "{words}: {}", left.stderr);
    }
    assert_eq!(tree.read(&format!("{LAYER}/stacks.out/base_main.tf")), before);
    assert_eq!(tree.names(LAYER), ["l.tfvars", "stacks.out"]);
}

#[test]
fn layers_are_named_by_folder_by_pattern_or_all_from_anywhere() {
    let tree = Tree::new();
    let rendered = |left: Left| {
        assert_eq!(left.status, 0, "{}", left.stderr);
        left.stdout
            .lines()
            .filter_map(|line| line.split_once(": rendered"))
            .map(|(l, _)| l.to_owned())
            .collect::<Vec<_>>()
    };
    let all = ["stacks/kiln/layers/harbor", "stacks/kiln/layers/harbor_blue", "stacks/kiln/layers/meadow"];
    assert_eq!(rendered(tree.render("environments/harbor", &["--all"])), all);
    assert_eq!(rendered(tree.render("stacks/kiln", &["layers/harbor*"])), all[..2]);
    assert_eq!(rendered(tree.render("environments", &["stacks/*/layers/meadow"])), all[2..]);
    assert_eq!(
        rendered(tree.render("stacks/kiln/layers", &["meadow", "../layers/harbor", "meadow"])),
        [all[2], all[0]]
    );
    let left = tree.render("", &["stacks/kiln/layers/habror", "x*"]);
    assert_eq!(left.status, 1);
    assert!(left.stderr.contains("did you mean `stacks/kiln/layers/harbor`?"), "{}", left.stderr);
    assert!(left.stderr.contains("no layer matches `x*`"), "{}", left.stderr);
}

#[test]
fn one_layer_that_fails_stops_no_other_and_json_tells_of_both() {
    let tree = Tree::new();
    tree.write("stacks/kiln/layers/meadow/l.tfvars", "size = [\n");
    let left = tree.render("", &["--all", "--output", "json"]);
    assert_eq!(left.status, 1);
    let told: serde_json::Value = serde_json::from_str(&left.stdout).expect("JSON");
    assert_eq!(told["version"], 1);
    let layers: Vec<(&str, &str, usize)> = told["layers"]
        .as_array()
        .expect("layers")
        .iter()
        .map(|layer| {
            let text = |key: &str| layer[key].as_str().expect("a text");
            (text("layer"), text("outcome"), layer["problems"].as_array().expect("problems").len())
        })
        .collect();
    let layer = |name| format!("stacks/kiln/layers/{name}");
    let names = ["harbor", "harbor_blue", "meadow"].map(layer);
    let want = [(names[0].as_str(), "rendered", 0), (&names[1], "rendered", 0), (&names[2], "failed", 1)];
    assert_eq!(layers, want);
    assert!(tree.path("stacks/kiln/layers/harbor/stacks.out/zzz.auto.tfvars.json").exists());
    assert!(!tree.path("stacks/kiln/layers/meadow/stacks.out").exists());
}

#[test]
fn a_folder_that_is_no_layer_is_told_what_to_do() {
    let tree = Tree::new();
    let left = tree.render("stacks/kiln", &[]);
    assert_eq!(left.status, 1);
    assert!(left.stderr.starts_with("suil: this folder is no layer\n"), "{}", left.stderr);
    assert!(left.stderr.contains("--all"), "{}", left.stderr);
}

#[test]
fn a_path_with_the_characters_of_a_pattern_is_a_path() {
    let tree = Tree::named("w[1]*?");
    assert_eq!(tree.render(LAYER, &[]).status, 0);
    assert!(tree.read(&format!("{LAYER}/stacks.out/base_main.tf")).contains("town = \"harbor\""));
    assert!(tree.read(&format!("{LAYER}/stacks.out/zzz.auto.tfvars.json")).contains("\"size\": 1"));
}

#[test]
fn what_holds_secrets_is_for_the_owner_alone() {
    let tree = Tree::new();
    let (envelope, plain) = sealed();
    let plain = plain.as_str();
    tree.write(&format!("{LAYER}/l.tfvars"), &format!("token = \"{envelope}\"\n"));
    tree.write(&format!("{LAYER}/t.tfvars.jinja"), "copy = \"{{ var.token }}\"\n");
    tree.write("stacks/kiln/base/secret.tf", "locals {\n  x = \"{{ var.token | upper }}\"\n}\n");
    tree.write("stacks/kiln/base/plain.tf", "locals {\n  y = 1\n}\n");
    tree.write("stacks/kiln/base/broken.tf", "{# {{ var.token }} #}\n");
    let keys = key("corpus.pem");
    let left = ended(tree.command(LAYER, &["--init", "never"]).env("STACKS_PRIVATE_KEY_PATH", &keys));
    assert_eq!(left.status, 0, "{}", left.stderr);
    let out = format!("{LAYER}/stacks.out");
    assert!(tree.read(&format!("{out}/zzz.auto.tfvars.json")).contains(plain));
    for name in tree.names(&out) {
        let private = ["zzz.auto.tfvars.json", "layer_t.tfvars.jinja", "base_secret.tf"].contains(&name.as_str());
        let mode = tree.mode(&format!("{out}/{name}"));
        assert!(!private || mode == 0o600, "{name} has mode {mode:o}");
        assert!(private || !tree.read(&format!("{out}/{name}")).contains(plain), "{name} holds the secret");
    }
    assert_eq!(tree.mode(&format!("{out}/base_plain.tf")), 0o644);
    // An error next to a secret does not show it.
    tree.write("stacks/kiln/base/secret.tf", "{{ var.token + 1 }} {{ throw(var.token) }}\n");
    let left = ended(tree.command(LAYER, &["--init", "never"]).env("STACKS_PRIVATE_KEY_PATH", &keys));
    assert_eq!(left.status, 1);
    assert!(!left.stderr.contains(plain) && !left.stdout.contains(plain), "{}", left.stderr);
}

/// An envelope of the corpus, and what is in it.
fn sealed() -> (String, String) {
    let vectors: serde_json::Value =
        serde_json::from_str(include_str!("conformance/stacks/enc_vectors.json")).expect("vectors");
    let text = |vector: &serde_json::Value, name: &str| vector[name].as_str().expect("text").to_owned();
    let simple = |text: &str| text.len() > 6 && text.is_ascii() && !text.contains('\n');
    let vectors = vectors.as_array().expect("a list").iter();
    let mut pairs = vectors.map(|vector| (text(vector, "envelope"), text(vector, "plaintext")));
    pairs.find(|(_, plain)| simple(plain)).expect("a vector")
}

/// The secret is not this layer's own, and its file is as private.
#[test]
fn a_secret_of_another_layer_is_for_the_owner_alone() {
    let tree = Tree::new();
    let (envelope, plain) = sealed();
    tree.write("stacks/kiln/layers/harbor_blue/l.tfvars", &format!("token = \"{envelope}\"\n"));
    tree.write("stacks/kiln/base/main.tf", "# {{ variable(\"token\", instance=\"blue\") }}\n");
    tree.write("stacks/kiln/base/plain.tf", "# {{ var.town }}\n");
    let mut command = tree.command(LAYER, &["--init", "never"]);
    let left = ended(command.env("STACKS_PRIVATE_KEY_PATH", key("corpus.pem")));
    assert_eq!(left.status, 0, "{}", left.stderr);
    let out = format!("{LAYER}/stacks.out");
    assert_eq!(tree.read(&format!("{out}/base_main.tf")), format!("# {plain}"));
    assert_eq!(tree.mode(&format!("{out}/base_main.tf")), 0o600);
    assert_eq!(tree.mode(&format!("{out}/base_plain.tf")), 0o644);
}

#[test]
fn templates_read_nothing_outside_the_root_unless_they_may() {
    let tree = Tree::new();
    let outside = tempfile::NamedTempFile::new().expect("a file");
    fs::write(outside.path(), "canary").expect("a file");
    tree.write("stacks/kiln/base/main.tf", &format!("{{{{ file(\"{}\") }}}}\n", outside.path().display()));
    let left = tree.render(LAYER, &[]);
    assert_eq!(left.status, 1);
    assert!(left.stderr.contains("is outside the root"), "{}", left.stderr);
    // Not by a link of the tree either.
    std::os::unix::fs::symlink(outside.path(), tree.path("link")).expect("a link");
    tree.write("stacks/kiln/base/main.tf", "{{ file(\"../../../../link\") }}\n");
    assert_eq!(tree.render(LAYER, &[]).status, 1);
    assert_eq!(tree.render(LAYER, &["--allow-outside"]).status, 0);
    assert_eq!(tree.read(&format!("{LAYER}/stacks.out/base_main.tf")), "canary");
}

#[test]
fn a_name_that_terraform_keeps_is_told_with_the_file_that_sets_it() {
    let tree = Tree::new();
    tree.write(&format!("{LAYER}/l.tfvars"), "size  = 1\ncount = 2\n");
    let left = tree.render(LAYER, &[]);
    assert_eq!(left.status, 0);
    let words = "suil: warning: no variable can be called `count`: Terraform keeps that name\n";
    assert!(left.stderr.starts_with(words), "{}", left.stderr);
    assert!(left.stderr.contains("stacks/kiln/layers/harbor/l.tfvars:2:1"), "{}", left.stderr);
    // Terraform would refuse it: there is no use in starting it.
    let left = ended(tree.command(LAYER, &[]).env("STACKS_TERRAFORM_PATH", "/bin/false"));
    assert_eq!(left.status, 1);
    assert!(left.stderr.starts_with("suil: no variable can be called `count`"), "{}", left.stderr);
}

#[test]
fn files_that_are_never_read_are_told() {
    let tree = Tree::new();
    for path in ["environments/harbor/more.tfvars", "stacks/kiln/main.tf", "stacks/kiln/layers/harbor/x.tfvars.json"] {
        tree.write(path, "");
        let left = tree.render(LAYER, &[]);
        assert_eq!(left.status, 0);
        assert!(left.stderr.contains(&format!("suil: warning: `{path}` is never read\n")), "{}", left.stderr);
    }
}

#[test]
fn terraform_is_initialised_where_it_never_was_and_its_failure_is_told() {
    let tree = Tree::new();
    tree.write("tool", "#!/bin/sh\necho \"$@\" >> \"$HOME/said\"\nexit \"$(cat \"$HOME/status\")\"\n");
    tree.write("status", "0");
    fs::set_permissions(tree.path("tool"), fs::Permissions::from_mode(0o755)).expect("a mode");
    let tool = tree.path("tool");
    let run = |args: &[&str]| ended(tree.command(LAYER, args).env("STACKS_TERRAFORM_PATH", &tool));
    assert_eq!(run(&[]).status, 0);
    let out = tree.path(LAYER).join("stacks.out");
    assert_eq!(tree.read("said"), format!("-chdir={} init\n", out.display()));
    tree.write(&format!("{LAYER}/stacks.out/.terraform/terraform.tfstate"), "{}");
    assert_eq!(run(&[]).status, 0);
    assert_eq!(tree.read("said").lines().count(), 1);
    assert_eq!(run(&["--init", "always"]).status, 0);
    assert_eq!(tree.read("said").lines().count(), 2);
    tree.write("status", "7");
    let left = run(&["--init", "always"]);
    assert_eq!(left.status, 7);
    assert!(left.stderr.contains("failed in `stacks/kiln/layers/harbor/stacks.out`"), "{}", left.stderr);
}

#[test]
fn a_kill_at_any_moment_leaves_the_old_output_or_the_new_one() {
    let tree = Tree::new();
    for at in 0..60 {
        tree.write(&format!("stacks/kiln/base/f{at}.tf"), "locals {\n  a = \"{{ var.mark }}\"\n}\n");
    }
    let out = format!("{LAYER}/stacks.out");
    tree.write(&format!("{LAYER}/l.tfvars"), "mark = \"0\"\n");
    assert_eq!(tree.render(LAYER, &[]).status, 0);
    tree.write(&format!("{out}/terraform.tfstate"), "state");
    for round in 1..=25_u64 {
        tree.write(&format!("{LAYER}/l.tfvars"), &format!("mark = \"{round}\"\n"));
        let mut child = tree
            .command(LAYER, &["--init", "never"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("suil");
        std::thread::sleep(std::time::Duration::from_millis(4 * round));
        let _ = child.kill();
        child.wait().expect("an end");
        let first = tree.read(&format!("{out}/base_f0.tf"));
        for at in 1..60 {
            assert_eq!(tree.read(&format!("{out}/base_f{at}.tf")), first, "round {round}");
        }
        assert_eq!(tree.read(&format!("{out}/terraform.tfstate")), "state", "round {round}");
    }
    assert_eq!(tree.render(LAYER, &[]).status, 0);
    assert_eq!(tree.names(LAYER), ["l.tfvars", "stacks.out"]);
}

#[test]
fn two_renders_at_once_both_end_well() {
    let tree = Tree::new();
    let start = || tree.command(LAYER, &["--init", "never"]).stdout(Stdio::null()).spawn().expect("suil");
    let children: Vec<_> = (0..6).map(|_| start()).collect();
    for mut child in children {
        assert!(child.wait().expect("an end").success());
    }
    assert_eq!(tree.names(LAYER), ["l.tfvars", "stacks.out"]);
    assert_eq!(tree.names(&format!("{LAYER}/stacks.out")).len(), 3);
}

#[test]
fn a_tree_says_how_it_wants_to_be_rendered() {
    let tree = Tree::new();
    let vectors: serde_json::Value =
        serde_json::from_str(include_str!("conformance/stacks/enc_vectors.json")).expect("vectors");
    let sealed = &vectors[1];
    let (envelope, plain) = (sealed["envelope"].as_str().expect("text"), sealed["plaintext"].as_str().expect("text"));
    tree.write("environments/harbor/env.tfvars", &format!("town = \"harbor\"\ntoken = \"{envelope}\"\n"));
    tree.write("stacks/kiln/s.tfvars", "ports = [80]\nsize = 3\npath = \"c:\\\\temp\"\n");
    tree.write(&format!("{LAYER}/l.tfvars"), "ports = [\"!replace\", 443]\nsize = \"!delete\"\n");
    let keys = key("corpus.pem");
    let render = || {
        let left = ended(tree.command(LAYER, &["--init", "never"]).env("STACKS_PRIVATE_KEY_PATH", &keys));
        assert_eq!((left.status, left.stderr.as_str()), (0, ""));
        let read = |name: &str| -> serde_json::Value {
            serde_json::from_str(&tree.read(&format!("{LAYER}/stacks.out/{name}"))).expect("JSON")
        };
        (read("stacks.tf.json"), read("zzz.auto.tfvars.json"))
    };
    let (_, plainly) = render();
    assert_eq!(plainly["ports"], serde_json::json!([80, "!replace", 443]));
    assert_eq!(plainly["stacks_path"], "stacks/kiln/layer/harbor");
    assert_eq!(plainly["stacks_environments"]["harbor"]["token"], plain);
    assert_eq!(plainly["path"], "c:\\temp");
    let settings = "hcl: hcl2-7.2\nmarkers: true\nstacks_path: real\nstacks_environments: closed\nsensitive: true\n";
    tree.write("stacks.yaml", settings);
    let (declared, set) = render();
    assert_eq!(set["ports"], serde_json::json!([443]));
    assert!(set.get("size").is_none(), "{set}");
    assert_eq!(set["stacks_path"], "stacks/kiln/layers/harbor");
    assert_eq!(set["stacks_environments"]["harbor"]["token"], envelope);
    assert_eq!((&set["token"], &set["path"]), (&plain.into(), &"c:\\\temp".into()));
    assert_eq!(declared["variable"]["token"], serde_json::json!({"sensitive": true}));
    assert_eq!(declared["variable"]["town"], serde_json::json!({}));
    tree.write("stacks.yaml", "marker: true\n");
    let left = tree.render(LAYER, &[]);
    assert_eq!(left.status, 1);
    assert!(
        left.stderr.contains("stacks.yaml:1:1") && left.stderr.contains("did you mean `markers`?"),
        "{}",
        left.stderr
    );
}

#[test]
fn what_files_of_base_set_is_declared_as_the_original_does_or_all_of_it() {
    let tree = Tree::new();
    tree.write("stacks/kiln/base/w.auto.tfvars", "deep = 1\n");
    tree.write("stacks/kiln/base/w.auto.tfvars.json", "{\"//\": \"a comment\", \"wide\": 1, \"known\": 2}\n");
    tree.write("stacks/kiln/base/terraform.tfvars", "plain = 1\n");
    tree.write("stacks/kiln/base/v.tf.json", "{\"variable\": {\"known\": {}}}\n");
    let declared = || {
        assert_eq!(tree.render(LAYER, &[]).status, 0);
        let text = tree.read(&format!("{LAYER}/stacks.out/stacks.tf.json"));
        let declared: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        ["deep", "wide", "plain", "known", "//"].map(|name| declared["variable"].get(name).is_some())
    };
    assert_eq!(declared(), [true, false, false, false, false]);
    tree.write("stacks.yaml", "declare: all\n");
    assert_eq!(declared(), [true, true, true, false, false]);
    tree.write("stacks/kiln/base/w.auto.tfvars.json", "{\"wide\": }\n");
    let left = tree.render(LAYER, &[]);
    assert_eq!(left.status, 1);
    assert!(left.stderr.contains("--> stacks/kiln/base/w.auto.tfvars.json:1:10"), "{}", left.stderr);
}
