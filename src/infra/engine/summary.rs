//! What a plan would do, counted from the JSON that Terraform shows of it.

use crate::base::Problem;
use crate::infra::store::{self, Addresses};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// What a plan would do: the addresses that it touches, by what happens to them, and outputs; each list sorted.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    #[serde(flatten)]
    pub addresses: Addresses,
    /// The names of the outputs that change.
    pub outputs: Vec<String>,
    /// Of those, the ones whose value is only known after the apply.
    pub unknown_outputs: Vec<String>,
}

/// Addresses of this prefix are suil's own, made for a provisional plan.
pub const OWN: &str = "terraform_data.suil_provisional";

impl Summary {
    /// Reads what `terraform show -json FILE` said.
    ///
    /// # Errors
    /// It is no JSON of a plan.
    pub fn read(shown: &Value) -> Result<Summary, Problem> {
        if shown.get("format_version").and_then(Value::as_str).is_none() {
            return Err(Problem::new("what Terraform shows of the plan is no plan")
                .expected("expected an object with `format_version`"));
        }
        let mut summary = Summary::default();
        for resource in list(shown, "resource_changes") {
            summary.add(resource);
        }
        for (name, change) in shown.get("output_changes").and_then(Value::as_object).into_iter().flatten() {
            if actions(change) != ["no-op"] {
                summary.outputs.push(name.clone());
                if change.get("after_unknown").is_some_and(|unknown| *unknown != Value::Bool(false)) {
                    summary.unknown_outputs.push(name.clone());
                }
            }
        }
        for list in summary.lists_mut() {
            list.sort();
        }
        Ok(summary)
    }

    fn add(&mut self, resource: &Value) {
        let text = |key: &str| resource.get(key).and_then(Value::as_str);
        let (Some(address), Some(change)) = (text("address"), resource.get("change")) else { return };
        if text("mode") == Some("data") || address.starts_with(OWN) {
            return;
        }
        let (actions, all) = (actions(change), &mut self.addresses);
        let list = match actions.as_slice() {
            ["create"] | ["create", "forget"] => Some(&mut all.adds),
            ["update"] => Some(&mut all.changes),
            ["delete"] => Some(&mut all.destroys),
            ["delete", "create"] | ["create", "delete"] => Some(&mut all.replaces),
            ["no-op"] if text("previous_address").is_some_and(|before| before != address) => Some(&mut all.moves),
            _ => None,
        };
        if let Some(list) = list {
            list.push(address.to_owned());
        }
        if change.get("importing").is_some_and(|found| !found.is_null()) {
            all.imports.push(address.to_owned());
        }
    }

    fn lists_mut(&mut self) -> [&mut Vec<String>; 8] {
        let Summary { addresses, outputs, unknown_outputs } = self;
        let Addresses { adds, changes, destroys, replaces, imports, moves } = addresses;
        [adds, changes, destroys, replaces, imports, moves, outputs, unknown_outputs]
    }

    /// How many of each there are, as the store keeps it.
    pub fn counts(&self) -> store::Summary {
        self.addresses.summary(self.outputs.len())
    }

    /// True where an apply would change nothing, outputs included.
    pub fn is_empty(&self) -> bool {
        self.outputs.is_empty() && self.addresses == Addresses::default()
    }

    /// What is added, changed, destroyed or replaced: what two plans are compared by.
    pub fn touched(&self) -> BTreeSet<&str> {
        let Addresses { adds, changes, destroys, replaces, .. } = &self.addresses;
        [adds, changes, destroys, replaces].into_iter().flatten().map(String::as_str).collect()
    }

    /// What is destroyed or replaced.
    pub fn losses(&self) -> BTreeSet<&str> {
        [&self.addresses.destroys, &self.addresses.replaces].into_iter().flatten().map(String::as_str).collect()
    }

    /// `2 to add, 1 to destroy, 1 output`; `no changes`.
    pub fn words(&self) -> String {
        self.told(["to add", "to change", "to destroy", "to replace", "to import", "to move"])
    }

    /// The same of what was done: `2 added, 1 destroyed, 1 output`.
    pub fn done(&self) -> String {
        self.told(["added", "changed", "destroyed", "replaced", "imported", "moved"])
    }

    fn told(&self, words: [&str; 6]) -> String {
        let outputs = &self.outputs;
        let output = if outputs.len() == 1 { "output" } else { "outputs" };
        let lists = self.addresses.lists().map(|(_, list)| list);
        let all = lists.into_iter().zip(words).chain([(outputs, output)]);
        let words: Vec<String> =
            all.filter(|(list, _)| !list.is_empty()).map(|(list, words)| format!("{} {words}", list.len())).collect();
        if words.is_empty() { "no changes".to_owned() } else { words.join(", ") }
    }
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn actions(change: &Value) -> Vec<&str> {
    list(change, "actions").iter().filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn change(address: &str, actions: &[&str]) -> Value {
        json!({"address": address, "mode": "managed", "change": {"actions": actions}})
    }

    #[test]
    fn each_action_is_counted_once_and_reads_and_forgets_are_not() {
        let mut moved = change("a.new", &["no-op"]);
        moved["previous_address"] = json!("a.old");
        let mut imported = change("a.imported", &["update"]);
        imported["change"]["importing"] = json!({"id": "1"});
        let mut data = change("data.a.b", &["read"]);
        data["mode"] = json!("data");
        let shown = json!({
            "format_version": "1.2",
            "resource_changes": [
                change("a.one", &["create"]), change("a.two", &["delete"]), change("a.three", &["delete", "create"]),
                change("a.four", &["create", "delete"]), change("a.five", &["forget"]), change("a.six", &["no-op"]),
                change("terraform_data.suil_provisional", &["create"]), moved, imported, data, {"odd": 1},
            ],
            "output_changes": {
                "x": {"actions": ["create"], "after_unknown": true},
                "y": {"actions": ["no-op"]},
                "z": {"actions": ["update"], "after_unknown": false},
            },
        });
        let summary = Summary::read(&shown).expect("a plan");
        assert_eq!(
            summary.words(),
            "1 to add, 1 to change, 1 to destroy, 2 to replace, 1 to import, 1 to move, 2 outputs"
        );
        assert_eq!(summary.addresses.replaces, ["a.four", "a.three"]);
        assert_eq!(
            (summary.outputs.as_slice(), summary.unknown_outputs.as_slice()),
            (&["x".to_owned(), "z".to_owned()][..], &["x".to_owned()][..])
        );
        assert_eq!(summary.touched().len(), 5);
        assert!(!summary.is_empty());
        let kept = serde_json::to_value(&summary).expect("JSON");
        assert_eq!((&kept["adds"], &kept["outputs"]), (&json!(["a.one"]), &json!(["x", "z"])), "one object");
        assert_eq!(serde_json::from_value::<Summary>(kept).expect("a summary"), summary);
        assert_eq!(
            serde_json::from_value::<Summary>(json!({"adds": ["a"]})).expect("one of before").addresses.adds,
            ["a"]
        );
    }

    #[test]
    fn what_is_no_plan_is_refused_and_an_empty_plan_is_empty() {
        assert!(Summary::read(&json!({"values": {}})).is_err());
        let empty = Summary::read(&json!({"format_version": "1.2"})).expect("a plan");
        assert_eq!((empty.is_empty(), empty.words().as_str()), (true, "no changes"));
    }
}
