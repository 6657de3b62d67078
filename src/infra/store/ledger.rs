//! The store over any database: which statements each call is.

mod checks;
mod drift;
mod locks;
mod outcomes;
mod runs;
mod seen;
mod trail;

use super::lock::Take;
use super::row::{Check, Drift, Entry, Filter, Outcome, Pruned, Run, RunStack, Seen};
use super::sql::{Database, Fault, Session, Write};
use super::word::{Phase, RunState};
use super::{Counts, Lock, Lost, Process, Store};
use crate::base::{Problem, clock};
use chrono::{DateTime, Utc};
use std::collections::BTreeMap;

/// A store in a database.
pub struct Ledger<D>(pub D);

impl<D: Database> Ledger<D> {
    fn read<T>(&self, mut work: impl FnMut(&mut dyn Session) -> Result<T, Fault>) -> Result<T, Problem> {
        let mut found = None;
        self.0.read(&mut |session| {
            found = Some(work(session)?);
            Ok(())
        })?;
        found.ok_or_else(unasked)
    }

    fn write<T>(&self, write: Write, mut work: impl FnMut(&mut dyn Session) -> Result<T, Fault>) -> Result<T, Problem> {
        let mut found = None;
        self.0.write(write, &mut |session| {
            found = Some(work(session)?);
            Ok(())
        })?;
        found.ok_or_else(unasked)
    }
}

/// A database that ends a transaction well has run its body.
fn unasked() -> Problem {
    Problem::new("the store ended a transaction that it never began")
}

/// `owner/name` as it is compared.
fn name(repo: &str) -> String {
    repo.to_lowercase()
}

impl<D: Database> Store for Ledger<D> {
    fn place(&self) -> String {
        self.0.place()
    }

    fn begin(&self, run: &Run, stacks: &[RunStack]) -> Result<(), Problem> {
        self.write(Write::Again, |session| runs::begin(session, run, stacks))
    }

    fn advance(&self, run: &str, state: RunState) -> Result<(), Problem> {
        let now = clock::now();
        self.write(Write::Again, |session| runs::advance(session, run, state, now))
    }

    fn adopt(&self, run: &str, was: &Process, now: &Process, who: &str) -> Result<bool, Problem> {
        let at = clock::now();
        self.write(Write::Locking, |session| locks::adopt(session, run, was, now, who, at))
    }

    fn run(&self, id: &str) -> Result<Option<Run>, Problem> {
        self.read(|session| runs::one(session, id))
    }

    fn runs(&self, filter: &Filter) -> Result<Vec<Run>, Problem> {
        self.read(|session| runs::all(session, filter))
    }

    fn counts(&self, runs: &[String]) -> Result<BTreeMap<String, Counts>, Problem> {
        self.read(|session| runs::counts(session, runs))
    }

    fn stacks(&self, run: &str) -> Result<Vec<RunStack>, Problem> {
        self.read(|session| runs::stacks(session, run))
    }

    fn put_stacks(&self, stacks: &[RunStack]) -> Result<(), Problem> {
        self.write(Write::Again, |session| runs::put_stacks(session, stacks))
    }

    fn put_outcome(&self, stack: &RunStack, outcome: &Outcome) -> Result<(), Problem> {
        self.write(Write::Again, |session| {
            runs::put_stacks(session, std::slice::from_ref(stack))?;
            outcomes::put(session, outcome)
        })
    }

    fn outcomes(&self, run: &str) -> Result<Vec<Outcome>, Problem> {
        self.read(|session| outcomes::of_run(session, run))
    }

    fn last(&self, repo: &str, stack: &str, phase: Phase) -> Result<Option<Outcome>, Problem> {
        self.read(|session| outcomes::last(session, &name(repo), stack, phase))
    }

    fn plan_text(&self, run: &str, stack: &str, phase: Phase) -> Result<Option<String>, Problem> {
        self.read(|session| outcomes::text(session, run, stack, phase))
    }

    fn put_check(&self, check: &Check) -> Result<(), Problem> {
        self.write(Write::Again, |session| checks::put(session, check))
    }

    fn checks(&self, run: &str) -> Result<Vec<Check>, Problem> {
        self.read(|session| checks::of_run(session, run))
    }

    fn take(&self, run: &Run, stacks: &[String], reason: &str) -> Result<Take, Problem> {
        let at = clock::now();
        self.write(Write::Locking, |session| locks::take(session, run, stacks, reason, at))
    }

    fn release(&self, run: &str, stacks: Option<&[String]>, who: &str, reason: &str) -> Result<Vec<String>, Problem> {
        let at = clock::now();
        self.write(Write::Locking, |session| locks::release(session, run, stacks, who, reason, at))
    }

    fn lost(&self, run: &Run, stacks: &[String]) -> Result<Vec<Lost>, Problem> {
        self.read(|session| locks::lost(session, run, stacks))
    }

    fn start(&self, run: &Run, held: &[String], stack: &RunStack, line: &Entry) -> Result<Vec<Lost>, Problem> {
        self.write(Write::Locking, |session| {
            let lost = locks::lost(session, run, held)?;
            if lost.is_empty() {
                runs::put_stacks(session, std::slice::from_ref(stack))?;
                trail::put(session, std::slice::from_ref(line))?;
            }
            Ok(lost)
        })
    }

    fn unlock(&self, locks: &[Lock], who: &str, reason: &str) -> Result<Vec<Lock>, Problem> {
        let at = clock::now();
        self.write(Write::Once, |session| locks::unlock(session, locks, who, reason, at))
    }

    fn locks(&self) -> Result<Vec<Lock>, Problem> {
        self.read(|session| locks::all(session))
    }

    fn put_drift(&self, drifts: &[Drift]) -> Result<(), Problem> {
        self.write(Write::Again, |session| drift::put(session, drifts))
    }

    fn drift(&self, repo: &str) -> Result<Vec<Drift>, Problem> {
        self.read(|session| drift::latest(session, &name(repo)))
    }

    fn drift_history(&self, repo: &str, stack: &str, limit: u32) -> Result<Vec<Drift>, Problem> {
        self.read(|session| drift::history(session, &name(repo), stack, limit))
    }

    fn see(&self, repo: &str, stacks: &[Seen], complete: bool) -> Result<(), Problem> {
        let at = clock::now();
        self.write(Write::Again, |session| seen::put(session, &name(repo), stacks, complete, at))
    }

    fn seen(&self, repo: &str) -> Result<Vec<Seen>, Problem> {
        self.read(|session| seen::all(session, &name(repo)))
    }

    fn note(&self, entries: &[Entry]) -> Result<(), Problem> {
        self.write(Write::Again, |session| trail::put(session, entries))
    }

    fn audit(&self, stack: Option<&str>, run: Option<&str>, limit: u32) -> Result<Vec<Entry>, Problem> {
        self.read(|session| trail::some(session, stack, run, limit))
    }

    fn prune(&self, now: DateTime<Utc>, dry: bool) -> Result<Pruned, Problem> {
        self.write(Write::Again, |session| trail::prune(session, now, dry))
    }
}
