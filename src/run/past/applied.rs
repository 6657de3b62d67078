//! Which nodes the last run left behind.

use super::{End, Run, Runs};
use crate::base::Problem;

impl Run {
    /// True where the run went on to apply its plan. A dry run, an answer of no and a plan that was refused did not.
    ///
    /// # Errors
    /// `events.jsonl` is there and cannot be read.
    pub fn applied(&self) -> Result<bool, Problem> {
        // Within a string of JSON the quotes would be escaped.
        Ok(self.text("events.jsonl")?.is_some_and(|text| text.contains(r#""event":"applying""#)))
    }
}

impl Runs {
    /// The newest run that applied its plan.
    ///
    /// # Errors
    /// A record cannot be read.
    pub fn last_applied(&self) -> Result<Option<&Run>, Problem> {
        for run in self.all() {
            if run.applied()? {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }
}

impl End {
    /// True where the node is as the run wanted it.
    pub fn is_done(&self) -> bool {
        matches!(self.outcome.as_str(), "done" | "nothing to do")
    }
}
