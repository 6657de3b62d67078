//! A tree of layers in a repository of git.

use crate::room::Room;
use std::path::Path;
use std::process::Command;

pub const LAYER: &str = "stacks/kiln/layers/harbor";

/// A tree with one environment, one stack and two layers, committed.
pub fn tree() -> Room {
    let room = Room::with(&[
        (".gitignore", "stacks.out\n"),
        ("environments/harbor/env.tfvars", "town = \"harbor\"\n"),
        ("stacks/kiln/base/main.tf", "locals {\n  town = \"{{ var.town }}\"\n}\n"),
        ("stacks/kiln/layers/harbor/l.tfvars", "size = 1\n"),
        ("stacks/kiln/layers/harbor_blue/l.tfvars", "size = 2\n"),
    ]);
    git(&room.path(), &["init", "--quiet", "--initial-branch", "main"]);
    commit(&room);
    room
}

pub fn commit(room: &Room) {
    git(&room.path(), &["add", "--all"]);
    git(&room.path(), &["commit", "--quiet", "--allow-empty", "--message", "one"]);
}

/// What git prints.
pub fn git(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.current_dir(folder).args(["-c", "user.name=t", "-c", "user.email=t@example.com"]).args(args);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    let output = command.output().expect("git");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

pub fn key(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/stacks/keys").join(name).display().to_string()
}

/// Makes a script that stands for Terraform, says that each layer has the output `word`, and writes down its arguments.
pub fn stand_in(room: &Room) -> (String, std::path::PathBuf) {
    let (program, log) = (room.path().join("../terraform"), room.path().join("../log"));
    let script = format!(
        "#!/bin/sh\necho \"$2\" >>'{}'\n[ \"$2\" != output ] || echo '{{\"word\": {{\"sensitive\": false, \"value\": \"clay\"}}}}'\n",
        log.display()
    );
    std::fs::write(&program, script).expect("a script");
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
    (program.display().to_string(), log)
}
