//! The stacks that scans saw.

use super::super::new_id;
use super::super::row::Seen;
use super::super::sql::{Fault, Field, Row, Session, among, insert};
use crate::base::Problem;
use chrono::{DateTime, Utc};
use std::collections::BTreeMap;

const COLUMNS: &[&str] = &["id", "repo", "stack", "backend", "state", "revision", "first_seen", "last_seen", "removed"];

pub fn put(
    session: &mut dyn Session,
    repo: &str,
    stacks: &[Seen],
    complete: bool,
    at: DateTime<Utc>,
) -> Result<(), Fault> {
    let found: BTreeMap<&str, &Seen> = stacks.iter().map(|stack| (stack.key.as_str(), stack)).collect();
    let row = |stack: &&Seen| {
        vec![
            Field::from(&new_id()),
            Field::from(repo),
            Field::from(&stack.key),
            Field::from(&stack.backend),
            Field::from(&stack.state),
            Field::from(&stack.commit),
            at.into(),
            at.into(),
            Field::Int(None),
        ]
    };
    let rows: Vec<Vec<Field>> = found.values().map(row).collect();
    let tail = "ON CONFLICT (repo, stack) DO UPDATE SET backend = excluded.backend, state = excluded.state, \
                revision = excluded.revision, last_seen = excluded.last_seen, removed = NULL";
    insert(session, "stacks", COLUMNS, tail, &rows)?;
    if !complete {
        return Ok(());
    }
    let known =
        session.query("SELECT stack FROM suil.stacks WHERE repo = $1 AND removed IS NULL", &[Field::from(repo)])?;
    let known = known.iter().map(|row| row.text(0)).collect::<Result<Vec<_>, Problem>>()?;
    let gone: Vec<String> = known.into_iter().filter(|key| !found.contains_key(key.as_str())).collect();
    for (among, values) in among("stack", &gone, 3) {
        let fields: Vec<Field> = [at.into(), Field::from(repo)].into_iter().chain(values).collect();
        session.execute(&format!("UPDATE suil.stacks SET removed = $1 WHERE repo = $2 AND {among}"), &fields)?;
    }
    Ok(())
}

pub fn all(session: &mut dyn Session, repo: &str) -> Result<Vec<Seen>, Fault> {
    let sql = format!("SELECT {} FROM suil.stacks WHERE repo = $1", COLUMNS.join(", "));
    let rows = session.query(&sql, &[Field::from(repo)])?;
    let mut found = rows.iter().map(read).collect::<Result<Vec<_>, Problem>>()?;
    found.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(found)
}

fn read(row: &Row) -> Result<Seen, Problem> {
    Ok(Seen {
        id: row.text(0)?,
        repo: row.text(1)?,
        key: row.text(2)?,
        backend: row.maybe_text(3)?,
        state: row.maybe_text(4)?,
        commit: row.maybe_text(5)?,
        first: row.time(6)?,
        last: row.time(7)?,
        removed: row.maybe_time(8)?,
    })
}
