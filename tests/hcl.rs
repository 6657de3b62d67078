//! Files of variables are read as Terraform 1.11 reads them: its answers to 162 snippets are on record.

use std::path::Path;
use suil::base::{FileId, Problems};
use suil::infra::{Value, hcl};

fn variables(text: &str) -> Result<Vec<hcl::Attribute>, Problems> {
    hcl::variables(FileId::new("a.tfvars", text))
}

/// The value of `a`, or the first problem.
fn a(text: &str) -> Result<Option<Value>, String> {
    match variables(text) {
        Ok(found) => Ok(found.into_iter().find(|attribute| attribute.name == "a").map(|attribute| attribute.value)),
        Err(problems) => Err(problems.first().map(|problem| problem.what.clone()).unwrap_or_default()),
    }
}

fn value(text: &str) -> Value {
    match a(text) {
        Ok(Some(value)) => value,
        other => panic!("{text:?}: {other:?}"),
    }
}

/// A value as JSON whose keys are sorted, as the record has them.
fn sorted(value: &Value) -> Value {
    match value {
        Value::List(items) => Value::List(items.iter().map(sorted).collect()),
        Value::Map(map) => {
            let mut map: indexmap::IndexMap<_, _> = map.iter().map(|(key, item)| (key.clone(), sorted(item))).collect();
            map.sort_keys();
            Value::Map(map)
        }
        other => other.clone(),
    }
}

#[test]
fn every_snippet_on_record_is_read_as_terraform_reads_it() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/stacks/hcl_oracle.json");
    let record =
        hcl::variables_json(FileId::new("x", format!("{{\"all\": {}}}", std::fs::read_to_string(path).unwrap())));
    let Value::List(snippets) = record.unwrap().remove(0).value else { panic!("the record is a list") };
    assert_eq!(snippets.len(), 162);
    let mut wrong = vec![];
    for snippet in &snippets {
        let name = snippet.get("name").and_then(Value::as_str).unwrap();
        let text = snippet.get("tfvars").and_then(Value::as_str).unwrap();
        let terraform = snippet.get("terraform").unwrap();
        let got = a(text);
        let fits = match (terraform.get("value"), &got) {
            (Some(Value::Str(none)), Ok(None)) => none == "(not set)",
            (Some(want), Ok(Some(got))) => sorted(got).to_json_line() == sorted(want).to_json_line(),
            (None, Err(_)) => terraform.get("error").is_some(),
            _ => false,
        };
        if !fits {
            wrong.push(format!("{name}: {}\n    found {got:?}", terraform.to_json_line()));
        }
    }
    assert!(wrong.is_empty(), "{} of 162 differ:\n{}", wrong.len(), wrong.join("\n"));
}
