//! One program, and the ways to run it.

use super::signals::{self, Ended};
use crate::base::problem::Kind;
use crate::base::{Problem, Result};
use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};

/// What only suil needs to know, and no program that it starts.
const OWN: &[&str] = &["SUIL_KEY_PASSPHRASE", "SUIL_AGE_KEY", "SUIL_STORE", "SUIL_TOKEN", "STACKS_PRIVATE_KEY_PATH"];

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

    /// Becomes it, in `folder`: suil ends here, and the terminal, the signals and the exit status are the program's own.
    /// Comes back with what was in the way.
    pub fn take(&self, folder: &Path, arguments: &[impl AsRef<OsStr>]) -> Problem {
        self.missing(&self.command(folder).args(arguments).exec())
    }

    /// Runs it in `folder` with suil's own terminal. Its arguments and its exit status are handed through, of an end by
    /// Ctrl-C too.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn hand(&self, folder: &Path, arguments: &[impl AsRef<OsStr>]) -> Result<ExitStatus, Problem> {
        let mut command = self.command(folder);
        command.args(arguments);
        self.wait(command).map(|ended| ended.status)
    }

    /// The same with what it says on stdout sent to stderr: stdout is for what suil's caller asked for.
    ///
    /// # Errors
    /// It cannot be started, or it was interrupted.
    pub fn aside(&self, folder: &Path, arguments: &[impl AsRef<OsStr>]) -> Result<ExitStatus, Problem> {
        let mut command = self.command(folder);
        command.args(arguments).stdout(Stdio::from(std::io::stderr()));
        self.whole(command)
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
    /// It cannot be started, or it was interrupted.
    pub fn watch(&self, folder: &Path, arguments: &[impl AsRef<OsStr>], quiet: bool) -> Result<ExitStatus, Problem> {
        let mut command = self.command(folder);
        command.args(arguments);
        if quiet {
            command.stdin(Stdio::null()).stdout(Stdio::from(std::io::stderr()));
        }
        self.whole(command)
    }

    pub(super) fn wait(&self, command: Command) -> Result<Ended, Problem> {
        signals::wait(command).map_err(|e| self.missing(&e))
    }

    /// Waits for a program that is one step of several: who interrupts it means them all.
    fn whole(&self, command: Command) -> Result<ExitStatus, Problem> {
        match self.wait(command)? {
            Ended { status, interrupted } if !interrupted || status.success() => Ok(status),
            _ => Err(Problem::new(format!("`{}` was interrupted", self.program.display())).kind(Kind::Interrupted)),
        }
    }

    /// In `folder`, as Terraform takes it.
    pub(super) fn command(&self, folder: &Path) -> Command {
        let mut command = self.plain();
        command.arg(format!("-chdir={}", folder.display()));
        command
    }

    #[allow(clippy::disallowed_methods, reason = "the one place of this room where a process starts")]
    pub(super) fn plain(&self) -> Command {
        let mut command = Command::new(&self.program);
        for name in OWN {
            command.env_remove(name);
        }
        command
    }

    pub(super) fn missing(&self, error: &std::io::Error) -> Problem {
        let problem = match error.kind() {
            std::io::ErrorKind::NotFound => {
                Problem::new(format!("no program `{}` on this machine", self.program.display()))
            }
            _ => Problem::io("run", &self.program, error),
        };
        problem.help("install Terraform or OpenTofu, or name it by STACKS_TERRAFORM_PATH")
    }
}
