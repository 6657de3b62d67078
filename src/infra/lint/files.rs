//! What stands in one file of variables.

use super::{Finding, Rule};
use crate::base::FileId;
use crate::infra::Value;
use crate::infra::hcl::{self, Attribute};

/// The methods of a dict in Python: `var.items` is one of them, and no variable.
const METHODS: [&str; 11] =
    ["clear", "copy", "fromkeys", "get", "items", "keys", "pop", "popitem", "setdefault", "update", "values"];

/// Looks at the variables of a file.
pub fn look(attributes: &[Attribute], findings: &mut Vec<Finding>) {
    let Some(first) = attributes.first() else { return };
    read_otherwise(first.place.file, findings);
    for attribute in attributes {
        if METHODS.contains(&attribute.name.as_str()) {
            let name = &attribute.name;
            let what = format!("`var.{name}` in a template is a method, and not this variable");
            let finding = Finding::at(Rule::MethodName, what, attribute.place);
            findings.push(finding.help(format!("write `var[\"{name}\"]` there, or rename the variable")));
        }
        nested(&attribute.value, &attribute.name, &mut |path| {
            let what = format!("`{path}` is an ordinary key: only a variable whose name ends in `_override` replaces");
            findings.push(Finding::at(Rule::NestedOverride, what, attribute.place));
        });
    }
}

/// Finds the values of a file that the original read otherwise.
pub fn read_otherwise(file: FileId, findings: &mut Vec<Finding>) {
    for found in hcl::original(file) {
        let what = match &found.variable {
            Some(name) => format!("`{name}`: {}", found.cause.text()),
            None => found.cause.text().to_owned(),
        };
        let finding = Finding::at(Rule::ReadOtherwise, what, found.place);
        findings.push(Finding { value: found.value, original: found.original, ..finding });
    }
}

/// Calls `found` with the path of every key below `value` that ends in `_override`.
fn nested(value: &Value, path: &str, found: &mut impl FnMut(&str)) {
    match value {
        Value::Map(map) => {
            for (key, value) in map {
                let path = format!("{path}.{key}");
                if key.ends_with("_override") {
                    found(&path);
                }
                nested(value, &path, found);
            }
        }
        Value::List(items) => {
            for (at, item) in items.iter().enumerate() {
                nested(item, &format!("{path}[{at}]"), found);
            }
        }
        _ => {}
    }
}
