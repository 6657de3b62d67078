//! The audit, and what is removed because it is old.

use super::super::row::{Entry, Pruned};
use super::super::sql::{Fault, Field, Row, Session, insert};
use super::super::word::Action;
use super::name;
use crate::base::Problem;
use chrono::{DateTime, Days, Utc};

/// So many days the text of a plan is kept.
const PLAN_TEXTS: u64 = 30;
/// So many days a look for drift is kept; the latest of each stack stays.
const DRIFTS: u64 = 90;

const COLUMNS: &[&str] = &["id", "at", "action", "who", "repo", "stack", "run", "reason"];

pub fn put(session: &mut dyn Session, entries: &[Entry]) -> Result<(), Fault> {
    let row = |entry: &Entry| {
        vec![
            Field::from(&entry.id),
            entry.at.into(),
            entry.action.word().into(),
            Field::from(&entry.who),
            Field::from(&name(&entry.repo)),
            Field::from(&entry.stack),
            Field::from(&entry.run),
            Field::from(&entry.reason),
        ]
    };
    let rows: Vec<Vec<Field>> = entries.iter().map(row).collect();
    insert(session, "audit", COLUMNS, "ON CONFLICT (id) DO NOTHING", &rows)?;
    Ok(())
}

pub fn some(
    session: &mut dyn Session,
    stack: Option<&str>,
    run: Option<&str>,
    limit: u32,
) -> Result<Vec<Entry>, Fault> {
    let mut sql = format!("SELECT {} FROM suil.audit WHERE 1 = 1", COLUMNS.join(", "));
    let mut fields = Vec::new();
    for (column, value) in [("stack", stack), ("run", run)] {
        if let Some(value) = value {
            fields.push(Field::from(value));
            sql.push_str(&format!(" AND {column} = ${}", fields.len()));
        }
    }
    fields.push(limit.into());
    sql.push_str(&format!(" ORDER BY at DESC, id DESC LIMIT ${}", fields.len()));
    Ok(session.query(&sql, &fields)?.iter().map(read).collect::<Result<_, Problem>>()?)
}

pub fn prune(session: &mut dyn Session, now: DateTime<Utc>, dry: bool) -> Result<Pruned, Fault> {
    let mut old = |table: &str, days: u64| {
        let Some(before) = now.checked_sub_days(Days::new(days)) else { return Ok(0) };
        let fields = [Field::from(before)];
        if !dry {
            return session.execute(&format!("DELETE FROM suil.{table} WHERE at < $1"), &fields);
        }
        let rows = session.query(&format!("SELECT COUNT(*) FROM suil.{table} WHERE at < $1"), &fields)?;
        let count = rows.first().map(|row| row.int(0)).transpose()?.unwrap_or(0);
        Ok(u64::try_from(count).unwrap_or(0))
    };
    Ok(Pruned { plan_texts: old("plan_texts", PLAN_TEXTS)?, drifts: old("drift_history", DRIFTS)? })
}

fn read(row: &Row) -> Result<Entry, Problem> {
    Ok(Entry {
        id: row.text(0)?,
        at: row.time(1)?,
        action: row.word(2, Action::of)?,
        who: row.text(3)?,
        repo: row.text(4)?,
        stack: row.text(5)?,
        run: row.maybe_text(6)?,
        reason: row.text(7)?,
    })
}
