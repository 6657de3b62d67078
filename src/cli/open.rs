//! Finds and opens the workspace.

use super::Context;
use crate::base::{Problem, Problems};
use crate::catalogue::{self, Workspace};
use std::path::PathBuf;

impl Context {
    /// The folder of the workspace: the one named, else the nearest above the current folder.
    ///
    /// # Errors
    /// There is none.
    pub fn root(&self) -> Result<PathBuf, Problems> {
        if let Some(folder) = &self.workspace {
            if folder.join("data/common.yaml").is_file() {
                return Ok(folder.clone());
            }
            let what = format!("`{}` is no workspace: it has no data/common.yaml", folder.display());
            return Err(Problem::new(what).help("`suil init DIR` makes one to start from").into());
        }
        let here = std::env::current_dir().map_err(|e| Problem::io("find", "the current folder".as_ref(), &e))?;
        catalogue::find(&here).ok_or_else(|| {
            Problem::new("there is no workspace here or in any folder above: none has data/common.yaml")
                .help("go to one, name it with `--workspace DIR`, or make one with `suil init DIR`")
                .into()
        })
    }

    /// Opens the workspace.
    ///
    /// # Errors
    /// There is none, or its inventory cannot be read.
    pub fn open(&self) -> Result<Workspace, Problems> {
        let root = self.root()?;
        // The settings of the workspace say whether to colour what comes next.
        self.settings(&root)?;
        Workspace::open(&root)
    }
}
