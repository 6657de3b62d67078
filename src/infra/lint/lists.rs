//! What levels make of each other's values.

use super::{Finding, Rule};
use crate::base::Place;
use crate::infra::Value;
use crate::infra::hcl::Attribute;
use std::collections::HashMap;
use std::sync::Arc;

/// How many items are compared with each other.
const ITEMS: usize = 1000;

/// Looks at the files of a layer, from the weakest to the strongest.
pub fn look(files: &[Arc<Vec<Attribute>>], findings: &mut Vec<Finding>) {
    let mut lists = Lists { known: HashMap::new(), findings };
    for attribute in files.iter().flat_map(|file| file.iter()) {
        match attribute.name.ends_with("_override") {
            false => lists.value(&attribute.name, &attribute.value, attribute.place),
            true => suffix(files, attribute, lists.findings),
        }
    }
}

/// A name with the suffix beside one without it: the author may think that the first replaces the second.
fn suffix(files: &[Arc<Vec<Attribute>>], attribute: &Attribute, findings: &mut Vec<Finding>) {
    let stem = attribute.name.strip_suffix("_override").unwrap_or_default();
    if let Some(other) = files.iter().flat_map(|file| file.iter()).find(|other| other.name == stem) {
        let what = format!(
            "`{}` replaces what lower levels set under this very name, and leaves `{stem}` of {} as it is",
            attribute.name, other.place
        );
        findings.push(Finding::at(Rule::OverrideSuffix, what, attribute.place));
    }
}

struct Lists<'a> {
    /// The lists so far, by their paths, and the places that gave to each.
    known: HashMap<String, Vec<(Value, Place)>>,
    findings: &'a mut Vec<Finding>,
}

impl Lists<'_> {
    fn value(&mut self, path: &str, value: &Value, place: Place) {
        match value {
            Value::Map(map) => map.iter().for_each(|(key, value)| self.value(&format!("{path}.{key}"), value, place)),
            Value::List(items) => self.list(path, items, place),
            // Anything else replaces what is there.
            _ => drop(self.known.remove(path)),
        }
    }

    fn list(&mut self, path: &str, items: &[Value], place: Place) {
        let known = self.known.entry(path.to_owned()).or_default();
        if let Some((_, before)) = known.first() {
            let help = format!("to replace it, call both `{path}_override`");
            let help = (!path.contains('.')).then_some(help);
            let twice =
                items.iter().take(ITEMS).find_map(|item| Some((item, known.iter().find(|(k, _)| k == item)?.1)));
            let what = match twice {
                _ if items.is_empty() => Some(format!("`{path}` keeps the items of {before}: lists add up")),
                Some((_, before)) => Some(format!("`{path}` has an item of {before} twice: lists add up")),
                None => None,
            };
            if let Some(what) = what {
                self.findings.push(Finding { help, ..Finding::at(Rule::ListAddsUp, what, place) });
            }
        }
        let room = ITEMS.saturating_sub(known.len());
        known.extend(items.iter().take(room).map(|item| (item.clone(), place)));
    }
}
