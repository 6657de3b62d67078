//! Variables: levels met in order, every value with the place that set it last.

use super::markers;
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
    /// An envelope of it was opened.
    pub secret: bool,
}

impl Variable {
    fn at(value: Value, place: Place) -> Variable {
        Variable { value, place: Some(place), secret: false }
    }
}

/// Variables by name, in the order of first appearance.
#[derive(Clone, Default, Debug)]
pub struct Variables(pub IndexMap<String, Variable>);

impl Variables {
    /// Lets the next file meet what is there: maps merge, lists add up, anything else replaces. A name that ends in
    /// `_override` replaces, whatever it holds. The place in the order is kept. `markers` says whether some strings mean
    /// more than that; see [`markers`].
    pub fn meet(&mut self, attributes: &[Attribute], markers: bool) {
        for Attribute { name, value, place } in attributes {
            if markers {
                let known = self.0.get_mut(name).map(|variable| std::mem::take(&mut variable.value));
                match markers::meet(known.filter(|_| !name.ends_with("_override")), value) {
                    Some(value) => drop(self.0.insert(name.clone(), Variable::at(value, *place))),
                    None => drop(self.0.shift_remove(name)),
                }
                continue;
            }
            match self.0.entry(name.clone()) {
                Entry::Vacant(entry) => {
                    entry.insert(Variable::at(value.clone(), *place));
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
        self.0.insert(name.to_owned(), Variable { value, place: None, secret: false });
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
        variables.meet(
            &attributes(&[
                ("tags", map(&[("a", 1.into()), ("in_override", list(&[1]))])),
                ("ports", list(&[1])),
                ("ports_override", list(&[1])),
                ("town", "harbor".into()),
            ]),
            false,
        );
        variables.meet(
            &attributes(&[
                ("town", Value::Null),
                ("ports_override", list(&[2])),
                ("ports", list(&[1, 2])),
                ("tags", map(&[("b", 2.into()), ("a", "x".into()), ("in_override", list(&[2]))])),
            ]),
            false,
        );
        let want = map(&[
            ("tags", map(&[("a", "x".into()), ("in_override", list(&[1, 2])), ("b", 2.into())])),
            ("ports", list(&[1, 1, 2])),
            ("ports_override", list(&[2])),
            ("town", Value::Null),
        ]);
        assert_eq!(variables.value().to_json(), want.to_json());
    }
}
