//! Impact: what differs between two revisions of a workspace, node by node, as far as the data tells.
//!
//! Only what a node's modules and its connection are told counts: a value that none of its modules reads does nothing
//! to it. Values are compared as they were written, since a schema has the last word on them, and in their order.

mod value;

pub use value::{Difference, What};

use super::build::Catalogue;
use super::entry::Entry;
use super::pattern::Pattern;
use super::select::{Selection, select};
use super::validate::names;
use super::workspace::Workspace;
use crate::base::{Problems, Result};
use crate::data::Vault;
use std::collections::{BTreeMap, BTreeSet};

/// Two revisions of a workspace and the entries of the same nodes in both.
pub struct Both {
    pub before: Catalogue,
    pub after: Catalogue,
    /// The files of OS layers that differ: nobody knows which of them a node reads that was never probed.
    os: Vec<String>,
}

/// What a change does to the data of one node.
#[derive(Clone, Debug)]
pub struct Impact<'a> {
    pub node: String,
    /// `None` where the node is new.
    pub before: Option<&'a Entry>,
    /// `None` where the node is gone.
    pub after: Option<&'a Entry>,
    /// In the order of the data.
    pub values: Vec<Difference>,
    /// Files of OS layers that differ, where the node was never probed and may read any of them.
    pub unseen: &'a [String],
}

impl Both {
    /// Builds the entries of the nodes that are selected in either revision: one that changes its role is in both.
    ///
    /// # Errors
    /// What is wrong in each of the two, `after` first; what is wrong in both alike counts for `after`.
    pub fn build(before: &Workspace, after: &Workspace, selection: &Selection) -> Result<Both, (Problems, Problems)> {
        let mut warnings = after.warnings().to_vec();
        let chosen = match (select(after, selection, &mut warnings), select(before, selection, &mut Vec::new())) {
            (Err(problems), Err(_)) => return Err((problems, Problems::new())),
            (now, then) => now.into_iter().chain(then).flatten().map(|(name, _)| name).collect::<BTreeSet<_>>(),
        };
        let os = os_layers(before, after);
        let build = |workspace: &Workspace, warnings| {
            let there: BTreeSet<&str> = workspace.node_names().collect();
            let names = chosen.iter().filter(|name| there.contains(name.as_str()));
            Catalogue::of(workspace, names.map(|name| (name.clone(), workspace.card(name))).collect(), warnings)
        };
        // `after` first: `before` shares what it has parsed.
        let (after, wrong_after) = build(after, warnings);
        let (before, mut wrong_before) = build(before, Vec::new());
        wrong_before.retain(|problem| !wrong_after.contains(problem));
        match wrong_after.is_empty() && wrong_before.is_empty() {
            true => Ok(Both { before, after, os }),
            false => Err((wrong_after, wrong_before)),
        }
    }

    /// How many nodes there are in either.
    pub fn count(&self) -> usize {
        let names = self.before.entries.iter().chain(&self.after.entries).map(|entry| &entry.name);
        names.collect::<BTreeSet<_>>().len()
    }

    /// Compares each node with itself, by name. Those that do not differ come, too: their modules' code may.
    ///
    /// A secret that was encrypted again is the same where `vault` opens both.
    pub fn impacts<'a>(&'a self, vault: &'a Vault) -> impl Iterator<Item = Impact<'a>> {
        let (mut old, mut new) = (self.before.entries.iter().peekable(), self.after.entries.iter().peekable());
        std::iter::from_fn(move || {
            let first = [old.peek(), new.peek()].into_iter().flatten().map(|entry| entry.name.clone()).min()?;
            let before = old.next_if(|entry| entry.name == first);
            let after = new.next_if(|entry| entry.name == first);
            let values = match (before, after) {
                (Some(before), Some(after)) => differences(before, after, vault),
                _ => Vec::new(),
            };
            let unseen = match after.is_some_and(|entry| entry.provisional) && before.is_some() {
                true => self.os.as_slice(),
                false => &[],
            };
            Some(Impact { node: first.to_string(), before, after, values, unseen })
        })
    }
}

impl Impact<'_> {
    /// True where the node is new, gone, of another role, with other modules or told something else, as far as that is
    /// known.
    pub fn is_any(&self) -> bool {
        let (Some(before), Some(after)) = (self.before, self.after) else { return true };
        before.role != after.role
            || before.modules != after.modules
            || !self.values.is_empty()
            || !self.unseen.is_empty()
    }

    /// The modules that are on the node in both revisions.
    pub fn kept(&self) -> impl Iterator<Item = &str> {
        let (before, after) = (modules(self.before), modules(self.after));
        after.iter().filter(|name| before.contains(name)).map(String::as_str)
    }

    pub fn modules_before(&self) -> &[String] {
        modules(self.before)
    }

    pub fn modules_after(&self) -> &[String] {
        modules(self.after)
    }
}

fn modules(entry: Option<&Entry>) -> &[String] {
    entry.map(|entry| &*entry.modules).unwrap_or_default()
}

/// The files of OS layers that are not the same in both, by their paths.
fn os_layers(before: &Workspace, after: &Workspace) -> Vec<String> {
    let read = |workspace: &Workspace| {
        let patterns: Vec<&Pattern> = workspace.hierarchy().patterns.iter().filter(|p| p.is_os()).collect();
        let mut files = workspace.data_files().unwrap_or_default();
        files.retain(|path| patterns.iter().any(|pattern| names(pattern, path).is_some()));
        files.into_iter().map(|path| (workspace.data_file(&path), path)).map(|(text, path)| (path, text)).collect()
    };
    let (old, new): (BTreeMap<String, _>, BTreeMap<String, _>) = (read(before), read(after));
    let order =
        |workspace: &Workspace| workspace.hierarchy().patterns.iter().map(|p| p.text.clone()).collect::<Vec<_>>();
    let moved = order(before) != order(after);
    let paths: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let differs = |path: &&String| moved || old.get(*path) != new.get(*path);
    paths.into_iter().filter(differs).map(|path| format!("data/{path}")).collect()
}

/// What differs in the connection settings and in the slices of the modules that the node has now.
fn differences(before: &Entry, after: &Entry, vault: &Vault) -> Vec<Difference> {
    let mut found = value::Comparison::new(vault);
    for key in std::iter::once("deployment").chain(after.modules.iter().map(String::as_str)) {
        let had = key == "deployment" || before.modules.iter().any(|module| module == key);
        let old = had.then(|| before.slice(key)).flatten();
        found.compare(key, old.as_ref(), after.slice(key).as_ref());
    }
    found.done()
}
