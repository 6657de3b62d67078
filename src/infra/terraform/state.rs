//! What Terraform does to a state, what it plans, and what it says where it does not.

use super::{Finished, Stop, Tool};
use crate::base::problem::Kind;
use crate::base::{Plain, Problem, Result};
use rustix::fs::Mode;
use rustix::process::{Pid, Signal, kill_process_group, umask};
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What a plan says, without a value of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Forecast {
    /// Every resource that would change, and how: `create`, `update`, `delete`, `replace`, …
    pub changes: Vec<(String, String)>,
    pub add: u64,
    pub change: u64,
    pub destroy: u64,
}

impl Forecast {
    /// True where nothing would happen.
    pub fn is_clean(&self) -> bool {
        self.add + self.change + self.destroy == 0
    }
}

impl Tool {
    /// Initialises `folder`, silently. `whose` names the layer.
    ///
    /// # Errors
    /// Terraform refuses, or cannot be started.
    pub fn initialise(&self, folder: &Path, whose: &str) -> Result<(), Problem> {
        self.read(folder, &["init", "-input=false", "-no-color"], whose).map(drop)
    }

    /// The bytes of the state of `folder`; none where it has no state.
    ///
    /// # Errors
    /// As [`Tool::initialise`].
    pub fn pull(&self, folder: &Path, whose: &str) -> Result<Vec<u8>, Problem> {
        self.read(folder, &["state", "pull"], whose).map(|finished| finished.stdout)
    }

    /// Replaces the state of `folder`. It goes in through a pipe, so that no copy of it lies anywhere. Terraform refuses
    /// where another lineage is there, or a serial that is not older. It is finished unless `stop` is asked for twice.
    ///
    /// # Errors
    /// As [`Tool::initialise`].
    pub fn push(&self, folder: &Path, state: &[u8], stop: &Stop, whose: &str) -> Result<(), Problem> {
        self.feed(folder, &["state", "push", "-"], state, stop, true, whose).map(drop)
    }

    /// Runs a command that changes a state. Where `stop` is asked for Terraform is interrupted, and killed where it is
    /// asked for again.
    ///
    /// # Errors
    /// As [`Tool::initialise`].
    pub fn change(&self, folder: &Path, arguments: &[&str], stop: &Stop, whose: &str) -> Result<(), Problem> {
        self.feed(folder, arguments, b"", stop, false, whose).map(drop)
    }

    /// Runs it with `input` on its stdin. `short` is what is better finished than interrupted.
    fn feed(
        &self,
        folder: &Path,
        arguments: &[&str],
        input: &[u8],
        stop: &Stop,
        short: bool,
        whose: &str,
    ) -> Result<Finished, Problem> {
        let mut command = self.command(folder);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env("TF_IN_AUTOMATION", "1").env("TF_INPUT", "0").env("CHECKPOINT_DISABLE", "1");
        // A Ctrl-C is for suil, which tells Terraform when it should.
        command.process_group(0);
        // A local backend keeps copies of the state before, which hold the same secrets.
        let before = umask(Mode::RWXG | Mode::RWXO);
        let spawned = command.spawn();
        umask(before);
        let mut child = spawned.map_err(|e| self.missing(&e))?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let stdin = child.stdin.take();
        let over = AtomicBool::new(false);
        let ended = std::thread::scope(|scope| {
            scope.spawn(move || {
                // A program that fails early reads nothing; its exit status tells.
                stdin.map(|mut stdin| stdin.write_all(input))
            });
            scope.spawn(|| mind(group, stop, short, &over));
            let ended = child.wait_with_output();
            over.store(true, Ordering::SeqCst);
            ended
        });
        let output = ended.map_err(|e| Problem::io("wait for", &self.program, &e))?;
        let finished = Finished { status: output.status, stdout: output.stdout, stderr: output.stderr };
        let kind = if stop.asked() { Kind::Interrupted } else { Kind::Failed };
        self.well(arguments, whose, finished).map_err(|problem| problem.kind(kind))
    }

    /// Plans in `folder`, and writes nothing.
    ///
    /// # Errors
    /// The plan fails. Only the first line of each of Terraform's errors is told: more of it may quote values.
    pub fn forecast(&self, folder: &Path, whose: &str) -> Result<Forecast, Problem> {
        let arguments = ["plan", "-json", "-input=false", "-lock=false"];
        let failed = |e: &std::io::Error| Problem::io("run", &self.program, e);
        let (mut reader, writer) = std::io::pipe().map_err(|e| failed(&e))?;
        let mut command = self.command(folder);
        command.args(arguments).stdin(Stdio::null()).stdout(writer).stderr(Stdio::null());
        command.env("TF_IN_AUTOMATION", "1").env("TF_INPUT", "0").env("CHECKPOINT_DISABLE", "1");
        let (ended, stdout) = std::thread::scope(|scope| {
            let said = scope.spawn(move || {
                let mut bytes = Vec::new();
                reader.read_to_end(&mut bytes).map(|_| bytes)
            });
            (self.wait(command), said.join())
        });
        let ended = ended?;
        if ended.interrupted {
            return Err(Problem::new("the plan was interrupted").kind(Kind::Interrupted));
        }
        let stdout = stdout.ok().transpose().map_err(|e| failed(&e))?.unwrap_or_default();
        let (forecast, errors) = forecast(&stdout);
        if ended.status.success() {
            return Ok(forecast);
        }
        let problem = Problem::new(format!("`{} plan` failed in `{whose}`", self.program.display()));
        Err(errors.into_iter().fold(problem, Problem::note))
    }

    fn read(&self, folder: &Path, arguments: &[&str], whose: &str) -> Result<Finished, Problem> {
        let finished = self.capture(folder, arguments, &[])?;
        self.well(arguments, whose, finished)
    }

    /// The problem of a command that failed, with what it said.
    fn well(&self, arguments: &[&str], whose: &str, finished: Finished) -> Result<Finished, Problem> {
        if finished.status.success() {
            return Ok(finished);
        }
        let first = arguments.first().copied().unwrap_or_default();
        let second = arguments.get(1).filter(|_| first == "state").map(|word| format!(" {word}")).unwrap_or_default();
        let what = format!("`{} {first}{second}` failed in `{whose}`", self.program.display());
        Err(said(&finished.stderr).into_iter().fold(Problem::new(what), Problem::note))
    }
}

/// Tells a process group of the wish to stop, until its program is over.
fn mind(group: Option<Pid>, stop: &Stop, short: bool, over: &AtomicBool) {
    const LOOK: Duration = Duration::from_millis(10);
    let tell = |signal| group.map(|group| kill_process_group(group, signal));
    let (mut told, mut killed) = (short, false);
    while !over.load(Ordering::SeqCst) {
        if stop.demanded() && !killed {
            killed = true;
            // It may be gone already, and then it is over in a moment.
            tell(Signal::KILL);
        } else if stop.asked() && !told {
            told = true;
            tell(Signal::INT);
        }
        std::thread::sleep(LOOK);
    }
}

/// Reads what `plan -json` says: a JSON object a line. What is none is passed over.
fn forecast(stdout: &[u8]) -> (Forecast, Vec<String>) {
    let (mut forecast, mut errors) = (Forecast::default(), Vec::new());
    let text = String::from_utf8_lossy(stdout);
    for line in text.lines().filter_map(|line| Plain::from_json(line).ok()) {
        let at = |path: &[&str]| line.at(path).and_then(Plain::as_str).map(str::to_owned);
        match line.get("type").and_then(Plain::as_str) {
            Some("planned_change") => {
                let (address, action) = (at(&["change", "resource", "addr"]), at(&["change", "action"]));
                forecast.changes.extend(address.zip(action));
            }
            Some("change_summary") => {
                let count = |key: &str| line.at(&["changes", key]).and_then(Plain::as_int).unwrap_or_default();
                let [add, change, destroy] = ["add", "change", "remove"].map(|key| count(key).unsigned_abs());
                forecast = Forecast { add, change, destroy, ..forecast };
            }
            Some("diagnostic") if at(&["diagnostic", "severity"]).as_deref() == Some("error") => {
                errors.extend(at(&["diagnostic", "summary"]));
            }
            _ => {}
        }
    }
    (forecast, errors)
}

/// The lines of what Terraform said, without its frame; the first of them where they are many.
pub fn said(stderr: &[u8]) -> Vec<String> {
    const MOST: usize = 12;
    let text = String::from_utf8_lossy(stderr);
    let lines = text.lines().map(|line| line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '╷' | '│' | '╵')));
    let mut lines: Vec<String> = lines.filter(|line| !line.is_empty()).map(plain).collect();
    if let Some(start) = lines.iter().position(|line| line.starts_with("Error:")) {
        lines.drain(..start);
    }
    if lines.len() > MOST {
        lines.truncate(MOST);
        lines.push("…".to_owned());
    }
    lines
}

/// A line without the colours that a program may put into it.
fn plain(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        rest = behind.split_once('m').map_or("", |(_, rest)| rest);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_counted_and_its_values_are_left_out() {
        let lines = r#"{"type":"version","terraform":"1.11.4"}
{"type":"planned_change","change":{"resource":{"addr":"terraform_data.a"},"action":"create"}}
no JSON
{"type":"change_summary","changes":{"add":1,"change":0,"import":0,"remove":2,"operation":"plan"}}
{"type":"diagnostic","diagnostic":{"severity":"warning","summary":"w"}}
{"type":"diagnostic","diagnostic":{"severity":"error","summary":"e","detail":"a secret"}}
"#;
        let (read, errors) = forecast(lines.as_bytes());
        assert_eq!(read.changes, [("terraform_data.a".to_owned(), "create".to_owned())]);
        assert_eq!((read.add, read.change, read.destroy, read.is_clean()), (1, 0, 2, false));
        assert_eq!(errors, ["e"]);
        assert!(Forecast::default().is_clean());
    }

    #[test]
    fn the_frame_and_the_colours_of_an_error_go() {
        let text = "Warning: x\n\u{1b}[31m╷\u{1b}[0m\n│ \u{1b}[1mError: no\u{1b}[0m\n│ \n│ because\n╵\n";
        assert_eq!(said(text.as_bytes()), ["Error: no", "because"]);
    }
}
