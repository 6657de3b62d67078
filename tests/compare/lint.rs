//! `suil infra lint`: what it finds, where, and how it ends.

use crate::room::Room;
use crate::tree::{LAYER, key, stand_in, tree};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use suil::infra::lint::Rule;

fn findings(room: &Room, args: &[&str]) -> Vec<Value> {
    let left = room.run(&[&["infra", "lint", "--output", "json"], args].concat());
    let told: Value = serde_json::from_str(&left.stdout).unwrap_or_else(|e| panic!("{e}: {}", left.stderr));
    let found = told["findings"].as_array().expect("a list").clone();
    assert_eq!((left.status, left.stderr.as_str()), (i32::from(!found.is_empty()), ""));
    found
}

/// `rule file:line:column`.
fn head(found: &Value) -> String {
    let text = |name: &str| found[name].as_str().expect("a text").to_owned();
    match found["line"].as_i64() {
        Some(line) => format!("{} {}:{line}:{}", text("rule"), text("file"), found["column"]),
        None => format!("{} {}", text("rule"), text("file")),
    }
}

#[test]
fn a_tree_that_both_read_alike_has_no_finding() {
    let room = tree();
    room.run(&["infra", "lint", "--all"]).is(0, "lint: nothing found in 2 layers\n", "");
    room.run_in(LAYER, &[], &["infra", "lint"]).is(0, "lint: nothing found in 1 layer\n", "");
}

#[test]
fn a_value_that_the_original_read_otherwise_is_told_with_both() {
    let room = tree();
    room.write(&format!("{LAYER}/p.tfvars"), "path = \"c:\\\\temp\"\nmany = { n = [1e3], m = 1 + 2 }\n");
    room.write("stacks/kiln/t.tfvars.jinja", "# {{ var.town }}\ncafe = \"caf\\u00e9\"\n");
    let want = "\
stacks/kiln/layers/harbor/p.tfvars:1:8: read-otherwise
  `path`: the original made a tab or a line break of `\\\\t`, `\\\\n` or `\\\\r`,
  and kept the backslash
    here      \"c:\\\\temp\"
    original  \"c:\\\\\\temp\"
stacks/kiln/layers/harbor/p.tfvars:2:15: read-otherwise
  `many`: the original made text, or another key, of a number with `e`
    here      1000
    original  \"${1e3}\"
stacks/kiln/layers/harbor/p.tfvars:2:25: read-otherwise
  `many`: the original made text of an expression
    here      3
stacks/kiln/t.tfvars.jinja:2:8: read-otherwise
  `cafe`: the original kept `\\u` and `\\U` as they are (a line of what the
  template renders to)
    here      \"caf\\u00e9\"
    original  \"caf\\\\u00e9\"

lint: 4 findings in 2 files, of 1 layer
";
    room.run(&["infra", "lint", LAYER]).is(1, want, "");
    assert_eq!(findings(&room, &["--all"]).len(), 4, "a file of two layers is told once");
}

/// One tree with everything in it that a rule looks for.
fn odd() -> Room {
    let room = tree();
    room.write("environments/meadow/env.tfvars", "town = \"meadow\"\nkeys = [{ pw = \"ENC[a;b;c;d]\" }]\n");
    room.write("environments/harbor/other.tfvars", "never = 1\n");
    room.write("stacks/all.tfvars", "ports = [1, 2]\nempty = { list = [1] }\ntags = { a = 1 }\n");
    let layer = "ports = [2]\nempty = { list = [] }\ntags_override = { size_override = 2 }\nitems = 1\ncount = 1\nx = <<E1\n\ny\nE1\n";
    room.write(&format!("{LAYER}/odd.tfvars"), layer);
    room.write("stacks/kiln/layers/nowhere/l.tfvars", "");
    room.write(
        "stacks/kiln/base/main.tf",
        "# {{ var.stacks_path }}\n# {{ var.stacks_environments | length }}\nx = \"ENC[a;b]\"\n",
    );
    room.write("stacks/kiln/base/v.tf.json", "{\"variable\": {\"size\": {}, \"unset\": {}}}\n");
    room.write("stacks/kiln/base/w.auto.tfvars.json", "{\n  \"wide\": 1\n}\n");
    room.write("stacks/kiln/base/w.auto.tfvars", "deep = [\"ENC[a;b;c;d]\"]\n");
    room.write("stacks/kiln/base/run.sh", "");
    let script = room.path().join("stacks/kiln/base/run.sh");
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).expect("a mode");
    room
}

#[test]
fn every_rule_finds_what_it_is_for() {
    let room = odd();
    let found: Vec<String> = findings(&room, &["--all"]).iter().map(head).collect();
    let want = [
        "unread-file environments/harbor/other.tfvars",
        "shared-secret environments/meadow/env.tfvars:2:1",
        "stacks-path stacks/kiln/base/main.tf:1:10",
        "environment-order stacks/kiln/base/main.tf:2:10",
        "envelope-in-code stacks/kiln/base/main.tf:3:5",
        "lost-mode stacks/kiln/base/run.sh",
        "declared-in-json stacks/kiln/base/v.tf.json:1:15",
        "envelope-in-code stacks/kiln/base/w.auto.tfvars:1:9",
        "set-in-json stacks/kiln/base/w.auto.tfvars.json:2:3",
        "list-adds-up stacks/kiln/layers/harbor/odd.tfvars:1:1",
        "list-adds-up stacks/kiln/layers/harbor/odd.tfvars:2:1",
        "nested-override stacks/kiln/layers/harbor/odd.tfvars:3:1",
        "override-suffix stacks/kiln/layers/harbor/odd.tfvars:3:1",
        "method-name stacks/kiln/layers/harbor/odd.tfvars:4:1",
        "reserved-name stacks/kiln/layers/harbor/odd.tfvars:5:1",
        "read-otherwise stacks/kiln/layers/harbor/odd.tfvars:6:5",
        "layer-name stacks/kiln/layers/nowhere",
    ];
    // `stacks_path` differs by layer, and so it is told of both.
    let mut told = found.clone();
    told.dedup();
    assert_eq!(told, want, "{found:#?}");
    for rule in Rule::ALL {
        assert!(found.iter().any(|found| found.starts_with(rule.name())), "{}", rule.name());
    }
    let manual = include_str!("../../docs/infra.md");
    for rule in Rule::ALL {
        assert!(manual.contains(&format!("| `{}` |", rule.name())), "{} is not in docs/infra.md", rule.name());
    }
}

#[test]
fn what_cannot_be_looked_at_ends_2_and_the_rest_is_told() {
    let room = tree();
    room.write(&format!("{LAYER}/p.tfvars"), "n = 1e3\n");
    room.write("stacks/kiln/layers/harbor_blue/p.tfvars", "n = [\n");
    let left = room.run(&["infra", "lint", "--all"]);
    assert_eq!(left.status, 2);
    assert!(left.stdout.contains("harbor/p.tfvars:1:5: read-otherwise"), "{}", left.stdout);
    assert!(left.stderr.contains("--> stacks/kiln/layers/harbor_blue/p.tfvars:2:1\n"), "{}", left.stderr);
    let left = room.run(&["infra", "lint", "none"]);
    assert_eq!((left.status, left.stdout.as_str()), (2, ""));
}

#[test]
fn no_secret_is_told_and_no_key_is_needed() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/stacks/enc_vectors.json");
    let vectors: Value = serde_json::from_str(&fs::read_to_string(path).expect("vectors")).expect("JSON");
    let (envelope, plain) =
        (vectors[1]["envelope"].as_str().expect("text"), vectors[1]["plaintext"].as_str().expect("text"));
    let room = tree();
    room.write(&format!("{LAYER}/s.tfvars"), &format!("password = \"{envelope}\"\n"));
    room.write("stacks/kiln/t.tfvars.jinja", "deep = \"c:\\\\temp\\\\{{ var.password }}\"\n");
    for keys in [String::new(), key("corpus.pem")] {
        let left = room.run_in("", &[("STACKS_PRIVATE_KEY_PATH", &keys)], &["infra", "lint", LAYER]);
        assert_eq!((left.status, left.stderr.as_str()), (1, ""), "{}", left.stdout);
        assert!(left.stdout.contains("t.tfvars.jinja:1:8: read-otherwise"), "{}", left.stdout);
        assert!(!left.stdout.contains(plain) && left.stdout.contains("‹secret "), "{}", left.stdout);
    }
}

#[test]
fn no_program_starts_for_what_a_template_asks() {
    let room = tree();
    let (program, log) = stand_in(&room);
    room.write(
        "stacks/kiln/t.tfvars.jinja",
        "# \"ENC[\nword = \"{{ output('word', stack='kiln', instance='blue') }}\"\n",
    );
    room.write(&format!("{LAYER}/p.tfvars"), "n = 1e3\n");
    let left = room.run_in("", &[("STACKS_TERRAFORM_PATH", &program)], &["infra", "lint", LAYER]);
    assert_eq!(left.status, 1);
    assert!(left.stdout.ends_with("\nlint: 1 finding in 1 file, of 1 layer\n"), "{}", left.stdout);
    let warning = format!("suil: warning: what templates of `{LAYER}` render to is not looked at\n");
    assert!(left.stderr.starts_with(&warning), "{}", left.stderr);
    assert!(!log.exists());
}
