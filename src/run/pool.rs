//! What the lookups of a run find, beside what they found in the last one.

use super::past::Runs;
use super::record::VERSION;
use crate::base::{Mask, Plain, Problem, Problems, file};
use crate::catalogue::{Read, Workspace};
use indexmap::IndexMap;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// So many runs that have them are looked through for what a lookup found last: each has the lookups of its own nodes, and those of
/// the run before it that it did not have itself.
const RUNS: usize = 64;
pub const NAME: &str = "lookups.yaml";

/// Writes `lookups.yaml` into the record of a run: the nodes, by what was asked for. Only for a run that goes on to
/// change nodes: what a dry run warns of, the apply after it warns of as well. What the last record has beside is
/// carried on, so that runs before it can be pruned.
///
/// # Errors
/// It cannot be written.
pub fn record(folder: &Path, workspace: &Workspace, reads: &[Read], mask: &Mask) -> Result<(), Problem> {
    let before = past(workspace).next().unwrap_or_default();
    let mut found: BTreeMap<String, Plain> = before.into_iter().collect();
    for read in reads {
        found.insert(read.key(), read.nodes(workspace).into_iter().map(Plain::from).collect());
    }
    if found.is_empty() {
        return Ok(());
    }
    let document = Plain::from_iter([("version", Plain::Int(VERSION)), ("lookups", found.into_iter().collect())]);
    file::write(&folder.join(NAME), mask.apply(&document.to_yaml()).as_bytes(), 0o600)
}

/// What each earlier run found, newest first. A record that cannot be read is none: nothing of a run rests on it.
fn past(workspace: &Workspace) -> impl Iterator<Item = IndexMap<String, Plain>> {
    let runs = Runs::open(workspace.root()).unwrap_or_default();
    let files: Vec<_> = runs.all().iter().map(|run| run.path().join(NAME)).filter(|file| file.exists()).collect();
    files.into_iter().take(RUNS).filter_map(|file| {
        let document = Plain::from_yaml(&fs::read_to_string(file).ok()?).ok()?;
        match (document.get("version"), document.get("lookups"), &document) {
            (Some(Plain::Int(_)), Some(Plain::Map(found)), _) => Some(found.clone()),
            // Older records are the mapping alone.
            (_, _, Plain::Map(found)) => Some(found.clone()),
            _ => None,
        }
    })
}

/// Warns of every lookup that finds fewer nodes than in the last run that had it.
pub fn shrunken(workspace: &Workspace, reads: &[Read]) -> Problems {
    let mut open: BTreeMap<String, Vec<&Read>> = BTreeMap::new();
    reads.iter().for_each(|read| open.entry(read.key()).or_default().push(read));
    let mut warnings = Problems::new();
    for found in past(workspace) {
        for (key, nodes) in &found {
            let before: Vec<&str> = nodes.as_list().unwrap_or_default().iter().filter_map(Plain::as_str).collect();
            for read in open.remove(key).into_iter().flatten() {
                warnings.extend(read.shrunken(workspace, &before));
            }
        }
        if open.is_empty() {
            break;
        }
    }
    warnings
}
