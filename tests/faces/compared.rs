//! Trees of layers against something else.

use crate::room::Room;
use crate::scenes::{ILL, Stage, WELL, commit, git};
use std::fs;

impl Stage {
    /// A tree against its revision before, and against the original.
    pub fn compared(&mut self) {
        let layer = "stacks/kiln/layers/harbor";
        let room = Room::with(&[
            ("environments/harbor/env.tfvars", "town = \"harbor\"\n"),
            ("stacks/kiln/base/main.tf", "x = 1\n"),
            ("stacks/kiln/layers/harbor/l.tfvars", "size = 1\n"),
        ]);
        fs::write(room.path().join("stacks/kiln/base/blob"), [0, 159]).expect("a file");
        commit(&room);
        self.same(&room, "`suil infra diff`", &["infra", "diff", "--all"], WELL);
        self.same(&room, "`suil infra lint`", &["infra", "lint", "--all"], WELL);
        room.write(&format!("{layer}/l.tfvars"), "path = \"c:\\\\temp\"\nitems = 1\n");
        room.write(&format!("{layer}/l.tfvars.json"), "");
        fs::write(room.path().join("stacks/kiln/base/blob"), [0, 160]).expect("a file");
        self.same(&room, "`suil infra diff`", &["infra", "diff", "--all"], ILL);
        self.same(&room, "`suil infra lint`", &["infra", "lint", layer], ILL);
    }

    /// Stacks against the world, with a script that stands for Terraform, and modules against their repositories.
    pub fn outside(&mut self) {
        let code = "terraform {\n  backend \"local\" {}\n}\n";
        let room = Room::with(&[("stacks/a/main.tf", code)]);
        git(&room.path(), &["init", "--quiet"]);
        let program = room.path().join("../terraform");
        let moved: Vec<String> = [
            ("n", "create", ""),
            ("c", "update", ""),
            ("d", "delete", ""),
            ("r", "delete\", \"create", ""),
            ("i", "no-op", ", \"importing\": {\"id\": \"x\"}"),
            ("m", "no-op", ""),
        ]
        .iter()
        .map(|(name, action, more)| {
            let before = if *name == "m" { ", \"previous_address\": \"a.before\"" } else { "" };
            format!(
                "{{\"address\": \"a.{name}\", \"mode\": \"managed\"{before}, \"change\": {{\"actions\": [\"{action}\"]{more}}}}}"
            )
        })
        .collect();
        let script = format!(
            "#!/bin/sh\ncase \"$2\" in\nplan) [ ! -e broken ] || {{ echo broken >&2; exit 1; }}\n\
             for word; do case $word in -out=*) echo >\"${{word#-out=}}\" ;; esac; done; exit 2 ;;\n\
             show) echo '{{\"format_version\": \"1.2\", \"resource_drift\": [{}]}}' ;;\nesac\n",
            moved.join(", ")
        );
        fs::write(&program, script).expect("a script");
        fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
        let program = program.display().to_string();
        let room = room.set("STACKS_TERRAFORM_PATH", &program);
        self.play(&room, "`suil infra drift`", &["infra", "drift", "--all"], &[2], false);
        room.write("broken", "");
        self.play(&room, "`suil infra drift`", &["infra", "drift", "stacks/a"], ILL, false);
        room.write(
            "stacks/a/main.tf",
            &format!("{code}module \"a\" {{\n  source = \"a/b/c\"\n}}\nmodule \"b\" {{\n  source = \"git::file.example.net/x/y?ref=v1.0.0\"\n}}\n"),
        );
        let config = room.path().join("../gitconfig");
        let repository = room.path().join("../mods/x/y");
        fs::write(
            &config,
            format!("[url \"{}/\"]\n\tinsteadOf = https://file.example.net/\n", room.path().join("../mods").display()),
        )
        .expect("a file");
        fs::create_dir_all(&repository).expect("a folder");
        git(&repository, &["init", "--quiet"]);
        git(&repository, &["commit", "--quiet", "--allow-empty", "--message", "one"]);
        git(&repository, &["tag", "v1.1.0"]);
        let room = room.set("GIT_CONFIG_GLOBAL", &config.display().to_string());
        self.same(&room, "`suil infra versions`", &["infra", "versions", "--no-registry"], WELL);
    }
}
