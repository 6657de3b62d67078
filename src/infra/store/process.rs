//! Which process it is that holds a lock, and whether it is still there.

use rustix::process::{Pid, test_kill_process};
use std::fs;

/// A process of suil, so that another one can see whether it is gone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Process {
    /// The name of the machine.
    pub host: String,
    /// The login name of who runs it.
    pub user: String,
    pub pid: u32,
    /// When it started, and where that counts: `<boot>/<pid namespace>/<ticks>`; empty where the system does not tell.
    /// A pid is used again, this is not.
    pub start: String,
}

/// Whether a process is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Life {
    Alive,
    /// Its machine is this one, and it is not there any more.
    Gone,
    /// It runs elsewhere: nothing can be said.
    Unknown,
}

impl Life {
    /// The word for people and for programs.
    pub fn word(self) -> &'static str {
        match self {
            Life::Alive => "alive",
            Life::Gone => "gone",
            Life::Unknown => "unknown",
        }
    }
}

impl Process {
    /// This process, of `user`.
    pub fn this(user: &str) -> Process {
        let pid = std::process::id();
        Process { host: host(), user: user.to_owned(), pid, start: start(pid).unwrap_or_default() }
    }

    /// Whether it is there, as far as this machine can tell.
    pub fn life(&self) -> Life {
        if self.host != host() {
            return Life::Unknown;
        }
        let (Some((boot, space, _)), Some((our_boot, our_space))) = (parts(&self.start), here()) else {
            return Life::Unknown;
        };
        if boot != our_boot {
            return Life::Gone;
        }
        if space != our_space {
            return Life::Unknown;
        }
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        let there = pid.is_some_and(|pid| !matches!(test_kill_process(pid), Err(rustix::io::Errno::SRCH)));
        match there && start(self.pid).is_none_or(|start| start == self.start) {
            true => Life::Alive,
            false => Life::Gone,
        }
    }
}

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// This start of the machine, and the pid namespace: a container counts its processes for itself.
fn here() -> Option<(String, String)> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let space = fs::read_link("/proc/self/ns/pid").ok()?;
    let digits = |text: &str| text.chars().filter(char::is_ascii_hexdigit).collect::<String>();
    let space = space.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    Some((digits(&boot).chars().take(12).collect(), space))
}

/// `<boot>/<namespace>/<ticks>` of a process that is there. One that has ended and that nobody has asked about yet, a
/// zombie, is gone.
fn start(pid: u32) -> Option<String> {
    let (boot, space) = here()?;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program stands in brackets and may hold anything.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut words = rest.split_whitespace();
    match words.next()? {
        "Z" | "X" => Some(String::new()),
        _ => Some(format!("{boot}/{space}/{}", words.nth(18)?)),
    }
}

fn parts(start: &str) -> Option<(String, String, String)> {
    let mut parts = start.split('/').map(str::to_owned);
    Some((parts.next()?, parts.next()?, parts.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive_and_one_of_another_start_is_gone() {
        let this = Process::this("anna");
        assert_eq!(this.life(), Life::Alive);
        let start = format!("{}0", this.start);
        assert_eq!(Process { start, ..this.clone() }.life(), Life::Gone);
        let start = format!("f{}", this.start);
        assert_eq!(Process { start, ..this.clone() }.life(), Life::Gone, "the machine was started again");
        let start = this.start.replacen('/', "/1", 1);
        assert_eq!(Process { start, ..this.clone() }.life(), Life::Unknown, "another container");
        assert_eq!(Process { host: "elsewhere".to_owned(), ..this.clone() }.life(), Life::Unknown);
        assert_eq!(Process { pid: u32::MAX, ..this }.life(), Life::Gone);
    }
}
