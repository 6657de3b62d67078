//! What a run tells while it goes on: to the screen and to `events.jsonl`.

use super::outcome::Outcome;
use crate::plan::Operation;

/// One thing that happened.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// A node is worked on: `connecting`, `reading facts`, `checking`, …
    Phase { node: &'a str, phase: &'a str },
    /// An operation starts.
    Starting { node: &'a str, operation: &'a Operation, of: usize },
    /// An operation ended. `problem` is what went wrong, `output` what the node said, masked.
    Ended { node: &'a str, operation: &'a Operation, seconds: f64, problem: Option<&'a str>, output: &'a str },
    /// A node ended.
    Finished { node: &'a str, outcome: &'a Outcome },
}

/// Somebody who is told. Called from several tasks at once.
pub trait Watch: Send + Sync {
    fn event(&self, event: &Event<'_>);
}
