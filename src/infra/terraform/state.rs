//! What Terraform does to a state, and what it says where it does not.

use super::{Finished, Tool};
use crate::base::{Problem, Result};
use std::path::Path;

impl Tool {
    /// Initialises `folder`, silently. `whose` names the layer.
    ///
    /// # Errors
    /// Terraform refuses, or cannot be started.
    pub fn initialise(&self, folder: &Path, whose: &str) -> Result<(), Problem> {
        self.quietly(folder, &["init", "-input=false", "-no-color"], whose).map(drop)
    }

    /// The bytes of the state of `folder`; none where it has no state.
    ///
    /// # Errors
    /// As [`Tool::initialise`].
    pub fn pull(&self, folder: &Path, whose: &str) -> Result<Vec<u8>, Problem> {
        self.quietly(folder, &["state", "pull"], whose).map(|finished| finished.stdout)
    }

    /// Runs a command that changes a state or reads it, without a terminal.
    ///
    /// # Errors
    /// As [`Tool::initialise`].
    pub fn quietly(&self, folder: &Path, arguments: &[&str], whose: &str) -> Result<Finished, Problem> {
        let finished = self.capture(folder, arguments, &[])?;
        match finished.status.success() {
            true => Ok(finished),
            false => Err(self.failed(arguments, whose, &finished)),
        }
    }

    /// The problem of a command that failed, with what it said.
    fn failed(&self, arguments: &[&str], whose: &str, finished: &Finished) -> Problem {
        let command: Vec<&str> = arguments.iter().take(2).take_while(|word| !word.starts_with('-')).copied().collect();
        let what = format!("`{} {}` failed in `{whose}`", self.program.display(), command.join(" "));
        said(&finished.stderr).into_iter().fold(Problem::new(what), Problem::note)
    }
}

/// The lines of what Terraform said, without its frame; the first of them where they are many.
pub fn said(stderr: &[u8]) -> Vec<String> {
    const MOST: usize = 12;
    let text = String::from_utf8_lossy(stderr);
    let lines = text.lines().map(|line| line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '╷' | '│' | '╵')));
    let mut lines: Vec<String> = lines.filter(|line| !line.is_empty()).map(str::to_owned).collect();
    if let Some(start) = lines.iter().position(|line| line.starts_with("Error:")) {
        lines.drain(..start);
    }
    if lines.len() > MOST {
        lines.truncate(MOST);
        lines.push("…".to_owned());
    }
    lines
}
