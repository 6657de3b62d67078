//! What a change means for the stacks of a graph. Its JSON is that of `suil infra affected --output json`.

use super::{At, Warning};
use serde::Serialize;

/// The stacks that a change touches, why, and in which order they are run.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Affected {
    /// By wave, then by key.
    pub affected: Vec<Touched>,
    /// The keys of each wave; none where there is a cycle.
    pub waves: Vec<Vec<String>>,
    pub matrix: Matrix,
    /// Stacks of other repositories that depend on what is run here.
    pub external: Vec<String>,
    pub warnings: Vec<Warning>,
    /// Each a list of keys along the edges, from its smallest key back to it.
    pub cycles: Vec<Vec<String>>,
    /// Stacks of the old revision that the new tree has no more.
    pub removed: Vec<Removed>,
    /// Pairs whose order is kept by nothing, because the stacks between them are not in the set.
    pub loose: Vec<Loose>,
    /// The graph came from the cache.
    pub cached: bool,
}

/// A stack that a change touches.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Touched {
    pub key: String,
    pub path: String,
    pub instance: String,
    pub workspace: String,
    pub wave: usize,
    /// In the order of [`Reason`].
    pub reasons: Vec<Reason>,
    pub environment: String,
    pub tool: String,
    pub tool_version: String,
    pub plan_output: String,
    /// Changed modules on the way, and affected stacks that it depends on; sorted.
    pub via: Vec<String>,
    /// Who holds the stack's lock.
    pub locked_by: Option<Holder>,
}

/// Why a stack is affected.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    Changed,
    WatchPath,
    /// Host data that the templates of a layer read differs.
    HostData,
    Module,
    ReadsState,
    Dependent,
    Requested,
}

impl Reason {
    /// The word for it in every output.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Changed => "changed",
            Reason::WatchPath => "watch_path",
            Reason::HostData => "host_data",
            Reason::Module => "module",
            Reason::ReadsState => "reads_state",
            Reason::Dependent => "dependent",
            Reason::Requested => "requested",
        }
    }
}

/// The holder of a lock.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Holder {
    pub run: String,
    /// The number of a pull request; 0 for none.
    pub pr: u64,
    /// `anna@desk`.
    pub who: String,
}

/// A matrix as workflows of a CI take it.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Matrix {
    pub include: Vec<Cell>,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Cell {
    pub stack: String,
    pub key: String,
    pub instance: String,
    pub workspace: String,
    pub environment: String,
    pub wave: usize,
    pub tool: String,
    pub tool_version: String,
    pub plan_output: String,
    pub sha: String,
}

/// A stack that a revision had, and the tree has no more.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Removed {
    pub key: String,
    pub path: String,
    pub instance: String,
    /// Where its state may still be.
    pub state: Option<String>,
    /// The stacks that it needed.
    pub needs: Vec<String>,
    /// Where the old revision says what its backend is.
    pub at: Option<At>,
}

/// A stack that depends on another through stacks that are not in the set.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Loose {
    pub from: String,
    pub to: String,
}
