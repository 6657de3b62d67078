//! `!delete`: over a list it removes items, over a mapping keys; with no value it removes what it stands on.

use super::super::tagged::Node;
use super::super::{Kind, Map, Tagged, Value};
use super::{Merge, Path, same};
use crate::base::Problem;
use std::sync::Arc;

impl Merge {
    pub(super) fn delete(&mut self, lower: Value, upper: &Tagged, path: &Path) -> Option<Value> {
        if matches!(upper.node, Node::Nothing) {
            return None;
        }
        let named = self.content(upper, path)?;
        let named: Vec<Value> = match &named.kind {
            Kind::List(items) => items.to_vec(),
            _ => vec![named],
        };
        let place = lower.place;
        match lower.kind {
            Kind::List(mut list) => {
                if list.iter().any(|item| named.iter().any(|name| removes(name, item))) {
                    Arc::make_mut(&mut list).retain(|item| !named.iter().any(|name| removes(name, item)));
                }
                Some(Value { kind: Kind::List(list), place })
            }
            Kind::Map(mut map) => {
                for name in &named {
                    self.delete_keys(&mut map, name, path);
                }
                Some(Value { kind: Kind::Map(map), place })
            }
            _ => {
                let tag = upper.tag.map_or(upper.place, |tag| tag.place);
                let found = lower.type_name();
                self.problem(
                    Problem::new(format!("`!delete` with a value has nothing to take from in `{}`", path.to()))
                        .at(tag)
                        .expected(format!("expected a list or a mapping below it, found {found}"))
                        .note_at("the lower layer's value is at", place)
                        .help("write a bare `!delete` to remove the key"),
                );
                Some(lower)
            }
        }
    }

    fn delete_keys(&mut self, map: &mut Arc<Map>, name: &Value, path: &Path) {
        match &name.kind {
            Kind::Scalar(scalar) => {
                if map.contains_key(&*scalar.text) {
                    Arc::make_mut(map).shift_remove(&*scalar.text);
                }
            }
            Kind::Map(names) => {
                for key in names.keys().filter(|key| map.contains_key(&***key)).cloned().collect::<Vec<_>>() {
                    Arc::make_mut(map).shift_remove(&key);
                }
            }
            _ => self.problem(
                Problem::new(format!("`!delete` over the mapping `{}` names no key", path.to()))
                    .at(name.place)
                    .expected(format!("expected the name of a key, found {}", name.type_name())),
            ),
        }
    }
}

/// True where `named` under a `!delete` removes `item`: they are equal, or it is the item's name.
fn removes(named: &Value, item: &Value) -> bool {
    if same(named, item) {
        return true;
    }
    let Some(name) = item.get("name") else {
        return false;
    };
    match &named.kind {
        Kind::Map(map) if map.len() == 1 => map.get("name").is_some_and(|entry| same(&entry.value, name)),
        Kind::Scalar(_) => named.as_str().is_some() && same(named, name),
        _ => false,
    }
}
