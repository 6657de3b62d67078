//! The one place of this room where a process starts.

use super::link::{Exit, Link, Words};
use crate::base::shell;
use std::ffi::OsStr;
use std::process::Stdio;
use tokio::io::AsyncReadExt;
use tokio::process::Child;

/// Starts `program` with pipes on all three streams. It gets a process group of its own: Ctrl-C is suil's to
/// handle, and the operation in flight ends in order.
pub(super) fn start(program: &str, args: &[String], words: Words) -> std::io::Result<Link> {
    let mut child = spawn(program, args, Stdio::piped())?;
    let (Some(input), Some(output), Some(mut errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(std::io::Error::other("no pipes to the process"));
    };
    let said = words.clone();
    let reader = tokio::spawn(async move {
        let mut buffer = vec![0; 4096];
        while let Ok(n) = errors.read(&mut buffer).await {
            let Some(bytes) = buffer.get(..n).filter(|bytes| !bytes.is_empty()) else { break };
            said.add(bytes);
        }
    });
    let exit = Process { child, reader: Some(reader), spared: false };
    Ok(Link { input: Box::new(input), output: Box::new(output), words, exit: Box::new(exit) })
}

/// Runs `program` to its end: its status, stdout and stderr.
pub(super) async fn run(program: &str, args: &[String]) -> std::io::Result<std::process::Output> {
    spawn(program, args, Stdio::null())?.wait_with_output().await
}

/// A command in a process group of its own, which inherits neither keys nor passwords: everything that ssh starts, every
/// operation on this machine and every hook would.
#[allow(clippy::disallowed_methods)]
pub(super) fn bare(program: impl AsRef<OsStr>) -> tokio::process::Command {
    let mut command = tokio::process::Command::new(program);
    for name in
        ["SUIL_AGE_KEY", "SUIL_AGE_KEY_FILE", "SUIL_KEY_PASSPHRASE", "SUIL_STORE", "SUIL_SUDO_PASSWORD", "SUIL_TOKEN"]
    {
        command.env_remove(name);
    }
    command.process_group(0);
    command
}

fn spawn(program: &str, args: &[String], input: Stdio) -> std::io::Result<Child> {
    bare(program).args(args).stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|error| {
        match error.kind() {
            std::io::ErrorKind::NotFound => std::io::Error::other(format!("no program `{}`", shell::quote(program))),
            _ => error,
        }
    })
}

struct Process {
    child: Child,
    reader: Option<tokio::task::JoinHandle<()>>,
    spared: bool,
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.spared {
            // It may have ended by itself.
            let _ = self.child.start_kill();
        }
    }
}

impl Exit for Process {
    fn wait(&mut self) -> super::link::Later<'_, Option<i32>> {
        Box::pin(async move {
            let status = self.child.wait().await.ok()?;
            // A master connection that ssh leaves behind may hold stderr open: its last words are not waited for long.
            if let Some(reader) = self.reader.take() {
                let _ = tokio::time::timeout(std::time::Duration::from_millis(200), reader).await;
            }
            status.code()
        })
    }

    fn spare(&mut self) {
        self.spared = true;
    }
}
