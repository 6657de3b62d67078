//! Waits for a program without dying before it: Terraform that loses its parent goes on alone, and nobody sees its end.

use rustix::process::{Pid, Signal, getpgrp, kill_process};
use std::io::Result;
use std::process::{Command, ExitStatus};
use tokio::signal::unix::{SignalKind, signal};

/// How a program ended.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    /// Somebody wanted it, or suil, to end.
    pub interrupted: bool,
}

/// Starts `command` and waits for its end. What would end suil meanwhile is handed to it; where a terminal tells the
/// program by itself, of Ctrl-C say, it is not told twice: Terraform takes the second one as "at once".
///
/// # Errors
/// It cannot be started, or signals cannot be listened for.
pub fn wait(command: Command) -> Result<Ended> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut quit = signal(SignalKind::quit())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let mut hangup = signal(SignalKind::hangup())?;
        let mut child = tokio::process::Command::from(command).spawn()?;
        let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let mut interrupted = false;
        loop {
            let (signal, told) = tokio::select! {
                status = child.wait() => return Ok(Ended { status: status?, interrupted }),
                _ = interrupt.recv() => (Signal::INT, in_front()),
                _ = quit.recv() => (Signal::QUIT, in_front()),
                _ = terminate.recv() => (Signal::TERM, false),
                _ = hangup.recv() => (Signal::HUP, false),
            };
            interrupted = true;
            if let (false, Some(pid)) = (told, pid) {
                // It may be gone already; then its end is seen in the next turn.
                let _ = kill_process(pid, signal);
            }
        }
    })
}

/// True where suil and what it started are what a terminal talks to.
fn in_front() -> bool {
    let terminal = std::fs::File::open("/dev/tty");
    terminal.is_ok_and(|terminal| rustix::termios::tcgetpgrp(&terminal).is_ok_and(|group| group == getpgrp()))
}
