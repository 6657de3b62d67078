//! The store: runs, locks, checks, drift, the stacks that were seen, and who did what.
//!
//! Enters: rows, and questions about rows. Leaves: rows, or a refusal that names every holder of a lock. Every call is one
//! transaction: it happened whole or not at all. Never decides what is run, never prints, never shows a password.
//!
//! It is SQLite in the tree (`.suil/infra.db`), or PostgreSQL for several machines. Both run the same statements.

mod ledger;
pub mod lock;
mod postgres;
pub mod process;
pub mod row;
mod schema;
pub mod server;
mod sql;
mod sqlite;
pub mod told;
pub mod word;

pub use lock::{Lock, Lost, Take};
pub use process::{Life, Process};
pub use row::{Addresses, Check, Drift, Entry, Filter, Outcome, Pruned, Run, RunStack, Seen, Summary};
pub use server::Server;
pub use told::Counts;
pub use word::{Action, CheckState, DriftState, Mode, Phase, RunState, StackState, Trigger};

use crate::base::Problem;
use chrono::{DateTime, Utc};
use ledger::Ledger;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use uuid::{ContextV7, Timestamp, Uuid};

/// Where runs and locks are kept. Calls block; they may come from any thread.
///
/// # Errors
/// Every call fails where the store cannot be reached or read; the problem names it without a password. What else can
/// go wrong stands at the call.
pub trait Store: Send + Sync {
    /// What people know it by: the path of the file, or `postgres://host/database`.
    fn place(&self) -> String;

    /// Writes a new run with its stacks, in one transaction. Runs of the same repository, mode and set that wait or are
    /// left over (planned; or begun by a process that is gone, and not applying) become superseded by it.
    /// What is past its time is pruned. The same run again changes nothing.
    fn begin(&self, run: &Run, stacks: &[RunStack]) -> Result<(), Problem>;

    /// Brings a run to a state, and ends it where the state is an end.
    ///
    /// # Errors
    /// The state cannot follow (it was superseded meanwhile): refused. There is no such run.
    fn advance(&self, run: &str, state: RunState) -> Result<(), Problem>;

    /// Hands a run and its locks to the process `now`, with one audit row a lock. `was` is the process that the caller saw
    /// in the run: where another process took it up meanwhile nothing changes and it is false.
    fn adopt(&self, run: &str, was: &Process, now: &Process, who: &str) -> Result<bool, Problem>;

    /// The run of an id.
    fn run(&self, id: &str) -> Result<Option<Run>, Problem>;

    /// Runs, the newest first.
    fn runs(&self, filter: &Filter) -> Result<Vec<Run>, Problem>;

    /// How many stacks of each of these runs are in each state, in the order of the states. A run without stacks is missing.
    fn counts(&self, runs: &[String]) -> Result<BTreeMap<String, Counts>, Problem>;

    /// The stacks of a run, by wave and key.
    fn stacks(&self, run: &str) -> Result<Vec<RunStack>, Problem>;

    /// Writes stacks of runs as they now are, new or known, all in one transaction.
    fn put_stacks(&self, stacks: &[RunStack]) -> Result<(), Problem>;

    /// Writes what came of a phase, and the state of the stack, in one transaction. Texts are cut to their caps.
    fn put_outcome(&self, stack: &RunStack, outcome: &Outcome) -> Result<(), Problem>;

    /// What came of the phases of a run, without the texts of plans.
    fn outcomes(&self, run: &str) -> Result<Vec<Outcome>, Problem>;

    /// What came last of a phase of a stack, in any run, without the text of the plan.
    fn last(&self, repo: &str, stack: &str, phase: Phase) -> Result<Option<Outcome>, Problem>;

    /// The text of a plan, where it is still kept.
    fn plan_text(&self, run: &str, stack: &str, phase: Phase) -> Result<Option<String>, Problem>;

    /// Writes a check; the latest of (run, stack, name) stays.
    fn put_check(&self, check: &Check) -> Result<(), Problem>;

    /// The checks of a run, by stack and name.
    fn checks(&self, run: &str) -> Result<Vec<Check>, Problem>;

    /// Takes the locks of all these stacks for the run, or none. What the run holds already stays as it is.
    fn take(&self, run: &Run, stacks: &[String], reason: &str) -> Result<Take, Problem>;

    /// Lets locks of the run go: of these stacks, or all. Gives the stacks whose locks it held.
    fn release(&self, run: &str, stacks: Option<&[String]>, who: &str, reason: &str) -> Result<Vec<String>, Problem>;

    /// Those locks of these stacks that the process of the run does not hold, by stack.
    fn lost(&self, run: &Run, stacks: &[String]) -> Result<Vec<Lost>, Problem>;

    /// Writes a stack that begins, with a line in the audit, as long as the process of the run holds the locks of all `held`.
    /// Otherwise nothing is written, and those that it does not hold come back.
    fn start(&self, run: &Run, held: &[String], stack: &RunStack, line: &Entry) -> Result<Vec<Lost>, Problem>;

    /// Takes locks away from whoever holds them, as long as they are still as they were seen. Gives those that were.
    fn unlock(&self, locks: &[Lock], who: &str, reason: &str) -> Result<Vec<Lock>, Problem>;

    /// All locks, by repository and stack.
    fn locks(&self) -> Result<Vec<Lock>, Problem>;

    /// Writes looks for drift; [`Drift::since`] of each is set from the look before.
    fn put_drift(&self, drifts: &[Drift]) -> Result<(), Problem>;

    /// The latest look at every stack of a repository.
    fn drift(&self, repo: &str) -> Result<Vec<Drift>, Problem>;

    /// The looks at one stack, the newest first.
    fn drift_history(&self, repo: &str, stack: &str, limit: u32) -> Result<Vec<Drift>, Problem>;

    /// Writes which stacks a scan saw. A complete one marks those that it did not see as removed.
    fn see(&self, repo: &str, stacks: &[Seen], complete: bool) -> Result<(), Problem>;

    /// The stacks that were ever seen, by key.
    fn seen(&self, repo: &str) -> Result<Vec<Seen>, Problem>;

    /// Adds lines to the audit. A line whose id is there already is left as it is.
    fn note(&self, entries: &[Entry]) -> Result<(), Problem>;

    /// Lines of the audit, the newest first: of one stack, of one run, or all.
    fn audit(&self, stack: Option<&str>, run: Option<&str>, limit: u32) -> Result<Vec<Entry>, Problem>;

    /// Removes texts of plans after thirty days and looks for drift after ninety, but never the latest look at a stack.
    /// `dry` counts alone.
    fn prune(&self, now: DateTime<Utc>, dry: bool) -> Result<Pruned, Problem>;
}

/// A new id: a UUID of version 7 at the present moment. Those of one process sort as they were made.
pub fn new_id() -> String {
    static ORDER: Mutex<ContextV7> = Mutex::new(ContextV7::new());
    let now = crate::base::clock::now();
    let seconds = u64::try_from(now.timestamp()).unwrap_or(0);
    let order = ORDER.lock().unwrap_or_else(PoisonError::into_inner);
    Uuid::new_v7(Timestamp::from_unix(&*order, seconds, now.timestamp_subsec_nanos())).to_string()
}

/// Opens the store on a server, or that of the tree at `root`. It is made where there is none.
///
/// # Errors
/// It cannot be reached, made or read; it is damaged; a newer suil has written to it (refused).
pub fn open(server: Option<&Server>, root: &Path) -> Result<Arc<dyn Store>, Problem> {
    match server {
        None => Ok(Arc::new(Ledger(sqlite::Sqlite::open(root)?))),
        Some(server) => Ok(Arc::new(Ledger(postgres::Postgres::open(server)?))),
    }
}

/// What a look for a store finds.
pub enum Known {
    /// No run has made it yet.
    None,
    Open(Arc<dyn Store>),
    /// It is there, and this user may not read it.
    Closed(Problem),
}

/// Opens the store where there is one: a look at runs or locks makes none. One that this user may only read is read.
///
/// # Errors
/// As [`open`].
pub fn known(server: Option<&Server>, root: &Path) -> Result<Known, Problem> {
    match server {
        None => sqlite::known(root),
        Some(_) => open(server, root).map(Known::Open),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_sort_as_they_were_made() {
        let ids: Vec<String> = (0..5000).map(|_| super::new_id()).collect();
        assert!(ids.is_sorted_by(|a, b| a < b));
        assert_eq!(ids[0].len(), 36);
    }
}
