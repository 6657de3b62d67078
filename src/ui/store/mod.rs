//! Runs over stacks and the locks of stacks, as people read them.

mod show;

pub use show::{StackRow, show};

use super::text::{age, clean, cut, took};
use super::{Paint, Table, columns};
use crate::base::clock::stamp;
use crate::infra::store::{Counts, Entry, Lock, Run};
use chrono::{DateTime, Utc};

/// So much of an id is shown in lists: the moment to a millisecond.
const SHORT: usize = 13;

/// The beginning of an id, as the command line takes it.
pub fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}

/// Two lines a run, the newest first: how it went, and below it what became of its stacks and who began it.
pub fn runs(rows: &[(Counts, Run)], now: DateTime<Utc>, paint: Paint) -> String {
    if rows.is_empty() {
        return "no runs\n".to_owned();
    }
    let mut table = Table::new(["RUN", "AGE", "TOOK", "MODE", "STATE"]);
    for (_, run) in rows {
        table.row([
            short(&run.id).to_owned(),
            age((now - run.started).num_seconds()),
            run.seconds().map(took).unwrap_or_default(),
            run.mode.to_string(),
            run.state.to_string(),
        ]);
    }
    let below = rows.iter().map(|(counts, run)| match run.reason.as_str() {
        "" => format!("{}; {}", counted(counts), run.who),
        reason => format!("{}; {}: {reason}", counted(counts), run.who),
    });
    under(&table.render(columns(), paint), below, paint)
}

/// `28 applied, 2 noop`
pub fn counted(counts: &Counts) -> String {
    let counts: Vec<String> = counts.iter().map(|(state, n)| format!("{n} {state}")).collect();
    if counts.is_empty() { "no stacks".to_owned() } else { counts.join(", ") }
}

/// A line a lock, by runs, and below the locks of each run who holds them and why.
pub fn locks(locks: &[Lock], now: DateTime<Utc>, paint: Paint) -> String {
    if locks.is_empty() {
        return "no locks\n".to_owned();
    }
    let mut locks: Vec<&Lock> = locks.iter().collect();
    locks.sort_by(|a, b| (&a.run, &a.repo, &a.stack).cmp(&(&b.run, &b.repo, &b.stack)));
    let mut table = Table::new(["RUN", "AGE", "PROCESS", "STACK"]);
    let several = locks.iter().any(|lock| Some(&lock.repo) != locks.first().map(|first| &first.repo));
    for lock in &locks {
        let stack = if several { format!("{}//{}", lock.repo, lock.stack) } else { lock.stack.clone() };
        let age = age((now - lock.taken).num_seconds());
        table.row([short(&lock.run).to_owned(), age, lock.life().word().to_owned(), stack]);
    }
    let below = locks.iter().enumerate().map(|(n, lock)| {
        if locks.get(n + 1).is_some_and(|next| next.run == lock.run) {
            return String::new();
        }
        let reason = if lock.reason.is_empty() { String::new() } else { format!(": {}", lock.reason) };
        format!("{}, process {} on {}{reason}", lock.who, lock.process.pid, lock.process.host)
    });
    under(&table.render(columns(), paint), below, paint)
}

/// Two lines an entry of the audit, the newest first: what was done to which stack, and below it who did it and why.
pub fn audit(entries: &[Entry], paint: Paint) -> String {
    if entries.is_empty() {
        return "nothing was done yet\n".to_owned();
    }
    let mut table = Table::new(["WHEN", "ACTION", "RUN", "STACK"]);
    for entry in entries {
        let run = entry.run.as_deref().map(short).unwrap_or_default();
        table.row([&stamp(entry.at), entry.action.word(), run, &entry.stack]);
    }
    let below = entries.iter().map(|entry| match entry.reason.as_str() {
        "" => entry.who.clone(),
        reason => format!("{}: {reason}", entry.who),
    });
    under(&table.render(columns(), paint), below, paint)
}

/// Puts a quiet line below each row of a table.
fn under(table: &str, below: impl Iterator<Item = String>, paint: Paint) -> String {
    let mut out = String::new();
    for (line, below) in table.lines().zip(std::iter::once(String::new()).chain(below)) {
        out.push_str(&format!("{line}\n"));
        if !below.is_empty() {
            let below = format!("    {}", clean(&below));
            let below = columns().map_or_else(|| below.clone(), |columns| cut(&below, columns));
            out.push_str(&format!("{}\n", paint.quiet(&below)));
        }
    }
    out
}
