//! Looks whether what stands in the world is still what the states of stacks say.
//!
//! Enters: stacks, what was found the last time. Leaves: what was found now, written to the store, and what of it is new.
//! Nothing is applied, no lock is taken, neither suil's nor that of a state, and no state is written.

use crate::base::{Problem, Problems, clock, file};
use crate::infra::engine::schedule::{self, Order, Pace, Verdict};
use crate::infra::engine::{Failure, Follow, Purpose, Session, Site, Summary, Unit};
use crate::infra::store::{self, Drift, DriftState, Store};
use crate::infra::terraform::process::Watch;
use chrono::TimeDelta;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// One stack, and what is known of its drift.
#[derive(Clone, Debug)]
pub struct Look {
    /// What was found, now or the last time.
    pub drift: Drift,
    /// What was found the time before; of a stack that was not looked at now, nothing.
    pub before: Option<Drift>,
    /// True where it was looked at now.
    pub fresh: bool,
    pub problems: Problems,
}

/// What is new since the last look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum News {
    Nothing,
    /// It drifted, and was clean, or not known.
    Drifted,
    /// It had drifted before; other things did now.
    Other,
    /// It had drifted, and is clean.
    Gone,
    /// It could be looked at before, and cannot now.
    Failed,
}

impl News {
    /// The word for it in every output.
    pub fn word(self) -> &'static str {
        match self {
            News::Nothing => "none",
            News::Drifted => "drifted",
            News::Other => "other",
            News::Gone => "gone",
            News::Failed => "failed",
        }
    }
}

impl Look {
    pub fn news(&self) -> News {
        if !self.fresh {
            return News::Nothing;
        }
        let before = self.before.as_ref().map(|before| before.state);
        match (before, self.drift.state) {
            (Some(DriftState::Failed), DriftState::Failed) => News::Nothing,
            (_, DriftState::Failed) => News::Failed,
            (Some(DriftState::Drifted), DriftState::Drifted) => match self.before.as_ref() {
                Some(before) if before.addresses != self.drift.addresses => News::Other,
                _ => News::Nothing,
            },
            (_, DriftState::Drifted) => News::Drifted,
            (Some(DriftState::Drifted), DriftState::Clean) => News::Gone,
            (_, DriftState::Clean) => News::Nothing,
        }
    }
}

/// How stacks are looked at.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// So many at once.
    pub parallel: usize,
    /// A look that is younger than this counts; one that failed never does.
    pub max_age: Option<TimeDelta>,
}

/// Who is told while it goes on.
pub trait Told: Follow {
    /// A stack was looked at.
    fn looked(&self, stack: &str, state: DriftState);
}

/// Looks at the stacks, and writes to the store what was found. The looks have the order of the stacks; those that a stop
/// left out are missing.
///
/// # Errors
/// The store cannot be read or written.
pub fn look(site: &Site, units: &[Unit], store: &dyn Store, ask: Ask, told: &dyn Told) -> Result<Vec<Look>, Problem> {
    let mut known: HashMap<String, Drift> =
        store.drift(&site.repo)?.into_iter().map(|drift| (drift.stack.clone(), drift)).collect();
    let now = clock::now();
    let young =
        |drift: &Drift| ask.max_age.is_some_and(|most| now - drift.at < most) && drift.state != DriftState::Failed;
    let due: Vec<&Unit> = units.iter().filter(|unit| !known.get(unit.key()).is_some_and(young)).collect();
    let logs = Session::logs(site, &store::new_id());
    let found: Mutex<HashMap<String, (Drift, Problems)>> = Mutex::default();
    let work = |at: usize| {
        let Some(unit) = due.get(at) else { return Verdict::Done };
        told.begun(unit.key());
        let (drift, problems) = one(site, unit, &logs, told);
        if !site.stop.asked() {
            told.looked(unit.key(), drift.state);
            found.lock().unwrap_or_else(PoisonError::into_inner).insert(unit.key().to_owned(), (drift, problems));
        }
        Verdict::Done
    };
    // Each stands alone: what is looked at changes nothing that another sees.
    let order = Order::new(vec![Vec::new(); due.len()]);
    let pace = Pace { parallel: ask.parallel, barrier: false };
    schedule::run(&order, &BTreeSet::new(), pace, &|| site.stop.asked(), &work, &|_, _| {});
    let _ = std::fs::remove_dir_all(&logs);
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut rows: Vec<Drift> = found.values().map(|(drift, _)| drift.clone()).collect();
    rows.sort_by(|a, b| a.stack.cmp(&b.stack));
    store.put_drift(&rows)?;
    // Since when something is so only the store knows.
    let since: HashMap<String, Drift> =
        store.drift(&site.repo)?.into_iter().map(|drift| (drift.stack.clone(), drift)).collect();
    let looks = units.iter().filter_map(|unit| {
        let before = known.remove(unit.key());
        match found.remove(unit.key()) {
            Some((drift, problems)) => {
                let drift = since.get(unit.key()).filter(|row| row.id == drift.id).cloned().unwrap_or(drift);
                Some(Look { drift, before, fresh: true, problems })
            }
            None if due.iter().any(|due| due.key() == unit.key()) => None,
            None => Some(Look { drift: before?, before: None, fresh: false, problems: Problems::new() }),
        }
    });
    Ok(looks.collect())
}

/// Looks at one stack.
fn one(site: &Site, unit: &Unit, logs: &Path, told: &dyn Told) -> (Drift, Problems) {
    let lines = Lines { site, told, key: unit.key() };
    let session = Session { site, unit, logs, watch: &lines };
    let plan = logs.join(format!("{}.drift", unit.slug()));
    let looked = planned(&session, &plan);
    let _ = std::fs::remove_file(&plan);
    let now = clock::now();
    let row = |state, summary: &Summary, error: Option<String>| {
        let (summary, addresses) = (summary.counts(), summary.addresses.clone());
        let (repo, stack) = (site.repo.clone(), unit.key().to_owned());
        let (id, commit) = (store::new_id(), site.sha.clone());
        Drift { id, repo, stack, state, summary, addresses, error, commit, run: None, at: now, since: now }
    };
    match looked {
        Ok((summary, true)) => (row(DriftState::Drifted, &summary, None), Problems::new()),
        // What moved without a difference is none.
        Ok((_, false)) => (row(DriftState::Clean, &Summary::default(), None), Problems::new()),
        Err(failure) => (row(DriftState::Failed, &Summary::default(), Some(failure.text)), vec![*failure.problem]),
    }
}

/// What a plan that only looks says, and whether anything differs.
#[allow(clippy::result_large_err, reason = "it is the failure of a session")]
fn planned(session: &Session<'_>, plan: &Path) -> Result<(Summary, bool), Failure> {
    file::private_folder(session.logs)?;
    session.render()?;
    session.ready(Purpose::Drift, false)?;
    let planned = session.plan(Purpose::Drift, plan)?;
    Ok((drifted(&planned.shown)?, planned.differs))
}

/// What a plan that only looks says has moved: resources stand apart from those that it would change.
fn drifted(shown: &Value) -> Result<Summary, Problem> {
    let part = |name: &str| shown.get(name).cloned().unwrap_or(Value::Null);
    Summary::read(&json!({
        "format_version": part("format_version"),
        "resource_changes": part("resource_drift"),
        "output_changes": part("output_changes"),
    }))
}

/// What Terraform says, on its way to who follows.
struct Lines<'a> {
    site: &'a Site,
    told: &'a dyn Told,
    key: &'a str,
}

impl Watch for Lines<'_> {
    fn line(&self, line: &str) {
        let line = line.trim();
        if !line.is_empty() {
            self.told.phase(self.key, &self.site.redactor.text(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drift(state: DriftState, changes: &[&str]) -> Drift {
        let now = clock::now();
        let addresses = store::Addresses {
            changes: changes.iter().map(|one| (*one).to_owned()).collect(),
            ..store::Addresses::default()
        };
        Drift {
            id: String::new(),
            repo: String::new(),
            stack: "a".to_owned(),
            state,
            summary: store::Summary::default(),
            addresses,
            error: None,
            commit: None,
            run: None,
            at: now,
            since: now,
        }
    }

    #[test]
    fn what_is_new_is_told_by_the_look_before() {
        use DriftState::{Clean, Drifted, Failed};
        for (before, now, want) in [
            (None, drift(Clean, &[]), News::Nothing),
            (None, drift(Drifted, &["a"]), News::Drifted),
            (Some(drift(Clean, &[])), drift(Drifted, &["a"]), News::Drifted),
            (Some(drift(Failed, &[])), drift(Drifted, &["a"]), News::Drifted),
            (Some(drift(Drifted, &["a"])), drift(Drifted, &["a"]), News::Nothing),
            (Some(drift(Drifted, &["a"])), drift(Drifted, &["a", "b"]), News::Other),
            (Some(drift(Drifted, &["a"])), drift(Clean, &[]), News::Gone),
            (Some(drift(Clean, &[])), drift(Failed, &[]), News::Failed),
            (Some(drift(Failed, &[])), drift(Failed, &[]), News::Nothing),
            (Some(drift(Failed, &[])), drift(Clean, &[]), News::Nothing),
        ] {
            let look = Look { drift: now, before, fresh: true, problems: Problems::new() };
            assert_eq!(look.news(), want, "{look:?}");
            assert_eq!(Look { fresh: false, ..look }.news(), News::Nothing);
        }
    }

    #[test]
    fn what_moved_stands_apart_from_what_would_change() {
        let change = |address: &str, action: &str| json!({"address": address, "mode": "managed", "change": {"actions": [action]}});
        let shown = json!({
            "format_version": "1.2",
            "resource_changes": [change("a.planned", "update")],
            "resource_drift": [change("a.moved", "update"), change("a.lost", "delete")],
            "output_changes": {"o": {"actions": ["update"]}},
        });
        let summary = drifted(&shown).expect("a summary");
        assert_eq!(
            (summary.addresses.changes, summary.addresses.destroys),
            (vec!["a.moved".to_owned()], vec!["a.lost".to_owned()])
        );
        assert_eq!(summary.outputs, ["o"]);
    }
}
