//! What the catalogue knows of one node.

use super::lookup::Found;
use super::probe::Probe;
use crate::base::Place;
use crate::data::{Kind, Map, Value};
use std::sync::Arc;

/// One node: its role, its system, its modules in run order, its data.
#[derive(Clone, Debug)]
pub struct Entry {
    pub name: Arc<str>,
    pub role: Arc<str>,
    pub probe: Probe,
    /// True for a node that was never probed: no OS layers, modules in listed order.
    pub provisional: bool,
    /// In run order.
    pub modules: Arc<[String]>,
    /// Where the file of the node begins.
    pub place: Place,
    pub(super) number: u32,
    /// Merged, lookups not expanded.
    pub(super) merged: Option<Value>,
    pub(super) found: Found,
}

impl Entry {
    pub fn family(&self) -> Option<&str> {
        self.probe.family.as_deref()
    }

    /// The release as text.
    pub fn release(&self) -> Option<String> {
        self.probe.release()
    }

    /// What the data has under a top-level key, lookups expanded, secrets still encrypted.
    pub fn slice(&self, key: &str) -> Option<Value> {
        self.merged.as_ref()?.get(key).map(|value| self.found.expand(value, self.number))
    }

    /// The connection settings as they were written; [`Entry::connection`] checks them.
    pub fn deployment(&self) -> Option<Value> {
        self.slice("deployment")
    }

    /// The slices of all modules, in the order in which layers brought them.
    pub fn data(&self) -> Map {
        let slots = self.merged.as_ref().and_then(Value::map).into_iter().flatten();
        let slots = slots.filter(|(key, _)| &***key != "deployment");
        slots
            .map(|(key, slot)| {
                let value = self.found.expand(&slot.value, self.number);
                (key.clone(), crate::data::Entry { key: slot.key, value })
            })
            .collect()
    }

    /// The value at a path of keys and list indexes, lookups expanded.
    pub fn at(&self, path: &[&str]) -> Option<Value> {
        let (top, below) = path.split_first()?;
        let value = self.slice(top)?;
        crate::data::trace::at(&value, below).cloned()
    }

    /// True where some value of the entry is a secret.
    pub fn has_secrets(&self) -> bool {
        self.merged.as_ref().is_some_and(secret_in)
    }

    /// Where the secrets under each top-level key are written, in no order.
    pub fn secrets(&self) -> Vec<(Arc<str>, Place)> {
        let mut found = Vec::new();
        for (key, slot) in self.merged.as_ref().and_then(Value::map).into_iter().flatten() {
            let mut places = Vec::new();
            secrets_in(&slot.value, &mut places);
            found.extend(places.into_iter().map(|place| (key.clone(), place)));
        }
        found
    }
}

fn secrets_in(value: &Value, places: &mut Vec<Place>) {
    match &value.kind {
        Kind::Secret(_) => places.push(value.place),
        Kind::List(list) => list.iter().for_each(|item| secrets_in(item, places)),
        Kind::Map(map) => map.values().for_each(|slot| secrets_in(&slot.value, places)),
        Kind::Scalar(_) | Kind::Lookup(_) => {}
    }
}

fn secret_in(value: &Value) -> bool {
    match &value.kind {
        Kind::Secret(_) => true,
        Kind::List(list) => list.iter().any(secret_in),
        Kind::Map(map) => map.values().any(|slot| secret_in(&slot.value)),
        Kind::Scalar(_) | Kind::Lookup(_) => false,
    }
}
