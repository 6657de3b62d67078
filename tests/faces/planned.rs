//! Plans and applies of stacks, by a program that stands for Terraform.

use crate::room::Room;
use crate::scenes::{ILL, Stage, WELL};

const STAND_IN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/engine/stand-in.sh");

impl Stage {
    pub fn planned(&mut self) {
        let section = "`suil infra plan`, `suil infra apply`, `suil infra destroy`, `suil infra resume`";
        let room = Room::new().set("SUIL_TERRAFORM_BIN", STAND_IN);
        room.write("stackorder.yaml", "version: 1\nstacks: {backends: all}\n");
        for name in ["vpc", "web"] {
            room.write(&format!("stacks/{name}/main.tf"), "terraform {\n  backend \"local\" {}\n}\n");
        }
        room.write("stacks/web/.stackorder.yaml", "depends_on: [stacks/vpc]\nenvironment: prod\n");
        room.write("changed", "stacks/vpc/main.tf\n");
        let plan = ["infra", "plan", "--changed-from", "changed"];
        self.play(&room, section, &[&plan[..], &["--text"]].concat(), WELL, false);
        let check = ["infra", "check", "--stack", "stacks/vpc", "--name", "tflint", "--status", "pass"];
        self.same(&room, "`suil infra check`", &check, WELL);
        room.write("does/vpc/fail", "Error: no such town\n");
        self.play(&room, section, &["infra", "apply", "--all", "--confirm"], ILL, false);
        self.play(&room, section, &["infra", "resume"], ILL, false);
        let destroy = ["infra", "destroy", "--stacks", "stacks/web", "--confirm"];
        self.play(&room, section, &destroy, WELL, false);
        self.waits(section);
    }

    /// A stack whose input is an output that is not there yet.
    fn waits(&mut self, section: &str) {
        let room = Room::new().set("PATH", "/usr/local/bin:/usr/bin:/bin");
        room.write("stackorder.yaml", "version: 1\nstacks: {backends: all}\n");
        let backend =
            |name| format!("terraform {{\n  backend \"local\" {{\n    path = \"../../{name}.tfstate\"\n  }}\n}}\n");
        room.write("stacks/vpc/main.tf", &(backend("vpc") + "output \"id\" {\n  value = 1\n}\n"));
        let reads = "data \"terraform_remote_state\" \"vpc\" {\n  backend = \"local\"\n  config = {\n    path = \"../../vpc.tfstate\"\n  }\n}\n\
                     output \"id\" {\n  value = data.terraform_remote_state.vpc.outputs.id\n}\n";
        room.write("stacks/web/main.tf", &(backend("web") + reads));
        self.play(&room, section, &["infra", "plan", "--all"], WELL, false);
    }
}
