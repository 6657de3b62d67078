//! What all stacks of a run share: the tree, the programs, the folders that suil keeps.

use super::Redactor;
use crate::base::Result;
use crate::infra::layer;
use crate::infra::terraform::{Stop, Tool};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A tree of stacks and what its stacks are run with. `cli` makes it of what the environment says.
#[derive(Clone)]
pub struct Site {
    /// The root of the tree, absolute.
    pub root: PathBuf,
    /// `owner/name`.
    pub repo: String,
    /// The commit that is checked out; `None` outside git.
    pub sha: Option<String>,
    /// The folder of plan files.
    pub plans: PathBuf,
    /// The cache of provider plugins that Terraform is given; `None` where the user has one.
    pub plugins: Option<PathBuf>,
    pub terraform: Tool,
    pub tofu: Tool,
    /// `terraform` or `tofu` for every stack, whatever the tree says.
    pub tool: Option<String>,
    /// The last entries of every backend configuration.
    pub backend_config: Vec<String>,
    /// Renders layers.
    pub layers: Layers,
    pub redactor: Redactor,
    pub stop: Stop,
    /// How long an interrupted program may take to end.
    pub patience: Duration,
    pub state_patience: StatePatience,
    /// The user that the store knows.
    pub user: String,
}

/// How long a start waits for Terraform's own lock of the state, such as a plan of somebody else holds; `None` leaves that
/// to what the user told Terraform.
#[derive(Clone, Copy, Default, Debug)]
pub struct StatePatience {
    pub plan: Option<Duration>,
    pub apply: Option<Duration>,
}

impl StatePatience {
    /// The word for it.
    pub fn word(wait: Option<Duration>) -> Option<OsString> {
        wait.map(|wait| format!("-lock-timeout={}s", wait.as_secs()).into())
    }
}

/// Begins a run over the layers of a tree. Each render is one of its own: what a layer reads of the state of another is
/// read anew after that one was applied.
#[derive(Clone)]
pub struct Layers {
    pub options: layer::Options,
    pub begin: Arc<dyn Fn() -> Result<layer::Run> + Send + Sync>,
}

impl Site {
    /// The word for the commit in the names of plan files.
    pub fn sha(&self) -> &str {
        self.sha.as_deref().unwrap_or(super::artifact::LOCAL)
    }

    /// What suil keeps of runs in flight: what Terraform says, and locks.
    pub fn work(&self) -> PathBuf {
        self.root.join(".suil/infra")
    }

    /// A path as a person types it at the root.
    pub fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }
}
