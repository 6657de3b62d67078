//! `!merge` over a list: items of one `name` are one item.

use super::super::tagged::{Node, Strategy};
use super::super::{Kind, Resolved, Tagged, Value};
use super::{Merge, Path, vacant};
use crate::base::Problem;
use std::collections::HashMap;
use std::sync::Arc;

/// A name as it is compared: `1` and `"1"` are two names.
#[derive(PartialEq, Eq, Hash)]
enum Name {
    Text(Arc<str>),
    Whole(i64),
    Number(u64),
    Truth(bool),
}

impl Merge {
    /// Merges each item into the first lower item of its name; the others follow at the end, and are not merged
    /// among themselves.
    pub(super) fn join_by_name(&mut self, mut below: Arc<Vec<Value>>, upper: &Tagged, path: &Path) -> Arc<Vec<Value>> {
        let items = if upper.is_list() { upper.items() } else { vec![upper.clone().tagged(None)] };
        let list = Arc::make_mut(&mut below);
        let mut places: HashMap<Name, usize> = HashMap::new();
        for (index, item) in list.iter().enumerate() {
            if let Some(name) = item.get("name").and_then(name_of) {
                places.entry(name).or_insert(index);
            }
        }
        let mut gone = Vec::new();
        for item in &items {
            let found = self.name(item, path).and_then(|name| places.get(&name).copied());
            let deleted = item.tag.is_some_and(|tag| tag.strategy == Strategy::Delete);
            match found.and_then(|index| list.get_mut(index).map(|slot| (index, slot))) {
                Some((index, _)) if deleted => gone.push(index),
                Some((_, slot)) => {
                    let lower = std::mem::replace(slot, vacant(item.place));
                    let own = item.clone().tagged(None);
                    if let Some(value) = self.join(Some(lower), &own, path) {
                        *slot = value;
                    }
                }
                None => list.extend(self.item(item, path)),
            }
        }
        if !gone.is_empty() {
            let mut index = 0;
            list.retain(|_| {
                index += 1;
                !gone.contains(&(index - 1))
            });
        }
        below
    }

    fn name(&mut self, item: &Tagged, path: &Path) -> Option<Name> {
        let member = item.get("name")?;
        let Node::Plain(value) = &member.value.node else {
            self.refuse(&member.value, path);
            return None;
        };
        let name = name_of(value);
        if name.is_none() {
            self.refuse(&member.value, path);
        }
        name
    }

    fn refuse(&mut self, name: &Tagged, path: &Path) {
        self.problem(
            Problem::new(format!("an item under `!merge` in `{}` has a `name` that is no single value", path.to()))
                .at(name.place)
                .expected("expected a string or a number: items are matched by it"),
        );
    }
}

fn name_of(value: &Value) -> Option<Name> {
    let Kind::Scalar(scalar) = &value.kind else {
        return None;
    };
    Some(match scalar.resolved {
        Resolved::Str => Name::Text(scalar.text.clone()),
        Resolved::Int(n) => Name::Whole(n),
        Resolved::Float(x) => Name::Number(x.to_bits()),
        Resolved::Bool(b) => Name::Truth(b),
        Resolved::Null => return None,
    })
}
