//! What a run tells while it goes on: to the screen and to `events.jsonl`.

use super::outcome::Outcome;
use crate::plan::Operation;
use std::sync::Arc;

/// One thing that happened.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// A node is worked on: `connecting`, `reading facts`, `checking`, …
    Phase { node: &'a str, phase: &'a str },
    /// The facts of a node are there and its plan is made, or it has failed before that.
    Planned { node: &'a str, well: bool },
    /// An operation starts.
    Starting { node: &'a str, operation: &'a Operation, of: usize },
    /// An operation ended. `problem` is what went wrong, `output` what the node said, masked.
    Ended { node: &'a str, operation: &'a Operation, seconds: f64, problem: Option<&'a str>, output: &'a str },
    /// The plan begins to be applied, in so many batches.
    Applying { batches: usize },
    /// A batch of nodes begins, or has ended with all of its checks.
    Batch { batch: usize, of: usize, nodes: &'a [String], begins: bool },
    /// A hook begins, or has `ended`: after so many seconds, with what went wrong and what it said, masked.
    Hook { hook: &'a str, batch: usize, of: usize, nodes: &'a [String], ended: Option<(f64, Option<&'a str>, &'a str)> },
    /// A node ended.
    Finished { node: &'a str, outcome: &'a Outcome },
}

/// Somebody who is told. Called from several tasks at once.
pub trait Watch: Send + Sync {
    fn event(&self, event: &Event<'_>);
}

/// Tells two.
pub struct Both<A, B>(pub Arc<A>, pub Arc<B>);

impl<A: Watch, B: Watch> Watch for Both<A, B> {
    fn event(&self, event: &Event<'_>) {
        self.0.event(event);
        self.1.event(event);
    }
}
