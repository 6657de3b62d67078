//! Rows as programs are told them.

use super::row::{Addresses, Check, Drift, Entry, Outcome, Run, RunStack, Seen, Summary};
use super::{Lock, Process, StackState};
use crate::base::{Plain, clock};
use chrono::{DateTime, Utc};

/// So many stacks of a run are in each state.
pub type Counts = Vec<(StackState, u32)>;

fn moment(at: DateTime<Utc>) -> Plain {
    Plain::from(clock::stamp(at))
}

fn texts(list: &[String]) -> Plain {
    list.iter().map(Plain::from).collect()
}

/// What stands for a text that is not there.
fn maybe(text: &Option<String>) -> Plain {
    Plain::from(text.as_deref().map(Plain::from))
}

impl Process {
    /// `{host, user, pid, life}`
    pub fn to_plain(&self) -> Plain {
        Plain::from_iter([
            ("host", Plain::from(&self.host)),
            ("user", Plain::from(&self.user)),
            ("pid", Plain::from(self.pid)),
            ("life", Plain::from(self.life().word())),
        ])
    }
}

impl Run {
    /// So long it took, in seconds, where it has ended.
    pub fn seconds(&self) -> Option<f64> {
        Some((self.ended? - self.started).num_milliseconds() as f64 / 1000.0)
    }

    /// `{id, repo, trigger, mode, state, commit, tree, who, reason, process, successor, started, ended, seconds, stacks}`
    pub fn to_plain(&self, counts: &Counts) -> Plain {
        let count = |(state, n): &(StackState, u32)| (state.word(), Plain::from(*n));
        Plain::from_iter([
            ("id", Plain::from(&self.id)),
            ("repo", Plain::from(&self.repo)),
            ("trigger", Plain::from(self.trigger.word())),
            ("mode", Plain::from(self.mode.word())),
            ("state", Plain::from(self.state.word())),
            ("commit", maybe(&self.commit)),
            ("tree", maybe(&self.tree)),
            ("who", Plain::from(&self.who)),
            ("reason", Plain::from(&self.reason)),
            ("process", self.process.to_plain()),
            ("successor", maybe(&self.successor)),
            ("started", moment(self.started)),
            ("ended", Plain::from(self.ended.map(moment))),
            ("seconds", Plain::from(self.seconds())),
            ("stacks", counts.iter().map(count).collect()),
        ])
    }
}

impl RunStack {
    /// `{stack, wave, reasons, via, environment, state, blocked_by, started, ended}`
    pub fn to_plain(&self) -> Plain {
        Plain::from_iter([
            ("stack", Plain::from(&self.stack)),
            ("wave", Plain::from(self.wave)),
            ("reasons", texts(&self.reasons)),
            ("via", texts(&self.via)),
            ("environment", maybe(&self.environment)),
            ("state", Plain::from(self.state.word())),
            ("blocked_by", maybe(&self.blocked_by)),
            ("started", Plain::from(self.started.map(moment))),
            ("ended", Plain::from(self.ended.map(moment))),
        ])
    }
}

impl Summary {
    /// `{adds, changes, destroys, replaces, imports, moves, output_changes}`
    pub fn to_plain(&self) -> Plain {
        let pairs = [
            ("adds", self.adds),
            ("changes", self.changes),
            ("destroys", self.destroys),
            ("replaces", self.replaces),
            ("imports", self.imports),
            ("moves", self.moves),
            ("output_changes", self.output_changes),
        ];
        pairs.into_iter().map(|(name, n)| (name, Plain::from(n))).collect()
    }
}

impl Addresses {
    /// `{adds, changes, destroys, replaces, imports, moves}`
    pub fn to_plain(&self) -> Plain {
        self.lists().into_iter().map(|(name, list)| (name, texts(list))).collect()
    }
}

impl Outcome {
    /// `{phase, summary, addresses, digest, file, error, unknown, started, ended}`
    pub fn to_plain(&self) -> Plain {
        Plain::from_iter([
            ("phase", Plain::from(self.phase.word())),
            ("summary", self.summary.to_plain()),
            ("addresses", self.addresses.to_plain()),
            ("digest", maybe(&self.digest)),
            ("file", maybe(&self.file)),
            ("error", maybe(&self.error)),
            ("unknown", texts(&self.unknown)),
            ("started", moment(self.started)),
            ("ended", moment(self.ended)),
        ])
    }
}

impl Check {
    /// `{name, state, summary, details, url, who, at}`
    pub fn to_plain(&self) -> Plain {
        Plain::from_iter([
            ("name", Plain::from(&self.name)),
            ("state", Plain::from(self.state.word())),
            ("summary", Plain::from(&self.summary)),
            ("details", Plain::from(&self.details)),
            ("url", maybe(&self.url)),
            ("who", Plain::from(&self.who)),
            ("at", moment(self.at)),
        ])
    }
}

impl Lock {
    /// `{repo, stack, run, who, process, taken, reason}`
    pub fn to_plain(&self) -> Plain {
        Plain::from_iter([
            ("repo", Plain::from(&self.repo)),
            ("stack", Plain::from(&self.stack)),
            ("run", Plain::from(&self.run)),
            ("who", Plain::from(&self.who)),
            ("process", self.process.to_plain()),
            ("taken", moment(self.taken)),
            ("reason", Plain::from(&self.reason)),
        ])
    }
}

impl Drift {
    /// `{repo, stack, state, summary, addresses, error, commit, run, at, since}`
    pub fn to_plain(&self) -> Plain {
        Plain::from_iter([
            ("repo", Plain::from(&self.repo)),
            ("stack", Plain::from(&self.stack)),
            ("state", Plain::from(self.state.word())),
            ("summary", self.summary.to_plain()),
            ("addresses", self.addresses.to_plain()),
            ("error", maybe(&self.error)),
            ("commit", maybe(&self.commit)),
            ("run", maybe(&self.run)),
            ("at", moment(self.at)),
            ("since", moment(self.since)),
        ])
    }
}

impl Seen {
    /// `{id, repo, key, backend, state, commit, first_seen, last_seen, removed_at}`
    pub fn to_plain(&self) -> Plain {
        Plain::from_iter([
            ("id", Plain::from(&self.id)),
            ("repo", Plain::from(&self.repo)),
            ("key", Plain::from(&self.key)),
            ("backend", maybe(&self.backend)),
            ("state", maybe(&self.state)),
            ("commit", maybe(&self.commit)),
            ("first_seen", moment(self.first)),
            ("last_seen", moment(self.last)),
            ("removed_at", Plain::from(self.removed.map(moment))),
        ])
    }
}

impl Entry {
    /// `{id, at, action, who, repo, stack, run, reason}`
    pub fn to_plain(&self) -> Plain {
        Plain::from_iter([
            ("id", Plain::from(&self.id)),
            ("at", moment(self.at)),
            ("action", Plain::from(self.action.word())),
            ("who", Plain::from(&self.who)),
            ("repo", Plain::from(&self.repo)),
            ("stack", Plain::from(&self.stack)),
            ("run", maybe(&self.run)),
            ("reason", Plain::from(&self.reason)),
        ])
    }
}
