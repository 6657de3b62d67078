//! What differs between two values, with both places.

use crate::data::{Cipher, Kind, Map, Value, Vault};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::sync::Arc;

/// One value that differs.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The keys that lead to it; items of lists by their index.
    pub path: Vec<String>,
    pub what: What,
    pub before: Option<Value>,
    pub after: Option<Value>,
}

/// How a value differs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    Added,
    Removed,
    Changed,
    /// The same keys in another order.
    Reordered,
    /// A secret with another ciphertext that no key opens: it may be another one, or the same encrypted again.
    Sealed,
}

/// Walks two trees side by side.
pub struct Comparison<'a> {
    vault: &'a Vault,
    path: Vec<String>,
    found: Vec<Difference>,
}

impl Comparison<'_> {
    pub fn new(vault: &Vault) -> Comparison<'_> {
        Comparison { vault, path: Vec::new(), found: Vec::new() }
    }

    pub fn done(self) -> Vec<Difference> {
        self.found
    }

    /// Compares what stands under `key`.
    pub fn compare(&mut self, key: &str, before: Option<&Value>, after: Option<&Value>) {
        self.path.push(key.to_owned());
        match (before, after) {
            (None, None) => {}
            (Some(before), Some(after)) => self.both(before, after),
            (None, Some(_)) => self.add(What::Added, before, after),
            (Some(_), None) => self.add(What::Removed, before, after),
        }
        self.path.pop();
    }

    fn add(&mut self, what: What, before: Option<&Value>, after: Option<&Value>) {
        let path = self.path.clone();
        self.found.push(Difference { path, what, before: before.cloned(), after: after.cloned() });
    }

    fn both(&mut self, before: &Value, after: &Value) {
        if equal(before, after) {
            return;
        }
        match (&before.kind, &after.kind) {
            (Kind::Map(old), Kind::Map(new)) => {
                let known = self.found.len();
                self.maps(old, new);
                let moved = !old
                    .keys()
                    .filter(|key| new.contains_key(*key))
                    .eq(new.keys().filter(|key| old.contains_key(*key)));
                if self.found.len() == known && moved {
                    self.add(What::Reordered, Some(before), Some(after));
                }
            }
            (Kind::List(old), Kind::List(new)) => self.lists(old, new),
            (Kind::Secret(old), Kind::Secret(new)) => match self.same_secret(old, new, before, after) {
                Some(true) => {}
                Some(false) => self.add(What::Changed, Some(before), Some(after)),
                None => self.add(What::Sealed, Some(before), Some(after)),
            },
            _ => self.add(What::Changed, Some(before), Some(after)),
        }
    }

    fn maps(&mut self, old: &Map, new: &Map) {
        for (key, slot) in new {
            self.compare(key, old.get(key).map(|slot| &slot.value), Some(&slot.value));
        }
        for (key, slot) in old.iter().filter(|(key, _)| !new.contains_key(*key)) {
            self.compare(key, Some(&slot.value), None);
        }
    }

    /// Items that are named are found by their name, others by what comes before and after them.
    fn lists(&mut self, old: &[Value], new: &[Value]) {
        // Most of a long list is as it was: a lookup that finds one node more.
        let alike = |(a, b): &(&Value, &Value)| equal(a, b);
        let head = old.iter().zip(new).take_while(alike).count();
        let rest = |list: &[Value]| list.get(head..).unwrap_or_default().to_vec();
        let (mut old, mut new) = (rest(old), rest(new));
        let tail = old.iter().rev().zip(new.iter().rev()).take_while(alike).count();
        old.truncate(old.len() - tail);
        new.truncate(new.len() - tail);
        let (named, before, after): (bool, Vec<_>, Vec<_>) = match (names(&old), names(&new)) {
            (Some(old), Some(new)) => (true, old, new),
            _ => (false, old.iter().map(text).collect(), new.iter().map(text).collect()),
        };
        for op in capture_diff_slices(Algorithm::Myers, &before, &after) {
            let (_, from, to) = op.as_tag_tuple();
            let shared = match op {
                DiffOp::Equal { len, .. } => len,
                _ if named => 0,
                _ => from.len().min(to.len()),
            };
            let pairs = from.clone().zip(to.clone()).take(shared);
            for (i, j) in pairs {
                self.compare(&(head + j).to_string(), old.get(i), new.get(j));
            }
            for i in from.skip(shared) {
                self.compare(&(head + i).to_string(), old.get(i), None);
            }
            for j in to.skip(shared) {
                self.compare(&(head + j).to_string(), None, new.get(j));
            }
        }
    }

    /// `None` where no key tells.
    fn same_secret(&self, old: &Arc<Cipher>, new: &Arc<Cipher>, before: &Value, after: &Value) -> Option<bool> {
        let key = self.path.join(".");
        let open = |cipher: &Cipher, value: &Value| self.vault.reveal(cipher, &key, value.place).ok();
        Some(open(old, before)?.as_bytes() == open(new, after)?.as_bytes())
    }
}

/// True where both were written alike: what a schema makes of them is then the same.
fn equal(a: &Value, b: &Value) -> bool {
    match (&a.kind, &b.kind) {
        (Kind::Scalar(a), Kind::Scalar(b)) => a.resolved == b.resolved && a.text == b.text,
        (Kind::List(a), Kind::List(b)) => {
            Arc::ptr_eq(a, b) || a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| equal(a, b))
        }
        (Kind::Map(a), Kind::Map(b)) => {
            let keys = || a.keys().eq(b.keys());
            let values = || a.values().zip(b.values()).all(|(a, b)| equal(&a.value, &b.value));
            Arc::ptr_eq(a, b) || keys() && values()
        }
        (Kind::Secret(a), Kind::Secret(b)) => a == b,
        (Kind::Lookup(a), Kind::Lookup(b)) => a == b,
        _ => false,
    }
}

/// The names of the items, where each has one of its own.
fn names(list: &[Value]) -> Option<Vec<String>> {
    let names: Vec<String> =
        list.iter().map(|item| item.get("name")?.as_str().map(str::to_owned)).collect::<Option<_>>()?;
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair.first() != pair.last()).then_some(names)
}

/// What tells an item from others.
fn text(item: &Value) -> String {
    item.to_plain(&mut |cipher, _| cipher.marker().into()).to_json_line()
}
