//! Compares wanted and found; yields operations in order. A plan is a value: computed once, then shown, applied
//! and recorded.
//!
//! Enters: catalogue entries, module configs, facts. Leaves: [`Plan`]. Never connects, never prints.

pub mod check;
pub mod conflict;
pub mod impact;
pub mod intent;
pub mod json;
pub mod order;
pub mod origin;
pub mod saved;
pub mod want;
pub mod wave;

pub use crate::data::Vault;
pub use crate::module::{Collector, Language};
pub use crate::resource::{Action, Diff, Facts, Layer, Request, Verb, owed};
pub use intent::{Collected, Force, Intent, Modules, Only, Part, Past};
pub use wave::{Group, Roll, Share, Wave};

use crate::base::{Place, Problem};
use std::collections::BTreeSet;

/// The operations of a run, per node, in the order of the catalogue.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub nodes: Vec<NodePlan>,
    /// In which order they are come to.
    pub roll: Roll,
}

#[derive(Clone, Debug, Default)]
pub struct NodePlan {
    pub node: String,
    pub operations: Vec<Operation>,
    /// What stopped this node before it could be planned; then there are no operations.
    pub problems: Vec<Problem>,
    pub warnings: Vec<Problem>,
}

/// One step that changes a node.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Counts from 1 within the node.
    pub id: usize,
    pub module: String,
    /// Whom it is about: `kind name` each, or `deploy` for one that a module's `deploy()` queued. Several where one
    /// transaction serves them.
    pub resources: Vec<String>,
    pub verb: Verb,
    pub title: String,
    pub diff: Diff,
    pub action: Action,
    /// Ids of the resources whose change triggered it.
    pub triggered_by: Vec<String>,
    pub judged_then: Option<String>,
    /// Why it is owed although nothing of this plan asks for it.
    pub owed: Option<String>,
    pub guards_access: bool,
    /// What takes it back where it cut the access, beside what suil keeps by itself.
    pub undo: Option<String>,
    /// Where the module's code declared the resource.
    pub place: Option<Place>,
}

impl Plan {
    pub fn operations(&self) -> usize {
        self.nodes.iter().map(|node| node.operations.len()).sum()
    }

    /// The nodes that have operations.
    pub fn working(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().filter(|plan| !plan.operations.is_empty()).map(|plan| plan.node.as_str())
    }
}

impl Operation {
    /// Its resources in one line, as plans and records name them.
    pub fn resource(&self) -> String {
        self.resources.join(", ")
    }
}

impl NodePlan {
    /// The modules that have operations.
    pub fn modules(&self) -> BTreeSet<String> {
        self.operations.iter().map(|operation| operation.module.clone()).collect()
    }
}
