//! Trees of layers against something else.

use crate::room::Room;
use crate::scenes::{ILL, Stage, WELL, commit};
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
}
