//! Repositories, their graphs, and stacks with all that is known of them.

use super::answer::{Answer, Answered, Fault, Whole};
use super::listing::{Asked, Page, Path, known};
use super::runs::heads;
use super::shelf::Shelf;
use super::tree::Known;
use crate::base::Plain;
use crate::infra::graph::{Edge, Graph, Kind, Stack};
use crate::infra::store::{Drift, Filter, Lock, Outcome, Phase, Seen};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Stands for the name of the repository that is served, and for the owner of one that has none.
const THIS: &str = "-";

/// The name of the repository, where it is the one that is served.
///
/// # Errors
/// It is another.
pub fn repo_of(shelf: &Shelf, owner: &str, name: &str) -> Result<String, Fault> {
    let repo = shelf.known()?.graph.repo.clone();
    let whole = if owner == THIS { name.to_owned() } else { format!("{owner}/{name}") };
    match whole == THIS || repo.eq_ignore_ascii_case(&whole) {
        true => Ok(repo),
        false => Err(Fault::not_found(format!(
            "the repository `{owner}/{name}` is not served here; `-/-` names the one that is"
        ))),
    }
}

/// A value of the graph as the API tells it.
pub fn told<T: Serialize>(value: &T) -> Plain {
    let text = serde_json::to_string(value).unwrap_or_default();
    Plain::from_json(&text).unwrap_or_default()
}

fn summary(known: &Known) -> Plain {
    let graph = &known.graph;
    let own = known.own().count();
    Plain::from_iter([
        ("repo", Plain::from(&graph.repo)),
        ("sha", Plain::from(graph.sha.clone())),
        ("tree_hash", Plain::from(&graph.tree_hash)),
        ("stacks", Plain::from(own)),
        ("external", Plain::from(graph.stacks.len() - own)),
        ("modules", Plain::from(graph.modules.len())),
        ("edges", Plain::from(graph.edges.len())),
        ("warnings", Plain::from(graph.warnings.len())),
        ("waves", Plain::from(known.waves.values().max().map_or(0, |last| last + 1))),
        ("cycles", known.cycles.iter().map(|cycle| cycle.iter().map(Plain::from).collect::<Plain>()).collect()),
    ])
}

pub async fn repos(State(shelf): State<Arc<Shelf>>, asked: Asked) -> Answered {
    shelf
        .read(move |shelf| {
            let page = Page::of(&asked, &[])?;
            let known = shelf.known()?;
            page.cut(vec![known], |known| known.graph.repo.clone(), |known| summary(known)).answer("repos")
        })
        .await
}

pub async fn repo(State(shelf): State<Arc<Shelf>>, Path((owner, name)): Path<(String, String)>) -> Answered {
    shelf
        .read(move |shelf| {
            repo_of(shelf, &owner, &name)?;
            Ok(Answer(summary(&*shelf.known()?)))
        })
        .await
}

/// The graph, and beside it what a drawing shows on it: waves, locks, drift, the stacks of a run.
#[derive(Serialize)]
struct Drawn<'a> {
    #[serde(flatten)]
    graph: &'a Graph,
    waves: &'a BTreeMap<String, usize>,
    cycles: &'a [Vec<String>],
    locks: Plain,
    drift: Plain,
    run: Plain,
}

pub async fn graph(
    State(shelf): State<Arc<Shelf>>,
    Path((owner, name)): Path<(String, String)>,
    asked: Asked,
) -> Result<Response, Fault> {
    shelf
        .read(move |shelf| {
            known(&asked, &["ref", "run"])?;
            let repo = repo_of(shelf, &owner, &name)?;
            let field = |name| asked.get(name).filter(|text: &&String| !text.is_empty());
            let known = match field("ref") {
                None => shelf.known()?,
                Some(name) => shelf.tree.at(name, &repo)?,
            };
            let store = shelf.store()?;
            let run = match (field("run"), &store) {
                (None, _) => Plain::Null,
                (Some(id), None) => return Err(Fault::not_found(format!("there is no run `{id}`"))),
                (Some(id), Some(store)) => {
                    let run = store.run(id)?.ok_or_else(|| Fault::not_found(format!("there is no run `{id}`")))?;
                    let mut told = heads(&**store, std::slice::from_ref(&run))?.pop().unwrap_or_default();
                    told.set("stacks", store.stacks(id)?.iter().map(|stack| stack.to_plain()).collect::<Plain>());
                    told
                }
            };
            let (locks, drift) = match &store {
                Some(store) => (shelf.locks(&**store, &repo)?, store.drift(&repo)?),
                None => (Vec::new(), Vec::new()),
            };
            let drawn = Drawn {
                graph: &known.graph,
                waves: &known.waves,
                cycles: &known.cycles,
                locks: locks.iter().map(Lock::to_plain).collect(),
                drift: drift.iter().map(Drift::to_plain).collect(),
                run,
            };
            Ok(Whole(&drawn).into_response())
        })
        .await
}

/// A stack of the tree, and beside it what the store says of it.
struct Beside {
    seen: HashMap<String, Seen>,
    locks: HashMap<String, Lock>,
    drift: HashMap<String, Drift>,
}

impl Beside {
    fn read(shelf: &Shelf, repo: &str) -> Result<Beside, Fault> {
        let mut beside = Beside { seen: HashMap::new(), locks: HashMap::new(), drift: HashMap::new() };
        if let Some(store) = shelf.store()? {
            beside.seen = store.seen(repo)?.into_iter().map(|one| (one.key.clone(), one)).collect();
            beside.locks = shelf.locks(&*store, repo)?.into_iter().map(|one| (one.stack.clone(), one)).collect();
            beside.drift = store.drift(repo)?.into_iter().map(|one| (one.stack.clone(), one)).collect();
        }
        Ok(beside)
    }

    fn row(&self, key: &str, stack: Option<&Stack>, wave: Option<usize>) -> Plain {
        let mut row = stack.map_or_else(|| Plain::from_iter([("key", Plain::from(key))]), told);
        row.set("wave", wave);
        row.set("id", self.seen.get(key).map(|seen| Plain::from(&seen.id)));
        row.set("seen", self.seen.get(key).map(Seen::to_plain));
        row.set("lock", self.locks.get(key).map(Lock::to_plain));
        row.set("drift", self.drift.get(key).map(Drift::to_plain));
        row
    }
}

/// The stacks of the tree; those that are gone from it and were seen once stand among them, where they are asked for.
pub async fn of_repo(
    State(shelf): State<Arc<Shelf>>,
    Path((owner, name)): Path<(String, String)>,
    asked: Asked,
) -> Answered {
    shelf
        .read(move |shelf| {
            let page = Page::of(&asked, &["q", "environment", "removed"])?;
            let repo = repo_of(shelf, &owner, &name)?;
            let (known, beside) = (shelf.known()?, Beside::read(shelf, &repo)?);
            let words = asked.get("q").map(|q| q.to_lowercase()).unwrap_or_default();
            let environment = asked.get("environment").filter(|text| !text.is_empty());
            let fits = |key: &str, own: &str| {
                words.split_whitespace().all(|word| key.to_lowercase().contains(word))
                    && environment.is_none_or(|wanted| wanted == own)
            };
            let mut rows: Vec<(String, Option<&Stack>)> = match asked.contains_key("removed") {
                false => known
                    .own()
                    .filter(|stack| fits(&stack.key, &stack.environment))
                    .map(|stack| (stack.key.clone(), Some(stack)))
                    .collect(),
                true => {
                    let gone = beside.seen.values().filter(|seen| seen.removed.is_some() && fits(&seen.key, ""));
                    gone.map(|seen| (seen.key.clone(), None)).collect()
                }
            };
            rows.sort_by(|a, b| a.0.cmp(&b.0));
            page.cut(rows, |row| row.0.clone(), |(key, stack)| beside.row(key, *stack, known.waves.get(key).copied()))
                .answer("stacks")
        })
        .await
}

/// The repository and the key of the stack that an id of the store, or a key, names.
///
/// # Errors
/// There is none.
pub fn named(shelf: &Shelf, id: &str) -> Result<(String, String), Fault> {
    let known = shelf.known()?;
    let repo = known.graph.repo.clone();
    if known.stack(id).is_some() {
        return Ok((repo, id.to_owned()));
    }
    let seen = shelf.store()?.map(|store| store.seen(&repo)).transpose()?.unwrap_or_default();
    match seen.into_iter().find(|one| one.id == id || one.key == id) {
        Some(one) => Ok((repo, one.key)),
        None => Err(Fault::not_found(format!("there is no stack `{id}`"))),
    }
}

/// A stack: what it needs, who needs it, what came last of each phase, its looks for drift, and its newest runs.
pub async fn one(State(shelf): State<Arc<Shelf>>, Path(id): Path<String>) -> Answered {
    shelf.read(move |shelf| Ok(Answer(whole(shelf, &id)?))).await
}

fn whole(shelf: &Shelf, id: &str) -> Result<Plain, Fault> {
    let (repo, key) = named(shelf, id)?;
    let (known, beside) = (shelf.known()?, Beside::read(shelf, &repo)?);
    let mut out = beside.row(&key, known.stack(&key), known.waves.get(&key).copied());
    let (needs, users) = known.edges(Kind::Stack, &key);
    let edges = |list: &[&Edge]| list.iter().map(told).collect::<Plain>();
    out.set("depends_on", edges(&needs));
    out.set("depended_on_by", edges(&users));
    let about = known.graph.warnings.iter().filter(|one| {
        one.subject == key
            || known.stack(&key).is_some_and(|stack| stack.path == one.subject)
            || one.subject.split(" -> ").any(|end| end == key)
    });
    out.set("warnings", about.map(told).collect::<Plain>());
    let (mut last, mut history, mut runs) = (Plain::map(), Plain::List(Vec::new()), Vec::new());
    let store = shelf.store()?;
    for phase in Phase::ALL {
        let outcome = store.as_ref().map(|store| store.last(&repo, &key, *phase)).transpose()?.flatten();
        last.set(
            phase.word(),
            outcome.map(|outcome: Outcome| {
                let mut told = outcome.to_plain();
                told.set("run", &outcome.run);
                told
            }),
        );
    }
    if let Some(store) = &store {
        history = store.drift_history(&repo, &key, 20)?.iter().map(Drift::to_plain).collect();
        let filter =
            Filter { repo: shelf.rows_of(&repo), stack: Some(key.clone()), limit: Some(20), ..Filter::default() };
        runs = heads(&**store, &store.runs(&filter)?)?;
    }
    out.set("last", last);
    out.set("drift_history", history);
    out.set("runs", runs);
    Ok(out)
}

pub async fn locks(State(shelf): State<Arc<Shelf>>, asked: Asked) -> Answered {
    shelf
        .read(move |shelf| {
            let page = Page::of(&asked, &[])?;
            let repo = shelf.known()?.graph.repo.clone();
            let mut locks = shelf.store()?.map(|store| shelf.locks(&*store, &repo)).transpose()?.unwrap_or_default();
            let name = |lock: &Lock| format!("{}//{}", lock.repo, lock.stack);
            locks.sort_by_key(name);
            page.cut(locks, name, Lock::to_plain).answer("locks")
        })
        .await
}

/// The latest look at every stack of the tree; with `state` those alone that it found so.
pub async fn drift(State(shelf): State<Arc<Shelf>>, asked: Asked) -> Answered {
    shelf
        .read(move |shelf| {
            let page = Page::of(&asked, &["state"])?;
            let state = asked.get("state").filter(|text| !text.is_empty());
            let known = shelf.known()?;
            let drift = shelf.store()?.map(|store| store.drift(&known.graph.repo)).transpose()?.unwrap_or_default();
            let mut found: Vec<Drift> =
                drift.into_iter().filter(|one| state.is_none_or(|state| one.state.word() == state)).collect();
            found.sort_by(|a, b| a.stack.cmp(&b.stack));
            page.cut(found, |one| one.stack.clone(), Drift::to_plain).answer("drift")
        })
        .await
}
