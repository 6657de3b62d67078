//! Where a stack stands in a run, and who wants to know.

use super::Summary;
use super::provisional::ALL;
use crate::base::Problems;
use crate::infra::store::{RunStack, StackState};

/// Where one stack stands.
#[derive(Clone, Debug)]
pub struct Stand {
    pub row: RunStack,
    /// What the last plan would do, or what the apply did.
    pub summary: Option<Summary>,
    /// Inputs that are not known before others are applied: `<stack>: <output>`.
    pub unknown: Vec<String>,
    /// The text of the plan.
    pub text: Option<String>,
    pub problems: Problems,
    /// Terraform still works on it, and nobody waits.
    pub left: bool,
    /// It was applied in this run and something changed by it: those after it are planned anew.
    pub changed: bool,
}

impl Stand {
    pub fn new(row: RunStack) -> Stand {
        Stand {
            row,
            summary: None,
            unknown: Vec::new(),
            text: None,
            problems: Problems::new(),
            left: false,
            changed: false,
        }
    }

    pub fn state(&self) -> StackState {
        self.row.state
    }

    /// How long the work on it took.
    pub fn seconds(&self) -> Option<f64> {
        let (started, ended) = (self.row.started?, self.row.ended?);
        Some((ended - started).num_milliseconds().max(0) as f64 / 1000.0)
    }

    /// What stands behind its state, in a few words.
    pub fn words(&self) -> String {
        let summary = || self.summary.as_ref().map(Summary::words).unwrap_or_default();
        match self.state() {
            StackState::Blocked => format!("by {}", self.row.blocked_by.as_deref().unwrap_or("another stack")),
            StackState::Planned if !self.unknown.is_empty() => {
                let after: Vec<&str> = self.unknown.iter().filter_map(|value| value.split(": ").next()).collect();
                let mut after = after;
                after.dedup();
                let summary = if self.summary.is_some() { summary() + "; " } else { String::new() };
                format!("{summary}waits for {}", after.join(", "))
            }
            StackState::Applied => self.summary.as_ref().map(Summary::done).unwrap_or_default(),
            StackState::Skipped => "no state".to_owned(),
            StackState::Failed if self.left => "still runs".to_owned(),
            StackState::Failed => {
                let what = self.problems.first().map_or("", |problem| problem.what.as_str());
                what.strip_prefix(&format!("stack `{}`: ", self.row.stack)).unwrap_or(what).to_owned()
            }
            _ => summary(),
        }
    }

    /// True where a plan of it was made, or none is needed.
    pub fn is_planned(&self) -> bool {
        matches!(self.state(), StackState::Planned | StackState::Noop | StackState::Skipped)
    }

    /// True where its plan waits for others to be applied.
    pub fn is_provisional(&self) -> bool {
        !self.unknown.is_empty()
    }

    /// The outputs that change with it: what those after it cannot know yet.
    pub fn pending(&self) -> Vec<String> {
        match &self.summary {
            Some(summary) => summary.outputs.clone(),
            // Never planned: nothing of it is known.
            None => vec![ALL.to_owned()],
        }
    }
}

/// Who is told while a run goes on, from any thread.
pub trait Follow: Sync {
    fn begun(&self, _stack: &str) {}
    /// False where phases are told to nobody.
    fn is_watched(&self) -> bool {
        true
    }
    /// The stack is busy with this.
    fn phase(&self, _stack: &str, _what: &str) {}
    fn ended(&self, _stand: &Stand) {}
}

/// Nobody.
impl Follow for () {
    fn is_watched(&self) -> bool {
        false
    }
}
