//! The cases of graphs.

use crate::expect::{folder, text, wanted, words};
use crate::room::{Left, Room};
use suil::base::Plain;

const DEEPEST: &str = "G01-deepest-stack-and-ignores";
const WAVES: &str = "G03-waves-cycles-instances";

/// The case as a tree.
fn tree(case: &str) -> Room {
    assert!(folder(case).is_dir());
    Room::copy(&format!("tests/cases/open/{case}/input"))
}

/// What a change of these paths touches.
fn ask(room: &Room, changed: &[&str], more: &[&str]) -> (Left, Plain) {
    room.write("changed", &changed.join("\n"));
    let args = ["infra", "affected", "--output", "json", "--changed-from", "changed"];
    let left = room.run(&[&args[..], more].concat());
    let answer = Plain::from_json(&left.stdout).unwrap_or_else(|e| panic!("{e}: {left:?}"));
    (left, answer)
}

fn list<'a>(value: &'a Plain, key: &str) -> &'a [Plain] {
    value.get(key).and_then(Plain::as_list).unwrap_or_else(|| panic!("no {key}"))
}

#[test]
fn g01_a_path_belongs_to_the_deepest_stack_and_what_is_ignored_to_none() {
    let room = tree(DEEPEST);
    // What `settings.yaml` describes, in the words of the configuration.
    room.write("stackorder.yaml", "version: 1\n");
    room.write("stacks/prod/vpc/.stackorder.yaml", "var_files: [../../../shared/eu.tfvars]\n");
    for row in list(&wanted(DEEPEST), "rows") {
        let changed: Vec<&str> = words(row, "changed").collect();
        let (left, answer) = ask(&room, &changed, &[]);
        let touched = list(&answer, "affected").iter().map(|one| {
            let key = one.get("key").and_then(Plain::as_str).expect("a key");
            (key, one.get("reasons").cloned().unwrap_or_default())
        });
        let touched: Plain = touched.collect();
        let want = row.get("affected").expect("an outcome");
        let empty = want.as_map().is_some_and(|map| map.is_empty());
        assert_eq!(
            (&touched, left.status),
            (if empty { &touched } else { want }, if empty { 0 } else { 2 }),
            "{changed:?}"
        );
        assert_eq!(touched.as_map().is_none_or(|map| map.is_empty()), empty, "{changed:?}");
    }
    room.write("stackorder.yaml", "version: 1\nstacks: {ignore_lockfile: true}\n");
    assert_eq!(ask(&room, &["stacks/prod/vpc/.terraform.lock.hcl"], &[]).0.status, 0);
    room.write("stacks/prod/vpc/.stackorder.yaml", "var_files: [../../../../up.tfvars, none.tfvars]\n");
    let told = room.run(&["infra", "validate"]).stderr;
    assert!(told.contains("is outside the tree") && told.contains("stacks/prod/vpc/none.tfvars"), "{told}");
}

#[test]
fn g03_waves_are_in_order_and_the_same_every_time() {
    let room = tree(WAVES);
    let config = |propagate: bool| {
        let discover = "version: 1\nstacks: {discover: ['stacks/**', 'infra/**']}\n";
        room.write("stackorder.yaml", &format!("{discover}propagate: {{dependents: {propagate}}}\n"));
    };
    for row in list(&wanted(WAVES), "rows") {
        config(row.get("propagate") == Some(&Plain::Bool(true)));
        let changed: Vec<&str> = words(row, "changed").collect();
        let (first, answer) = ask(&room, &changed, &[]);
        assert_eq!(answer.get("waves"), row.get("waves"), "{changed:?}");
        let (_, again) = ask(&room, &changed, &[]);
        assert_eq!(again.get("affected"), answer.get("affected"));
        assert_eq!(first.status, 2);
    }
    // The stack between the two is not in the set: the corpus drops the order, and suil says so.
    let (_, answer) =
        ask(&room, &["stacks/vpc/main.tf", "stacks/apps/main.tf"], &["--stacks", "stacks/vpc,stacks/apps"]);
    assert_eq!(answer.get("waves").map(Plain::to_json_line).as_deref(), Some(r#"[["stacks/vpc"],["stacks/apps"]]"#));
    config(false);
    let (_, answer) = ask(&room, &["stacks/vpc/main.tf", "stacks/apps/main.tf"], &[]);
    let loose = answer.get("loose").map(Plain::to_json_line);
    assert_eq!(loose.as_deref(), Some(r#"[{"from":"stacks/apps","to":"stacks/vpc"}]"#));
    let reasons = room.run(&["infra", "graph"]).stdout;
    assert!(reasons.contains("depends_on acme/other//stacks/zone") && reasons.contains("(external)"), "{reasons}");
    assert!(!reasons.contains("ghost"), "{reasons}");
    config(true);
    room.write("stacks/apps/.stackorder.yaml", "ignore_inferred: [stacks/eks]\n");
    let (_, answer) = ask(&room, &["stacks/vpc/main.tf"], &[]);
    assert_eq!(
        answer.get("waves").map(Plain::to_json_line).as_deref(),
        Some(r#"[["stacks/vpc"],["stacks/dns","stacks/eks"]]"#)
    );
}

#[test]
fn g03_cycles_and_strangers_are_spelled() {
    let want = wanted(WAVES);
    for (file, command, change) in [("bad/cycle.yaml", "affected", "stacks/a/x"), ("bad/unknown.yaml", "graph", "")] {
        let room = tree(WAVES);
        let needs = Plain::from_yaml(&text(WAVES, &format!("input/{file}"))).expect("YAML");
        for (stack, needs) in needs.as_map().expect("stacks") {
            let name = stack.trim_start_matches("stacks/");
            let code = format!(
                "terraform {{\n  backend \"s3\" {{\n    bucket = \"tfstate\"\n    key = \"{name}\"\n  }}\n}}\n"
            );
            room.write(&format!("{stack}/main.tf"), &code);
            room.write(&format!("{stack}/.stackorder.yaml"), &format!("depends_on: {}\n", needs.to_json_line()));
        }
        room.write("changed", change);
        let args: &[&str] = match command {
            "affected" => &["infra", "affected", "--changed-from", "changed"],
            _ => &["infra", "graph"],
        };
        let left = room.run(args);
        let errors = want.get("errors").expect("errors");
        for word in words(errors, file) {
            assert!(left.stderr.contains(word), "{file}: {left:?}");
        }
        assert_eq!(left.status, if command == "affected" { 1 } else { 0 });
        assert!(left.stderr.contains("stacks/a/.stackorder.yaml:1:"), "{left:?}");
    }
}
