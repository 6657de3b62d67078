//! A small stack of built-in resources through its life, and what its neighbours read of it.

use crate::room::Room;
use std::collections::BTreeMap;

const KILN: &str = "stacks/kiln/layers/harbor";
const FERRY: &str = "stacks/ferry/layers/harbor";

const BACKEND: &str = r#"
terraform {
  backend "local" {
    path = "{{ var.stacks_root }}/state/{{ var.stacks_stack }}-{{ var.stacks_layer }}.tfstate"
  }
}
"#;

const POT: &str = r#"
terraform {
  required_version = ">= 1.0"
}
resource "terraform_data" "pot" {
  input = { town = var.town, size = var.size }
}
resource "terraform_data" "vault" {
  count = 2
  input = sensitive("sunk-canary-${count.index}")
}
output "word" {
  value = "clay"
}
output "size" {
  value = terraform_data.pot.output.size
}
output "key" {
  value     = { pem = "canary-of-the-kiln", port = 5432 }
  sensitive = true
}
"#;

fn room(ferry: &str) -> Room {
    Room::new(&[
        ("stacks/backend.tf", BACKEND),
        ("stacks/kiln/base/main.tf", POT),
        ("stacks/kiln/layers/harbor/l.tfvars", "size = 3\n"),
        ("stacks/ferry/base/main.tf", ferry),
        ("stacks/ferry/layers/harbor/.keep", ""),
    ])
}

#[test]
fn a_layer_is_planned_applied_read_and_found_drifted() {
    let room = room("");
    let plan = ["terraform", "plan", "-detailed-exitcode", "-no-color"];
    let ran = room.suil(KILN, &plan);
    assert_eq!(ran.code, Some(2), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("Plan: 3 to add") && ran.stderr.contains("initialized"), "{}", ran.stdout);
    room.suil(KILN, &["terraform", "apply", "-auto-approve"]).well();
    assert!(room.path("state/kiln-harbor.tfstate").is_file());
    let ran = room.suil(KILN, &["terraform", "output", "-raw", "size"]).well();
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("3", ""));
    assert_eq!(room.suil(KILN, &plan).code, Some(0));
    room.write("stacks/kiln/layers/harbor/l.tfvars", "size = 4\n");
    let ran = room.suil(KILN, &plan);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stdout.contains("~ size = 3 -> 4"), "{}", ran.stdout);
}

#[test]
fn outputs_and_resources_of_another_layer_are_values() {
    let room = room(
        r#"
# {{ output("word", stack="kiln") }} {{ output("size", stack="kiln") + 1 }}
# {{ resource("terraform_data.pot", stack="kiln").input | tojson }}
# {{ output("none", stack="kiln") | default("instead") }}
"#,
    );
    room.suil(KILN, &["terraform", "apply", "-auto-approve"]).well();
    let ran = room.suil(FERRY, &["render", "--init=never"]).well();
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), (&*format!("{FERRY}: rendered, 4 files\n"), ""));
    let out = format!("{FERRY}/stacks.out");
    let text = room.read(&format!("{out}/base_main.tf"));
    assert_eq!(text, "\n# clay 4\n# {\"size\": 3, \"town\": \"harbor\"}\n# instead");
    assert_eq!(room.mode(&format!("{out}/base_main.tf")), 0o644);
    assert_eq!(room.files(".suil"), [".suil/states"], "nothing is left of what was read");
    assert_eq!(room.mode(".suil"), 0o700);
    let names: Vec<String> = room.files(&out).into_iter().filter(|name| !name.ends_with(".json")).collect();
    assert_eq!(names, ["base_main.tf", "common_backend.tf"].map(|name| format!("{out}/{name}")));
}

#[test]
fn what_terraform_calls_sensitive_is_for_the_owners_eyes() {
    let room = room("# {{ output(\"key\", stack=\"kiln\").pem }}\n");
    room.write(
        "stacks/ferry/v.tfvars.jinja",
        "kept = \"{{ resource('terraform_data.vault[1]', stack='kiln').input }}\"\n",
    );
    room.write("stacks/ferry/base/open.tf", "# {{ output(\"word\", stack=\"kiln\") }}\n");
    room.suil(KILN, &["terraform", "apply", "-auto-approve"]).well();
    room.suil(FERRY, &["render", "--init=never"]).well();
    let out = format!("{FERRY}/stacks.out");
    assert_eq!(room.read(&format!("{out}/base_main.tf")), "# canary-of-the-kiln");
    for name in room.files(&out).iter().filter(|name| room.read(name).contains("canary")) {
        assert_eq!(room.mode(name), 0o600, "{name}");
    }
    // The variables hold one of them, so code that they may have reached is private, too.
    assert_eq!(room.mode(&format!("{out}/base_open.tf")), 0o600);
    room.write("stacks/ferry/v.tfvars.jinja", "kept = {{ output('key', stack='kiln') | tojson }}\n");
    room.write("stacks/ferry/base/open.tf", "{{ throw(var.kept.pem) }}\n");
    let told = room.suil(FERRY, &["render", "--init=never"]).failed(1);
    assert!(told.contains("‹secret ") && !told.contains("canary"), "{told}");
}

/// A state that has no name in the code lies in the output folder of its layer, and is found from everywhere.
#[test]
fn local_paths_start_at_the_output_folder_of_the_layer_that_is_read() {
    for (backend, state) in [
        ("terraform {\n  backend \"local\" {}\n}\n", "stacks.out/terraform.tfstate"),
        ("terraform {\n  backend \"local\" {\n    path = \"../own.tfstate\"\n  }\n}\n", "own.tfstate"),
    ] {
        let room = room("# {{ output(\"word\", stack=\"kiln\") }}\n");
        room.write("stacks/backend.tf", backend);
        room.suil(KILN, &["terraform", "apply", "-auto-approve"]).well();
        assert!(room.path(KILN).join(state).is_file(), "{state}");
        room.suil(FERRY, &["render", "--init=never"]).well();
        assert_eq!(room.read(&format!("{FERRY}/stacks.out/base_main.tf")), "# clay");
    }
    let room = room("# {{ output(\"word\", stack=\"kiln\") }}\n");
    room.write("stacks/backend.tf", "");
    room.write(
        "stacks/kiln/base/backend.tf.json",
        r#"{"terraform": [{"backend": {"local": {"path": "own.tfstate"}}}]}"#,
    );
    room.suil(KILN, &["terraform", "apply", "-auto-approve"]).well();
    room.suil(FERRY, &["render", "--init=never"]).well();
    assert_eq!(room.read(&format!("{FERRY}/stacks.out/base_main.tf")), "# clay");
}

/// Terraform, with a line in a log for each start.
const LOGGED: &str = r#"echo "$2" >> "$0.log"; exec terraform "$@""#;

#[test]
fn many_layers_that_read_one_initialise_it_once() {
    let mut room = room(
        "# {{ output(\"word\", stack=\"kiln\") }} {{ resource(\"terraform_data.pot\", stack=\"kiln\").id | length }}\n",
    );
    room.suil(KILN, &["terraform", "apply", "-auto-approve"]).well();
    for number in 0..4 {
        room.write(&format!("stacks/ferry/layers/harbor_{number}/.keep"), "");
    }
    room.stand_in("bin/logged", LOGGED);
    room.suil("stacks", &["render", "--all", "--init=never"]).well();
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for line in room.read("bin/logged.log").lines() {
        *count.entry(line.to_owned()).or_default() += 1;
    }
    assert_eq!(count, BTreeMap::from([("init", 1), ("output", 1), ("show", 1)].map(|(k, n)| (k.to_owned(), n))));
    assert_eq!(room.read("stacks/ferry/layers/harbor_3/stacks.out/base_main.tf"), "# clay 36");
}

#[test]
fn layers_that_read_each_other_are_named_in_a_chain_and_none_waits_for_ever() {
    let ring = [("a", "b"), ("b", "c"), ("c", "a")];
    let files: Vec<(String, String)> = ring
        .iter()
        .flat_map(|(own, next)| {
            let code = format!("# {{{{ output(\"x\", stack=\"{next}\") }}}}\n");
            [(format!("stacks/{own}/base/main.tf"), code), (format!("stacks/{own}/layers/harbor/.keep"), String::new())]
        })
        .collect();
    let room = Room::new(&files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>());
    let told = room.suil("stacks", &["render", "--all", "--init=never"]).failed(1);
    let chain = ["a", "b", "c", "a"].map(|name| format!("`stacks/{name}/layers/harbor`")).join(" -> ");
    assert_eq!(told.matches(&format!("layers read each other: {chain}\n")).count(), 3, "{told}");
    for (own, _) in ring {
        assert!(told.contains(&format!("stacks/{own}/base/main.tf:1:6")), "{told}");
    }
}

#[test]
fn an_error_says_which_layer_which_line_and_what_terraform_said() {
    let mut room = room("\n# {{ output(\"word\", stack=\"kiln\") }}\n");
    room.write("stacks/kiln/base/odd.tf", "terraform {\n  backend \"odd\" {}\n}\n");
    let told = room.suil(FERRY, &["render", "--init=never"]).failed(1);
    assert!(told.contains("layer `stacks/kiln/layers/harbor` has 2 backends"), "{told}");
    assert!(told.contains("one is at stacks/kiln/base/odd.tf:2:3"), "{told}");
    room.write("stacks/backend.tf", "");
    let told = room.suil(FERRY, &["render", "--init=never"]).failed(1);
    assert!(told.contains("`terraform init` fails for the state of layer `stacks/kiln/layers/harbor`"), "{told}");
    assert!(told.contains("--> stacks/ferry/base/main.tf:2:6"), "{told}");
    assert!(told.contains("note: Error: Unsupported backend type\n"), "{told}");
    room.write("stacks/kiln/base/odd.tf", "{{ var.gone }}\n");
    let told = room.suil(FERRY, &["render", "--init=never"]).failed(1);
    assert!(told.contains("cannot be rendered") && told.contains("stacks/kiln/base/odd.tf:1:4: `var.gone`"), "{told}");
    room.write("stacks/kiln/base/odd.tf", BACKEND);
    room.stand_in("bin/mute", "exit 3");
    let told = room.suil(FERRY, &["render", "--init=never"]).failed(1);
    assert!(told.contains("mute init` fails for the state of layer"), "{told}");
    room.write("stacks/kiln/base/main.tf", POT);
    room.stand_in("bin/odd", "case $2 in output) echo '{';; esac");
    let told = room.suil(FERRY, &["render", "--init=never"]).failed(1);
    assert!(told.contains("says no JSON"), "{told}");
}

#[test]
fn a_layer_that_was_never_applied_has_no_outputs() {
    let room = room("# {{ output(\"word\", stack=\"kiln\") | default(\"later\") }}\n");
    room.suil(FERRY, &["render", "--init=never"]).well();
    assert_eq!(room.read(&format!("{FERRY}/stacks.out/base_main.tf")), "# later");
    room.write("stacks/ferry/base/main.tf", "# {{ output(\"word\", stack=\"kiln\") }}\n");
    let told = room.suil(FERRY, &["render", "--init=never"]).failed(1);
    assert!(told.contains("note: the state of layer `stacks/kiln/layers/harbor` has no outputs"), "{told}");
}

/// A state whose provider cannot be had.
const FOREIGN: &str = r#"{"version": 4, "terraform_version": "1.5.0", "serial": 1, "lineage": "one",
  "outputs": {"word": {"value": "clay", "type": "string"}},
  "resources": [{"mode": "managed", "type": "odd_pot", "name": "a", "provider": "provider[\"registry.invalid/odd/odd\"]",
    "instances": [{"schema_version": 0, "attributes": {"id": "1"}}]}]}"#;

#[test]
fn outputs_are_read_without_the_providers_that_made_the_state() {
    let room = room("# {{ output(\"word\", stack=\"kiln\") }}\n");
    room.write("state/kiln-harbor.tfstate", FOREIGN);
    room.suil(FERRY, &["render", "--init=never"]).well();
    assert_eq!(room.read(&format!("{FERRY}/stacks.out/base_main.tf")), "# clay");
    room.write("stacks/ferry/base/main.tf", "# {{ resource(\"odd_pot.a\", stack=\"kiln\").id }}\n");
    let told = room.suil(FERRY, &["render", "--init=never"]).failed(1);
    assert!(
        told.contains("`terraform init` fails for the state of layer") && told.contains("registry.invalid"),
        "{told}"
    );
}

/// A run that was killed cannot clean up; the next one does, and leaves those alone that still run.
#[test]
fn what_a_killed_run_left_is_removed_by_the_next() {
    use rustix::fs::{FlockOperation, flock};
    let room = room("# {{ output(\"word\", stack=\"kiln\") | default(\"\") }}\n");
    room.write(".suil/states/dead/main.tf", "x");
    room.write(".suil/states/alive/main.tf", "x");
    let alive = std::fs::File::open(room.path(".suil/states/alive")).expect("a folder");
    flock(&alive, FlockOperation::LockExclusive).expect("a lock");
    room.suil(FERRY, &["render", "--init=never"]).well();
    assert_eq!(room.files(".suil/states"), [".suil/states/alive", ".suil/states/alive/main.tf"]);
}

/// Where Terraform keeps its own data may be set for the layer that is rendered; another one's backend is not put there.
#[test]
fn the_data_folder_of_the_caller_is_left_alone() {
    let mut room = room("# {{ output(\"word\", stack=\"kiln\") }}\n");
    room.suil(KILN, &["terraform", "apply", "-auto-approve"]).well();
    let data = room.path("data-of-the-caller").display().to_string();
    room.set("TF_DATA_DIR", &data);
    room.suil(FERRY, &["render", "--init=never"]).well();
    assert!(!room.path("data-of-the-caller").exists());
}
