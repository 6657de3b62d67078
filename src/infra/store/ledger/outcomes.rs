//! What came of a phase of a stack.

use super::super::row::{ERROR_CAP, Outcome, PLAN_CAP, capped};
use super::super::sql::{Fault, Field, Row, Session, insert, json};
use super::super::word::Phase;
use crate::base::Problem;

const COLUMNS: &[&str] =
    &["run", "stack", "phase", "summary", "addresses", "digest", "file", "error", "unknown", "started", "ended"];

pub fn put(session: &mut dyn Session, outcome: &Outcome) -> Result<(), Fault> {
    let key = [Field::from(&outcome.run), Field::from(&outcome.stack), Field::from(outcome.phase.word())];
    let mut fields = key.to_vec();
    fields.extend([
        json(&outcome.summary),
        json(&outcome.addresses),
        Field::from(&outcome.digest),
        Field::from(&outcome.file),
        Field::from(&outcome.error.as_deref().map(|text| capped(text, ERROR_CAP))),
        json(&outcome.unknown),
        outcome.started.into(),
        outcome.ended.into(),
    ]);
    let tail = "ON CONFLICT (run, stack, phase) DO UPDATE SET summary = excluded.summary, \
                addresses = excluded.addresses, digest = excluded.digest, file = excluded.file, \
                error = excluded.error, unknown = excluded.unknown, started = excluded.started, ended = excluded.ended";
    insert(session, "outcomes", COLUMNS, tail, &[fields])?;
    let Some(text) = &outcome.text else {
        session.execute("DELETE FROM suil.plan_texts WHERE run = $1 AND stack = $2 AND phase = $3", &key)?;
        return Ok(());
    };
    let mut fields = key.to_vec();
    fields.extend([Field::from(&capped(text, PLAN_CAP)), outcome.ended.into()]);
    let tail = "ON CONFLICT (run, stack, phase) DO UPDATE SET words = excluded.words, at = excluded.at";
    insert(session, "plan_texts", &["run", "stack", "phase", "words", "at"], tail, &[fields])?;
    Ok(())
}

pub fn of_run(session: &mut dyn Session, run: &str) -> Result<Vec<Outcome>, Fault> {
    let sql = format!("SELECT {} FROM suil.outcomes WHERE run = $1", COLUMNS.join(", "));
    let rows = session.query(&sql, &[Field::from(run)])?;
    let mut found = rows.iter().map(read).collect::<Result<Vec<_>, Problem>>()?;
    found.sort_by(|a, b| (&a.stack, a.phase).cmp(&(&b.stack, b.phase)));
    Ok(found)
}

pub fn last(session: &mut dyn Session, repo: &str, stack: &str, phase: Phase) -> Result<Option<Outcome>, Fault> {
    let columns: Vec<String> = COLUMNS.iter().map(|column| format!("o.{column}")).collect();
    let sql = format!(
        "SELECT {} FROM suil.outcomes o JOIN suil.runs r ON r.id = o.run \
         WHERE o.stack = $1 AND o.phase = $2 AND r.repo = $3 ORDER BY o.ended DESC, o.run DESC LIMIT 1",
        columns.join(", ")
    );
    let fields = [Field::from(stack), phase.word().into(), Field::from(repo)];
    Ok(session.query(&sql, &fields)?.first().map(read).transpose()?)
}

pub fn text(session: &mut dyn Session, run: &str, stack: &str, phase: Phase) -> Result<Option<String>, Fault> {
    let fields = [Field::from(run), Field::from(stack), phase.word().into()];
    let sql = "SELECT words FROM suil.plan_texts WHERE run = $1 AND stack = $2 AND phase = $3";
    Ok(session.query(sql, &fields)?.first().map(|row| row.text(0)).transpose()?)
}

fn read(row: &Row) -> Result<Outcome, Problem> {
    Ok(Outcome {
        run: row.text(0)?,
        stack: row.text(1)?,
        phase: row.word(2, Phase::of)?,
        summary: row.json(3)?,
        addresses: row.json(4)?,
        digest: row.maybe_text(5)?,
        file: row.maybe_text(6)?,
        text: None,
        error: row.maybe_text(7)?,
        unknown: row.json(8)?,
        started: row.time(9)?,
        ended: row.time(10)?,
    })
}
