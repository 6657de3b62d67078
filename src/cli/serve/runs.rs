//! The runs over stacks, what became of each stack in them, and the audit.

use super::answer::{Answer, Answered, Fault};
use super::listing::{Asked, Listed, Page, Path, known};
use super::shelf::Shelf;
use super::stacks;
use crate::base::Plain;
use crate::infra::store::{Check, Entry, Filter, Mode, Outcome, Phase, Run, RunState, Store};
use axum::extract::State;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most lines of the audit that are read to find the place of a cursor.
const DEEPEST: usize = 100_000;

/// A word of an enumeration, where one is asked for.
fn word<T>(asked: &Asked, field: &str, of: impl Fn(&str) -> Option<T>, all: &str) -> Result<Option<T>, Fault> {
    let Some(text) = asked.get(field).filter(|text| !text.is_empty()) else { return Ok(None) };
    of(text).map(Some).ok_or_else(|| Fault::invalid(format!("`{field}` is none of {all}")))
}

fn listed(words: impl Iterator<Item = &'static str>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

fn page(shelf: &Shelf, asked: &Asked, repo: &str, stack: Option<String>) -> Answered {
    let page = Page::of(asked, &["mode", "state", "stack"])?;
    let filter = Filter {
        repo: shelf.rows_of(repo),
        mode: word(asked, "mode", Mode::of, &listed(Mode::ALL.iter().map(|one| one.word())))?,
        state: word(asked, "state", RunState::of, &listed(RunState::ALL.iter().map(|one| one.word())))?,
        stack: stack.or_else(|| asked.get("stack").filter(|stack| !stack.is_empty()).cloned()),
        before: page.after.clone(),
        limit: u32::try_from(page.limit + 1).ok(),
        ..Filter::default()
    };
    let Some(store) = shelf.store()? else {
        return Listed { items: Vec::new(), next: None, total: None }.answer("runs");
    };
    let mut runs = store.runs(&filter)?;
    let more = runs.len() > page.limit;
    runs.truncate(page.limit);
    let next = runs.last().filter(|_| more).map(|run| run.id.clone());
    Listed { items: heads(&*store, &runs)?, next, total: None }.answer("runs")
}

/// Runs with the number of their stacks in each state.
pub fn heads(store: &dyn Store, runs: &[Run]) -> Result<Vec<Plain>, Fault> {
    let ids: Vec<String> = runs.iter().map(|run| run.id.clone()).collect();
    let counts = store.counts(&ids)?;
    Ok(runs.iter().map(|run| run.to_plain(counts.get(&run.id).unwrap_or(&Vec::new()))).collect())
}

pub async fn all(State(shelf): State<Arc<Shelf>>, asked: Asked) -> Answered {
    shelf.read(move |shelf| page(shelf, &asked, &shelf.known()?.graph.repo, None)).await
}

pub async fn of_repo(
    State(shelf): State<Arc<Shelf>>,
    Path((owner, name)): Path<(String, String)>,
    asked: Asked,
) -> Answered {
    shelf
        .read(move |shelf| {
            let repo = stacks::repo_of(shelf, &owner, &name)?;
            page(shelf, &asked, &repo, None)
        })
        .await
}

pub async fn of_stack(State(shelf): State<Arc<Shelf>>, Path(id): Path<String>, asked: Asked) -> Answered {
    shelf
        .read(move |shelf| {
            let (repo, key) = stacks::named(shelf, &id)?;
            page(shelf, &asked, &repo, Some(key))
        })
        .await
}

/// The store and the run of an id.
fn found(shelf: &Shelf, id: &str) -> Result<(Arc<dyn Store>, Run), Fault> {
    let lost = || Fault::not_found(format!("there is no run `{id}`"));
    let store = shelf.store()?.ok_or_else(lost)?;
    let run = store.run(id)?.ok_or_else(lost)?;
    Ok((store, run))
}

/// A run with its stacks, each with what came of its phases and its checks.
pub async fn one(State(shelf): State<Arc<Shelf>>, Path(id): Path<String>) -> Answered {
    shelf.read(move |shelf| Ok(Answer(whole(shelf, &id)?))).await
}

fn whole(shelf: &Shelf, id: &str) -> Result<Plain, Fault> {
    let (store, run) = found(shelf, id)?;
    let mut phases: BTreeMap<String, Vec<Outcome>> = BTreeMap::new();
    for outcome in store.outcomes(id)? {
        phases.entry(outcome.stack.clone()).or_default().push(outcome);
    }
    let mut checks: BTreeMap<String, Vec<Check>> = BTreeMap::new();
    for check in store.checks(id)? {
        checks.entry(check.stack.clone()).or_default().push(check);
    }
    let counts = store.counts(&[id.to_owned()])?;
    let stacks = store.stacks(id)?.into_iter().map(|stack| {
        let mut row = stack.to_plain();
        let of = phases.remove(&stack.stack).unwrap_or_default();
        row.set("phases", of.iter().map(Outcome::to_plain).collect::<Plain>());
        row.set(
            "checks",
            checks.remove(&stack.stack).unwrap_or_default().iter().map(Check::to_plain).collect::<Plain>(),
        );
        row
    });
    let stacks: Plain = stacks.collect();
    let mut whole = run.to_plain(counts.get(id).map_or(&Vec::new(), |counts| counts));
    let counts = whole.get("stacks").cloned().unwrap_or_default();
    whole.set("counts", counts);
    whole.set("stacks", stacks);
    Ok(whole)
}

/// The text of a plan, where it is still kept.
pub async fn plan(State(shelf): State<Arc<Shelf>>, Path((id, key)): Path<(String, String)>, asked: Asked) -> Answered {
    shelf
        .read(move |shelf| {
            known(&asked, &["phase"])?;
            let phase = word(&asked, "phase", Phase::of, &listed(Phase::ALL.iter().map(|one| one.word())))?;
            let (store, _) = found(shelf, &id)?;
            if !store.stacks(&id)?.iter().any(|stack| stack.stack == key) {
                return Err(Fault::not_found(format!("run `{id}` has no stack `{key}`")));
            }
            let phase = phase.unwrap_or(Phase::Plan);
            let text = store.plan_text(&id, &key, phase)?;
            let text = text.ok_or_else(|| {
                Fault::not_found("there is no text of this plan: it was never made, or it is older than thirty days")
            })?;
            Ok(Answer(Plain::from_iter([
                ("run", Plain::from(id)),
                ("stack", Plain::from(key)),
                ("phase", Plain::from(phase.word())),
                ("text", Plain::from(text)),
            ])))
        })
        .await
}

/// The audit, the newest first.
pub async fn audit(State(shelf): State<Arc<Shelf>>, asked: Asked) -> Answered {
    shelf
        .read(move |shelf| {
            let page = Page::of(&asked, &["stack", "run"])?;
            let field = |name| asked.get(name).map(String::as_str).filter(|text: &&str| !text.is_empty());
            let Some(store) = shelf.store()? else {
                return Listed { items: Vec::new(), next: None, total: None }.answer("audit");
            };
            let own = shelf.rows_of(&shelf.known()?.graph.repo);
            // New lines come in front, so a cursor is the id of a line and not its number.
            let mut limit = page.limit + 1;
            loop {
                let mut entries =
                    store.audit(field("stack"), field("run"), u32::try_from(limit).unwrap_or(u32::MAX))?;
                let whole = entries.len() < limit;
                entries.retain(|entry| own.as_ref().is_none_or(|own| own.eq_ignore_ascii_case(&entry.repo)));
                let start = match &page.after {
                    None => Some(0),
                    Some(after) => entries.iter().position(|entry| entry.id == *after).map(|at| at + 1),
                };
                if let Some(start) = start
                    && (whole || entries.len() > start + page.limit)
                {
                    let some: Vec<&Entry> = entries.iter().skip(start).take(page.limit).collect();
                    let more = entries.len() > start + some.len();
                    let next = some.last().filter(|_| more).map(|entry| entry.id.clone());
                    return Listed { items: some.iter().map(|entry| entry.to_plain()).collect(), next, total: None }
                        .answer("audit");
                }
                if whole || limit > DEEPEST {
                    return Err(Fault::invalid("`cursor` names no line of the audit"));
                }
                limit = limit * 2 + page.limit;
            }
        })
        .await
}
