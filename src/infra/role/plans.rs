//! Saved plans of one process: they hold secrets in plain, so they lie in a private folder that goes with it.

use crate::base::{Problem, Result, file};
use crate::infra::terraform::Tool;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tempfile::TempDir;

/// The folder of a process that was killed is removed once it is this old.
const OLD: Duration = Duration::from_secs(24 * 60 * 60);

/// All saved plans of this process, by node and layer.
pub struct Plans {
    /// `.suil/plans/` of the workspace.
    folder: PathBuf,
    own: Mutex<Option<TempDir>>,
    kept: Mutex<BTreeMap<(String, String), Plan>>,
}

/// One saved plan. Its file is removed with it.
pub struct Plan {
    pub folder: PathBuf,
    pub tool: Tool,
    key: (String, String),
    digest: String,
    file: tempfile::TempPath,
}

impl Plan {
    pub fn path(&self) -> &Path {
        &self.file
    }
}

impl Plans {
    pub fn new(workspace: &Path) -> Plans {
        Plans { folder: workspace.join(".suil/plans"), own: Mutex::default(), kept: Mutex::default() }
    }

    /// Makes an empty file, mode 0600, for the plan of a layer whose output folder is `folder`.
    ///
    /// # Errors
    /// The private folder cannot be made.
    pub fn room(&self, node: &str, layer: &str, folder: &Path, tool: &Tool) -> Result<Plan, Problem> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let place = match &mut *own {
            Some(place) => place.path().to_owned(),
            None => {
                let place = self.begin()?;
                own.insert(place).path().to_owned()
            }
        };
        let made = tempfile::Builder::new().suffix(".tfplan").tempfile_in(&place);
        let file = made.map_err(|e| Problem::io("make a file in", &place, &e))?.into_temp_path();
        let key = (node.to_owned(), layer.to_owned());
        Ok(Plan { folder: folder.to_owned(), tool: tool.clone(), key, digest: String::new(), file })
    }

    fn begin(&self) -> Result<TempDir, Problem> {
        if let Some(above) = self.folder.parent() {
            file::private_folder(above)?;
        }
        file::private_folder(&self.folder)?;
        for entry in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let age = entry.metadata().and_then(|meta| meta.modified()).ok().and_then(|at| at.elapsed().ok());
            if age.is_some_and(|age| age > OLD) {
                // Another process may be at it.
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        let private = std::fs::Permissions::from_mode(0o700);
        let made = tempfile::Builder::new().prefix("run-").permissions(private).tempdir_in(&self.folder);
        made.map_err(|e| Problem::io("make a folder in", &self.folder, &e))
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
