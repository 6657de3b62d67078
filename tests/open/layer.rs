//! Cases of layers: the same values through a render and through Terraform itself.

use crate::expect::{map, wanted, words};
use crate::room::Room;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use suil::base::Plain;

/// What Terraform says to `input` on stdin.
#[track_caller]
fn terraform(folder: &Path, args: &[&str], input: &str) -> String {
    let mut command = Command::new("terraform");
    command.current_dir(folder).args(args).env_clear().env("CHECKPOINT_DISABLE", "1").env("HOME", folder);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("terraform, which these tests need");
    child.stdin.take().expect("stdin").write_all(input.as_bytes()).expect("questions");
    let output = child.wait_with_output().expect("an end");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8(said).expect("UTF-8");
    assert!(output.status.success(), "terraform {args:?}: {said}");
    said
}

#[track_caller]
fn render(room: &Room, layer: &str) {
    let left = room.run(&["infra", "render", layer, "--init", "never"]);
    assert_eq!((left.status, left.stderr.as_str()), (0, ""));
}

#[test]
fn h01_a_value_is_the_same_to_terraform_before_and_after_a_render() {
    let case = crate::expect::folder("H01-tfvars-scalars-and-keys");
    let input = std::fs::read_to_string(case.join("input/layer.tfvars")).expect("the input");
    let room = Room::with(&[
        ("environments/prod/env.tfvars", ""),
        // Through the context of a template, too.
        ("stacks/vpc/base/main.tf", "locals {\n  w = jsondecode(<<-EOT\n{{ jsonencode(var.v) }}\nEOT\n  )\n}\n"),
        ("stacks/vpc/layers/prod/layer.tfvars", &input),
        ("console/v.tf", "variable \"v\" {}\n"),
    ]);
    render(&room, "stacks/vpc/layers/prod");
    let layer = room.path().join("stacks/vpc/layers/prod");
    let expect = case.join("expect.json").display().to_string();
    let same = |values: &str| {
        format!("alltrue([for v in {values} : jsonencode(v) == jsonencode(jsondecode(file(\"{expect}\")).value)])\n")
    };
    let written = format!("-var-file={}", layer.join("layer.tfvars").display());
    let before = terraform(&room.path().join("console"), &["console", "-no-color", &written], &same("[var.v]"));
    assert_eq!(before.trim(), "true", "the case holds");
    let after = terraform(&layer.join("stacks.out"), &["console", "-no-color"], &same("[var.v, local.w]"));
    assert_eq!(after.trim(), "true");
    let text = std::fs::read_to_string(layer.join("stacks.out/zzz.auto.tfvars.json")).expect("a file");
    for digits in ["9007199254740993", "123456789012345678901234567890"] {
        assert!(text.contains(&format!(": {digits},")), "{text}");
    }
}

/// The measured specification wins over the case in one point: the suffix is part of the name, so `tags_override` is a
/// variable of its own, and `tags` stays as it is; `tests/conformance/stacks/cases/006-override-suffix` has it so.
#[test]
fn h03_what_is_set_is_declared_once_and_an_override_is_a_name_of_its_own() {
    let case = "H03-universe-and-override";
    let room = Room::copy(&format!("tests/cases/open/{case}/input"));
    render(&room, "stacks/vpc/layers/prod");
    let out = room.path().join("stacks/vpc/layers/prod/stacks.out");
    let read = |name: &str| Plain::from_json(&std::fs::read_to_string(out.join(name)).expect(name)).expect(name);
    let (found, declared, want) = (read("zzz.auto.tfvars.json"), read("stacks.tf.json"), wanted(case));
    let mut values: BTreeMap<String, Plain> = map(&want, "values").map(|(k, v)| (k.clone(), v.clone())).collect();
    let only = values.remove("tags").expect("tags");
    let merged = Plain::from_json(r#"{"a": 1, "keep": {"x": 1}, "b": 2}"#).expect("JSON");
    values.extend([
        ("tags".to_owned(), merged),
        ("tags_override".to_owned(), only),
        ("gone_override".to_owned(), "v".into()),
    ]);
    let own = |name: &str| name.starts_with("stacks_");
    let all = found.as_map().expect("a map");
    let set: BTreeMap<String, Plain> =
        all.iter().filter(|(name, _)| !own(name)).map(|(k, v)| (k.clone(), v.clone())).collect();
    assert_eq!(set, values);
    let names: BTreeSet<&str> = map(declared.get("variable").map(|_| &declared).expect("variables"), "variable")
        .map(|(k, _)| k.as_str())
        .collect();
    let expected: BTreeSet<&str> = words(&want, "declare").chain(["tags_override", "gone_override"]).collect();
    assert_eq!(names.iter().copied().filter(|name| !own(name)).collect::<BTreeSet<_>>(), expected);
    assert!(words(&want, "never_declare").all(|name| !names.contains(name)));
    // The case's module asks for an argument that nobody gives it.
    std::fs::write(out.join("m/main.tf"), "variable \"in_module_only\" { default = 1 }\n").expect("a file");
    terraform(&out, &["init", "-input=false", "-no-color"], "");
    let said = terraform(&out, &["plan", "-input=false", "-no-color"], "");
    for words in ["undeclared variable", "Duplicate", "Warning"] {
        assert!(!said.contains(words), "{said}");
    }
}
