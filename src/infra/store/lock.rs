//! Locks of stacks: who holds one, and how a refusal names everybody.

use super::process::{Life, Process};
use super::row::Entry;
use crate::base::{Problem, clock, problem::Kind};
use chrono::{DateTime, Utc};

/// The lock of one stack. It orders runs of suil; Terraform's own lock of the state is another thing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lock {
    pub repo: String,
    pub stack: String,
    /// The run that holds it.
    pub run: String,
    /// `anna@desk`.
    pub who: String,
    pub process: Process,
    pub taken: DateTime<Utc>,
    pub reason: String,
}

/// What came of asking for locks.
#[must_use]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Take {
    /// The run holds them all; so many it did not hold before.
    Taken { new: usize },
    /// None was taken: these stand in the way.
    Held(Vec<Lock>),
}

impl Take {
    /// Nothing, or the refusal that names every holder.
    ///
    /// # Errors
    /// A lock is held: [`Kind::Refused`].
    pub fn or_refuse(self) -> Result<(), Problem> {
        match self {
            Take::Taken { .. } => Ok(()),
            Take::Held(locks) => Err(refusal(&locks)),
        }
    }
}

impl Lock {
    /// Whether the process that took it is there, as far as it can be seen from here.
    pub fn life(&self) -> Life {
        self.process.life()
    }

    /// `anna@desk, process 4711 on desk, since 2026-11-30T08:20:11Z, 3 min ago: a reason`.
    pub fn told(&self) -> String {
        let since = clock::stamp(self.taken);
        let ago = clock::ago(&since).map(|ago| format!(", {ago}")).unwrap_or_default();
        let life = match self.life() {
            Life::Gone => " that is gone",
            Life::Alive | Life::Unknown => "",
        };
        let reason = if self.reason.is_empty() { String::new() } else { format!(": {}", self.reason) };
        let Process { host, pid, .. } = &self.process;
        format!("{}, process {pid} on {host}{life}, since {since}{ago}{reason}", self.who)
    }
}

/// A lock that a run took and holds no more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lost {
    pub stack: String,
    /// The line of the audit that tells who took it away, where there is one.
    pub away: Option<Entry>,
    /// Who holds it now.
    pub holder: Option<Lock>,
}

impl Lost {
    /// What became of the lock, a line each: `ben@desk took the lock of `stacks/a` away at …: it hangs`.
    pub fn told(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(away) = &self.away {
            let at = clock::stamp(away.at);
            let ago = clock::ago(&at).map(|ago| format!(", {ago}")).unwrap_or_default();
            let reason = if away.reason.is_empty() { String::new() } else { format!(": {}", away.reason) };
            lines.push(format!("{} took the lock of `{}` away at {at}{ago}{reason}", away.who, self.stack));
        }
        match &self.holder {
            Some(lock) => {
                lines.push(format!("`{}` is held by run `{}`: {}", lock.stack, lock.run, lock.told()));
            }
            None if self.away.is_none() => lines.push(format!("nobody knows who took the lock of `{}`", self.stack)),
            None => {}
        }
        lines
    }
}

/// The refusal of a set of stacks, with a note for every lock in the way.
pub fn refusal(locks: &[Lock]) -> Problem {
    let what = match locks {
        [one] => format!("stack `{}` is locked by run `{}`", one.stack, one.run),
        all => format!("{} stacks are locked by other runs", all.len()),
    };
    let mut problem = Problem::new(what).kind(Kind::Refused);
    for lock in locks {
        problem = problem.note(format!("`{}` is held by run `{}`: {}", lock.stack, lock.run, lock.told()));
    }
    let gone = locks.iter().filter(|lock| lock.life() == Life::Gone).map(|lock| lock.run.as_str());
    match gone.min() {
        Some(run) => problem.help(format!(
            "`suil infra resume {run}` goes on with what was left, or `suil infra unlock KEY --reason TEXT` gives it up"
        )),
        None => problem.help("wait until it has ended; `suil infra locks` shows all that are held"),
    }
}
