//! What the lookups of a run find, beside what they found in the last one.

use crate::base::{Mask, Plain, Problem, Problems, file};
use crate::catalogue::{Read, Workspace};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// So many runs are looked through for what a lookup found last: each has only the lookups of its own nodes.
const RUNS: usize = 64;
const NAME: &str = "lookups.yaml";

/// Writes `lookups.yaml` into the record of a run: the nodes, by what was asked for. Only for a run that goes on to
/// change nodes: what a dry run warns of, the apply after it warns of as well.
///
/// # Errors
/// It cannot be written.
pub fn record(folder: &Path, workspace: &Workspace, reads: &[Read], mask: &Mask) -> Result<(), Problem> {
    let by_key: BTreeMap<String, &Read> = reads.iter().map(|read| (read.key(), read)).collect();
    if by_key.is_empty() {
        return Ok(());
    }
    let nodes = |read: &Read| read.nodes(workspace).into_iter().map(Plain::from).collect::<Plain>();
    let found: Plain = by_key.into_iter().map(|(key, read)| (key, nodes(read))).collect();
    file::write(&folder.join(NAME), mask.apply(&found.to_yaml()).as_bytes(), 0o600)
}

/// Warns of every lookup that finds fewer nodes than in the last run that had it. A record that cannot be read is
/// none: nothing of a run rests on it.
pub fn shrunken(workspace: &Workspace, reads: &[Read]) -> Problems {
    let mut open: BTreeMap<String, Vec<&Read>> = BTreeMap::new();
    reads.iter().for_each(|read| open.entry(read.key()).or_default().push(read));
    let entries = fs::read_dir(workspace.root().join(".runs")).into_iter().flatten().flatten();
    let mut folders: Vec<_> = entries.map(|entry| entry.path()).filter(|path| !path.is_symlink()).collect();
    folders.sort();
    let mut warnings = Problems::new();
    for folder in folders.iter().rev().take(RUNS) {
        if open.is_empty() {
            break;
        }
        let Ok(text) = fs::read_to_string(folder.join(NAME)) else { continue };
        let Ok(Plain::Map(found)) = Plain::from_yaml(&text) else { continue };
        for (key, nodes) in &found {
            let before: Vec<&str> = nodes.as_list().unwrap_or_default().iter().filter_map(Plain::as_str).collect();
            for read in open.remove(key).into_iter().flatten() {
                warnings.extend(read.shrunken(workspace, &before));
            }
        }
    }
    warnings
}
