//! The stock modules and the example workspace, checked as far as they can be without a node.

#![allow(clippy::disallowed_methods)]

use std::path::Path;
use std::sync::Arc;
use suil::base::Plain;
use suil::catalogue::{Catalogue, Selection, Workspace};
use suil::data::library::stock_modules;
use suil::module::Module;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data-example");

#[test]
fn every_stock_module_compiles_and_documents_each_field() {
    let mut names = Vec::new();
    let mut wrong = Vec::new();
    for folder in stock_modules() {
        let name = folder.name.clone();
        let module = Module::load(&name, Arc::new(folder), None);
        match module.compile().and_then(|()| module.json_schema()) {
            Err(problems) => {
                wrong.push(suil::ui::problem::render_all(&problems, &suil::base::Mask::new(), suil::ui::Paint::OFF))
            }
            Ok(Some(schema)) => undocumented(&schema, &name, &mut wrong),
            Ok(None) => assert_eq!(name, "base", "only the meta module has no schema"),
        }
        names.push(name);
    }
    assert_eq!(names, ["accounts", "base", "infra", "motd", "nginx", "packages", "ssh", "sysctl", "time"]);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_stock_module_but_the_meta_module_passes_tests_on_both_families() {
    for folder in stock_modules().filter(|folder| folder.name != "base") {
        let tests = folder.list("tests").expect("a folder");
        let on = |family: &str| {
            tests.iter().any(|test| {
                let bytes = folder.read(&format!("tests/{test}")).expect("readable").expect("there");
                let text = String::from_utf8_lossy(&bytes).into_owned();
                text.contains(&format!("family: {family}")) || (family == "debian" && !text.contains("family:"))
            })
        };
        assert!(on("debian") && on("redhat"), "`{}` has no test for one of the families", folder.name);
    }
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_suil"))
        .args(["test", "--all", "--workspace", EXAMPLE])
        .output()
        .expect("suil runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("accounts") && said.contains("status"), "stock and local modules are tested: {said}");
}

fn undocumented(schema: &Plain, path: &str, wrong: &mut Vec<String>) {
    for (key, value) in schema.get("properties").and_then(Plain::as_map).into_iter().flatten() {
        let path = format!("{path}.{key}");
        if value.get("description").is_none() {
            wrong.push(format!("`{path}` has no doc"));
        }
        undocumented(value, &path, wrong);
        if let Some(items) = value.get("items") {
            undocumented(items, &path, wrong);
        }
    }
}

#[test]
fn the_example_uses_every_tag_and_builds_a_catalogue_of_five_nodes_in_three_roles() {
    let mut text = String::new();
    read(&Path::new(EXAMPLE).join("data"), &mut text);
    for tag in ["!replace", "!append", "!merge", "!delete", "!LOOKUP", "!ENC["] {
        assert!(text.contains(tag), "data-example/data never uses {tag}");
    }
    let workspace = Workspace::open(Path::new(EXAMPLE)).expect("a workspace");
    let catalogue = Catalogue::build(&workspace, &Selection::default()).expect("a catalogue");
    let mut roles: Vec<&str> = catalogue.entries.iter().map(|entry| &*entry.role).collect();
    roles.sort_unstable();
    roles.dedup();
    assert_eq!(roles, ["db", "demo", "web"]);
    assert_eq!(catalogue.entries.len(), 5);
}

fn read(folder: &Path, into: &mut String) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => read(&path, into),
            false => into.push_str(&std::fs::read_to_string(&path).expect("a file")),
        }
    }
}

#[test]
fn the_manual_names_every_kind_and_every_attribute() {
    let manual = include_str!("../docs/resources.md");
    let mut missing = Vec::new();
    for name in suil::resource::KINDS {
        let start = format!("| `{name}` *");
        let Some(at) = manual.find(&start) else {
            missing.push(format!("`{name}`"));
            continue;
        };
        let rows = manual[at..].split("\n\n").next().unwrap_or_default();
        // The rows of a kind end where the next one begins.
        let rows = rows[1..].split("\n| `").next().unwrap_or_default();
        let kind = suil::resource::build::kind(name).expect("a kind of the table");
        missing.extend(
            kind.attributes.iter().filter(|a| !rows.contains(&format!("`{a}`"))).map(|a| format!("`{name}.{a}`")),
        );
    }
    assert!(missing.is_empty(), "docs/resources.md does not name {}", missing.join(", "));
}
