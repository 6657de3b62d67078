//! `suil infra surgery` on states that Terraform keeps: what each leaves, whatever happens on the way.

#![allow(clippy::disallowed_methods)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use suil::base::Plain;
use tempfile::TempDir;

const BLUE: &str = "stacks/kiln/layers/harbor_blue";
const SECRET: &str = "salt and ash";

/// Each layer says in its `*.tfvars` what it holds.
const CODE: &str = r#"terraform {
  backend "local" {
    path = "{{ var.stacks_root }}/states/{{ var.shared | default(var.stacks_layer) }}.tfstate"
  }
}
resource "terraform_data" "pot" {
  for_each = toset({{ jsonencode(var.pots) }})
  input    = each.key
}
{% if var.rest %}
resource "terraform_data" "wheel" {
  input = "oak"
}
resource "terraform_data" "glaze" {
  input = sensitive("salt and ash")
}
module "shelf" {
  source = "./shelf"
}
{% endif %}
"#;

/// A tree with two layers, initialised; the state of one holds all there is.
struct Tree(TempDir);

#[derive(Debug)]
struct Left {
    status: i32,
    stdout: String,
    stderr: String,
}

fn tree() -> Tree {
    static MADE: OnceLock<Tree> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let tree = Tree(tempfile::tempdir().expect("a folder"));
        for (path, text) in [
            ("environments/harbor/env.tfvars", ""),
            ("stacks/kiln/base/main.tf", CODE),
            ("stacks/kiln/base/shelf/main.tf", "resource \"terraform_data\" \"board\" {\n  input = 3\n}\n"),
            ("stacks/kiln/layers/harbor/l.tfvars", "pots = [\"x\", \"y\"]\nrest = true\n"),
            ("stacks/kiln/layers/harbor_blue/l.tfvars", "pots = []\nrest = false\n"),
        ] {
            tree.write(path, text);
        }
        let rendered = tree.run("", &["infra", "render", "--all"]);
        assert_eq!(rendered.status, 0, "{rendered:?}");
        tree.terraform("harbor", &["apply", "-auto-approve", "-no-color"]);
        tree
    });
    let tree = Tree(tempfile::tempdir().expect("a folder"));
    copy(made.root(), tree.root());
    tree
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder to copy") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        match path.is_dir() {
            true => copy(&path, &target),
            false => drop(fs::copy(&path, &target).expect("a copy")),
        }
    }
}

impl Tree {
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

    /// What the layers hold from now on, by their code.
    fn pots(&self, harbor: &str, blue: &str) {
        self.write("stacks/kiln/layers/harbor/l.tfvars", &format!("pots = {harbor}\nrest = true\n"));
        self.write("stacks/kiln/layers/harbor_blue/l.tfvars", &format!("pots = {blue}\nrest = false\n"));
    }

    fn command(&self, folder: &str, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_suil"));
        command.args(args).current_dir(self.path(folder)).env_clear().stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", self.root());
        command
    }

    fn run(&self, folder: &str, args: &[&str]) -> Left {
        ended(&mut self.command(folder, args))
    }

    /// A surgery in the layer that holds all.
    fn surgery(&self, args: &[&str]) -> Left {
        self.surgery_with(&[], args)
    }

    fn surgery_with(&self, variables: &[(&str, &str)], args: &[&str]) -> Left {
        let args = [&["infra", "surgery"], args].concat();
        ended(self.command("stacks/kiln/layers/harbor", &args).envs(variables.iter().copied()))
    }

    #[track_caller]
    fn well(&self, args: &[&str]) -> Left {
        let left = self.surgery(args);
        assert_eq!((left.status, left.stderr.as_str()), (0, ""), "{left:?}");
        left
    }

    /// A stand-in for Terraform: the shell text `script`, then Terraform itself.
    fn stand_in(&self, script: &str) -> String {
        let path = self.path("stand-in");
        fs::write(&path, format!("#!/bin/sh\n{script}\nexec terraform \"$@\"\n")).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
        path.display().to_string()
    }

    fn terraform(&self, layer: &str, args: &[&str]) -> String {
        let folder = self.path(&format!("stacks/kiln/layers/{layer}/stacks.out"));
        let mut command = Command::new("terraform");
        command.args(args).current_dir(folder).env_remove("TF_CLI_CONFIG_FILE").stdin(Stdio::null());
        let left = ended(&mut command);
        assert_eq!(left.status, 0, "{left:?}");
        left.stdout
    }

    fn state(&self, layer: &str) -> Option<Plain> {
        let text = fs::read_to_string(self.path(&format!("states/{layer}.tfstate"))).ok()?;
        Some(Plain::from_json(&text).expect("a state"))
    }

    /// The addresses of a state as Terraform lists them, and the serial.
    fn held(&self, layer: &str) -> (Vec<String>, i64) {
        let Some(state) = self.state(layer) else { return (Vec::new(), 0) };
        let listed = self.terraform(layer, &["state", "list"]);
        let serial = state.get("serial").and_then(Plain::as_int).unwrap_or_default();
        (listed.lines().map(str::to_owned).collect(), serial)
    }

    /// The `input` of a resource in a state, by its name and its key.
    fn input(&self, layer: &str, name: &str, key: Option<&str>) -> Option<Plain> {
        let state = self.state(layer)?;
        let resources = state.get("resources")?.as_list()?;
        let resource = resources.iter().find(|r| r.get("name").and_then(Plain::as_str) == Some(name))?;
        let instances = resource.get("instances")?.as_list()?;
        let instance = instances.iter().find(|i| i.get("index_key").and_then(Plain::as_str) == key)?;
        instance.at(&["attributes", "input", "value"]).cloned()
    }

    fn records(&self) -> Vec<PathBuf> {
        let folders = fs::read_dir(self.path(".suil/surgery")).into_iter().flatten().flatten();
        let mut folders: Vec<PathBuf> = folders.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
        folders.sort();
        folders
    }
}

fn ended(command: &mut Command) -> Left {
    let output = command.output().expect("a program");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    Left { status: output.status.code().unwrap_or(-1), stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

fn json(left: &Left) -> Plain {
    Plain::from_json(&left.stdout).unwrap_or_else(|e| panic!("{e}: {left:?}"))
}

const ALL: [&str; 5] = [
    "terraform_data.glaze",
    "terraform_data.pot[\"x\"]",
    "terraform_data.pot[\"y\"]",
    "terraform_data.wheel",
    "module.shelf.terraform_data.board",
];

#[test]
fn a_list_is_terraforms_own() {
    let tree = tree();
    let left = tree.well(&["list"]);
    assert_eq!(left.stdout, tree.terraform("harbor", &["state", "list"]));
    assert_eq!(left.stdout.lines().collect::<Vec<_>>(), ALL);
    let list = json(&tree.well(&["list", "module.shelf", "--output", "json"]));
    let board = &list.get("resources").and_then(Plain::as_list).expect("resources")[0];
    assert_eq!(board.get("module").and_then(Plain::as_str), Some("module.shelf"));
    assert_eq!(tree.well(&["list", "--layer", BLUE]).stdout, "");
    let left = tree.surgery(&["list", "terraform_data.pots"]);
    assert_eq!((left.status, left.stdout.as_str()), (1, ""), "{left:?}");
    assert!(left.stderr.starts_with("suil: `terraform_data.pots` is not in the state\n"), "{left:?}");
    assert_eq!(tree.records(), [""; 0].map(PathBuf::from), "a list leaves no record");
}

/// The original imports what it renames, and `input` is lost by that: terraform_data cannot read it back.
#[test]
fn a_rename_keeps_every_attribute_and_an_undo_takes_it_back() {
    let tree = tree();
    let before = tree.held("harbor");
    let left = tree.well(&["rename", "terraform_data.wheel", "terraform_data.disc"]);
    assert!(
        left.stdout.starts_with(
            "terraform_data.wheel → terraform_data.disc\n1 resource renamed\nstacks/kiln/layers/harbor: serial "
        ),
        "{left:?}"
    );
    assert_eq!(tree.input("harbor", "disc", None), Some(Plain::from("oak")));
    assert_eq!(tree.input("harbor", "wheel", None), None);
    tree.well(&["rename", "terraform_data.pot[\"x\"]", "terraform_data.pot[\"z.\\\"z\"]"]);
    assert_eq!(tree.input("harbor", "pot", Some("z.\"z")), Some(Plain::from("x")));
    let left = tree.surgery(&["rename", "terraform_data.pot[\"y\"]", "terraform_data.disc"]);
    assert_eq!(left.status, 1);
    assert!(left.stderr.starts_with("suil: `terraform_data.disc` is in the state already\n"), "{left:?}");
    tree.well(&["undo"]);
    let left = tree.well(&["undo"]);
    assert!(
        left.stdout.starts_with(
            "terraform_data.disc → terraform_data.wheel\n1 resource put back\nstacks/kiln/layers/harbor: serial "
        ),
        "{left:?}"
    );
    let after = tree.held("harbor");
    assert_eq!(after.0, before.0);
    assert!(after.1 >= before.1 + 4, "the serial is raised each time: {} {}", before.1, after.1);
    assert_eq!(tree.surgery(&["undo"]).stderr, "suil: there is nothing to undo\n");
}

#[test]
fn a_move_changes_both_states_and_is_verified_by_a_plan() {
    let tree = tree();
    let (lineage, serial) = (tree.state("harbor").and_then(|s| s.get("lineage").cloned()), tree.held("harbor").1);
    tree.pots("[\"y\"]", "[\"x\"]");
    let left = tree.well(&["move", "terraform_data.pot[\"x\"]", BLUE]);
    let want = format!(
        "terraform_data.pot[\"x\"]\n1 resource moved\nstacks/kiln/layers/harbor: serial {}, plan: nothing to do\n\
         {BLUE}: serial 1, plan: nothing to do\nundo: suil infra surgery undo ",
        tree.held("harbor").1
    );
    assert!(left.stdout.starts_with(&want), "{left:?}");
    assert_eq!(tree.held("harbor_blue").0, ["terraform_data.pot[\"x\"]"]);
    assert!(!tree.held("harbor").0.contains(&"terraform_data.pot[\"x\"]".to_owned()));
    assert_eq!(tree.input("harbor_blue", "pot", Some("x")), Some(Plain::from("x")));
    assert_eq!(tree.state("harbor").and_then(|s| s.get("lineage").cloned()), lineage);
    assert!(tree.held("harbor").1 > serial && tree.held("harbor_blue").1 == 1);
    // The secrets of both are for the owner's eyes.
    let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    let [record] = tree.records().try_into().expect("one record");
    for folder in [&tree.path(".suil"), &tree.path(".suil/surgery"), &record] {
        assert_eq!(mode(folder), 0o700, "{folder:?}");
    }
    for name in ["manifest.json", "2.tfstate"] {
        assert_eq!(mode(&record.join(name)), 0o600, "{name}");
    }
    assert_eq!(mode(&tree.path("states/harbor_blue.tfstate")), 0o600);
    assert!(fs::read_to_string(record.join("2.tfstate")).expect("a backup").contains(SECRET));
    // To a layer that has a state by now, with another address, and the way back.
    tree.pots("[]", "[\"x\"]");
    let args = ["move", "terraform_data.pot[\"y\"]", "--to", BLUE, "--as", "terraform_data.jug", "--output", "json"];
    let left = tree.surgery(&args);
    assert_eq!(left.status, 1, "the code has no jug: {left:?}");
    let told = json(&left);
    let what = told.get("problems").and_then(Plain::as_list).expect("problems")[0].get("what").cloned();
    let want = format!("the plan of `{BLUE}` would destroy what was moved");
    assert_eq!(what, Some(Plain::from(want)));
    assert_eq!(tree.held("harbor_blue").0, ["terraform_data.jug", "terraform_data.pot[\"x\"]"]);
    tree.well(&["undo"]);
    tree.well(&["undo"]);
    assert_eq!(tree.held("harbor").0, ALL);
    assert_eq!(tree.held("harbor_blue").0, [""; 0]);
}

#[test]
fn the_words_of_the_original_work() {
    let tree = tree();
    let wheel = "terraform_data.wheel";
    let left = tree.surgery(&["move", wheel, "terraform_data.pot[\"y\"]", BLUE, "--no-plan"]);
    assert_eq!(left.status, 64, "{left:?}");
    assert!(left.stderr.contains("may mean two things"), "{left:?}");
    // Seen from the root, as the original has it.
    tree.well(&["move", wheel, "terraform_data.disc", BLUE, "--no-plan"]);
    assert_eq!(tree.input("harbor_blue", "disc", None), Some(Plain::from("oak")));
    tree.well(&["move", "terraform_data.glaze", "terraform_data.gloss", "."]);
    assert_eq!(tree.input("harbor", "gloss", None), Some(Plain::from(SECRET)));
    tree.well(&["move", "module.shelf", "terraform_data.pot", "--to", "../harbor_blue", "--no-plan"]);
    assert_eq!(tree.held("harbor").0, ["terraform_data.gloss"]);
    assert_eq!(tree.held("harbor_blue").0.len(), 4);
}

#[test]
fn what_cannot_be_moved_changes_nothing() {
    let tree = tree();
    tree.well(&["move", "terraform_data.wheel", BLUE, "--no-plan"]);
    tree.well(&["rename", "terraform_data.glaze", "terraform_data.wheel"]);
    let before = (tree.held("harbor"), tree.held("harbor_blue"), tree.records().len());
    for (args, status, what) in [
        (["terraform_data.wheel", BLUE], 1, "`terraform_data.wheel` is in the state of the target already"),
        (["terraform_data.cup", BLUE], 1, "`terraform_data.cup` is not in the state"),
        (["terraform_data", BLUE], 64, "`terraform_data` is no address of Terraform"),
        (["terraform_data.wheel", "nowhere"], 1, "there is no layer `nowhere`"),
        (["terraform_data.wheel", "."], 64, "`stacks/kiln/layers/harbor` is the layer they are in"),
    ] {
        let left = tree.surgery(&["move", args[0], args[1]]);
        assert_eq!(left.status, status, "{left:?}");
        assert!(left.stderr.starts_with(&format!("suil: {what}\n")), "{left:?}");
    }
    assert_eq!((tree.held("harbor"), tree.held("harbor_blue"), tree.records().len()), before);
    // Both layers at one backend: the original renames inside the one state, and reports success.
    tree.write("stacks/kiln/layers/harbor_blue/l.tfvars", "pots = []\nrest = false\nshared = \"harbor\"\n");
    fs::remove_dir_all(tree.path(&format!("{BLUE}/stacks.out"))).expect("a folder");
    let left = tree.surgery(&["move", "terraform_data.wheel", BLUE]);
    assert_eq!(left.status, 1, "{left:?}");
    assert!(left.stderr.contains("have the same state\n"), "{left:?}");
}

#[test]
fn a_dry_run_tells_what_it_would_do_and_changes_nothing() {
    let tree = tree();
    let before = fs::read(tree.path("states/harbor.tfstate")).expect("a state");
    let edit = ("EDITOR", "sed -i s/oak/ash/");
    for (args, last) in [
        (
            vec!["rename", "terraform_data.wheel", "terraform_data.disc"],
            "state mv terraform_data.wheel terraform_data.disc",
        ),
        (vec!["remove", "terraform_data.pot"], "state rm terraform_data.pot"),
        (vec!["import", "terraform_data.cup", "an id"], "import -input=false -no-color terraform_data.cup 'an id'"),
        (vec!["move", "terraform_data.pot", BLUE], "state push -"),
        (vec!["edit"], "state push -"),
    ] {
        let left = tree.surgery_with(&[edit], &[&args[..], &["--dry-run"]].concat());
        assert_eq!((left.status, left.stderr.as_str()), (0, ""), "{left:?}");
        let line = left.stdout.lines().last().unwrap_or_default();
        let start = "would run: terraform -chdir=stacks/kiln/layers/harbor";
        assert!(line.starts_with(start) && line.ends_with(last), "{left:?}");
    }
    assert_eq!(fs::read(tree.path("states/harbor.tfstate")).expect("a state"), before);
    assert!(tree.state("harbor_blue").is_none());
    assert!(tree.records().is_empty());
}

#[test]
fn what_is_imported_and_what_is_removed_can_be_undone() {
    let tree = tree();
    let left = tree.well(&["remove", "terraform_data.pot", "module.shelf"]);
    assert!(left.stdout.contains("3 resources removed\nstacks/kiln/layers/harbor: "), "{left:?}");
    assert_eq!(tree.held("harbor").0, ["terraform_data.glaze", "terraform_data.wheel"]);
    let left = tree.surgery(&["import", "terraform_data.pot[\"x\"]", "7"]);
    assert_eq!(left.status, 0, "{left:?}");
    assert_eq!(tree.held("harbor").0.len(), 3);
    let left = tree.surgery(&["import", "terraform_data.cup", "7"]);
    assert_eq!(left.status, 1, "{left:?}");
    assert!(left.stderr.contains("`terraform import` failed in `stacks/kiln/layers/harbor`"), "{left:?}");
    assert!(left.stderr.contains("the state of `stacks/kiln/layers/harbor` is as it was"), "{left:?}");
    assert_eq!(tree.records().len(), 2, "what failed and changed nothing leaves no record");
    tree.well(&["undo"]);
    tree.well(&["undo"]);
    assert_eq!(tree.held("harbor").0, ALL);
    assert_eq!(tree.input("harbor", "pot", Some("x")), Some(Plain::from("x")));
}

#[test]
fn a_target_gets_its_state_back_where_the_source_cannot_be_pushed() {
    let tree = tree();
    tree.well(&["move", "terraform_data.wheel", BLUE, "--no-plan"]);
    let before = (tree.held("harbor"), tree.held("harbor_blue"));
    let tool =
        tree.stand_in("case \"$*\" in *harbor/stacks.out\\ state\\ push*) echo 'Error: no room' >&2; exit 1;; esac");
    let left = tree.surgery_with(&[("STACKS_TERRAFORM_PATH", &tool)], &["move", "terraform_data.pot", BLUE]);
    assert_eq!(left.status, 1, "{left:?}");
    for line in [
        "note: Error: no room\n",
        "note: the state of `stacks/kiln/layers/harbor_blue` was put back\n",
        "note: every state holds what it held\n",
    ] {
        assert!(left.stderr.contains(line), "{line} in {left:?}");
    }
    assert_eq!(tree.held("harbor"), before.0);
    let after = tree.held("harbor_blue");
    assert_eq!(after.0, before.1.0);
    assert!(after.1 > before.1.1, "the serial is raised");
    let list = json(&tree.well(&["undo", "--list", "--output", "json"]));
    let last = &list.get("surgeries").and_then(Plain::as_list).expect("surgeries")[0];
    assert_eq!(last.get("outcome").and_then(Plain::as_str), Some("taken back"));
}

#[test]
fn a_killed_suil_leaves_what_an_undo_repairs() {
    // Before the first push, before the second, behind it, and inside a rename.
    let push = |layer: &str, before: bool| match before {
        true => format!("case \"$*\" in *{layer}/stacks.out\\ state\\ push*) kill -9 $PPID; exit 1;; esac"),
        false => format!(
            "case \"$*\" in *{layer}/stacks.out\\ state\\ push*) terraform \"$@\"; kill -9 $PPID; exit 1;; esac"
        ),
    };
    let pots = ["terraform_data.pot[\"x\"]", "terraform_data.pot[\"y\"]"];
    let shift = vec!["move", "terraform_data.pot", BLUE];
    // What the record says of each layer: nobody looks at a state in vain, and none that changed is taken for the old one.
    for (script, args, harbor, blue, steps) in [
        (push("harbor_blue", true), shift.clone(), 5, 0, vec!["harbor waiting", "harbor_blue pushing"]),
        (push("harbor", true), shift.clone(), 5, 2, vec!["harbor pushing", "harbor_blue pushed"]),
        (push("harbor", false), shift, 3, 2, vec!["harbor pushing", "harbor_blue pushed"]),
        (
            "case \"$*\" in *state\\ mv*) terraform \"$@\"; kill -9 $PPID; exit 1;; esac".to_owned(),
            vec!["rename", pots[0], "terraform_data.jug"],
            5,
            0,
            vec!["harbor pushing"],
        ),
    ] {
        let tree = tree();
        let tool = tree.stand_in(&script);
        let left = tree.surgery_with(&[("STACKS_TERRAFORM_PATH", &tool)], &args);
        assert_eq!(left.status, -1, "{left:?}");
        assert_eq!((tree.held("harbor").0.len(), tree.held("harbor_blue").0.len()), (harbor, blue), "{script}");
        let list = json(&tree.well(&["undo", "--list", "--output", "json"]));
        let last = &list.get("surgeries").and_then(Plain::as_list).expect("surgeries")[0];
        let text = |part: &Plain, key: &str| part.get(key).and_then(Plain::as_str).expect("a text").to_owned();
        let told = |part: &Plain| {
            format!("{} {}", text(part, "layer").rsplit('/').next().expect("a name"), text(part, "step"))
        };
        let mut found: Vec<String> =
            last.get("layers").and_then(Plain::as_list).expect("layers").iter().map(told).collect();
        found.sort();
        assert_eq!(found, steps, "{script}");
        let left = tree.surgery(&["list"]);
        assert!(left.stderr.starts_with("suil: warning: surgery `"), "{left:?}");
        assert!(left.stderr.contains("` was cut off\n"), "{left:?}");
        tree.well(&["undo"]);
        assert_eq!(tree.held("harbor").0, ALL, "{script}");
        assert_eq!(tree.held("harbor_blue").0, [""; 0], "{script}");
        assert_eq!(tree.input("harbor", "pot", Some("y")), Some(Plain::from("y")));
        tree.well(&["list"]);
    }
}

#[test]
fn an_interrupt_waits_for_the_pushes_and_a_second_one_does_not() {
    let shift = ["move", "terraform_data.pot", BLUE];
    let strike =
        |more: &str| format!("case \"$*\" in *harbor/stacks.out\\ state\\ push*) kill -TERM $PPID; {more};; esac");
    let tree = tree();
    let tool = tree.stand_in(&strike("sleep 0.1"));
    let left = tree.surgery_with(&[("STACKS_TERRAFORM_PATH", &tool)], &shift);
    assert_eq!(left.status, 130, "{left:?}");
    assert!(left.stderr.starts_with("suil: interrupted, no plan was made\n"), "{left:?}");
    assert_eq!((tree.held("harbor").0.len(), tree.held("harbor_blue").0.len()), (3, 2));
    tree.well(&["undo"]);
    let tool = tree.stand_in(&strike("sleep 0.1; kill -TERM $PPID; sleep 60"));
    let left = tree.surgery_with(&[("STACKS_TERRAFORM_PATH", &tool)], &shift);
    assert_eq!(left.status, 130, "{left:?}");
    assert!(left.stderr.contains("suil was told twice to end: nothing was put back"), "{left:?}");
    assert_eq!((tree.held("harbor").0.len(), tree.held("harbor_blue").0.len()), (5, 2));
    tree.well(&["undo"]);
    assert_eq!((tree.held("harbor").0.len(), tree.held("harbor_blue").0.len()), (5, 0));
}

#[test]
fn a_state_that_changes_meanwhile_is_not_overwritten() {
    let tree = tree();
    // Somebody else is faster by one serial: Terraform refuses the push.
    let script = "case \"$*\" in *harbor/stacks.out\\ state\\ push*) \
         terraform -chdir=\"${1#-chdir=}\" state rm terraform_data.wheel >/dev/null;; esac";
    let tool = tree.stand_in(script);
    let left = tree.surgery_with(&[("STACKS_TERRAFORM_PATH", &tool)], &["move", "terraform_data.pot", BLUE]);
    assert_eq!(left.status, 3, "{left:?}");
    let what = "suil: the state of `stacks/kiln/layers/harbor` was changed by somebody else in the meantime\n";
    assert!(left.stderr.starts_with(what), "{left:?}");
    assert!(left.stderr.contains("the state of `stacks/kiln/layers/harbor_blue` was put back"), "{left:?}");
    assert_eq!(tree.held("harbor").0.len(), 4);
    assert_eq!(tree.held("harbor_blue").0, [""; 0]);
}

#[test]
fn an_undo_refuses_where_the_state_went_on() {
    let tree = tree();
    tree.well(&["rename", "terraform_data.wheel", "terraform_data.disc"]);
    tree.well(&["remove", "terraform_data.glaze"]);
    let list = json(&tree.well(&["undo", "--list", "--output", "json"]));
    let all = list.get("surgeries").and_then(Plain::as_list).expect("surgeries");
    let first = all[1].get("id").and_then(Plain::as_str).expect("an ID");
    let before = tree.held("harbor");
    let left = tree.surgery(&["undo", first]);
    assert_eq!(left.status, 3, "{left:?}");
    assert!(left.stderr.starts_with("suil: the state of `stacks/kiln/layers/harbor` has changed since\n"), "{left:?}");
    assert_eq!(tree.held("harbor"), before);
    tree.well(&["undo"]);
    tree.well(&["undo", first]);
    assert_eq!(tree.held("harbor").0, ALL);
    assert_eq!(tree.surgery(&["undo", first]).status, 3, "it is undone already");
    assert_eq!(tree.surgery(&["undo", "1999"]).status, 1);
}

#[test]
fn an_edit_shows_its_change_without_secrets_and_leaves_no_copy() {
    let tree = tree();
    let places = ["/dev/shm".to_owned(), tree.path(".suil").display().to_string()];
    let copies = || {
        let all = places.iter().filter_map(|place| fs::read_dir(place).ok()).flatten().flatten();
        let mine = |entry: &fs::DirEntry| {
            let text = fs::read_dir(entry.path()).into_iter().flatten().flatten();
            text.into_iter().any(|file| fs::read_to_string(file.path()).is_ok_and(|text| text.contains(SECRET)))
        };
        all.filter(|entry| entry.file_name().to_string_lossy().starts_with("suil-edit-")).filter(mine).count()
    };
    let before = tree.held("harbor");
    let edit = |script: &str, args: &[&str]| {
        let editor = format!("sh -c '{script}' editor");
        tree.surgery_with(&[("STACKS_EDITOR", &editor), ("EDITOR", "false")], &[&["edit"], args].concat())
    };
    let left = edit("sed -i s/oak/ash/ \"$1\"", &[]);
    assert_eq!(left.status, 64, "nobody can be asked: {left:?}");
    let left = edit("sed -i \"s/oak/ash/; s/salt and ash/salt and rust/\" \"$1\"", &["--yes"]);
    assert_eq!((left.status, left.stderr.as_str()), (0, ""), "{left:?}");
    for hidden in [SECRET, "salt and rust"] {
        assert!(!left.stdout.contains(hidden), "{left:?}");
    }
    assert!(left.stdout.contains("-              \"value\": \"oak\""), "{left:?}");
    assert!(left.stdout.contains("‹secret "), "{left:?}");
    assert!(left.stdout.contains("terraform_data.glaze\nterraform_data.wheel\n2 resources changed\n"), "{left:?}");
    assert!(tree.held("harbor").1 > before.1, "the serial is raised");
    assert_eq!(tree.input("harbor", "wheel", None), Some(Plain::from("ash")));
    let state = || fs::read(tree.path("states/harbor.tfstate")).expect("a state");
    let after = state();
    for (script, what) in [
        ("echo { > \"$1\"", "suil: the state of `stacks/kiln/layers/harbor` cannot be read: line 2 column 1: expected"),
        (": > \"$1\"", "suil: nothing is left of the state of `stacks/kiln/layers/harbor`\n"),
        (
            "sed -i \"s/\\\"lineage\\\": \\\".*\\\"/\\\"lineage\\\": \\\"x\\\"/\" \"$1\"",
            "suil: the lineage of the state of ",
        ),
        ("rm \"$1\"", "suil: the editor `sh -c 'rm \"$1\"' editor` left no file\n"),
        ("exit 3", "suil: the editor `sh -c 'exit 3' editor` failed (exit status: 3)\n"),
    ] {
        let left = edit(script, &["--yes"]);
        assert_eq!(left.status, 1, "{left:?}");
        assert!(left.stderr.starts_with(what), "{what} in {left:?}");
        assert!(left.stderr.contains("nothing was written") || left.stderr.contains("nothing is left"), "{left:?}");
    }
    assert!(edit("true", &["--yes"]).stdout.starts_with("0 resources changed\nstacks/kiln/layers/harbor: serial "));
    assert_eq!(state(), after);
    assert_eq!(copies(), 0);
    tree.well(&["undo"]);
    assert_eq!(tree.input("harbor", "wheel", None), Some(Plain::from("oak")));
}
