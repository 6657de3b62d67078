//! How a node ended.

use crate::base::{Plain, Problem};

/// The word of every outcome, in the order in which counts of them are told.
pub const WORDS: [&str; 6] = ["failed", "in doubt", "not reached", "done", "planned", "nothing to do"];

/// The ends of a node in a run.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// All operations were performed and the check found nothing.
    Done { operations: usize },
    /// No operation was needed.
    Nothing,
    /// An operation or the check failed. What was changed so far stays changed.
    Failed { performed: usize, planned: usize, problems: Vec<Problem> },
    /// The link broke in the middle of an operation: it may or may not have been performed.
    InDoubt { performed: usize, planned: usize, problem: Problem },
    /// Nothing was changed: the node was not reached, or the run ended before its turn.
    NotReached { problems: Vec<Problem> },
    /// A dry run, or an answer of no: so many operations wait.
    Planned { operations: usize },
}

impl Outcome {
    /// The word that stands in the last line of a node and in `summary.yaml`.
    pub fn word(&self) -> &'static str {
        match self {
            Outcome::Done { .. } => "done",
            Outcome::Nothing => "nothing to do",
            Outcome::Failed { .. } => "failed",
            Outcome::InDoubt { .. } => "in doubt",
            Outcome::NotReached { .. } => "not reached",
            Outcome::Planned { .. } => "planned",
        }
    }

    /// True where the run as a whole did not reach what it was asked for.
    pub fn is_failure(&self) -> bool {
        matches!(self, Outcome::Failed { .. } | Outcome::InDoubt { .. } | Outcome::NotReached { .. })
    }

    pub fn problems(&self) -> Vec<&Problem> {
        match self {
            Outcome::Failed { problems, .. } | Outcome::NotReached { problems } => problems.iter().collect(),
            Outcome::InDoubt { problem, .. } => vec![problem],
            Outcome::Done { .. } | Outcome::Nothing | Outcome::Planned { .. } => Vec::new(),
        }
    }

    /// This end of a node, where an earlier round of the run had brought it to another one: what was performed then counts.
    #[must_use]
    pub fn after(self, earlier: &Outcome) -> Outcome {
        let Outcome::Done { operations: done } = earlier else { return self };
        match self {
            Outcome::Done { operations } => Outcome::Done { operations: operations + done },
            Outcome::Nothing => Outcome::Done { operations: *done },
            Outcome::Failed { performed, planned, problems } => {
                Outcome::Failed { performed: performed + done, planned: planned + done, problems }
            }
            Outcome::InDoubt { performed, planned, problem } => {
                Outcome::InDoubt { performed: performed + done, planned: planned + done, problem }
            }
            Outcome::NotReached { .. } | Outcome::Planned { .. } => self,
        }
    }

    /// This end of a node that did not come to all that it was asked for.
    #[must_use]
    pub fn but(self, problem: Problem) -> Outcome {
        match self {
            Outcome::Nothing => Outcome::Failed { performed: 0, planned: 0, problems: vec![problem] },
            Outcome::Done { operations } => {
                Outcome::Failed { performed: operations, planned: operations, problems: vec![problem] }
            }
            Outcome::Failed { performed, planned, mut problems } => {
                problems.push(problem);
                Outcome::Failed { performed, planned, problems }
            }
            other => other,
        }
    }

    /// `{outcome, operations, planned, problems}`.
    pub fn to_plain(&self) -> Plain {
        let (operations, planned) = match self {
            Outcome::Done { operations } => (*operations, *operations),
            Outcome::Failed { performed, planned, .. } | Outcome::InDoubt { performed, planned, .. } => {
                (*performed, *planned)
            }
            Outcome::Planned { operations } => (0, *operations),
            Outcome::Nothing | Outcome::NotReached { .. } => (0, 0),
        };
        Plain::from_iter([
            ("outcome", Plain::from(self.word())),
            ("operations", Plain::from(operations)),
            ("planned", Plain::from(planned)),
            ("problems", self.problems().into_iter().map(|p| Plain::from(&p.what)).collect()),
        ])
    }
}
