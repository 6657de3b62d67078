//! Lookups that nobody's data holds: a template of a layer asks them.

use super::super::workspace::Workspace;
use super::text::Open;
use super::{Answers, nothing};
use crate::base::{Place, Problems, Result};
use crate::data::{Lookup, Value};
use std::sync::Arc;

/// The questions of one run over the data of one workspace; what was read for one is there for the next.
pub struct Questions {
    answers: Answers,
}

impl Questions {
    /// Begins to ask. Who asks may know secrets, which `open` opens.
    pub fn new(open: Arc<Open>) -> Questions {
        let mut answers = Answers::default();
        answers.open = Some(open);
        Questions { answers }
    }

    /// The values that a lookup finds on all nodes, as texts, in the order of the nodes' names. `place` is where the
    /// question stands.
    ///
    /// # Errors
    /// A value is no text, another lookup or a secret that is not opened; or there is none and it is required.
    pub fn ask(&mut self, workspace: &Workspace, lookup: &Arc<Lookup>, place: Place) -> Result<Vec<Value>> {
        let answer = self.answers.answer(workspace, lookup, place);
        let problems: Problems = std::mem::take(&mut self.answers.problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        // Nobody is the node that asks.
        let values = answer.list(u32::MAX, lookup.self_);
        match lookup.required && values.is_empty() {
            true => Err(nothing(lookup, place, answer.near()).into()),
            false => Ok(values.to_vec()),
        }
    }
}
