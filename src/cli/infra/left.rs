//! Folders of layers in which an output folder is left and nothing else: git removes what it knows, and the rest stays.

use crate::base::Problem;
use crate::data::tree::Repository;
use crate::infra::layer::{self, Options};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Those of `bare`, folders in which nothing else is left, seen from `root`, that the history had.
///
/// # Errors
/// There is no `git`.
pub fn gone(root: &Path, bare: &[String]) -> Result<HashSet<String>, Problem> {
    if bare.is_empty() {
        return Ok(HashSet::new());
    }
    // Outside git nobody knows whether a folder is new or left.
    let Ok(git) = Repository::find(root) else { return Ok(HashSet::new()) };
    let had = layer::each(bare, |folder| git.last_with(folder));
    let mut gone = HashSet::new();
    for (folder, had) in bare.iter().zip(had.into_iter().flatten()) {
        gone.extend(had?.map(|_| folder.clone()));
    }
    Ok(gone)
}

/// The folders without those that are gone.
///
/// # Errors
/// As [`gone`].
pub fn without(root: &Path, folders: Vec<PathBuf>, options: &Options) -> Result<Vec<PathBuf>, Problem> {
    let name = |path: &Path| layer::below(root, path);
    let bare: Vec<String> =
        folders.iter().filter(|path| is_bare(path, options)).filter_map(|path| name(path)).collect();
    let gone = gone(root, &bare)?;
    Ok(folders.into_iter().filter(|path| name(path).is_none_or(|name| !gone.contains(&name))).collect())
}

fn is_bare(folder: &Path, options: &Options) -> bool {
    let output = options.output.components().next();
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().all(|entry| output.is_some_and(|output| entry.file_name() == output.as_os_str()))
}
