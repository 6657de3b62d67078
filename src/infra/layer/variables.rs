//! Variables: levels met in order, every value with the place that set it last.

use crate::base::Place;
use crate::infra::Value;
use crate::infra::hcl::Attribute;
use indexmap::IndexMap;
use indexmap::map::Entry;

/// A variable and the place that set or last added to it; the predefined ones have none.
#[derive(Clone, Debug)]
pub struct Variable {
    pub value: Value,
    pub place: Option<Place>,
}

/// Variables by name, in the order of first appearance.
#[derive(Clone, Default, Debug)]
pub struct Variables(pub IndexMap<String, Variable>);

impl Variables {
    /// Lets the next file meet what is there: maps merge, lists add up, anything else replaces. A name that ends in
    /// `_override` replaces, whatever it holds. The place in the order is kept.
    pub fn meet(&mut self, attributes: &[Attribute]) {
        for Attribute { name, value, place } in attributes {
            match self.0.entry(name.clone()) {
                Entry::Vacant(entry) => {
                    entry.insert(Variable { value: value.clone(), place: Some(*place) });
                }
                Entry::Occupied(mut entry) => {
                    let known = entry.get_mut();
                    known.place = Some(*place);
                    match name.ends_with("_override") {
                        true => known.value = value.clone(),
                        false => merge(&mut known.value, value),
                    }
                }
            }
        }
    }

    /// Sets a predefined variable, which replaces whatever is there.
    pub fn set(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), Variable { value, place: None });
    }

    /// The values as one map.
    pub fn value(&self) -> Value {
        self.0.iter().map(|(name, variable)| (name.clone(), variable.value.clone())).collect()
    }
}

/// Merges `value` into `known`.
fn merge(known: &mut Value, value: &Value) {
    match (known, value) {
        (Value::Map(known), Value::Map(more)) => {
            for (key, value) in more {
                match known.get_mut(key) {
                    Some(known) => merge(known, value),
                    None => {
                        known.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (Value::List(known), Value::List(more)) => known.extend(more.iter().cloned()),
        (known, value) => *known = value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::FileId;

    fn attributes(pairs: &[(&str, Value)]) -> Vec<Attribute> {
        let place = Place::start(FileId::new("x.tfvars", ""));
        pairs.iter().map(|(name, value)| Attribute { name: (*name).to_owned(), value: value.clone(), place }).collect()
    }

    fn map(pairs: &[(&str, Value)]) -> Value {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
    }

    #[test]
    fn maps_merge_lists_add_up_and_an_override_replaces_in_its_place() {
        let list = |items: &[i64]| Value::List(items.iter().map(|n| Value::from(*n)).collect());
        let mut variables = Variables::default();
        variables.meet(&attributes(&[
            ("tags", map(&[("a", 1.into()), ("in_override", list(&[1]))])),
            ("ports", list(&[1])),
            ("ports_override", list(&[1])),
            ("town", "harbor".into()),
        ]));
        variables.meet(&attributes(&[
            ("town", Value::Null),
            ("ports_override", list(&[2])),
            ("ports", list(&[1, 2])),
            ("tags", map(&[("b", 2.into()), ("a", "x".into()), ("in_override", list(&[2]))])),
        ]));
        let want = map(&[
            ("tags", map(&[("a", "x".into()), ("in_override", list(&[1, 2])), ("b", 2.into())])),
            ("ports", list(&[1, 1, 2])),
            ("ports_override", list(&[2])),
            ("town", Value::Null),
        ]);
        assert_eq!(variables.value().to_json(), want.to_json());
    }
}
