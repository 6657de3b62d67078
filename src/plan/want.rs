//! What one module wants of one node.

use crate::resource::{Change, Resource};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The input of [`super::order::node`] for one module.
#[derive(Clone, Debug, Default)]
pub struct Want {
    pub module: String,
    /// In the order in which the module lists them.
    pub resources: Vec<Arc<dyn Resource>>,
    /// Resources that an earlier module already declared alike: they are compared there, but what they react to
    /// here counts too.
    pub triggering: Vec<Arc<dyn Resource>>,
    /// What the module's `deploy()` queued.
    pub queued: Vec<Change>,
    /// Reactions that an earlier run recorded as owed: the id of the resource, and why.
    pub owed: BTreeMap<String, String>,
    /// Every resource is asserted, whether it differs or not.
    pub force: bool,
}
