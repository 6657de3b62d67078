//! Named checks: the latest of a name counts.

use super::super::row::Check;
use super::super::sql::{Fault, Field, Row, Session, insert};
use super::super::word::CheckState;
use crate::base::Problem;

const COLUMNS: &[&str] = &["run", "stack", "name", "state", "summary", "details", "url", "who", "at"];

pub fn put(session: &mut dyn Session, check: &Check) -> Result<(), Fault> {
    let fields = vec![
        Field::from(&check.run),
        Field::from(&check.stack),
        Field::from(&check.name),
        check.state.word().into(),
        Field::from(&check.summary),
        Field::from(&check.details),
        Field::from(&check.url),
        Field::from(&check.who),
        check.at.into(),
    ];
    let tail = "ON CONFLICT (run, stack, name) DO UPDATE SET state = excluded.state, summary = excluded.summary, \
                details = excluded.details, url = excluded.url, who = excluded.who, at = excluded.at";
    insert(session, "checks", COLUMNS, tail, &[fields])?;
    Ok(())
}

pub fn of_run(session: &mut dyn Session, run: &str) -> Result<Vec<Check>, Fault> {
    let sql = format!("SELECT {} FROM suil.checks WHERE run = $1", COLUMNS.join(", "));
    let rows = session.query(&sql, &[Field::from(run)])?;
    let mut found = rows.iter().map(read).collect::<Result<Vec<_>, Problem>>()?;
    found.sort_by(|a, b| (&a.stack, &a.name).cmp(&(&b.stack, &b.name)));
    Ok(found)
}

fn read(row: &Row) -> Result<Check, Problem> {
    Ok(Check {
        run: row.text(0)?,
        stack: row.text(1)?,
        name: row.text(2)?,
        state: row.word(3, CheckState::of)?,
        summary: row.text(4)?,
        details: row.text(5)?,
        url: row.maybe_text(6)?,
        who: row.text(7)?,
        at: row.time(8)?,
    })
}
