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
    /// An envelope of it was opened.
    pub secret: bool,
}

/// Variables by name, in the order of first appearance.
#[derive(Clone, Default, Debug)]
pub struct Variables(pub IndexMap<String, Variable>, Meeting);

/// How levels meet.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Meeting {
    /// As the original lets them.
    #[default]
    Plain,
    /// With [`REPLACE`] and [`DELETE`] in values.
    Marked,
}

/// As the first item of a list or as a key of a map: what stands beside it replaces what lower levels say.
pub const REPLACE: &str = "!replace";
/// As a value: what lower levels say is gone.
pub const DELETE: &str = "!delete";

impl Variables {
    /// No variables yet; `markers` tells whether values may say how they meet lower levels.
    pub fn new(markers: bool) -> Variables {
        Variables(IndexMap::new(), if markers { Meeting::Marked } else { Meeting::Plain })
    }

    /// Lets the next file meet what is there: maps merge, lists add up, anything else replaces. A name that ends in
    /// `_override` replaces, whatever it holds. The place in the order is kept.
    pub fn meet(&mut self, attributes: &[Attribute]) {
        let marked = self.1 == Meeting::Marked;
        for Attribute { name, value, place } in attributes {
            if marked && is_deleted(value) {
                self.0.shift_remove(name);
                continue;
            }
            match self.0.entry(name.clone()) {
                Entry::Vacant(entry) => {
                    let mut value = value.clone();
                    if marked {
                        settle(&mut value);
                    }
                    entry.insert(Variable { value, place: Some(*place), secret: false });
                }
                Entry::Occupied(mut entry) => {
                    let known = entry.get_mut();
                    known.place = Some(*place);
                    match (name.ends_with("_override"), marked) {
                        (true, _) => {
                            known.value = value.clone();
                            if marked {
                                settle(&mut known.value);
                            }
                        }
                        (false, true) => merge_marked(&mut known.value, value),
                        (false, false) => merge(&mut known.value, value),
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

fn is_deleted(value: &Value) -> bool {
    matches!(value, Value::Str(text) if text == DELETE)
}

fn replaces(value: &Value) -> bool {
    match value {
        Value::List(items) => matches!(items.first(), Some(Value::Str(text)) if text == REPLACE),
        Value::Map(map) => map.contains_key(REPLACE),
        _ => false,
    }
}

/// Merges `value`, whose markers count, into `known`, which has none.
fn merge_marked(known: &mut Value, value: &Value) {
    match (known, value) {
        (Value::Map(known), Value::Map(more)) if !more.contains_key(REPLACE) => {
            for (key, value) in more {
                if is_deleted(value) {
                    known.shift_remove(key);
                    continue;
                }
                match known.get_mut(key) {
                    Some(known) => merge_marked(known, value),
                    None => {
                        let mut value = value.clone();
                        settle(&mut value);
                        known.insert(key.clone(), value);
                    }
                }
            }
        }
        (Value::List(known), Value::List(more)) if !replaces(value) => {
            let from = known.len();
            known.extend(more.iter().filter(|item| !is_deleted(item)).cloned());
            known.iter_mut().skip(from).for_each(settle);
        }
        (known, value) => {
            *known = value.clone();
            settle(known);
        }
    }
}

/// Takes the markers out of a value that meets nothing.
fn settle(value: &mut Value) {
    match value {
        Value::List(items) => {
            if matches!(items.first(), Some(Value::Str(text)) if text == REPLACE) {
                items.remove(0);
            }
            items.retain(|item| !is_deleted(item));
            items.iter_mut().for_each(settle);
        }
        Value::Map(map) => {
            map.shift_remove(REPLACE);
            map.retain(|_, item| !is_deleted(item));
            map.values_mut().for_each(settle);
        }
        _ => {}
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

    #[test]
    fn markers_replace_and_delete_at_any_depth_and_are_gone_from_the_result() {
        let list = |items: &[&str]| Value::List(items.iter().map(|item| Value::from(*item)).collect());
        let mut variables = Variables::new(true);
        variables.meet(&attributes(&[
            ("ports", list(&["!replace", "80"])),
            ("town", "harbor".into()),
            ("tags", map(&[("a", list(&["1"])), ("b", 1.into()), ("c", map(&[("x", 1.into())]))])),
        ]));
        variables.meet(&attributes(&[
            ("ports", list(&["!replace", "443"])),
            ("town", "!delete".into()),
            ("gone", "!delete".into()),
            (
                "tags",
                map(&[
                    ("a", list(&["!replace", "2", "!delete"])),
                    ("b", "!delete".into()),
                    ("c", map(&[("!replace", true.into()), ("y", map(&[("z", "!delete".into())]))])),
                ]),
            ),
        ]));
        let want =
            map(&[("ports", list(&["443"])), ("tags", map(&[("a", list(&["2"])), ("c", map(&[("y", map(&[]))]))]))]);
        assert_eq!(variables.value().to_json(), want.to_json());
        let mut plain = Variables::new(false);
        plain.meet(&attributes(&[("ports", list(&["80"]))]));
        plain.meet(&attributes(&[("ports", list(&["!replace", "443"]))]));
        assert_eq!(plain.value().to_json(), map(&[("ports", list(&["80", "!replace", "443"]))]).to_json());
    }
}
