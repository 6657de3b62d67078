//! A command of the control machine itself: a hook of a run.

use super::command;
use crate::base::clock;
use rustix::process::{Pid, Signal, kill_process_group};
use std::path::Path;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::time::timeout;

/// A command, and what it is told.
#[derive(Debug)]
pub struct Chore<'a> {
    /// The program and its arguments; a relative path starts at `folder`.
    pub words: &'a [String],
    pub folder: &'a Path,
    /// Added to the environment of suil, which otherwise passes without keys and passwords.
    pub variables: &'a [(&'static str, String)],
    pub limit: Duration,
}

/// How a command ended.
#[derive(Debug, Default)]
pub struct Returned {
    /// `None` where a signal ended it.
    pub status: Option<i32>,
    /// The end of what it said on stdout and stderr, as it came.
    pub output: Vec<u8>,
    /// It went over its limit and was ended.
    pub late: bool,
    pub seconds: f64,
}

/// So much of the output is kept.
const KEPT: usize = 64 * 1024;
/// How long a command that is asked to end may take before it is forced.
const GRACE: Duration = Duration::from_secs(5);
/// How long the output of a command that has ended is waited for: a daemon that it left behind may hold it open.
const REST: Duration = Duration::from_millis(200);

impl Chore<'_> {
    /// Runs the command to its end, with /dev/null as stdin. It is ended, with all that it started in its process
    /// group, when its limit passes or `end` is done.
    ///
    /// # Errors
    /// It cannot be started.
    pub async fn run(&self, end: impl Future<Output = ()>) -> std::io::Result<Returned> {
        let (reader, writer) = std::io::pipe()?;
        let mut reader = Receiver::from_owned_fd(reader.into())?;
        let begun = clock::instant();
        let mut child = {
            let (program, args) = self.words.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
            let program = if program.contains('/') { self.folder.join(program) } else { program.into() };
            let mut command = command::bare(&program);
            command.args(args).current_dir(self.folder).envs(self.variables.iter().map(|(name, value)| (name, value)));
            command.stdin(std::process::Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
            command.spawn()?
        };
        let mut returned = Returned::default();
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let kill = |signal| group.map(|group| kill_process_group(group, signal));
        let mut chunk = vec![0; 8192];
        let mut open = true;
        let mut asked = false;
        let mut until = tokio::time::Instant::now() + self.limit;
        let mut end = std::pin::pin!(end);
        let status = loop {
            tokio::select! {
                status = child.wait() => break status?,
                read = reader.read(&mut chunk), if open => match read {
                    Ok(n) if n > 0 => keep(&mut returned.output, chunk.get(..n).unwrap_or_default()),
                    _ => open = false,
                },
                () = tokio::time::sleep_until(until) => {
                    kill(if asked { Signal::KILL } else { Signal::TERM });
                    returned.late |= !asked;
                    asked = true;
                    until = tokio::time::Instant::now() + GRACE;
                }
                () = &mut end, if !asked => {
                    kill(Signal::TERM);
                    asked = true;
                    until = tokio::time::Instant::now() + GRACE;
                }
            }
        };
        if asked {
            // What it started and did not wait for.
            kill(Signal::KILL);
        }
        while let Ok(Ok(n)) = timeout(REST, reader.read(&mut chunk)).await {
            if n == 0 {
                break;
            }
            keep(&mut returned.output, chunk.get(..n).unwrap_or_default());
        }
        returned.status = status.code();
        returned.seconds = begun.elapsed().as_secs_f64();
        Ok(returned)
    }
}

fn keep(output: &mut Vec<u8>, bytes: &[u8]) {
    output.extend_from_slice(bytes);
    if output.len() > 2 * KEPT {
        output.drain(..output.len() - KEPT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn run(script: &str, limit: Duration) -> Returned {
        let words = ["sh", "-c", script].map(str::to_owned);
        let variables = [("SUIL_NODES", "a b".to_owned())];
        let chore = Chore { words: &words, folder: Path::new("/"), variables: &variables, limit };
        chore.run(std::future::pending()).await.expect("it starts")
    }

    #[tokio::test]
    async fn what_a_command_says_and_how_it_ends_comes_back() {
        let returned = run("pwd; echo $SUIL_NODES >&2; cat; exit 3", GRACE).await;
        assert_eq!((returned.status, returned.late), (Some(3), false));
        assert_eq!(String::from_utf8_lossy(&returned.output), "/\na b\n");
    }

    #[tokio::test]
    async fn a_daemon_that_holds_the_output_is_not_waited_for() {
        let returned = run("sleep 20 & echo here", GRACE).await;
        assert_eq!((returned.status, returned.output.as_slice()), (Some(0), &b"here\n"[..]));
        assert!(returned.seconds < 5.0);
    }

    #[tokio::test]
    async fn what_takes_too_long_is_ended_with_all_that_it_started() {
        let returned = run("echo begun; sleep 30 & wait", Duration::from_millis(300)).await;
        assert!(returned.late && returned.status.is_none() && returned.seconds < 4.0, "{returned:?}");
        assert_eq!(returned.output, b"begun\n");
    }

    #[tokio::test]
    async fn output_without_end_does_not_fill_the_memory() {
        let returned = run("head -c 5000000 /dev/zero; echo end", Duration::from_secs(20)).await;
        assert!(returned.output.len() <= 2 * KEPT + 8192 && returned.output.ends_with(b"end\n"));
    }
}
