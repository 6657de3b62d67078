//! `suil infra terraform`: arguments, streams, exit codes and signals go through.

use crate::room::{Room, has_line, pid, signal, until};
use rustix::process::{Signal, kill_process_group};
use std::os::unix::process::ExitStatusExt;

const LAYER: &str = "stacks/kiln/layers/harbor";

fn room() -> Room {
    Room::new(&[("stacks/kiln/base/main.tf", "# {{ var.town }}\n")])
}

#[test]
fn arguments_streams_and_the_exit_code_are_those_of_the_program() {
    let mut room = room();
    room.set("SUIL_AGE_KEY", "AGE-SECRET-KEY-X");
    room.set("TF_VAR_x", "kept");
    room.stand_in(
        "bin/stand-in",
        r#"for word; do printf '<%s>' "$word"; done; echo " $TF_VAR_x$SUIL_AGE_KEY"; echo told >&2; cat; exit 7"#,
    );
    let words = ["terraform", "plan", "--init", "never", "-out=a b", "", "--", "--help", "*", "--init=x", "--"];
    let ran = room.suil(LAYER, &words);
    let chdir = format!("<-chdir={}>", room.path(LAYER).join("stacks.out").display());
    assert_eq!(ran.stdout, format!("{chdir}<plan><-out=a b><><--help><*><--init=x><--> kept\n"));
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(7), "told\n"));
    assert_eq!(room.read(&format!("{LAYER}/stacks.out/base_main.tf")), "# harbor");
}

#[test]
fn init_runs_before_where_it_is_due_and_says_nothing_on_stdout() {
    let mut room = room();
    room.stand_in(
        "bin/stand-in",
        r#"shift; echo "ran $*"; if [ "$1" = init ]; then d="$(dirname "$0")/../stacks/kiln/layers/harbor/stacks.out/.terraform"; mkdir -p "$d"; : > "$d/terraform.tfstate"; fi"#,
    );
    let ran = room.suil(LAYER, &["terraform", "init", "-upgrade"]).well();
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("ran init -upgrade\n", ""));
    std::fs::remove_dir_all(room.path(LAYER).join("stacks.out")).expect("a folder");
    let ran = room.suil(LAYER, &["terraform", "output"]).well();
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("ran output\n", "ran init\n"));
    let ran = room.suil(LAYER, &["terraform", "output"]).well();
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("ran output\n", ""));
    let ran = room.suil(LAYER, &["terraform", "--init=always", "output"]).well();
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("ran output\n", "ran init\n"));
}

#[test]
fn an_init_that_fails_hands_on_its_exit_code_and_ends_it() {
    let mut room = room();
    room.stand_in("bin/stand-in", r#"shift; echo "ran $*"; [ "$1" != init ] || exit 9"#);
    let ran = room.suil(LAYER, &["terraform", "plan"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(9), ""));
    assert!(ran.stderr.starts_with("ran init\n") && ran.stderr.contains("init` failed in"), "{}", ran.stderr);
}

#[test]
fn a_layer_that_does_not_render_runs_nothing() {
    let mut room = room();
    room.write("stacks/kiln/base/main.tf", "{{ var.gone }}\n");
    room.stand_in("bin/stand-in", "echo ran");
    let ran = room.suil(LAYER, &["terraform", "plan"]);
    assert_eq!(ran.stdout, "");
    assert!(ran.failed(1).contains("stacks/kiln/base/main.tf:1:4"));
}

#[test]
fn preinit_renders_and_says_nothing() {
    let mut room = room();
    room.stand_in("bin/stand-in", "echo ran");
    let ran = room.suil(LAYER, &["preinit"]).well();
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    assert_eq!(room.read(&format!("{LAYER}/stacks.out/base_main.tf")), "# harbor");
}

#[test]
fn a_program_that_is_not_there_is_named_with_what_helps() {
    let mut room = room();
    room.set("STACKS_TERRAFORM_PATH", "terrafrom");
    let told = room.suil(LAYER, &["terraform", "version"]).failed(1);
    assert!(told.starts_with("suil: no program `terrafrom` on this machine\nhelp: "), "{told}");
}

#[test]
fn a_tree_may_ask_for_opentofu() {
    let mut room = room();
    room.program("bin/tofu", r#"shift; echo "tofu $*""#);
    let path = format!("{}:{}", room.path("bin").display(), std::env::var("PATH").expect("PATH"));
    room.set("PATH", &path);
    room.write("stackorder.yaml", "version: 1\ntool: tofu\n");
    assert_eq!(room.suil(LAYER, &["terraform", "version"]).well().stdout, "tofu version\n");
    room.write("stackorder.yaml", "version: 1\ntool: pulumi\n");
    let told = room.suil(LAYER, &["terraform", "version"]).failed(1);
    assert!(told.contains("stackorder.yaml:2:7") && told.contains("expected `terraform` or `tofu`"), "{told}");
    room.stand_in("bin/other", r#"shift; echo "other $*""#);
    assert_eq!(room.suil(LAYER, &["terraform", "version"]).well().stdout, "other version\n");
}

#[test]
fn signals_reach_the_program_and_its_end_is_suils() {
    for (sent, code) in [(Signal::TERM, 42), (Signal::INT, 43)] {
        let mut room = room();
        room.stand_in(
            "bin/stand-in",
            "trap 'echo term; exit 42' TERM; trap 'echo int; exit 43' INT; echo ready; while :; do sleep 0.05; done",
        );
        let mut child = room.start(LAYER, &["terraform", "--init=never", "apply"]);
        until("the program is ready", || has_line(&room.path("stdout"), "ready"));
        signal(&child, sent);
        assert_eq!(child.wait().expect("an end").code(), Some(code));
    }
    let mut room = room();
    room.stand_in("bin/stand-in", "echo ready; exec sleep 60");
    let mut child = room.start(LAYER, &["terraform", "--init=never", "apply"]);
    until("the program is ready", || has_line(&room.path("stdout"), "ready"));
    signal(&child, Signal::TERM);
    assert_eq!(child.wait().expect("an end").signal(), Some(Signal::TERM.as_raw()));
}

/// Terraform's own end after an interrupt is waited for, and is told once.
#[test]
fn an_init_that_is_interrupted_is_waited_for_and_ends_the_run() {
    let mut room = room();
    room.stand_in(
        "bin/stand-in",
        r#"trap 'echo term >> "$0.log"; sleep 0.3; echo ended >> "$0.log"; exit 1' TERM; echo ready >> "$0.log"; while :; do sleep 0.05; done"#,
    );
    let log = room.path("bin/stand-in.log");
    let mut child = room.start(LAYER, &["terraform", "apply"]);
    until("init is ready", || has_line(&log, "ready"));
    signal(&child, Signal::TERM);
    assert_eq!(child.wait().expect("an end").code(), Some(130));
    assert_eq!(room.read("bin/stand-in.log"), "ready\nterm\nended\n");
    assert!(room.read("stderr").contains("was interrupted"), "{}", room.read("stderr"));
}

/// Ctrl-C in the middle of an apply: Terraform finishes in order and writes its state.
#[test]
fn terraform_itself_ends_in_order_after_ctrl_c() {
    let room = room();
    room.write(
        "stacks/kiln/base/main.tf",
        r#"
resource "terraform_data" "first" {
  input = "made"
}
resource "terraform_data" "slow" {
  input = terraform_data.first.output
  provisioner "local-exec" {
    command = "touch ready; sleep 60"
  }
}
"#,
    );
    let out = room.path(LAYER).join("stacks.out");
    let mut child = room.start(LAYER, &["terraform", "apply", "-auto-approve", "-no-color"]);
    until("the apply runs", || out.join("ready").exists());
    kill_process_group(pid(&child), Signal::INT).expect("a group");
    assert_eq!(child.wait().expect("an end").code(), Some(1));
    let told = room.read("stdout") + &room.read("stderr");
    assert!(told.contains("Interrupt received") && !told.contains("Two interrupts"), "{told}");
    assert!(has_line(&out.join("terraform.tfstate"), "\"made\""), "{told}");
}
