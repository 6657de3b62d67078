//! What a value is called in messages.

use super::{Check, Step};
use crate::base::Problem;

impl Check<'_, '_> {
    /// "module `accounts`: `uid` of `deploy` <words>"
    pub fn problem(&self, words: &str) -> Problem {
        Problem::new(format!("module `{}`: {} {words}", self.module, self.label()))
    }

    pub fn label(&self) -> String {
        let name = |at: usize| match self.path.get(at) {
            Some(Step::Key(key)) => Some(key.clone()),
            Some(Step::Item { name: Some(name), .. }) => Some(name.clone()),
            Some(Step::Item { index, .. }) => match at.checked_sub(1).and_then(|at| self.path.get(at)) {
                Some(Step::Key(key)) => Some(format!("{key}[{index}]")),
                _ => Some(format!("[{index}]")),
            },
            None => None,
        };
        let last = self.path.len().wrapping_sub(1);
        match (self.path.last(), name(last), last.checked_sub(1).and_then(name)) {
            (Some(Step::Key(_)), Some(own), Some(parent)) => format!("`{own}` of `{parent}`"),
            (_, Some(own), _) => format!("`{own}`"),
            _ => "its data".to_owned(),
        }
    }

    /// `users.deploy.password`, `tags.0`
    pub fn dotted(&self) -> String {
        let steps = self.path.iter().map(|step| match step {
            Step::Key(key) => key.clone(),
            Step::Item { index, .. } => index.to_string(),
        });
        std::iter::once(self.module.to_owned()).chain(steps).collect::<Vec<_>>().join(".")
    }
}
