//! The merge: one layer over what lies below it. Nothing that stays unchanged is copied.
//!
//! Mappings merge key by key, lists concatenate, anything else is replaced; a tag changes that for its value (the
//! table in the manual, "Data").

mod delete;
mod names;

use super::tagged::{Member, Node, Strategy};
use super::{Entry, Kind, Map, Resolved, Tagged, Value};
use crate::base::{Place, Problem, Problems, Result};
use std::sync::{Arc, LazyLock};

/// Merges a layer over what the lower layers made. `None` is nothing: no lower layer, or everything deleted.
///
/// # Errors
/// Every value of the layer that its tag cannot be applied to, with its key path and both places.
pub fn merge(lower: Option<Value>, upper: &Tagged) -> Result<Option<Value>> {
    let mut run = Merge { problems: Problems::new() };
    let value = run.join(lower, upper, &Path::ROOT);
    if run.problems.is_empty() { Ok(value) } else { Err(run.problems) }
}

/// True where two values are equal, their types included: `1`, `"1"` and `1.0` are three values. The order of keys
/// does not count, places do not count.
pub fn same(a: &Value, b: &Value) -> bool {
    match (&a.kind, &b.kind) {
        (Kind::Scalar(a), Kind::Scalar(b)) => match (a.resolved, b.resolved) {
            (Resolved::Str, Resolved::Str) => a.text == b.text,
            (a, b) => a == b,
        },
        (Kind::List(a), Kind::List(b)) => {
            Arc::ptr_eq(a, b) || a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same(a, b))
        }
        (Kind::Map(a), Kind::Map(b)) => {
            let has =
                |(key, entry): (&Arc<str>, &Entry)| b.get(key).is_some_and(|other| same(&entry.value, &other.value));
            Arc::ptr_eq(a, b) || a.len() == b.len() && a.iter().all(has)
        }
        (Kind::Secret(a), Kind::Secret(b)) => a == b,
        (Kind::Lookup(a), Kind::Lookup(b)) => a == b,
        _ => false,
    }
}

struct Merge {
    problems: Problems,
}

/// The keys that lead to a value. It lives on the stack, so a merge without problems allocates nothing for it.
struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    key: &'a str,
}

impl Path<'_> {
    const ROOT: Path<'static> = Path { parent: None, key: "" };

    fn to(&self) -> String {
        match self.parent {
            Some(parent) if parent.parent.is_some() => format!("{}.{}", parent.to(), self.key),
            _ => self.key.to_owned(),
        }
    }
}

impl Merge {
    fn join(&mut self, lower: Option<Value>, upper: &Tagged, path: &Path) -> Option<Value> {
        let strategy = upper.tag.map(|tag| tag.strategy);
        if strategy == Some(Strategy::Delete) {
            return self.delete(lower?, upper, path);
        }
        let Some(lower) = lower.filter(|_| strategy != Some(Strategy::Replace)) else {
            return self.content(upper, path);
        };
        match lower.kind {
            Kind::Map(below) if upper.is_map() => {
                let map = self.join_map(below, upper, path);
                Some(Value { kind: Kind::Map(map), place: lower.place })
            }
            Kind::List(below) if strategy == Some(Strategy::Merge) => {
                let list = self.join_by_name(below, upper, path);
                Some(Value { kind: Kind::List(list), place: lower.place })
            }
            Kind::List(below) if upper.is_list() || strategy == Some(Strategy::Append) => {
                let list = self.append(below, upper, path);
                Some(Value { kind: Kind::List(list), place: lower.place })
            }
            _ => self.content(upper, path),
        }
    }

    /// The value as if merged over nothing, its own tag taken off.
    fn content(&mut self, upper: &Tagged, path: &Path) -> Option<Value> {
        let kind = match &upper.node {
            Node::Plain(value) => return Some(value.clone()),
            Node::Nothing => return None,
            Node::List(list) => Kind::List(Arc::new(list.iter().filter_map(|item| self.item(item, path)).collect())),
            Node::Map(_) => Kind::Map(self.join_map(Arc::new(Map::new()), upper, path)),
        };
        Some(Value { kind, place: upper.place })
    }

    /// A list item over nothing. A tag on an item has nothing to act on and is taken off; a `!delete` leaves no trace.
    /// A scalar that stood under a tag here is a string, as the conformance corpus has it; a schema still reads its
    /// text.
    fn item(&mut self, item: &Tagged, path: &Path) -> Option<Value> {
        if item.tag.is_some_and(|tag| tag.strategy == Strategy::Delete) {
            return None;
        }
        let mut value = self.content(item, path)?;
        if let (Some(_), Kind::Scalar(scalar)) = (item.tag, &mut value.kind) {
            scalar.resolved = Resolved::Str;
        }
        Some(value)
    }

    fn join_map(&mut self, mut below: Arc<Map>, upper: &Tagged, path: &Path) -> Arc<Map> {
        match &upper.node {
            Node::Plain(Value { kind: Kind::Map(over), .. }) => join_plain_map(below, over),
            Node::Map(members) => {
                let map = Arc::make_mut(&mut below);
                for (key, member) in members.iter() {
                    self.join_member(map, key, member, &Path { parent: Some(path), key });
                }
                below
            }
            _ => below,
        }
    }

    fn join_member(&mut self, map: &mut Map, key: &Arc<str>, member: &Member, path: &Path) {
        let Some(entry) = map.get_mut(key) else {
            if let Some(value) = self.join(None, &member.value, path) {
                map.insert(key.clone(), Entry { key: member.key, value });
            }
            return;
        };
        let below = std::mem::replace(&mut entry.value, vacant(member.key));
        let place = below.place;
        match self.join(Some(below), &member.value, path) {
            Some(value) => {
                if value.place != place {
                    entry.key = member.key;
                }
                entry.value = value;
            }
            // The keys above must keep their order.
            None => drop(map.shift_remove(key)),
        }
    }

    /// Concatenates; a single value counts as a list of one.
    fn append(&mut self, mut below: Arc<Vec<Value>>, upper: &Tagged, path: &Path) -> Arc<Vec<Value>> {
        match &upper.node {
            Node::Plain(Value { kind: Kind::List(over), .. }) => return join_plain_list(below, over),
            Node::List(items) => {
                let list = Arc::make_mut(&mut below);
                list.extend(items.iter().filter_map(|item| self.item(item, path)));
            }
            _ => Arc::make_mut(&mut below).extend(self.content(upper, path)),
        }
        below
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

/// What stands in a slot while its value is being merged.
fn vacant(place: Place) -> Value {
    static EMPTY: LazyLock<Arc<Vec<Value>>> = LazyLock::new(Arc::default);
    Value { kind: Kind::List(EMPTY.clone()), place }
}

/// One value with no tags over another.
fn join_plain(lower: Value, upper: &Value) -> Value {
    let place = lower.place;
    match (lower.kind, &upper.kind) {
        (Kind::Map(below), Kind::Map(over)) => Value { kind: Kind::Map(join_plain_map(below, over)), place },
        (Kind::List(below), Kind::List(over)) => Value { kind: Kind::List(join_plain_list(below, over)), place },
        _ => upper.clone(),
    }
}

fn join_plain_map(mut below: Arc<Map>, over: &Arc<Map>) -> Arc<Map> {
    if below.is_empty() {
        return over.clone();
    }
    if over.is_empty() {
        return below;
    }
    let map = Arc::make_mut(&mut below);
    for (key, entry) in over.iter() {
        let Some(slot) = map.get_mut(key) else {
            map.insert(key.clone(), entry.clone());
            continue;
        };
        match (&slot.value.kind, &entry.value.kind) {
            (Kind::Map(_), Kind::Map(_)) | (Kind::List(_), Kind::List(_)) => {
                let lower = std::mem::replace(&mut slot.value, entry.value.clone());
                slot.value = join_plain(lower, &entry.value);
            }
            _ => *slot = entry.clone(),
        }
    }
    below
}

fn join_plain_list(mut below: Arc<Vec<Value>>, over: &Arc<Vec<Value>>) -> Arc<Vec<Value>> {
    if below.is_empty() {
        return over.clone();
    }
    if !over.is_empty() {
        Arc::make_mut(&mut below).extend(over.iter().cloned());
    }
    below
}

#[cfg(test)]
mod tests;
