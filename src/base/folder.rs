//! Folders that belong to one process each: the next process removes what a killed one left.

use super::file;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The lock on a folder. The folder counts as held as long as this lives.
#[derive(Debug)]
pub struct Hold(#[allow(dead_code, reason = "it is open, and that is all")] File);

/// Makes a new folder in `all`, for nobody but its owner, and holds it.
///
/// # Errors
/// It cannot be made.
pub fn hold(all: &Path) -> io::Result<(TempDir, Hold)> {
    let _whole = whole(all)?;
    let own = fs::Permissions::from_mode(0o700);
    let folder = tempfile::Builder::new().prefix("").permissions(own).tempdir_in(all)?;
    let lock = File::open(folder.path())?;
    flock(&lock, FlockOperation::LockExclusive)?;
    Ok((folder, Hold(lock)))
}

/// The folders in `all` that nobody holds any more, each with a hold of this process.
///
/// # Errors
/// They cannot be listed.
pub fn left(all: &Path) -> io::Result<Vec<(PathBuf, Hold)>> {
    let _whole = whole(all)?;
    let folders = fs::read_dir(all)?.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    Ok(folders.filter_map(|entry| Some((entry.path(), free(&entry.path())?))).collect())
}

/// A hold on a folder, where nobody else has one.
fn free(folder: &Path) -> Option<Hold> {
    let lock = File::open(folder).ok()?;
    flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok().then_some(Hold(lock))
}

/// Makes `all` and the folder that it stands in, and keeps others from making or finding folders in it.
fn whole(all: &Path) -> io::Result<File> {
    for folder in [all.parent().unwrap_or(all), all] {
        file::private_folder(folder).map_err(|problem| io::Error::other(problem.what))?;
    }
    let whole = File::open(all)?;
    flock(&whole, FlockOperation::LockExclusive)?;
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_left_when_nobody_holds_it() {
        let room = tempfile::tempdir().expect("a folder");
        let all = room.path().join("own/all");
        let (folder, held) = hold(&all).expect("held");
        assert_eq!(left(&all).expect("listed").len(), 0);
        assert_eq!(fs::metadata(folder.path()).expect("a folder").permissions().mode() & 0o777, 0o700);
        let path = folder.keep();
        drop(held);
        let found = left(&all).expect("listed");
        assert_eq!(found.iter().map(|(path, _)| path).collect::<Vec<_>>(), [&path]);
        assert!(free(&path).is_none(), "whoever found it holds it");
        drop(found);
        assert!(free(&path).is_some());
    }
}
