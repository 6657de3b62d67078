//! The private folder that states are read in.

use super::Failure;
use crate::base::file;
use crate::infra::layer::Layer;
use rustix::fs::{FlockOperation, flock};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

/// Where folders of the tree stand, below its root; where that cannot be written to, it is a temporary folder.
const STATES: &str = ".suil/states";

/// A folder of this run alone. It is removed with this value; one that a killed run left is removed by the next.
pub struct Folder {
    folder: TempDir,
    /// Below the root, so that as many `..` lead from there to it as from an output folder.
    inside: bool,
    count: AtomicUsize,
    _lock: Option<fs::File>,
}

impl Folder {
    /// Makes the folder of a run over the tree at `root`.
    ///
    /// # Errors
    /// Neither below the root nor for temporary files can one be made.
    pub fn new(root: &Path) -> Result<Folder, Failure> {
        let of = |(folder, lock), inside| Folder { folder, inside, count: AtomicUsize::new(0), _lock: lock };
        if let Ok(made) = below(&root.join(STATES)) {
            return Ok(of(made, true));
        }
        let folder = tempfile::tempdir().map_err(|e| {
            let what =
                format!("cannot make a folder to read states in, neither in `{STATES}` nor for temporary files: {e}");
            Failure::Said(what, Vec::new())
        })?;
        Ok(of((folder, None), false))
    }

    /// A new folder in it for the state of a layer.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn place(&self, layer: &Layer) -> Result<PathBuf, Failure> {
        let number = self.count.fetch_add(1, Ordering::Relaxed).to_string();
        let mut path = self.folder.path().to_owned();
        if self.inside {
            let depth = |path: &Path| path.strip_prefix(&layer.root).map_or(0, |below| below.components().count());
            // What is computed from `stacks_root` in a layer leads from here to the same place.
            for _ in depth(&path) + 1..depth(&layer.output) {
                path.push(&number);
            }
        }
        path.push(&number);
        file::private_folder(&path).map_err(|problem| Failure::Said(problem.what, Vec::new()))?;
        Ok(path)
    }
}

/// A folder of this run in `states`, locked as long as the run goes; what no run has a lock on is removed.
fn below(states: &Path) -> std::io::Result<(TempDir, Option<fs::File>)> {
    file::private_folder(states.parent().unwrap_or(states)).map_err(|e| std::io::Error::other(e.what))?;
    file::private_folder(states).map_err(|e| std::io::Error::other(e.what))?;
    let whole = fs::File::open(states)?;
    flock(&whole, FlockOperation::LockExclusive)?;
    for entry in fs::read_dir(states)?.flatten() {
        let dead = fs::File::open(entry.path())
            .is_ok_and(|folder| flock(&folder, FlockOperation::NonBlockingLockExclusive).is_ok());
        if dead && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            // What cannot be removed now is in nobody's way.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    let folder = tempfile::Builder::new().prefix("").tempdir_in(states)?;
    let lock = fs::File::open(folder.path())?;
    flock(&lock, FlockOperation::LockExclusive)?;
    Ok((folder, Some(lock)))
}
