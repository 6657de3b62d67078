//! The editor of the person at the terminal. Next to `node` this is the only place that starts a process: it is no step
//! of a run but the other half of a question.

use super::settings::variable;
use crate::base::{Problem, Problems, problem::Kind, shell};
use rustix::process::{Pid, Signal, kill_process};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

/// What is tried where no editor is set.
const USUAL: [&str; 2] = ["vi", "nano"];

/// Settings that an editor, and what it starts, has no use for.
const OURS: [&str; 5] = ["SUIL_AGE_KEY", "SUIL_KEY_PASSPHRASE", "SUIL_STORE", "SUIL_SUDO_PASSWORD", "SUIL_TOKEN"];

/// An editor, and the signals that are meant for it or for suil. From the making of this value on no signal ends suil
/// before it has cleaned up.
pub struct Editor {
    words: Vec<String>,
    runtime: Runtime,
    stop: tokio::sync::watch::Receiver<bool>,
}

impl Editor {
    /// `VISUAL`, else `EDITOR`, else what there usually is.
    ///
    /// # Errors
    /// There is none, or the setting cannot be read as a command.
    pub fn find() -> Result<Editor, Problem> {
        Editor::of(&["VISUAL", "EDITOR"])
    }

    /// The same with the settings of these names.
    ///
    /// # Errors
    /// As [`Editor::find`].
    pub fn of(names: &[&str]) -> Result<Editor, Problem> {
        let set = names.iter().copied().find_map(|name| Some((name, variable(name)?)));
        let words = match set {
            Some((name, command)) => shell::split(&command).filter(|words| !words.is_empty()).ok_or_else(|| {
                Problem::new(format!("`{name}` is no command: a quote in it is not closed, or it is blank"))
            })?,
            None => vec![usual().ok_or_else(|| {
                Problem::new("there is no editor").help("set EDITOR to the command of yours, `EDITOR=nano` say")
            })?],
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|e| Problem::new(format!("cannot start the threads of an edit: {e}")))?;
        let stop = runtime.block_on(async { listen() });
        let stop = stop.map_err(|e| Problem::new(format!("cannot listen for signals: {e}")))?;
        Ok(Editor { words, runtime, stop })
    }

    /// The command as it would be typed.
    pub fn name(&self) -> String {
        shell::join(self.words.iter().map(String::as_str))
    }

    /// Lets the editor work on `file`, with its own temporary files in `folder`.
    ///
    /// # Errors
    /// It cannot be started, it failed, or suil was told to end.
    pub fn open(&self, file: &Path, folder: &Path) -> Result<(), Problem> {
        let status = self.runtime.block_on(self.run(file, folder))?;
        match status.success() {
            true => Ok(()),
            false => Err(Problem::new(format!("the editor `{}` failed ({status})", self.name()))
                .note("nothing was written")
                .help("save and leave it as usual; set EDITOR for another one")),
        }
    }

    #[allow(clippy::disallowed_methods, reason = "the editor of `suil edit`, see the head of this file")]
    async fn run(&self, file: &Path, folder: &Path) -> Result<ExitStatus, Problem> {
        let (program, arguments) = self.words.split_first().ok_or_else(|| Problem::new("there is no editor"))?;
        let mut command = tokio::process::Command::new(program);
        command.args(quiet(program)).args(arguments).arg(file).env("TMPDIR", folder);
        for name in OURS {
            command.env_remove(name);
        }
        // What suil prints may go into a pipe; an editor belongs on the screen.
        if crate::ui::columns().is_none() {
            let screen = std::io::stderr().as_fd().try_clone_to_owned();
            command.stdout(screen.map_or_else(|_| Stdio::null(), Stdio::from));
        }
        let mut child = command.spawn().map_err(|e| Problem::io("start the editor", program.as_ref(), &e))?;
        let mut stop = self.stop.clone();
        let stopped = tokio::select! {
            status = child.wait() => Some(status),
            _ = stop.wait_for(|stop| *stop) => None,
        };
        if stopped.is_none()
            && let Some(pid) = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
        {
            // It may be gone already, which is what is wanted.
            let _ = kill_process(pid, Signal::TERM);
        }
        let status = match stopped {
            Some(status) => status,
            None => child.wait().await,
        };
        if *self.stop.borrow() {
            return Err(interrupted());
        }
        status.map_err(|e| Problem::io("wait for the editor", program.as_ref(), &e))
    }

    /// Asks a question that Ctrl-C may answer, too.
    ///
    /// # Errors
    /// There is no terminal, or the answer was Ctrl-C.
    pub fn confirm(&self, question: &'static str, instead: &'static str) -> Result<bool, Problems> {
        let answer = self.runtime.block_on(async {
            let asked = tokio::task::spawn_blocking(move || crate::ui::ask::confirm(question, instead));
            let Ok(mut interrupt) = signal(SignalKind::interrupt()) else { return Ok(false) };
            let mut stop = self.stop.clone();
            tokio::select! {
                answer = asked => answer.unwrap_or(Ok(false)),
                _ = interrupt.recv() => Err(interrupted()),
                _ = stop.wait_for(|stop| *stop) => Err(interrupted()),
            }
        });
        Ok(answer?)
    }

    /// Leaves behind a question that still waits.
    pub fn close(self) {
        self.runtime.shutdown_background();
    }
}

fn interrupted() -> Problem {
    Problem::new("interrupted, nothing was written").kind(Kind::Interrupted)
}

/// Ctrl-C is for the editor, which is in the same terminal; the other signals end the edit.
fn listen() -> std::io::Result<tokio::sync::watch::Receiver<bool>> {
    let (told, stop) = tokio::sync::watch::channel(false);
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::spawn(async move { while interrupt.recv().await.is_some() {} });
    for kind in [SignalKind::terminate(), SignalKind::hangup(), SignalKind::quit()] {
        let mut signals = signal(kind)?;
        let told = told.clone();
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                let _ = told.send(true);
            }
        });
    }
    Ok(stop)
}

fn usual() -> Option<String> {
    USUAL.iter().find(|name| found(name).is_some()).map(|name| (*name).to_owned())
}

/// Where a program is.
fn found(program: &str) -> Option<PathBuf> {
    let path = variable("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path);
    folders.map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// The options with which an editor remembers nothing of what it edits. Vim keeps deleted lines in its home folder, and
/// is often called `vi`.
fn quiet(program: &str) -> &'static [&'static str] {
    let path = found(program).unwrap_or_else(|| PathBuf::from(program));
    let path = path.canonicalize().unwrap_or(path);
    match path.file_name().and_then(|name| name.to_str()) {
        Some(name) if ["vim", "nvim", "gvim"].iter().any(|vim| name.starts_with(vim)) => {
            &["-n", "-i", "NONE", "-c", "silent! set noundofile nobackup nowritebackup"]
        }
        _ => &[],
    }
}
