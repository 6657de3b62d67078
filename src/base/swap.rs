//! Several files written at once: all of them, or none.

use super::{Problem, Problems, Result};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A file that gets new bytes.
pub struct Change {
    /// The path as a person would type it.
    pub shown: PathBuf,
    /// Where it really is, symbolic links followed.
    pub path: PathBuf,
    /// The bytes that the new ones were made from.
    pub old: Vec<u8>,
    pub new: Vec<u8>,
}

/// Writes every file, or none.
///
/// # Errors
/// A file cannot be written, or changed since it was read. Then every file is as it was.
pub fn swap(changes: &[Change]) -> Result<()> {
    let mut staged = Vec::with_capacity(changes.len());
    let mut problems = Problems::new();
    for change in changes {
        match stage(change) {
            Ok(aside) => staged.push(aside),
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    for (aside, change) in staged.into_iter().zip(changes) {
        aside.persist(&change.path).map_err(|e| Problem::io("write", &change.shown, &e.error))?;
    }
    Ok(())
}

fn stage(change: &Change) -> Result<tempfile::NamedTempFile, Problem> {
    let failed = |error: &std::io::Error| Problem::io("write", &change.shown, error);
    let found = fs::metadata(&change.path).map_err(|e| failed(&e))?;
    let folder = change.path.parent().unwrap_or(Path::new("."));
    let mut aside = tempfile::Builder::new().prefix(".suil-").tempfile_in(folder).map_err(|e| failed(&e))?;
    std::io::Write::write_all(&mut aside, &change.new).map_err(|e| failed(&e))?;
    let file = aside.as_file();
    file.set_permissions(fs::Permissions::from_mode(found.mode() & 0o7777)).map_err(|e| failed(&e))?;
    file.sync_all().map_err(|e| failed(&e))?;
    Ok(aside)
}
