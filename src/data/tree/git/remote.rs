//! What a repository elsewhere has.

use super::{program, text};
use crate::base::{Problem, clock};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

/// How long a repository may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// How much of an answer is read.
const MOST: u64 = 64 * 1024 * 1024;

/// The names that commits of a repository have, as git has them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Names {
    pub tags: Vec<String>,
    pub branches: Vec<String>,
}

/// The names of the tags and branches of the repository at `address`. Nothing is asked, and only transports that start no
/// program of the address's choice are taken.
///
/// # Errors
/// There is no `git`, the repository cannot be reached, or it takes too long.
pub fn names(here: &Path, address: &str) -> Result<Names, Problem> {
    let mut command = program(here, &["ls-remote", "--tags", "--heads", "--refs", "--quiet", "--", address]);
    command.env("GIT_ALLOW_PROTOCOL", "http:https:git:ssh:file");
    // Of its own group, so that the programs that it starts end with it.
    command.process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| super::unstarted(&error))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        let read = |from: Option<Box<dyn Read + Send>>| {
            scope.spawn(move || {
                let mut found = Vec::new();
                let ended = from.map_or(Ok(0), |from| from.take(MOST).read_to_end(&mut found));
                ended.map(|_| text(found)).unwrap_or_default()
            })
        };
        let said = read(stdout.map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
        let wrong = read(stderr.map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
        let well = wait(&mut child);
        let (said, wrong) = (said.join().unwrap_or_default(), wrong.join().unwrap_or_default());
        match well {
            Some(true) => {
                let of = |folder: &str| {
                    let names = said.lines().filter_map(|line| line.split_once(folder));
                    names.map(|(_, name)| name.to_owned()).collect()
                };
                Ok(Names { tags: of("\trefs/tags/"), branches: of("\trefs/heads/") })
            }
            Some(false) => {
                let problem = Problem::new("its tags cannot be listed");
                let lines =
                    wrong.lines().map(|line| line.trim_start_matches("fatal: ")).filter(|line| !line.is_empty());
                Err(lines
                    .take(5)
                    .fold(problem, |problem, line| problem.note(format!("git says: {}", bare(line, address)))))
            }
            None => Err(Problem::new(format!("its repository gives no answer in {} s", PATIENCE.as_secs()))),
        }
    })
}

/// The line without what an address says of who logs in.
fn bare(line: &str, address: &str) -> String {
    let user =
        address.split_once("://").and_then(|(_, rest)| rest.split('/').next()?.rsplit_once('@')).map(|(user, _)| user);
    match user.filter(|user| !user.is_empty()) {
        Some(user) => line.replace(&format!("{user}@"), "…@"),
        None => line.to_owned(),
    }
}

/// True where it ended well; `None` where it did not end, and was ended.
fn wait(child: &mut Child) -> Option<bool> {
    let begun = clock::instant();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.success()),
            Ok(None) if begun.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(5)),
            Ok(None) => {
                if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                    let _ = kill_process_group(group, Signal::KILL);
                }
                let _ = child.wait();
                return None;
            }
            Err(_) => return Some(false),
        }
    }
}
