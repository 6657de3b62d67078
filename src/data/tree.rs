//! The files of a workspace that people wrote, wherever they lie: on the disk, or in a revision of git.
//!
//! Enters: paths from the workspace, with `/`. Leaves: bytes and names. `facts/` and `.runs/` are no part of a tree:
//! they belong to no revision, and are read from the disk for every one.

mod disk;
mod git;

pub use disk::Disk;
pub use git::{Change, Environment, Names, Refs, Repository, Revision, Standing, Tracked, names};

use crate::base::{Problem, Problems};
use std::fmt::Debug;
use std::io;
use std::path::PathBuf;

/// The files of one workspace. Links are followed.
pub trait Tree: Send + Sync + Debug {
    /// The content of a file.
    ///
    /// # Errors
    /// There is no such file, or it cannot be read.
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;

    /// The names in a folder, sorted by bytes, and whether each is a folder. A name that is no UTF-8 is left out: no
    /// data file can name it.
    ///
    /// # Errors
    /// There is no such folder, or it cannot be read.
    fn entries(&self, path: &str) -> io::Result<Vec<(String, bool)>>;

    /// True where there is a file, whatever it holds.
    fn is_file(&self, path: &str) -> bool;

    /// True where there is a file that may be run as a program.
    fn is_executable(&self, path: &str) -> bool;

    /// The path of the same thing with no link in it.
    ///
    /// # Errors
    /// Nothing is there, or a link leads out of the workspace.
    fn resolved(&self, path: &str) -> io::Result<String>;

    /// The path as a person would type it: `HEAD~1:data/common.yaml` for a file of a revision.
    fn shown(&self, path: &str) -> PathBuf;

    /// Where a file lies on this machine, for those that are too big to hold; `None` where it is not on the disk.
    fn real_path(&self, path: &str) -> Option<PathBuf>;
}

/// Says in which revision something is wrong, where no place says it.
pub fn told(problems: Problems, revision: &str) -> Problems {
    let lead = format!("{revision}:");
    let say = |problem: Problem| match problem.place {
        Some(place) if place.path().to_string_lossy().starts_with(&lead) => problem,
        _ => problem.note(format!("this is so in the revision `{revision}`")),
    };
    problems.into_iter().map(say).collect()
}
