//! Layers of Terraform that a node holds by its role, with the real Terraform: from its data to its check.

#![allow(clippy::disallowed_methods)]

#[path = "local/room.rs"]
mod room;

use room::{NODE, Room};
use std::fs;
use std::path::{Path, PathBuf};

/// The plaintext of a sensitive output.
const CANARY: &str = "canary-of-the-kiln-4711";

/// A workspace whose node holds the layers `kiln/harbor` and `kiln/island`.
fn nest() -> Room {
    let mut room = Room::new(&["infra"]);
    room.set("PATH", "/usr/local/bin:/usr/bin:/bin");
    room.set("CHECKPOINT_DISABLE", "1");
    room.data("infra: {layers: [kiln/harbor, kiln/island]}\n");
    room.write("infra/environments/harbor/env.tfvars", "town = \"harbor\"\n");
    room.write("infra/environments/island/env.tfvars", "town = \"island\"\n");
    room.write(
        "infra/stacks/kiln/base/main.tf",
        r#"
terraform {
  backend "local" {}
}
variable "door" { default = "1" }
resource "terraform_data" "kiln" { input = "${var.town}-${var.door}" }
resource "terraform_data" "key" {
  input = sensitive("CANARY-${var.town}")
}
output "address" { value = terraform_data.kiln.output }
output "doors" { value = [var.door, { wide = true }] }
output "token" {
  value     = terraform_data.key.output
  sensitive = true
}
"#
        .replace("CANARY", CANARY)
        .as_str(),
    );
    for layer in ["harbor", "island"] {
        room.write(&format!("infra/stacks/kiln/layers/{layer}/layer.tfvars"), "door = \"1\"\n");
    }
    room
}

/// Every file below `folder`.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// No file of the workspace but Terraform's own holds the canary.
#[track_caller]
fn sealed(room: &Room) {
    for path in files(&room.path()).into_iter().filter(|path| !path.starts_with(room.path().join("infra"))) {
        let text = fs::read(&path).expect("a file");
        assert!(!String::from_utf8_lossy(&text).contains(CANARY), "{}", path.display());
    }
    assert_eq!(files(&room.path().join(".suil/plans")), Vec::<PathBuf>::new());
}

#[test]
fn layers_of_a_role_are_planned_applied_and_checked() {
    let room = nest();
    let ran = room.suil(&["apply", "--role", "demo", "--dry-run", "--detailed-exitcode"]).expect(2);
    println!("{}{}", ran.stdout, ran.stderr);
    let ran = room.suil(&["apply", "--role", "demo", "--confirm"]).expect(0);
    println!("{}{}", ran.stdout, ran.stderr);
    println!("{}", room.read(&format!("facts/{NODE}/infra.yaml")));
    let ran = room.suil(&["apply", "--role", "demo", "--confirm"]).expect(0);
    println!("{}{}", ran.stdout, ran.stderr);
    sealed(&room);
}
