//! The private folder that states are read in.

use super::Failure;
use crate::base::{file, folder};
use crate::infra::layer::Layer;
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
    _hold: Option<folder::Hold>,
}

impl Folder {
    /// Makes the folder of a run over the tree at `root`.
    ///
    /// # Errors
    /// Neither below the root nor for temporary files can one be made.
    pub fn new(root: &Path) -> Result<Folder, Failure> {
        let of = |(folder, hold), inside| Folder { folder, inside, count: AtomicUsize::new(0), _hold: hold };
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

/// A folder of this run in `states`; what no run holds any more is removed.
fn below(states: &Path) -> std::io::Result<(TempDir, Option<folder::Hold>)> {
    for (dead, _hold) in folder::left(states)? {
        // What cannot be removed now is in nobody's way.
        let _ = fs::remove_dir_all(dead);
    }
    folder::hold(states).map(|(folder, hold)| (folder, Some(hold)))
}
