//! A private folder for what must not lie about: on a file system in memory where there is one, overwritten and removed
//! when it is dropped.

use super::settings::variable;
use crate::base::Problem;
use rustix::process::{Pid, getpid, getuid, test_kill_process};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// How such a folder is called; the number of the process follows.
const PREFIX: &str = "suil-edit-";

/// Nothing in it is larger, the copies that an editor makes included.
const LIMIT: usize = 64 * 1024 * 1024;

/// A folder of mode 0700.
pub struct Private(TempDir);

impl Private {
    /// Makes one under `XDG_RUNTIME_DIR` or `/dev/shm`, else in `instead`.
    ///
    /// # Errors
    /// None of them takes a folder.
    pub fn new(instead: &Path) -> Result<Private, Problem> {
        for parent in memory() {
            sweep(&parent);
            if let Ok(folder) = make(&parent) {
                return Ok(Private(folder));
            }
        }
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(instead)
            .map_err(|e| Problem::io("make folder", instead, &e))?;
        sweep(instead);
        make(instead).map(Private).map_err(|e| Problem::io("make a folder in", instead, &e))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file of mode 0600 into it.
    ///
    /// # Errors
    /// There is no room for it.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, Problem> {
        let path = self.path().join(name);
        let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let written = file.and_then(|mut file| file.write_all(bytes));
        written.map_err(|e| Problem::io("write", &path, &e))?;
        Ok(path)
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        wipe(self.0.path());
    }
}

/// The folders of this machine that are in memory, the own one first.
pub fn memory() -> impl Iterator<Item = PathBuf> {
    let runtime = variable("XDG_RUNTIME_DIR").map(PathBuf::from);
    let all = runtime.into_iter().chain([PathBuf::from("/dev/shm")]);
    all.filter(|folder| folder.is_absolute() && folder.is_dir())
}

fn make(parent: &Path) -> std::io::Result<TempDir> {
    let prefix = format!("{PREFIX}{}-", getpid().as_raw_nonzero());
    let mode = fs::Permissions::from_mode(0o700);
    tempfile::Builder::new().prefix(&prefix).permissions(mode).tempdir_in(parent)
}

/// Removes what a killed process left here.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next()?.parse().ok());
        let Some(pid) = pid.and_then(Pid::from_raw) else { continue };
        let mine = entry.metadata().is_ok_and(|found| found.is_dir() && found.uid() == getuid().as_raw());
        if mine && test_kill_process(pid) == Err(rustix::io::Errno::SRCH) {
            wipe(&entry.path());
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Overwrites every file below a folder. Links are not followed.
fn wipe(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        if kind.is_dir() {
            wipe(&path);
        } else if kind.is_file() {
            let length = entry.metadata().map_or(0, |found| found.len());
            let zeros = vec![0; usize::try_from(length).unwrap_or(0).min(LIMIT)];
            // What cannot be overwritten is removed all the same.
            let _ = fs::OpenOptions::new().write(true).open(&path).and_then(|mut file| file.write_all(&zeros));
        }
    }
}
