//! Locks: taken whole or not at all, moved, let go, taken away; each with a line in the audit.

use super::super::lock::{Lock, Lost, Take};
use super::super::new_id;
use super::super::process::{Life, Process};
use super::super::row::{Entry, Run};
use super::super::sql::{Fault, Field, Row, Session, among, insert};
use super::super::word::Action;
use super::{name, runs, trail};
use crate::base::Problem;
use chrono::{DateTime, Utc};
use std::collections::{BTreeMap, BTreeSet};

const COLUMNS: &[&str] = &["repo", "stack", "run", "who", "host", "login", "pid", "start", "taken", "reason"];

pub fn all(session: &mut dyn Session) -> Result<Vec<Lock>, Fault> {
    let sql = format!("SELECT {} FROM suil.locks", COLUMNS.join(", "));
    let mut found = session.query(&sql, &[])?.iter().map(read).collect::<Result<Vec<_>, Problem>>()?;
    found.sort_by(|a, b| (&a.repo, &a.stack).cmp(&(&b.repo, &b.stack)));
    Ok(found)
}

pub fn take(
    session: &mut dyn Session,
    run: &Run,
    stacks: &[String],
    reason: &str,
    at: DateTime<Utc>,
) -> Result<Take, Fault> {
    let repo = name(&run.repo);
    let mut wanted: BTreeSet<&str> = stacks.iter().map(String::as_str).collect();
    let (mut held, mut moved) = (Vec::new(), Vec::new());
    for lock in all(session)?.into_iter().filter(|lock| lock.repo == repo) {
        match lock.run == run.id {
            true => drop(wanted.remove(lock.stack.as_str())),
            false if wanted.contains(lock.stack.as_str()) => match follows(session, run, &lock)? {
                true => moved.push(lock),
                false => held.push(lock),
            },
            false => {}
        }
    }
    if !held.is_empty() {
        return Ok(Take::Held(held));
    }
    for lock in &moved {
        wanted.remove(lock.stack.as_str());
        let mut fields = vec![Field::from(&repo), Field::from(&lock.stack), Field::from(&lock.run)];
        fields.extend([Field::from(&run.id), Field::from(&run.who)]);
        fields.extend(runs::process_fields(&run.process));
        fields.extend([at.into(), Field::from(reason)]);
        let sql = "UPDATE suil.locks SET run = $4, who = $5, host = $6, login = $7, pid = $8, start = $9, taken = $10, \
                   reason = $11 WHERE repo = $1 AND stack = $2 AND run = $3";
        session.execute(sql, &fields)?;
    }
    let row = |stack: &&str| {
        let mut fields = vec![Field::from(&repo), Field::from(*stack), Field::from(&run.id), Field::from(&run.who)];
        fields.extend(runs::process_fields(&run.process));
        fields.extend([at.into(), Field::from(reason)]);
        fields
    };
    let rows: Vec<Vec<Field>> = wanted.iter().map(row).collect();
    // Two who both saw a lock free: the second statement fails, and with it the whole transaction.
    insert(session, "locks", COLUMNS, "", &rows)?;
    let entries: Vec<Entry> =
        wanted.iter().map(|stack| line(Action::Take, &repo, stack, &run.id, at, &run.who, reason)).collect();
    trail::put(session, &entries)?;
    let from = |lock: &Lock| {
        line(
            Action::Move,
            &repo,
            &lock.stack,
            &run.id,
            at,
            &run.who,
            &format!("from run {} of the same change", lock.run),
        )
    };
    trail::put(session, &moved.iter().map(from).collect::<Vec<_>>())?;
    Ok(Take::Taken { new: wanted.len() + moved.len() })
}

/// True where the lock is one of an earlier run of the same change, and nobody is known to work under it any more.
fn follows(session: &mut dyn Session, run: &Run, lock: &Lock) -> Result<bool, Fault> {
    if run.change.is_none() || lock.process.life() == Life::Alive {
        return Ok(false);
    }
    Ok(runs::one(session, &lock.run)?.is_some_and(|other| other.change == run.change))
}

pub fn release(
    session: &mut dyn Session,
    run: &str,
    stacks: Option<&[String]>,
    who: &str,
    reason: &str,
    at: DateTime<Utc>,
) -> Result<Vec<String>, Fault> {
    const DELETE: &str = "DELETE FROM suil.locks WHERE run = $1";
    let mut rows = Vec::new();
    match stacks {
        None => rows = session.query(&format!("{DELETE} RETURNING repo, stack"), &[Field::from(run)])?,
        Some(stacks) => {
            for (among, values) in among("stack", stacks, 2) {
                let fields: Vec<Field> = std::iter::once(Field::from(run)).chain(values).collect();
                rows.extend(session.query(&format!("{DELETE} AND {among} RETURNING repo, stack"), &fields)?);
            }
        }
    }
    let mut gone = rows.iter().map(|row| Ok((row.text(0)?, row.text(1)?))).collect::<Result<Vec<_>, Problem>>()?;
    gone.sort();
    let entries: Vec<Entry> =
        gone.iter().map(|(repo, stack)| line(Action::Release, repo, stack, run, at, who, reason)).collect();
    trail::put(session, &entries)?;
    Ok(gone.into_iter().map(|(_, stack)| stack).collect())
}

pub fn lost(session: &mut dyn Session, run: &Run, stacks: &[String]) -> Result<Vec<Lost>, Fault> {
    let repo = name(&run.repo);
    let mut held: BTreeMap<String, Lock> =
        all(session)?.into_iter().filter(|lock| lock.repo == repo).map(|lock| (lock.stack.clone(), lock)).collect();
    let mut lost = Vec::new();
    for stack in stacks.iter().collect::<BTreeSet<_>>() {
        let holder = held.remove(stack);
        if holder.as_ref().is_some_and(|lock| lock.run == run.id && lock.process == run.process) {
            continue;
        }
        let lines = trail::some(session, Some(stack), Some(&run.id), 20)?;
        let away = lines.into_iter().find(|line| line.action == Action::Unlock && name(&line.repo) == repo);
        lost.push(Lost { stack: stack.clone(), away, holder });
    }
    Ok(lost)
}

pub fn unlock(
    session: &mut dyn Session,
    locks: &[Lock],
    who: &str,
    reason: &str,
    at: DateTime<Utc>,
) -> Result<Vec<Lock>, Fault> {
    let mut gone = Vec::new();
    for lock in locks {
        let mut fields = vec![Field::from(&lock.repo), Field::from(&lock.stack), Field::from(&lock.run)];
        fields.extend(runs::process_fields(&lock.process));
        let same = "DELETE FROM suil.locks WHERE repo = $1 AND stack = $2 AND run = $3 AND host = $4 AND login = $5 \
                    AND pid = $6 AND start = $7";
        if session.execute(same, &fields)? > 0 {
            gone.push(lock.clone());
        }
    }
    let entries: Vec<Entry> =
        gone.iter().map(|lock| line(Action::Unlock, &lock.repo, &lock.stack, &lock.run, at, who, reason)).collect();
    trail::put(session, &entries)?;
    Ok(gone)
}

pub fn adopt(
    session: &mut dyn Session,
    run: &str,
    was: &Process,
    now: &Process,
    who: &str,
    at: DateTime<Utc>,
) -> Result<bool, Fault> {
    let mut fields = vec![Field::from(run)];
    fields.extend(runs::process_fields(now));
    let set = "SET host = $2, login = $3, pid = $4, start = $5";
    let mut both = fields.clone();
    both.extend(runs::process_fields(was));
    let same = format!("UPDATE suil.runs {set} WHERE id = $1 AND host = $6 AND login = $7 AND pid = $8 AND start = $9");
    if session.execute(&same, &both)? == 0 {
        // It may be this very process, whose first try came through although nobody heard of it.
        return Ok(runs::one(session, run)?.is_some_and(|run| run.process == *now));
    }
    fields.push(Field::from(who));
    let sql = format!("UPDATE suil.locks {set}, who = $6 WHERE run = $1 RETURNING repo, stack");
    let rows = session.query(&sql, &fields)?;
    let mut moved = rows.iter().map(|row| Ok((row.text(0)?, row.text(1)?))).collect::<Result<Vec<_>, Problem>>()?;
    moved.sort();
    let reason = format!("from process {} on {} to process {} on {}", was.pid, was.host, now.pid, now.host);
    let entries: Vec<Entry> =
        moved.iter().map(|(repo, stack)| line(Action::Move, repo, stack, run, at, who, &reason)).collect();
    trail::put(session, &entries)?;
    Ok(true)
}

fn line(action: Action, repo: &str, stack: &str, run: &str, at: DateTime<Utc>, who: &str, reason: &str) -> Entry {
    Entry {
        id: new_id(),
        at,
        action,
        who: who.to_owned(),
        repo: repo.to_owned(),
        stack: stack.to_owned(),
        run: Some(run.to_owned()),
        reason: reason.to_owned(),
    }
}

fn read(row: &Row) -> Result<Lock, Problem> {
    Ok(Lock {
        repo: row.text(0)?,
        stack: row.text(1)?,
        run: row.text(2)?,
        who: row.text(3)?,
        process: runs::process(row, 4)?,
        taken: row.time(8)?,
        reason: row.text(9)?,
    })
}
