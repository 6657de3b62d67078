//! Saved plans of one process: they hold secrets in plain, so they lie in a private folder that goes with it.

use crate::base::{Problem, Result, file};
use crate::infra::layer::Layer;
use crate::infra::terraform::process::{self, Ended, Job, Watch};
use crate::infra::terraform::{Stop, Tool};
use rustix::fs::{FlockOperation, flock};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// So many bytes of what Terraform complains of are kept.
const COMPLAINTS: usize = 1 << 20;

/// All saved plans of this process, by node and layer.
pub struct Plans {
    /// `.suil/held/` of the workspace.
    folder: PathBuf,
    own: Mutex<Option<Own>>,
    kept: Mutex<BTreeMap<(String, String), Plan>>,
}

/// The folder of this process; the lock on it says that the process lives.
struct Own {
    folder: TempDir,
    _lock: File,
}

/// One saved plan. Its file is removed with it.
pub struct Plan {
    pub folder: PathBuf,
    pub tool: Tool,
    /// The root of the tree, and the layer's name in its graph.
    pub root: PathBuf,
    pub stack: String,
    key: (String, String),
    digest: String,
    file: tempfile::TempPath,
}

impl Plan {
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// Runs the tool in the layer's output folder. What it says lies beside the plan until it ended.
    ///
    /// # Errors
    /// It cannot be started. That it failed is for the caller to see.
    pub fn run(&self, words: &[&OsStr], stop: &Stop, watch: &dyn Watch) -> Result<Ended, Problem> {
        let lost = || Problem::new(format!("`{}` is no file of a plan", self.file.display()));
        let name = self.file.file_stem().and_then(OsStr::to_str).ok_or_else(lost)?;
        let job = Job {
            arguments: words.iter().map(|word| (*word).to_owned()).collect(),
            environment: Vec::new(),
            logs: self.file.parent().ok_or_else(lost)?,
            name,
            limits: (usize::MAX, COMPLAINTS),
            precious: true,
            patience: process::PATIENCE,
        };
        self.tool.start(&self.folder, &job, stop, watch)
    }
}

impl Plans {
    pub fn new(workspace: &Path) -> Plans {
        Plans { folder: workspace.join(".suil/held"), own: Mutex::default(), kept: Mutex::default() }
    }

    /// Makes an empty file, mode 0600, for the plan of a layer of `node`.
    ///
    /// # Errors
    /// The private folder cannot be made.
    pub fn room(&self, node: &str, name: &str, layer: &Layer, tool: &Tool) -> Result<Plan, Problem> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let place = match &mut *own {
            Some(own) => own.folder.path().to_owned(),
            None => own.insert(self.begin()?).folder.path().to_owned(),
        };
        let made = tempfile::Builder::new().suffix(".tfplan").tempfile_in(&place);
        let file = made.map_err(|e| Problem::io("make a file in", &place, &e))?.into_temp_path();
        Ok(Plan {
            folder: layer.output.clone(),
            tool: tool.clone(),
            root: layer.root.clone(),
            stack: layer.key(),
            key: (node.to_owned(), name.to_owned()),
            digest: String::new(),
            file,
        })
    }

    /// Makes the folder of this process, and removes those of processes that are gone.
    fn begin(&self) -> Result<Own, Problem> {
        if let Some(above) = self.folder.parent() {
            file::private_folder(above)?;
        }
        file::private_folder(&self.folder)?;
        let failed = |e: std::io::Error| Problem::io("make a folder in", &self.folder, &e);
        // Held until the own folder is locked: nobody takes that for one of a process that is gone.
        let _all = locked(&self.folder, FlockOperation::LockExclusive).map_err(failed)?;
        for entry in std::fs::read_dir(&self.folder).map_err(failed)?.flatten() {
            let gone = locked(&entry.path(), FlockOperation::NonBlockingLockExclusive).is_ok();
            if gone && !is_running(&entry.path()) {
                // What cannot be removed is tried again by the next process.
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        let private = std::fs::Permissions::from_mode(0o700);
        let made = tempfile::Builder::new().prefix("run-").permissions(private).tempdir_in(&self.folder);
        let folder = made.map_err(failed)?;
        let lock = locked(folder.path(), FlockOperation::NonBlockingLockExclusive).map_err(failed)?;
        Ok(Own { folder, _lock: lock })
    }

    /// True while a program runs that a process which is gone has left alone.
    pub fn is_left_running(&self) -> bool {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let gone = |path: &PathBuf| locked(path, FlockOperation::NonBlockingLockExclusive).is_ok();
        entries.filter(gone).any(|path| is_running(&path))
    }

    /// Keeps a plan in place of an older one of its layer. `digest` is of what it does.
    pub fn keep(&self, plan: Plan, digest: &str) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(plan.key.clone(), Plan { digest: digest.to_owned(), ..plan });
    }

    /// The plan of a layer that does what `digest` says. It is given once.
    pub fn take(&self, node: &str, layer: &str, digest: &str) -> Option<Plan> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let plan = kept.remove(&(node.to_owned(), layer.to_owned()))?;
        (plan.digest == digest).then_some(plan)
    }
}

/// True while a program that was started in this folder runs.
fn is_running(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let outputs = entries.filter(|path| path.extension().is_some_and(|end| end == "out"));
    outputs
        .filter_map(|path| path.file_stem()?.to_str().map(str::to_owned))
        .any(|name| process::is_running(folder, &name))
}

fn locked(folder: &Path, how: FlockOperation) -> std::io::Result<File> {
    let folder = File::open(folder)?;
    flock(&folder, how)?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_that_is_gone_left_is_removed_and_the_rest_is_not() {
        let room = tempfile::tempdir().expect("a folder");
        let begun = Plans::new(room.path());
        let own = begun.begin().expect("a folder");
        let gone = room.path().join(".suil/held/run-gone");
        std::fs::create_dir(&gone).expect("a folder");
        std::fs::write(gone.join("x.tfplan"), "secret").expect("a file");
        let other = Plans::new(room.path()).begin().expect("a folder");
        assert!(own.folder.path().is_dir() && other.folder.path().is_dir() && !gone.exists());
        for folder in [own.folder.path(), other.folder.path(), &room.path().join(".suil/held")] {
            let mode = std::fs::metadata(folder).expect("a folder").permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{}", folder.display());
        }
    }
}
