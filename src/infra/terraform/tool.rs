//! One program, and the ways to run it.

use crate::base::{Problem, Result};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};

/// What only suil needs to know, and no program that it starts.
const OWN: &[&str] = &["SUIL_KEY_PASSPHRASE", "SUIL_AGE_KEY", "SUIL_STORE", "STACKS_PRIVATE_KEY_PATH"];

/// A program that understands Terraform's command line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tool {
    /// A name to be found in `PATH`, or a path.
    pub program: PathBuf,
}

/// A program that ended, and what it said.
#[derive(Debug)]
pub struct Finished {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Tool {
    pub fn new(program: impl Into<PathBuf>) -> Tool {
        Tool { program: program.into() }
    }

    /// Runs it in `folder` with suil's own terminal. Its arguments and its exit status are handed through.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn hand(&self, folder: &Path, arguments: &[impl AsRef<OsStr>]) -> Result<ExitStatus, Problem> {
        self.command(folder).args(arguments).status().map_err(|e| self.missing(&e))
    }

    /// Runs it in `folder` without a terminal: it asks nothing, and what it says comes back. `environment` is added.
    ///
    /// # Errors
    /// It cannot be started. That it failed is for the caller to see.
    pub fn capture(
        &self,
        folder: &Path,
        arguments: &[impl AsRef<OsStr>],
        environment: &[(&str, &OsStr)],
    ) -> Result<Finished, Problem> {
        let mut command = self.command(folder);
        command.args(arguments).stdin(Stdio::null());
        command.env("TF_IN_AUTOMATION", "1").env("TF_INPUT", "0").env("CHECKPOINT_DISABLE", "1");
        command.envs(environment.iter().copied());
        let Output { status, stdout, stderr } = command.output().map_err(|e| self.missing(&e))?;
        Ok(Finished { status, stdout, stderr })
    }

    /// Runs it in `folder` with what it says on suil's stderr, or where suil's own output goes.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn watch(&self, folder: &Path, arguments: &[impl AsRef<OsStr>], quiet: bool) -> Result<ExitStatus, Problem> {
        let mut command = self.command(folder);
        command.args(arguments);
        if quiet {
            command.stdin(Stdio::null()).stdout(Stdio::from(std::io::stderr()));
        }
        command.status().map_err(|e| self.missing(&e))
    }

    #[allow(clippy::disallowed_methods, reason = "the one place of this room where a process starts")]
    fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(format!("-chdir={}", folder.display()));
        for name in OWN {
            command.env_remove(name);
        }
        command
    }

    fn missing(&self, error: &std::io::Error) -> Problem {
        let problem = Problem::io("run", &self.program, error);
        problem.help("install Terraform or OpenTofu, or name it by STACKS_TERRAFORM_PATH")
    }
}
