//! Runs and their stacks.

use super::super::process::{Life, Process};
use super::super::row::{Filter, Run, RunStack};
use super::super::sql::{Fault, Field, Row, Session, among, insert, json};
use super::super::told::Counts;
use super::super::word::{Mode, RunState, StackState, Trigger};
use super::{name, trail};
use crate::base::{Problem, digest, problem::Kind};
use chrono::{DateTime, Utc};
use std::collections::BTreeMap;

const COLUMNS: &[&str] = &[
    "id",
    "repo",
    "began_by",
    "mode",
    "state",
    "revision",
    "tree",
    "who",
    "reason",
    "host",
    "login",
    "pid",
    "start",
    "successor",
    "started",
    "ended",
    "change_request",
];

const STACK_COLUMNS: &[&str] =
    &["run", "stack", "wave", "reasons", "via", "environment", "state", "blocked_by", "started", "ended"];

pub fn begin(session: &mut dyn Session, run: &Run, stacks: &[RunStack]) -> Result<(), Fault> {
    let set = set(stacks);
    let mut fields = vec![
        Field::from(&run.id),
        Field::from(&name(&run.repo)),
        Field::from(run.trigger.word()),
        Field::from(run.mode.word()),
        Field::from(run.state.word()),
        Field::from(&run.commit),
        Field::from(&run.tree),
        Field::from(&run.who),
        Field::from(&run.reason),
    ];
    fields.extend(process_fields(&run.process));
    fields.extend([Field::from(&run.successor), run.started.into(), run.ended.into()]);
    fields.extend([Field::from(&run.change), Field::from(&set)]);
    let columns: Vec<&str> = COLUMNS.iter().copied().chain(["stack_set"]).collect();
    if insert(session, "runs", &columns, "ON CONFLICT (id) DO NOTHING", &[fields])? == 0 {
        return Ok(());
    }
    insert(session, "run_stacks", STACK_COLUMNS, "ON CONFLICT (run, stack) DO NOTHING", &stack_rows(stacks))?;
    supersede(session, run, &set)?;
    // What is past its time goes with the next run, so that nobody has to think of it.
    trail::prune(session, run.started, false)?;
    Ok(())
}

/// Ends the runs that wait for what this one does, too.
fn supersede(session: &mut dyn Session, run: &Run, set: &str) -> Result<(), Fault> {
    let sql = format!(
        "SELECT {} FROM suil.runs WHERE repo = $1 AND mode = $2 AND stack_set = $3 AND id < $4 \
         AND state IN ('pending', 'planning', 'planned')",
        COLUMNS.join(", ")
    );
    let of = [Field::from(&name(&run.repo)), run.mode.word().into(), Field::from(set), Field::from(&run.id)];
    for row in session.query(&sql, &of)? {
        let old = read(&row)?;
        let waits = old.state == RunState::Planned && old.mode == Mode::Plan;
        if waits || old.process.life() == Life::Gone {
            session.execute(
                "UPDATE suil.runs SET state = 'superseded', successor = $1, ended = $2 WHERE id = $3",
                &[Field::from(&run.id), run.started.into(), Field::from(&old.id)],
            )?;
        }
    }
    Ok(())
}

/// The same for the same stacks in any order.
fn set(stacks: &[RunStack]) -> String {
    let mut keys: Vec<&str> = stacks.iter().map(|stack| stack.stack.as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    digest::sha256(keys.join("\n").as_bytes())
}

pub fn advance(session: &mut dyn Session, run: &str, state: RunState, now: DateTime<Utc>) -> Result<(), Fault> {
    let before: Vec<String> =
        RunState::ALL.iter().filter(|old| old.may_become(state)).map(|old| format!("'{}'", old.word())).collect();
    let ends = state.is_final() || state == RunState::Planned;
    let sql = format!("UPDATE suil.runs SET state = $1, ended = $2 WHERE id = $3 AND state IN ({})", before.join(", "));
    let fields = [state.word().into(), Field::from(ends.then_some(now)), Field::from(run)];
    if session.execute(&sql, &fields)? > 0 {
        return Ok(());
    }
    let Some(found) = one(session, run)? else {
        return Err(Problem::new(format!("the store knows no run `{run}`")).into());
    };
    let mut problem =
        Problem::new(format!("run `{run}` is {} and cannot become {state}", found.state)).kind(Kind::Refused);
    if let (RunState::Superseded, Some(by)) = (found.state, &found.successor) {
        problem = problem.note(format!("run `{by}` of the same stacks took its place"));
    }
    Err(problem.into())
}

pub fn one(session: &mut dyn Session, id: &str) -> Result<Option<Run>, Fault> {
    let sql = format!("SELECT {} FROM suil.runs WHERE id = $1", COLUMNS.join(", "));
    Ok(session.query(&sql, &[Field::from(id)])?.first().map(read).transpose()?)
}

pub fn all(session: &mut dyn Session, filter: &Filter) -> Result<Vec<Run>, Fault> {
    let mut sql = format!("SELECT {} FROM suil.runs WHERE 1 = 1", COLUMNS.join(", "));
    let mut fields = Vec::new();
    let mut narrow = |text: &str, field: Option<Field>| {
        if let Some(field) = field {
            fields.push(field);
            sql.push_str(&format!(" AND {text}${}", fields.len()));
        }
    };
    narrow("repo = ", filter.repo.as_deref().map(|repo| Field::from(&name(repo))));
    narrow("mode = ", filter.mode.map(|mode| mode.word().into()));
    narrow("state = ", filter.state.map(|state| state.word().into()));
    narrow("id < ", filter.before.as_deref().map(Field::from));
    if let Some(prefix) = &filter.prefix {
        // What is no beginning of an id could be a pattern.
        if !prefix.chars().all(|c| c.is_ascii_hexdigit() || c == '-') {
            return Ok(Vec::new());
        }
        fields.push(Field::from(&format!("{}%", prefix.to_lowercase())));
        sql.push_str(&format!(" AND id LIKE ${}", fields.len()));
    }
    if let Some(stack) = &filter.stack {
        fields.push(Field::from(stack));
        sql.push_str(&format!(" AND id IN (SELECT run FROM suil.run_stacks WHERE stack = ${})", fields.len()));
    }
    sql.push_str(" ORDER BY id DESC");
    if let Some(limit) = filter.limit {
        fields.push(limit.into());
        sql.push_str(&format!(" LIMIT ${}", fields.len()));
    }
    Ok(session.query(&sql, &fields)?.iter().map(read).collect::<Result<_, Problem>>()?)
}

pub fn counts(session: &mut dyn Session, runs: &[String]) -> Result<BTreeMap<String, Counts>, Fault> {
    let mut found: BTreeMap<String, Counts> = BTreeMap::new();
    for (among, values) in among("run", runs, 1) {
        let sql = format!("SELECT run, state, COUNT(*) FROM suil.run_stacks WHERE {among} GROUP BY run, state");
        for row in session.query(&sql, &values)? {
            found.entry(row.text(0)?).or_default().push((row.word(1, StackState::of)?, row.unsigned(2)?));
        }
    }
    found.values_mut().for_each(|counts| counts.sort());
    Ok(found)
}

pub fn stacks(session: &mut dyn Session, run: &str) -> Result<Vec<RunStack>, Fault> {
    let sql = format!("SELECT {} FROM suil.run_stacks WHERE run = $1", STACK_COLUMNS.join(", "));
    let rows = session.query(&sql, &[Field::from(run)])?;
    let mut found = rows.iter().map(read_stack).collect::<Result<Vec<_>, Problem>>()?;
    // Databases sort text by rules of their own.
    found.sort_by(|a, b| (a.wave, &a.stack).cmp(&(b.wave, &b.stack)));
    Ok(found)
}

pub fn put_stacks(session: &mut dyn Session, stacks: &[RunStack]) -> Result<(), Fault> {
    let tail = "ON CONFLICT (run, stack) DO UPDATE SET wave = excluded.wave, reasons = excluded.reasons, \
                via = excluded.via, environment = excluded.environment, state = excluded.state, \
                blocked_by = excluded.blocked_by, started = excluded.started, ended = excluded.ended";
    insert(session, "run_stacks", STACK_COLUMNS, tail, &stack_rows(stacks))?;
    Ok(())
}

/// One row a stack: a statement cannot write one twice, and two transactions must not write them in different orders.
fn stack_rows(stacks: &[RunStack]) -> Vec<Vec<Field>> {
    let last: BTreeMap<(&str, &str), &RunStack> =
        stacks.iter().map(|stack| ((stack.run.as_str(), stack.stack.as_str()), stack)).collect();
    let row = |stack: &RunStack| {
        vec![
            Field::from(&stack.run),
            Field::from(&stack.stack),
            stack.wave.into(),
            json(&stack.reasons),
            json(&stack.via),
            Field::from(&stack.environment),
            stack.state.word().into(),
            Field::from(&stack.blocked_by),
            stack.started.into(),
            stack.ended.into(),
        ]
    };
    last.into_values().map(row).collect()
}

fn read(row: &Row) -> Result<Run, Problem> {
    Ok(Run {
        id: row.text(0)?,
        repo: row.text(1)?,
        trigger: row.word(2, Trigger::of)?,
        mode: row.word(3, Mode::of)?,
        state: row.word(4, RunState::of)?,
        commit: row.maybe_text(5)?,
        tree: row.maybe_text(6)?,
        who: row.text(7)?,
        reason: row.text(8)?,
        process: process(row, 9)?,
        successor: row.maybe_text(13)?,
        started: row.time(14)?,
        ended: row.maybe_time(15)?,
        change: row.maybe_text(16)?,
    })
}

fn read_stack(row: &Row) -> Result<RunStack, Problem> {
    Ok(RunStack {
        run: row.text(0)?,
        stack: row.text(1)?,
        wave: row.unsigned(2)?,
        reasons: row.json(3)?,
        via: row.json(4)?,
        environment: row.maybe_text(5)?,
        state: row.word(6, StackState::of)?,
        blocked_by: row.maybe_text(7)?,
        started: row.maybe_time(8)?,
        ended: row.maybe_time(9)?,
    })
}

/// `host, login, pid, start` from the column `at` on.
pub fn process(row: &Row, at: usize) -> Result<Process, Problem> {
    Ok(Process { host: row.text(at)?, user: row.text(at + 1)?, pid: row.unsigned(at + 2)?, start: row.text(at + 3)? })
}

pub fn process_fields(process: &Process) -> [Field; 4] {
    [Field::from(&process.host), Field::from(&process.user), process.pid.into(), Field::from(&process.start)]
}
