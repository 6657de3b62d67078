//! `suil infra drift`, with Terraform itself and with a script that stands for it.

use crate::room::Room;
use crate::tree::git;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the real Terraform is.
fn terraform() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join("terraform")).find(|file| file.is_file());
    found.expect("terraform, which these tests need")
}

fn told(room: &Room, args: &[&str]) -> (i32, Value) {
    let left = room.run(&[&["infra", "drift", "--output", "json"], args].concat());
    (left.status, serde_json::from_str(&left.stdout).unwrap_or_else(|e| panic!("{e}: {}", left.stderr)))
}

/// `state new looked` of each stack.
fn words(told: &Value) -> Vec<String> {
    let stacks = told["stacks"].as_array().expect("stacks").iter();
    let word = |stack: &Value| format!("{} {} {}", stack["state"], stack["new"], stack["looked"]).replace('"', "");
    stacks.map(word).collect()
}

/// `b` repeats an output of `a`: when `a` changes, what `b` says is not true any more.
#[test]
fn what_another_stack_changed_is_drift_and_nothing_is_written() {
    let program = terraform().display().to_string();
    let room = Room::with(&[
        (
            "stacks/a/main.tf",
            "terraform {\n  backend \"local\" {\n    path = \"a.tfstate\"\n  }\n}\nvariable \"size\" { default = 1 }\n\
             resource \"terraform_data\" \"pot\" { input = var.size }\noutput \"size\" { value = terraform_data.pot.output }\n",
        ),
        (
            "stacks/b/main.tf",
            "terraform {\n  backend \"local\" {\n    path = \"b.tfstate\"\n  }\n}\ndata \"terraform_remote_state\" \"a\" {\n  \
             backend = \"local\"\n  config = { path = \"../a/a.tfstate\" }\n}\n\
             output \"size\" { value = data.terraform_remote_state.a.outputs.size }\n",
        ),
    ])
    .set("STACKS_TERRAFORM_PATH", &program);
    let apply = |stack: &str, more: &[&str]| {
        for args in [&["init", "-input=false"][..], &[&["apply", "-auto-approve", "-input=false"], more].concat()] {
            let folder = room.path().join("stacks").join(stack);
            let mut command = Command::new(&program);
            command.current_dir(&folder).args(args).env_clear().env("HOME", &folder).env("CHECKPOINT_DISABLE", "1");
            let output = command.output().expect("terraform");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    };
    apply("a", &[]);
    apply("b", &[]);
    let (status, first) = told(&room, &["--all"]);
    assert_eq!((status, words(&first)), (0, vec!["clean none true".to_owned(); 2]));
    apply("a", &["-var=size=2"]);
    let states =
        || ["a/a.tfstate", "b/b.tfstate"].map(|path| fs::read(room.path().join("stacks").join(path)).expect("a state"));
    let before = states();
    let (status, second) = told(&room, &["--all"]);
    assert_eq!((status, words(&second)), (2, vec!["clean none true".to_owned(), "drifted drifted true".to_owned()]));
    assert_eq!(second["stacks"][1]["summary"]["output_changes"], 1);
    assert_eq!(states(), before);
    // Remembered, and not new any more.
    let (status, third) = told(&room, &["--all", "--max-age", "1h"]);
    assert_eq!((status, words(&third)), (2, vec!["clean none false".to_owned(), "drifted none false".to_owned()]));
    apply("b", &[]);
    let left = room.run(&["infra", "drift", "stacks/b"]);
    assert_eq!((left.status, left.stderr.as_str()), (0, ""));
    assert!(left.stdout.contains("clean  now    now     no drift any more\n"), "{}", left.stdout);
    assert!(left.stdout.ends_with("\ndrift: 1 stack clean\n"), "{}", left.stdout);
    let logs = room.path().join(".suil/infra/logs");
    assert!(fs::read_dir(logs).map_or(0, Iterator::count) == 0, "nothing is left of what was looked at");
}

/// A tree of two stacks and a script that stands for Terraform: `b` has drifted as the file `moved` says, and fails where
/// there is a file `broken`.
fn scripted() -> Room {
    let room = Room::with(&[
        ("stacks/a/main.tf", "terraform {\n  backend \"local\" {}\n}\n"),
        ("stacks/b/main.tf", "terraform {\n  backend \"local\" {}\n}\n"),
    ]);
    let program = room.path().join("../terraform");
    let script = "#!/bin/sh\n\
        here=$(dirname \"$0\")/work\nfolder=${1#-chdir=}\necho \"${folder##*/} $*\" >>\"$here/../log\"\n\
        case \"$2 ${folder##*/}\" in\n\
        plan*) for word in \"$@\"; do case $word in -out=*) echo plan >\"${word#-out=}\" ;; esac; done ;;\n\
        esac\n\
        case \"$2 ${folder##*/}\" in\n\
        'plan b') [ ! -e \"$here/broken\" ] || { echo 'Error: broken, password = \"canary-word\"' >&2; exit 1; }\n\
        [ ! -e \"$here/moved\" ] || exit 2 ;;\n\
        show*) printf '{\"format_version\": \"1.2\", \"resource_drift\": [%s]}' \"$(cat \"$here/moved\" 2>/dev/null)\" ;;\n\
        esac\n";
    fs::write(&program, script).expect("a script");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a mode");
    let program = program.display().to_string();
    room.set("STACKS_TERRAFORM_PATH", &program)
}

fn moved(address: &str, action: &str) -> String {
    format!("{{\"address\": \"{address}\", \"mode\": \"managed\", \"change\": {{\"actions\": [\"{action}\"]}}}}")
}

#[test]
fn what_is_new_since_the_last_look_is_told() {
    let room = scripted();
    assert_eq!(told(&room, &["--all"]).0, 0);
    room.write("moved", &moved("aws_queue.q", "update"));
    let want = "\
STACK     STATE    SINCE  LOOKED  NEW
stacks/a  clean    now    now
stacks/b  drifted  now    now     drifted

stacks/b
  ~ aws_queue.q

drift: 1 stack drifted, 1 clean; 1 new
";
    room.run(&["infra", "drift", "--all"]).is(2, want, "");
    let quiet = want.replace("now     drifted", "now").replace("; 1 new", "");
    room.run(&["infra", "drift", "--all"]).is(2, &quiet, "");
    room.write("moved", &[moved("aws_queue.q", "update"), moved("aws_bucket.b", "delete")].join(", "));
    let (status, other) = told(&room, &["stacks/b"]);
    assert_eq!((status, words(&other)), (2, vec!["drifted other true".to_owned()]));
    assert_eq!(other["stacks"][0]["addresses"]["destroys"], serde_json::json!(["aws_bucket.b"]));
    room.write("broken", "");
    let left = room.run(&["infra", "drift", "--all", "--max-age", "1d"]);
    assert_eq!(left.status, 2, "what is young is not looked at again: {}", left.stderr);
    let left = room.run(&["infra", "drift", "--all"]);
    assert_eq!(left.status, 1);
    assert!(left.stderr.contains("stack `stacks/b`: `terraform plan` failed\nnote: Error: broken"), "{}", left.stderr);
    assert!(!(left.stdout.clone() + &left.stderr).contains("canary-word"), "{}", left.stderr);
    assert!(left.stdout.ends_with("drift: 1 stack failed, 1 clean\n"), "{}", left.stdout);
    // A failure is never taken for good.
    fs::remove_file(room.path().join("broken")).expect("a file");
    fs::remove_file(room.path().join("moved")).expect("a file");
    let (status, last) = told(&room, &["--all", "--max-age", "1d"]);
    assert_eq!((status, words(&last)), (0, vec!["clean none false".to_owned(), "clean none true".to_owned()]));
}

#[test]
fn it_only_looks_without_a_lock() {
    let room = scripted();
    told(&room, &["--all"]);
    let log = fs::read_to_string(room.path().join("../log")).expect("a log");
    let plans: Vec<&str> = log.lines().filter(|line| line.contains(" plan ")).collect();
    assert_eq!(plans.len(), 2, "{log}");
    for plan in plans {
        assert!(plan.contains(" -refresh-only ") && plan.contains(" -lock=false "), "{plan}");
    }
    assert!(!log.contains(" apply"), "{log}");
    let left = room.run(&["infra", "drift"]);
    assert_eq!(left.status, 64, "{}", left.stderr);
    let left = room.run(&["infra", "drift", "stacks/c"]);
    assert!(left.status == 64 && left.stderr.contains("did you mean `stacks/a`?"), "{}", left.stderr);
    let left = room.run(&["infra", "drift", "--all", "--max-age", "soon"]);
    assert!(left.status == 64 && left.stderr.contains("`24h`"), "{}", left.stderr);
}
/// A layer is a stack, and is rendered before it is looked at.
#[test]
fn a_layer_is_rendered_and_looked_at() {
    let room = scripted();
    room.write("environments/harbor/env.tfvars", "town = \"harbor\"\n");
    room.write("stacks/kiln/base/main.tf", "terraform {\n  backend \"local\" {}\n}\n# {{ var.town }}\n");
    room.write("stacks/kiln/layers/harbor/l.tfvars", "");
    git(&room.path(), &["init", "--quiet"]);
    let (status, found) = told(&room, &["stacks/kiln:harbor"]);
    assert_eq!((status, words(&found)), (0, vec!["clean none true".to_owned()]));
    let code = room.path().join("stacks/kiln/layers/harbor/stacks.out/base_main.tf");
    assert!(fs::read_to_string(Path::new(&code)).expect("a file").contains("# harbor"));
}
