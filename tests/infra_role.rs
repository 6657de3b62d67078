//! Layers of Terraform that a node holds by its role, with the real Terraform: from its data to its check.

#![allow(clippy::disallowed_methods)]

#[path = "infra_role/later.rs"]
mod later;
#[path = "local/room.rs"]
mod room;

use room::{NODE, Ran, Room};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// The plaintext of a sensitive output.
const CANARY: &str = "canary-of-the-kiln-4711";

/// A workspace whose node holds `layers` of the stack `kiln`.
fn nest(layers: &[&str]) -> Room {
    let mut room = Room::new(&["infra"]);
    room.set("PATH", "/usr/local/bin:/usr/bin:/bin");
    let names: Vec<String> = layers.iter().map(|layer| format!("kiln/{layer}")).collect();
    room.data(&format!("infra: {{layers: [{}]}}\n", names.join(", ")));
    room.write(
        "infra/stacks/kiln/base/main.tf",
        &r#"
terraform {
  backend "local" {}
}
variable "door" { default = "1" }
resource "terraform_data" "kiln" { input = "${var.town}-${var.door}" }
resource "terraform_data" "key" { input = sensitive("CANARY") }
output "address" { value = terraform_data.kiln.output }
output "doors" { value = [var.door, { wide = true }] }
output "token" {
  value     = terraform_data.key.output
  sensitive = true
}
"#
        .replace("CANARY", CANARY),
    );
    for layer in layers {
        room.write(&format!("infra/environments/{layer}/env.tfvars"), &format!("town = \"{layer}\"\n"));
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

/// Neither what suil said nor a file of the workspace holds the canary; what is Terraform's own and the code do. No
/// plan is left.
#[track_caller]
fn sealed(room: &Room, ran: Ran) -> Ran {
    assert!(!ran.stdout.contains(CANARY) && !ran.stderr.contains(CANARY), "{}{}", ran.stdout, ran.stderr);
    let tree = room.path().join("infra");
    for path in files(&room.path()).into_iter().filter(|path| !path.starts_with(&tree)) {
        let text = fs::read(&path).expect("a file");
        assert!(!String::from_utf8_lossy(&text).contains(CANARY), "{}", path.display());
    }
    assert_eq!(files(&room.path().join(".suil/held")), Vec::<PathBuf>::new());
    ran
}

fn state(room: &Room, layer: &str) -> String {
    fs::read_to_string(room.path().join(format!("infra/stacks/kiln/layers/{layer}/stacks.out/terraform.tfstate")))
        .unwrap_or_else(|_| "none".to_owned())
}

#[test]
fn layers_of_a_role_are_planned_applied_and_checked() {
    let room = nest(&["harbor", "island"]);
    let ran = sealed(&room, room.apply(&["--dry-run", "--detailed-exitcode"])).expect(2);
    let plan = "\
here.example.com
  + apply kiln/harbor: 2 to add  · infra · layer
      terraform_data.key   added
      terraform_data.kiln  added
      output address       added
      output doors         added
      output token         added
  + apply kiln/island: 2 to add  · infra · layer
";
    assert!(ran.stdout.contains(plan), "{}", ran.stdout);
    assert_eq!(state(&room, "harbor"), "none");
    let facts = room.yaml(&format!("facts/{NODE}/infra.yaml"))["facts"].clone();
    assert_eq!(facts["kiln/harbor"], json!({}));
    assert_eq!(facts["layers"]["kiln/harbor"]["clean"], json!(false));

    sealed(&room, room.apply(&["--confirm"])).expect(0);
    assert_eq!(room.performed(), ["apply kiln/harbor: 2 to add", "apply kiln/island: 2 to add"]);
    let facts = room.yaml(&format!("facts/{NODE}/infra.yaml"))["facts"].clone();
    let outputs = &facts["kiln/island"];
    assert_eq!(outputs["address"], json!("island-1"));
    assert_eq!(outputs["doors"], json!(["1", {"wide": true}]));
    assert_eq!(outputs["token"], json!(format!("sha256:{}", suil::base::digest::sha256(CANARY.as_bytes()))));
    let layer = json!({"clean": true, "folder": "infra/stacks/kiln/layers/island/stacks.out", "sensitive": ["token"]});
    assert_eq!(facts["layers"]["kiln/island"], layer);

    let ran = sealed(&room, room.apply(&["--confirm"])).expect(0);
    assert!(ran.stdout.contains("nothing to do: here.example.com\n"), "{}", ran.stdout);
    assert_eq!(room.performed(), Vec::<String>::new());

    room.write("infra/stacks/kiln/layers/island/layer.tfvars", "door = \"2\"\n");
    let ran = sealed(&room, room.apply(&["--confirm"])).expect(0);
    let plan = "\
  ~ apply kiln/island: 1 to change  · infra · layer
      terraform_data.kiln  changed: input, output
      output address       changed
      output doors         changed
";
    assert!(ran.stdout.contains(plan) && !ran.stdout.contains("kiln/harbor"), "{}", ran.stdout);
    let ran = sealed(&room, room.suil(&["facts", "--node", NODE, "--output", "json"])).expect(0);
    let facts: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(facts["facts"][NODE]["infra"]["kiln/island"]["address"], json!("island-2"));
}

#[test]
fn a_saved_plan_is_applied_as_it_was_shown_or_not_at_all() {
    let room = nest(&["harbor"]);
    room.suil(&["plan", "--role", "demo", "--out", "it.plan"]).expect(0);
    sealed(&room, room.suil(&["apply", "--plan", "it.plan", "--confirm"])).expect(0);
    room.write("infra/stacks/kiln/layers/harbor/layer.tfvars", "door = \"2\"\n");
    room.suil(&["plan", "--role", "demo", "--out", "it.plan"]).expect(0);
    room.write("infra/stacks/kiln/layers/harbor/layer.tfvars", "door = \"3\"\n");
    let before = state(&room, "harbor");
    let ran = sealed(&room, room.suil(&["apply", "--plan", "it.plan", "--confirm"])).expect(3);
    assert!(ran.stderr.contains("the fact `layers` of module `infra`"), "{}", ran.stderr);
    assert_eq!(state(&room, "harbor"), before);
}

#[test]
fn what_is_wrong_with_a_layer_is_told_where_it_stands() {
    let room = nest(&["harbor"]);
    room.data("infra:\n  layers:\n  - kiln/harbor\n  - kiln/habor\n");
    let ran = room.apply(&["--dry-run"]).expect(1);
    let told = "\
suil: there is no layer `kiln/habor` in `infra`
 --> data/nodes/here.example.com.yaml:5:5
";
    assert!(ran.stderr.contains(told) && ran.stderr.contains("did you mean `kiln/harbor`?"), "{}", ran.stderr);

    room.data("infra: {layers: [kiln/harbor]}\n");
    room.write("infra/stacks/kiln/base/more.tf", "output \"odd\" { value = terraform_data.nothing.id }\n");
    let ran = sealed(&room, room.apply(&["--dry-run"])).expect(1);
    assert!(ran.stderr.contains("layer `kiln/harbor`: `terraform plan` failed"), "{}", ran.stderr);
    assert!(ran.stderr.contains("note: Error: Reference to undeclared resource"), "{}", ran.stderr);
}

#[test]
fn a_layer_that_fails_to_apply_stops_its_node_and_the_next_run_continues() {
    let room = nest(&["harbor", "island"]);
    let trap = "resource \"terraform_data\" \"trap\" {\n  depends_on = [terraform_data.key]\n  provisioner \"local-exec\" { command = \"test ! -e ${path.root}/../trap\" }\n}\n";
    room.write("infra/stacks/kiln/base/trap.tf", trap);
    room.write("infra/stacks/kiln/layers/harbor/trap", "");
    let ran = sealed(&room, room.apply(&["--confirm"])).expect(1);
    assert!(ran.stderr.contains("layer `kiln/harbor`: `terraform apply` failed"), "{}", ran.stderr);
    assert_eq!(
        (room.performed(), state(&room, "island")),
        (vec!["!apply kiln/harbor: 3 to add".to_owned()], "none".into())
    );
    fs::remove_file(room.path().join("infra/stacks/kiln/layers/harbor/trap")).expect("removed");
    sealed(&room, room.apply(&["--confirm"])).expect(0);
    assert_eq!(room.performed(), ["apply kiln/harbor: 1 to replace", "apply kiln/island: 3 to add"]);
}

#[test]
fn a_layer_that_differs_after_its_apply_fails_the_check() {
    let room = nest(&["harbor"]);
    room.write("infra/stacks/kiln/base/ever.tf", "resource \"terraform_data\" \"ever\" { input = timestamp() }\n");
    let ran = room.apply(&["--confirm"]).expect(1);
    assert!(ran.stderr.contains("layer `kiln/harbor` is not as planned"), "{}", ran.stderr);
    assert_eq!(room.outcome(), "failed");
}

#[test]
fn a_layer_that_reads_one_before_it_waits_until_that_is_applied() {
    let room = nest(&["harbor"]);
    room.write(
        "infra/stacks/yard/base/main.tf",
        r#"
terraform {
  backend "local" {}
}
data "terraform_remote_state" "kiln" {
  backend = "local"
  config  = { path = "${path.root}/../../../../kiln/layers/harbor/stacks.out/terraform.tfstate" }
}
resource "terraform_data" "yard" { input = data.terraform_remote_state.kiln.outputs.address }
output "address" { value = terraform_data.yard.output }
"#,
    );
    room.write("infra/stacks/yard/layers/harbor/layer.tfvars", "");
    room.data("infra: {layers: [kiln/harbor, yard/harbor]}\n");
    let ran = room.apply(&["--dry-run"]).expect(0);
    let warned = "layer `yard/harbor` has no part in this plan: it cannot be planned yet";
    assert!(ran.stderr.contains(warned), "{}", ran.stderr);
    room.suil(&["plan", "--role", "demo", "--out", "it.plan"]).expect(0);

    // Each round has a plan of its own, and the whole is one run to whoever asks for it.
    let ran = sealed(&room, room.apply(&["--confirm"])).expect(0);
    let (first, second) = ran.stdout.split_once("1 node to come").expect("two rounds");
    assert!(first.contains("+ apply kiln/harbor") && !first.contains("yard/harbor"), "{}", ran.stdout);
    assert!(second.contains("+ apply yard/harbor") && !second.contains("kiln/harbor"), "{}", ran.stdout);
    let ran = room.apply(&["--confirm"]).expect(0);
    assert!(ran.stdout.contains("nothing to do: here.example.com"), "{}", ran.stdout);
    for layer in ["kiln", "yard"] {
        let state = format!("infra/stacks/{layer}/layers/harbor/stacks.out/terraform.tfstate");
        fs::remove_file(room.path().join(state)).expect("removed");
    }
    let ran = room.apply(&["--confirm", "--output", "json"]).expect(0);
    let end: Value = serde_json::from_str(&ran.stdout).expect("one document");
    let row = json!({"node": NODE, "outcome": "done", "operations": 2, "planned": 2, "problems": []});
    assert_eq!(end["nodes"], json!([row]));

    // Nothing comes before it any more that could bring what it lacks.
    room.data("infra: {layers: [yard/harbor]}\n");
    fs::remove_file(room.path().join("infra/stacks/kiln/layers/harbor/stacks.out/terraform.tfstate")).expect("removed");
    let ran = room.apply(&["--confirm"]).expect(1);
    assert!(ran.stderr.contains("layer `yard/harbor`: `terraform plan` failed"), "{}", ran.stderr);
    assert!(room.read(&format!("facts/{NODE}/infra.yaml")).contains("address: harbor-1"), "the facts are kept");
}

#[test]
fn a_layer_is_held_by_one_node() {
    let room = nest(&["harbor"]);
    room.write("data/nodes/there.example.com.yaml", "role: demo\ninfra: {layers: [kiln/harbor]}\n");
    let ran = room.suil(&["validate"]).expect(1);
    let told = "layer `kiln/harbor` is held by two nodes, `here.example.com` and `there.example.com`";
    assert!(ran.stderr.contains(told) && ran.stderr.contains("there.example.com.yaml:2:18"), "{}", ran.stderr);
    room.write("data/nodes/there.example.com.yaml", "role: demo\ninfra: {root: elsewhere, layers: [kiln/harbor]}\n");
    let ran = room.suil(&["validate"]).expect(1);
    assert!(ran.stderr.contains("there is no layer `kiln/harbor` in `elsewhere`"), "{}", ran.stderr);
}

/// A state that somebody else has changed between the plan and its apply: Terraform refuses, and suil says so.
#[test]
fn a_stale_plan_is_refused() {
    use suil::infra::envelope::Keys;
    use suil::infra::layer::{Options, Run};
    use suil::infra::role::{Desk, Ground, Ledger, Stops};
    use suil::infra::terraform::Tool;

    struct Here;

    impl Ground for Here {
        fn begin(&self, root: &Path) -> suil::base::Result<Run> {
            Ok(Run::new(root, Options::default(), Keys::none(), suil::base::Mask::new()))
        }

        fn ledger(&self, root: &Path) -> suil::base::Result<Ledger> {
            let text = |text: &str| text.to_owned();
            let store = suil::infra::store::open(None, root)?;
            Ok(Ledger { store, repo: self.repo(root), user: text("anna"), who: text("anna@desk"), reason: text("") })
        }

        fn repo(&self, _root: &Path) -> String {
            "infra".to_owned()
        }
    }

    let room = nest(&["harbor"]);
    let mask = suil::base::Mask::new();
    let desk = Desk::new(&room.path(), Options::default(), Here, mask, Stops::default());
    let config = suil::base::Plain::from_yaml("layers: [kiln/harbor]").expect("yaml");
    let facts = desk.read(NODE, &config, &|_| None, &|_| ()).expect("a plan");
    let digest = facts.at(&["layers", "kiln/harbor", "plan"]).and_then(|plan| plan.as_str()).expect("a digest");
    let problem = desk.apply(NODE, "kiln/harbor", "another", &|_| ()).expect_err("another plan");
    assert!(problem.what.contains("is not kept any more"), "{problem:?}");
    let again = desk.read(NODE, &config, &|_| None, &|_| ()).expect("a plan");
    assert_eq!(again, facts, "two plans of one state are one");
    let folder = room.path().join("infra/stacks/kiln/layers/harbor/stacks.out");
    let words = ["apply", "-auto-approve", "-input=false"];
    assert!(Tool::new("terraform").capture(&folder, &words, &[]).expect("terraform runs").status.success());
    let problem = desk.apply(NODE, "kiln/harbor", digest, &|_| ()).expect_err("a stale plan");
    assert_eq!(problem.kind, suil::base::problem::Kind::Refused, "{problem:?}");
    assert!(problem.what.contains("has changed since its plan was made"), "{problem:?}");
}

/// `here` holds the layer; `site` writes the address that it brings into a file, on nodes that are this machine, too.
fn sites(nodes: &[&str]) -> Room {
    let room = nest(&["harbor"]);
    let main = "def resources(config):\n    return [file(\"@/\" + config.suil.node, content = \" \".join(config.upstreams) + \"\\n\")]\n";
    room.module("site", "upstreams = t.list(t.string())", main);
    let field = "infra.kiln/harbor.address";
    let data = format!("modules: [site]\nsite:\n  upstreams: !LOOKUP {{from: facts, field: {field}}}\n");
    room.write("data/roles/site.yaml", &data);
    for node in nodes {
        room.write(&format!("data/nodes/{node}.yaml"), "role: site\n");
    }
    room
}

#[test]
fn a_node_whose_data_reads_an_output_comes_after_the_layer() {
    let room = sites(&["site-1", "site-2"]);
    let all = ["apply", "--node", "*"];
    let with = |more: &[&'static str]| sealed(&room, room.suil(&[&all[..], more].concat()));
    let ran = with(&["--dry-run"]).expect(0);
    let waits = "\
waiting: site-1, site-2 (2 nodes)
      its data reads `infra.kiln/harbor.address` of `here.example.com`, which is to be applied first
";
    assert!(ran.stdout.contains(waits), "{}", ran.stdout);
    let ran = with(&["--dry-run", "--output", "json"]).expect(0);
    let plan: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let need = json!([{"node": NODE, "field": "infra.kiln/harbor.address"}]);
    assert_eq!(plan["waiting"], json!([{"node": "site-1", "for": need}, {"node": "site-2", "for": need}]));

    let ran = with(&["--confirm"]).expect(0);
    let (first, second) = ran.stdout.split_once("2 nodes to come").expect("two rounds");
    assert!(first.contains("+ apply kiln/harbor") && second.contains("+harbor-1"), "{}", ran.stdout);
    assert_eq!((room.there("site-1"), room.there("site-2")), ("harbor-1\n".to_owned(), "harbor-1\n".to_owned()));

    // Where no layer differs, one plan is about all of them.
    let ran = with(&["--confirm"]).expect(0);
    assert!(ran.stdout.contains("nothing to do: here.example.com, site-1, site-2 (3 nodes)"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("to come"), "{}", ran.stdout);

    room.write("infra/stacks/kiln/layers/harbor/layer.tfvars", "door = \"2\"\n");
    let ran = with(&["--confirm", "--output", "json"]).expect(0);
    let ends: Value = serde_json::from_str(&ran.stdout).expect("one document");
    let ends = ends["nodes"].as_array().expect("nodes").iter().map(|end| [&end["node"], &end["outcome"]]);
    let ends: Vec<[&str; 2]> = ends.map(|end| end.map(|word| word.as_str().expect("text"))).collect();
    assert_eq!(ends, [[NODE, "done"], ["site-1", "done"], ["site-2", "done"]]);
    assert_eq!(room.there("site-2"), "harbor-2\n");
}

#[test]
fn a_node_does_not_come_where_the_layer_failed() {
    let room = sites(&["site-1"]);
    let trap = "resource \"terraform_data\" \"trap\" {\n  provisioner \"local-exec\" { command = \"false\" }\n}\n";
    room.write("infra/stacks/kiln/base/trap.tf", trap);
    let ran = sealed(&room, room.suil(&["apply", "--node", "*", "--confirm"])).expect(1);
    assert!(ran.stderr.contains("node `site-1` was not begun: it waits for `here.example.com`"), "{}", ran.stderr);
    assert_eq!(room.there("site-1"), "none");
    let ends = room.yaml(".runs/latest/summary.yaml")["nodes"].clone();
    assert_eq!((&ends[NODE]["outcome"], &ends["site-1"]["outcome"]), (&json!("failed"), &json!("not reached")));
    fs::remove_file(room.path().join("infra/stacks/kiln/base/trap.tf")).expect("removed");
    sealed(&room, room.suil(&["apply", "--failed", "--confirm"])).expect(0);
    assert_eq!(room.there("site-1"), "harbor-1\n");
}

#[test]
fn what_is_wrong_with_a_node_that_waits_is_told_before_anything_is_applied() {
    let room = sites(&["site-1"]);
    let field = "upstreams: !replace [!LOOKUP {from: facts, field: infra.kiln/habor.address}]";
    room.write("data/nodes/site-1.yaml", &format!("role: site\nsite:\n  {field}\n"));
    let ran = room.suil(&["apply", "--node", "*", "--confirm"]).expect(1);
    assert!(ran.stderr.contains("lookup of `infra.kiln/habor.address` finds nothing"), "{}", ran.stderr);
    assert!(!room.path().join(".runs").exists() && state(&room, "harbor") == "none");

    room.write("data/nodes/site-1.yaml", "role: site\n");
    room.suil(&["apply", "--node", "*", "--confirm"]).expect(0);
    room.write("infra/stacks/kiln/layers/harbor/layer.tfvars", "door = \"2\"\n");
    room.write("data/nodes/site-1.yaml", "role: site\nsite: {upstraems: [x]}\n");
    let ran = room.suil(&["apply", "--node", "*", "--confirm"]).expect(1);
    assert!(ran.stderr.contains("did you mean `upstreams`?"), "{}", ran.stderr);
    assert!(state(&room, "harbor").contains("harbor-1"));
}

#[test]
fn a_layer_whose_lock_somebody_holds_is_refused() {
    let room = nest(&["harbor"]);
    let root = room.path().join("infra");
    let ledger = suil::infra::role::Ledger {
        store: suil::infra::store::open(None, &root).expect("a store"),
        // The name of the folder, where there is no better one.
        repo: "infra".to_owned(),
        user: "berta".to_owned(),
        who: "berta@quay".to_owned(),
        reason: "by hand".to_owned(),
    };
    let held = ledger.take("stacks/kiln:harbor").expect("a lock");
    room::give(&room.path());
    let ran = sealed(&room, room.apply(&["--confirm"])).expect(3);
    assert!(ran.stderr.contains("berta@quay") && ran.stderr.contains("stacks/kiln:harbor"), "{}", ran.stderr);
    assert_eq!(state(&room, "harbor"), "none");
    held.end(true).expect("an end");
    room::give(&room.path());
    sealed(&room, room.apply(&["--confirm"])).expect(0);
    let runs = room.suil(&["infra", "runs", "--repo-root", "infra", "--output", "json"]).expect(0);
    let runs: Value = serde_json::from_str(&runs.stdout).expect("JSON");
    let states: Vec<&str> =
        runs["runs"].as_array().expect("runs").iter().filter_map(|run| run["state"].as_str()).collect();
    assert_eq!(states, ["applied", "failed", "applied"]);
    let locks = room.suil(&["infra", "locks", "--repo-root", "infra", "--output", "json"]).expect(0);
    let locks: Value = serde_json::from_str(&locks.stdout).expect("JSON");
    assert_eq!(locks["locks"], json!([]));
}

/// A layer whose apply lasts as long as there is a file `trap` beside it.
fn slow() -> Room {
    let room = nest(&["harbor"]);
    let wait = "resource \"terraform_data\" \"slow\" {\n  triggers_replace = var.door\n  provisioner \"local-exec\" { command = \"touch ${path.root}/../begun; while test -e ${path.root}/../trap; do sleep 0.1; done\" }\n}\n";
    room.write("infra/stacks/kiln/base/slow.tf", wait);
    room.write("infra/stacks/kiln/layers/harbor/trap", "");
    room
}

fn interrupt(child: &std::process::Child) {
    let pid = rustix::process::Pid::from_raw(child.id().try_into().expect("a number")).expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
}

#[test]
fn a_layer_that_is_being_applied_is_applied_to_its_end_when_the_run_is_interrupted() {
    let room = slow();
    let layer = room.path().join("infra/stacks/kiln/layers/harbor");
    let child = room.start(&["apply", "--role", "demo", "--confirm"]);
    room::until("Terraform applies", || layer.join("begun").exists());
    interrupt(&child);
    std::thread::sleep(std::time::Duration::from_millis(300));
    fs::remove_file(layer.join("trap")).expect("removed");
    let ran = sealed(&room, Ran::of(child.wait_with_output().expect("an end"))).expect(130);
    assert_eq!(room.outcome(), "done", "{}{}", ran.stdout, ran.stderr);
    assert!(!ran.stderr.contains("terraform"), "{}", ran.stderr);
    assert!(room.read(&format!("facts/{NODE}/infra.yaml")).contains("address: harbor-1"));
}

#[test]
fn a_layer_that_is_left_alone_is_in_doubt_and_the_next_run_takes_its_lock_over() {
    let room = slow();
    let layer = room.path().join("infra/stacks/kiln/layers/harbor");
    let child = room.start(&["apply", "--role", "demo", "--confirm"]);
    room::until("Terraform applies", || layer.join("begun").exists());
    interrupt(&child);
    std::thread::sleep(std::time::Duration::from_millis(300));
    interrupt(&child);
    let ran = Ran::of(child.wait_with_output().expect("an end")).expect(130);
    assert_eq!(room.outcome(), "in doubt", "{}{}", ran.stdout, ran.stderr);
    // Terraform is still at it, and its state is locked.
    let ran = room.apply(&["--confirm"]).expect(1);
    assert!(ran.stderr.contains("Error acquiring the state lock"), "{}", ran.stderr);
    fs::remove_file(layer.join("trap")).expect("removed");
    room::until("Terraform ends", || state(&room, "harbor").contains("harbor-1"));
    room::until("Terraform lets go", || !layer.join("stacks.out/.terraform.tfstate.lock.info").exists());
    room.write("infra/stacks/kiln/layers/harbor/layer.tfvars", "door = \"2\"\n");
    sealed(&room, room.apply(&["--confirm"])).expect(0);
    assert!(state(&room, "harbor").contains("harbor-2"));
}

#[test]
fn a_layer_comes_after_those_that_its_template_reads_however_they_are_listed() {
    let room = nest(&["harbor"]);
    let main = "terraform {\n  backend \"local\" {}\n}\nresource \"terraform_data\" \"yard\" { input = \"{{ output('address', stack='kiln') }}\" }\noutput \"address\" { value = terraform_data.yard.output }\n";
    room.write("infra/stacks/yard/base/main.tf", main);
    room.write("infra/stacks/yard/layers/harbor/layer.tfvars", "");
    room.data("infra: {layers: [yard/harbor, kiln/harbor]}\n");
    let rounds = |ran: &Ran| {
        let lines = ran.stdout.lines().filter_map(|line| line.split_once(" apply "));
        lines.map(|(_, title)| title.split("  ").next().unwrap_or_default().to_owned()).collect::<Vec<String>>()
    };
    let ran = sealed(&room, room.apply(&["--confirm"])).expect(0);
    assert_eq!(rounds(&ran), ["kiln/harbor: 2 to add", "yard/harbor: 1 to add"]);

    // It is not planned on what is about to change, and keeps its outputs meanwhile.
    room.write("infra/stacks/kiln/layers/harbor/layer.tfvars", "door = \"2\"\n");
    let ran = sealed(&room, room.apply(&["--dry-run"])).expect(0);
    assert_eq!(rounds(&ran), ["kiln/harbor: 1 to change"]);
    assert!(ran.stderr.contains("it reads `kiln/harbor`, which is to be applied first"), "{}", ran.stderr);
    let facts = room.yaml(&format!("facts/{NODE}/infra.yaml"))["facts"].clone();
    assert_eq!(facts["yard/harbor"], json!({"address": "harbor-1"}));
    let ran = sealed(&room, room.apply(&["--confirm"])).expect(0);
    assert_eq!(rounds(&ran), ["kiln/harbor: 1 to change", "yard/harbor: 1 to change"]);
    let facts = room.yaml(&format!("facts/{NODE}/infra.yaml"))["facts"].clone();
    assert_eq!(facts["yard/harbor"], json!({"address": "harbor-2"}));
}
