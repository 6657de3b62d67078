//! The host data as layers see it. This room does not know the catalogue: who begins a run says who answers.

use crate::base::Result;
use crate::data::Tree;
use crate::infra::Value;
use crate::infra::jinja::Lookup;
use std::sync::Arc;

/// Answers `lookup()` from the data of hosts, offline.
pub trait Hosts: Send + Sync {
    /// The values that a lookup finds, a list.
    ///
    /// # Errors
    /// Something of the question makes no sense, a value cannot be looked up, or nothing is found that has to be.
    fn lookup(&self, asked: &Lookup) -> Result<Looked>;

    /// The same of a revision of the tree of layers.
    fn of_revision(&self, revision: Arc<dyn Tree>) -> Arc<dyn Hosts>;
}

/// What was found.
#[derive(Clone, PartialEq, Debug)]
pub struct Looked {
    pub value: Value,
    /// What of it is secret.
    pub secrets: Vec<Value>,
}
