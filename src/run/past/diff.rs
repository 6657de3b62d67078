//! What differs between two runs: their nodes, how they ended, the public configs, the operations.

use super::Run;
use super::story::{Fate, NodeStory, Step};
use crate::base::{Plain, Problem};
use indexmap::IndexMap;
use std::collections::BTreeMap;

/// What differs between two runs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Difference {
    /// Nodes of the first run alone, and of the second.
    pub first_only: Vec<String>,
    pub second_only: Vec<String>,
    /// Nodes of both, those that differ alike together.
    pub groups: Vec<(Vec<String>, NodeDifference)>,
    /// Nodes of both that do not differ.
    pub same: Vec<String>,
}

/// What differs for one node.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NodeDifference {
    pub outcome: Option<(String, String)>,
    /// Which of the two has no config of the node, because it was not reached: `first` or `second`.
    pub unrecorded: Option<&'static str>,
    pub modules_added: Vec<String>,
    pub modules_removed: Vec<String>,
    /// Both lists, where the modules are the same in another order.
    pub order: Option<(Vec<String>, Vec<String>)>,
    /// By path: `role`, `deployment.ssh_port`, `nginx.sites[0].root`.
    pub values: Vec<(String, Change)>,
    /// By module and title.
    pub operations: Vec<(String, String, OperationChange)>,
}

/// A value in both runs; at least one of the two is there.
#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    pub before: Option<Plain>,
    pub after: Option<Plain>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperationChange {
    FirstOnly(Fate),
    SecondOnly(Fate),
    /// It was planned in both, and ended otherwise.
    Fate(Fate, Fate),
    /// It ended alike in both, and changed other things: another content, say.
    Other(Fate),
}

/// Compares two runs.
///
/// # Errors
/// A file of one of the records is broken.
pub fn diff(first: &Run, second: &Run) -> Result<Difference, Problem> {
    let (one, other) = (nodes(first)?, nodes(second)?);
    let mut difference = Difference {
        first_only: one.keys().filter(|node| !other.contains_key(*node)).cloned().collect(),
        second_only: other.keys().filter(|node| !one.contains_key(*node)).cloned().collect(),
        ..Difference::default()
    };
    for (name, before) in &one {
        let Some(after) = other.get(name) else { continue };
        let found = node(first, second, before, after)?;
        if found == NodeDifference::default() {
            difference.same.push(name.clone());
            continue;
        }
        match difference.groups.iter_mut().find(|(_, known)| *known == found) {
            Some((names, _)) => names.push(name.clone()),
            None => difference.groups.push((vec![name.clone()], found)),
        }
    }
    Ok(difference)
}

fn nodes(run: &Run) -> Result<BTreeMap<String, NodeStory>, Problem> {
    Ok(run.story()?.nodes.into_iter().map(|node| (node.node.clone(), node)).collect())
}

fn node(first: &Run, second: &Run, before: &NodeStory, after: &NodeStory) -> Result<NodeDifference, Problem> {
    let mut found = NodeDifference::default();
    let outcome = (before.end.outcome.clone(), after.end.outcome.clone());
    // A record of configs alone tells no outcome.
    found.outcome = Some(outcome).filter(|(one, other)| one != other && !one.is_empty() && !other.is_empty());
    match (first.entry(&before.node)?, second.entry(&after.node)?) {
        (Some(one), Some(other)) => configs(first, second, before, after, (one, other), &mut found)?,
        (None, Some(_)) => found.unrecorded = Some("first"),
        (Some(_), None) => found.unrecorded = Some("second"),
        (None, None) => {}
    }
    found.operations = operations(before, after);
    Ok(found)
}

fn configs(
    first: &Run,
    second: &Run,
    before: &NodeStory,
    after: &NodeStory,
    entries: (Plain, Plain),
    found: &mut NodeDifference,
) -> Result<(), Problem> {
    let missing = |of: &NodeStory, from: &NodeStory| -> Vec<String> {
        of.modules.iter().filter(|module| !from.modules.contains(module)).cloned().collect()
    };
    found.modules_added = missing(after, before);
    found.modules_removed = missing(before, after);
    if found.modules_added.is_empty() && found.modules_removed.is_empty() && before.modules != after.modules {
        found.order = Some((before.modules.clone(), after.modules.clone()));
    }
    let bare = |entry: Plain| match entry {
        Plain::Map(mut map) => {
            map.shift_remove("modules");
            Plain::Map(map)
        }
        other => other,
    };
    compare("", &bare(entries.0), &bare(entries.1), &mut found.values);
    let after: IndexMap<String, Plain> = second.configs(&after.node)?.into_iter().collect();
    for (module, one) in first.configs(&before.node)? {
        // A run of some modules says nothing about the others.
        if let Some(other) = after.get(&module) {
            compare(&module, &one, other, &mut found.values);
        }
    }
    Ok(())
}

/// Mappings are compared key by key, lists of the same length item by item, anything else as a whole.
fn compare(path: &str, one: &Plain, other: &Plain, found: &mut Vec<(String, Change)>) {
    match (one, other) {
        (one, other) if one == other => {}
        (Plain::Map(one), Plain::Map(other)) => {
            let keys = one.keys().chain(other.keys().filter(|key| !one.contains_key(*key)));
            for key in keys {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                match (one.get(key), other.get(key)) {
                    (Some(one), Some(other)) => compare(&path, one, other, found),
                    (before, after) => {
                        found.push((path, Change { before: before.cloned(), after: after.cloned() }));
                    }
                }
            }
        }
        (Plain::List(one), Plain::List(other)) if one.len() == other.len() => {
            for (n, (one, other)) in one.iter().zip(other).enumerate() {
                compare(&format!("{path}[{n}]"), one, other, found);
            }
        }
        (one, other) => {
            found.push((path.to_owned(), Change { before: Some(one.clone()), after: Some(other.clone()) }));
        }
    }
}

/// The operation of the other run that is the same as `step`.
fn like<'a>(other: &'a NodeStory, step: &Step) -> Option<&'a Step> {
    other.steps.iter().find(|known| known.module == step.module && known.title == step.title)
}

fn operations(before: &NodeStory, after: &NodeStory) -> Vec<(String, String, OperationChange)> {
    let mut found = Vec::new();
    let mut add = |module: &str, title: &str, change| found.push((module.to_owned(), title.to_owned(), change));
    for step in &before.steps {
        match like(after, step) {
            None => add(&step.module, &step.title, OperationChange::FirstOnly(step.fate)),
            Some(other) if other.fate != step.fate => {
                add(&step.module, &step.title, OperationChange::Fate(step.fate, other.fate));
            }
            Some(other) if other.diff != step.diff => {
                add(&step.module, &step.title, OperationChange::Other(step.fate));
            }
            Some(_) => {}
        }
    }
    for step in &after.steps {
        if like(before, step).is_none() {
            add(&step.module, &step.title, OperationChange::SecondOnly(step.fate));
        }
    }
    found
}

impl Difference {
    pub fn is_empty(&self) -> bool {
        self.first_only.is_empty() && self.second_only.is_empty() && self.groups.is_empty()
    }

    /// `{first, second, first_only, second_only, same, groups: [{nodes, outcome, unrecorded, modules, values,
    /// operations}]}`.
    pub fn to_plain(&self, first: &Run, second: &Run) -> Plain {
        let names = |names: &[String]| names.iter().map(Plain::from).collect::<Plain>();
        let group = |(nodes, found): &(Vec<String>, NodeDifference)| {
            let mut group = Plain::from_iter([("nodes", names(nodes))]);
            for (key, value) in found.to_plain().as_map().into_iter().flatten() {
                group.set(key, value.clone());
            }
            group
        };
        Plain::from_iter([
            ("first", Plain::from(&first.id)),
            ("second", Plain::from(&second.id)),
            ("first_only", names(&self.first_only)),
            ("second_only", names(&self.second_only)),
            ("same", names(&self.same)),
            ("groups", self.groups.iter().map(group).collect()),
        ])
    }
}

impl NodeDifference {
    fn to_plain(&self) -> Plain {
        let names = |names: &[String]| names.iter().map(Plain::from).collect::<Plain>();
        let both = |before: Plain, after: Plain| Plain::from_iter([("before", before), ("after", after)]);
        let outcome = self.outcome.as_ref().map(|(one, other)| both(Plain::from(one), Plain::from(other)));
        let order = self.order.as_ref().map(|(one, other)| both(names(one), names(other)));
        let values = self.values.iter().map(|(path, change)| {
            let mut value = Plain::from_iter([("path", Plain::from(path))]);
            for (key, side) in [("before", &change.before), ("after", &change.after)] {
                if let Some(side) = side {
                    value.set(key, side.clone());
                }
            }
            value
        });
        let operations = self.operations.iter().map(|(module, title, change)| {
            let (before, after) = match change {
                OperationChange::FirstOnly(fate) => (Some(fate.word()), None),
                OperationChange::SecondOnly(fate) => (None, Some(fate.word())),
                OperationChange::Other(fate) => (Some(fate.word()), Some(fate.word())),
                OperationChange::Fate(one, other) => (Some(one.word()), Some(other.word())),
            };
            Plain::from_iter([
                ("module", Plain::from(module)),
                ("title", Plain::from(title)),
                ("before", Plain::from(before)),
                ("after", Plain::from(after)),
            ])
        });
        Plain::from_iter([
            ("outcome", Plain::from(outcome)),
            ("unrecorded", Plain::from(self.unrecorded)),
            (
                "modules",
                Plain::from_iter([
                    ("added", names(&self.modules_added)),
                    ("removed", names(&self.modules_removed)),
                    ("order", Plain::from(order)),
                ]),
            ),
            ("values", values.collect()),
            ("operations", operations.collect()),
        ])
    }
}
