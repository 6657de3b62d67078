//! Looks for drift: the latest of each stack, and those before it.

use super::super::row::Drift;
use super::super::sql::{Fault, Field, Row, Session, insert, json};
use super::super::word::DriftState;
use super::name;
use crate::base::Problem;
use chrono::{DateTime, Utc};
use std::collections::BTreeMap;

const COLUMNS: &[&str] =
    &["id", "repo", "stack", "state", "summary", "addresses", "error", "revision", "run", "at", "since"];

pub fn put(session: &mut dyn Session, drifts: &[Drift]) -> Result<(), Fault> {
    let mut latest: BTreeMap<(String, String), Drift> = BTreeMap::new();
    let mut repos: Vec<String> = drifts.iter().map(|drift| name(&drift.repo)).collect();
    repos.sort();
    repos.dedup();
    for repo in &repos {
        let known = self::latest(session, repo)?;
        latest.extend(known.into_iter().map(|drift| ((repo.clone(), drift.stack.clone()), drift)));
    }
    let mut rows = Vec::new();
    let mut changed: BTreeMap<(String, String), Vec<Field>> = BTreeMap::new();
    let mut ordered: Vec<&Drift> = drifts.iter().collect();
    ordered.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
    for drift in ordered {
        let key = (name(&drift.repo), drift.stack.clone());
        let before = latest.get(&key);
        // Written again: the first time counts.
        let since = match before {
            Some(before) if before.state == drift.state && before.at <= drift.at => before.since,
            _ => drift.at,
        };
        let fields = row(drift, &key.0, since);
        rows.push(fields.clone());
        if before.is_none_or(|before| before.at <= drift.at) {
            changed.insert(key.clone(), fields);
            latest.insert(key, Drift { since, ..drift.clone() });
        }
    }
    insert(session, "drift_history", COLUMNS, "ON CONFLICT (id) DO NOTHING", &rows)?;
    let tail = "ON CONFLICT (repo, stack) DO UPDATE SET id = excluded.id, state = excluded.state, \
                summary = excluded.summary, addresses = excluded.addresses, error = excluded.error, \
                revision = excluded.revision, run = excluded.run, at = excluded.at, since = excluded.since";
    insert(session, "drift", COLUMNS, tail, &changed.into_values().collect::<Vec<_>>())?;
    Ok(())
}

fn row(drift: &Drift, repo: &str, since: DateTime<Utc>) -> Vec<Field> {
    vec![
        Field::from(&drift.id),
        Field::from(repo),
        Field::from(&drift.stack),
        drift.state.word().into(),
        json(&drift.summary),
        json(&drift.addresses),
        Field::from(&drift.error),
        Field::from(&drift.commit),
        Field::from(&drift.run),
        drift.at.into(),
        since.into(),
    ]
}

pub fn latest(session: &mut dyn Session, repo: &str) -> Result<Vec<Drift>, Fault> {
    let sql = format!("SELECT {} FROM suil.drift WHERE repo = $1", COLUMNS.join(", "));
    let rows = session.query(&sql, &[Field::from(repo)])?;
    let mut found = rows.iter().map(read).collect::<Result<Vec<_>, Problem>>()?;
    found.sort_by(|a, b| a.stack.cmp(&b.stack));
    Ok(found)
}

pub fn history(session: &mut dyn Session, repo: &str, stack: &str, limit: u32) -> Result<Vec<Drift>, Fault> {
    let sql = format!(
        "SELECT {} FROM suil.drift_history WHERE repo = $1 AND stack = $2 ORDER BY at DESC, id DESC LIMIT $3",
        COLUMNS.join(", ")
    );
    let rows = session.query(&sql, &[Field::from(repo), Field::from(stack), limit.into()])?;
    Ok(rows.iter().map(read).collect::<Result<_, Problem>>()?)
}

fn read(row: &Row) -> Result<Drift, Problem> {
    Ok(Drift {
        id: row.text(0)?,
        repo: row.text(1)?,
        stack: row.text(2)?,
        state: row.word(3, DriftState::of)?,
        summary: row.json(4)?,
        addresses: row.json(5)?,
        error: row.maybe_text(6)?,
        commit: row.maybe_text(7)?,
        run: row.maybe_text(8)?,
        at: row.time(9)?,
        since: row.time(10)?,
    })
}
