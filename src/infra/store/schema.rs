//! The tables, and how an older store becomes a present one.

use super::sql::{Fault, Session};
use crate::base::{Problem, problem::Kind};

/// One step a version. A step that was released is never changed.
const STEPS: &[&[&str]] = &[&[
    "CREATE TABLE suil.runs (
        id TEXT PRIMARY KEY, repo TEXT NOT NULL, began_by TEXT NOT NULL, mode TEXT NOT NULL, state TEXT NOT NULL,
        revision TEXT, tree TEXT, who TEXT NOT NULL, reason TEXT NOT NULL, host TEXT NOT NULL, login TEXT NOT NULL,
        pid BIGINT NOT NULL, start TEXT NOT NULL, successor TEXT, started BIGINT NOT NULL, ended BIGINT,
        change_request TEXT, stack_set TEXT NOT NULL)",
    "CREATE INDEX runs_of_set ON suil.runs (repo, mode, stack_set)",
    "CREATE TABLE suil.run_stacks (
        run TEXT NOT NULL, stack TEXT NOT NULL, wave BIGINT NOT NULL, reasons TEXT NOT NULL, via TEXT NOT NULL,
        environment TEXT, state TEXT NOT NULL, blocked_by TEXT, started BIGINT, ended BIGINT,
        PRIMARY KEY (run, stack))",
    "CREATE INDEX run_stacks_of_stack ON suil.run_stacks (stack, run)",
    "CREATE TABLE suil.outcomes (
        run TEXT NOT NULL, stack TEXT NOT NULL, phase TEXT NOT NULL, summary TEXT NOT NULL, addresses TEXT NOT NULL,
        digest TEXT, file TEXT, error TEXT, unknown TEXT NOT NULL, started BIGINT NOT NULL, ended BIGINT NOT NULL,
        PRIMARY KEY (run, stack, phase))",
    "CREATE INDEX outcomes_of_stack ON suil.outcomes (stack, phase, ended)",
    "CREATE TABLE suil.plan_texts (
        run TEXT NOT NULL, stack TEXT NOT NULL, phase TEXT NOT NULL, words TEXT NOT NULL, at BIGINT NOT NULL,
        PRIMARY KEY (run, stack, phase))",
    "CREATE INDEX plan_texts_by_age ON suil.plan_texts (at)",
    "CREATE TABLE suil.checks (
        run TEXT NOT NULL, stack TEXT NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL, summary TEXT NOT NULL,
        details TEXT NOT NULL, url TEXT, who TEXT NOT NULL, at BIGINT NOT NULL,
        PRIMARY KEY (run, stack, name))",
    "CREATE TABLE suil.locks (
        repo TEXT NOT NULL, stack TEXT NOT NULL, run TEXT NOT NULL, who TEXT NOT NULL, host TEXT NOT NULL,
        login TEXT NOT NULL, pid BIGINT NOT NULL, start TEXT NOT NULL, taken BIGINT NOT NULL, reason TEXT NOT NULL,
        PRIMARY KEY (repo, stack))",
    "CREATE INDEX locks_of_run ON suil.locks (run)",
    "CREATE TABLE suil.drift (
        repo TEXT NOT NULL, stack TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL, summary TEXT NOT NULL,
        addresses TEXT NOT NULL, error TEXT, revision TEXT, run TEXT, at BIGINT NOT NULL, since BIGINT NOT NULL,
        PRIMARY KEY (repo, stack))",
    "CREATE TABLE suil.drift_history (
        id TEXT PRIMARY KEY, repo TEXT NOT NULL, stack TEXT NOT NULL, state TEXT NOT NULL, summary TEXT NOT NULL,
        addresses TEXT NOT NULL, error TEXT, revision TEXT, run TEXT, at BIGINT NOT NULL, since BIGINT NOT NULL)",
    "CREATE INDEX drift_history_of_stack ON suil.drift_history (repo, stack, at)",
    "CREATE INDEX drift_history_by_age ON suil.drift_history (at)",
    "CREATE TABLE suil.stacks (
        repo TEXT NOT NULL, stack TEXT NOT NULL, id TEXT NOT NULL, backend TEXT, state TEXT, revision TEXT,
        first_seen BIGINT NOT NULL, last_seen BIGINT NOT NULL, removed BIGINT,
        PRIMARY KEY (repo, stack))",
    "CREATE TABLE suil.audit (
        id TEXT PRIMARY KEY, at BIGINT NOT NULL, action TEXT NOT NULL, who TEXT NOT NULL, repo TEXT NOT NULL,
        stack TEXT NOT NULL, run TEXT, reason TEXT NOT NULL)",
    "CREATE INDEX audit_of_stack ON suil.audit (stack)",
    "CREATE INDEX audit_of_run ON suil.audit (run)",
]];

/// The version that this suil writes.
pub fn version() -> i64 {
    STEPS.len() as i64
}

/// Brings a store of version `from` to the present one, within the open transaction.
///
/// # Errors
/// The database refuses a statement.
pub fn migrate(session: &mut dyn Session, from: i64) -> Result<(), Fault> {
    for step in STEPS.iter().skip(usize::try_from(from).unwrap_or(0)) {
        for sql in *step {
            session.execute(sql, &[])?;
        }
    }
    Ok(())
}

/// The refusal of a store that a newer suil has written to.
pub fn newer(place: &str, found: i64) -> Problem {
    Problem::new(format!("the store `{place}` was made by a newer suil"))
        .note(format!("it has layout {found}, and this suil knows layouts up to {}", version()))
        .help("use the newer suil, which reads older stores as well")
        .kind(Kind::Refused)
}
