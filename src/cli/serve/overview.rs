//! The first page: how much there is, and what needs somebody.

use super::answer::{Answer, Answered, Fault};
use super::nodes::{head, line};
use super::runs::heads;
use super::shelf::Shelf;
use crate::base::{Plain, Problems};
use crate::infra::store::{Drift, DriftState, Filter, Life, Lock};
use axum::extract::State;
use std::sync::Arc;

/// So many rows of each kind stand on the first page.
const FEW: usize = 10;

pub async fn overview(State(shelf): State<Arc<Shelf>>) -> Answered {
    shelf
        .read(|shelf| {
            Ok(Answer(Plain::from_iter([
                ("name", Plain::from(shelf.name())),
                ("suil", Plain::from(env!("CARGO_PKG_VERSION"))),
                ("token", Plain::from(shelf.token.is_some())),
                ("infra", infra(shelf)?),
                ("hosts", hosts(shelf)),
            ])))
        })
        .await
}

fn problems(problems: &Problems) -> Plain {
    let told = |problem: &crate::base::Problem| crate::ui::output::problem(problem, &crate::base::Mask::new());
    problems.iter().map(told).collect()
}

/// What there is of stacks. A tree that cannot be read still has its runs and locks.
fn infra(shelf: &Shelf) -> Result<Plain, Fault> {
    let known = shelf.tree.known();
    let repo = known.as_ref().map(|known| known.graph.repo.clone()).unwrap_or_default();
    let mut out = match &known {
        Ok(known) => {
            let own = known.own().count();
            let mut environments: Vec<&str> = known.own().map(|stack| stack.environment.as_str()).collect();
            environments.sort_unstable();
            environments.dedup();
            Plain::from_iter([
                ("repo", Plain::from(&known.graph.repo)),
                ("sha", Plain::from(known.graph.sha.clone())),
                ("stacks", Plain::from(own)),
                ("modules", Plain::from(known.graph.modules.len())),
                ("edges", Plain::from(known.graph.edges.len())),
                ("warnings", Plain::from(known.graph.warnings.len())),
                ("environments", Plain::from(environments.len())),
                ("waves", Plain::from(known.waves.values().max().map_or(0, |last| last + 1))),
                ("cycles", Plain::from(known.cycles.len())),
                ("problems", Plain::List(Vec::new())),
            ])
        }
        Err(wrong) => {
            let none = ["repo", "sha", "stacks", "modules", "edges", "warnings", "environments", "waves", "cycles"];
            let mut out: Plain = none.into_iter().map(|key| (key, Plain::Null)).collect();
            out.set("problems", problems(wrong));
            out
        }
    };
    let store = shelf.store()?;
    let (mut locks, mut drift, mut runs) = (Vec::new(), Vec::new(), Vec::new());
    if let Some(store) = &store {
        locks = shelf.locks(&**store, &repo)?;
        drift = store.drift(&repo)?;
        runs = heads(
            &**store,
            &store.runs(&Filter { repo: shelf.rows_of(&repo), limit: Some(FEW as u32), ..Filter::default() })?,
        )?;
    }
    let drifted: Vec<&Drift> = drift.iter().filter(|one| one.state == DriftState::Drifted).collect();
    out.set("store", store.map(|store| Plain::from(place(&store.place(), shelf))));
    out.set(
        "locks",
        Plain::from_iter([
            ("count", Plain::from(locks.len())),
            ("left_over", Plain::from(locks.iter().filter(|lock| lock.life() == Life::Gone).count())),
            ("first", locks.iter().take(FEW).map(Lock::to_plain).collect()),
        ]),
    );
    out.set(
        "drift",
        Plain::from_iter([
            ("looked_at", Plain::from(drift.len())),
            ("count", Plain::from(drifted.len())),
            ("failed", Plain::from(drift.iter().filter(|one| one.state == DriftState::Failed).count())),
            ("first", drifted.iter().take(FEW).map(|one| one.to_plain()).collect()),
        ]),
    );
    out.set("runs", runs);
    Ok(out)
}

/// Where the store is, from the root of the tree.
fn place(place: &str, shelf: &Shelf) -> String {
    let root = shelf.tree.root();
    std::path::Path::new(place).strip_prefix(root).map_or_else(|_| place.to_owned(), |path| path.display().to_string())
}

/// What there is of nodes; nothing where no workspace is served.
fn hosts(shelf: &Shelf) -> Plain {
    let Some(hosts) = &shelf.hosts else { return Plain::Null };
    match hosts.seen() {
        Err(wrong) => Plain::from_iter([
            ("nodes", Plain::Null),
            ("never_read", Plain::Null),
            ("failed", Plain::Null),
            ("first", Plain::List(Vec::new())),
            ("runs", Plain::List(Vec::new())),
            ("problems", problems(&wrong)),
        ]),
        Ok(seen) => {
            let failed: Vec<_> =
                seen.nodes.iter().filter(|one| one.last.as_ref().is_some_and(|(_, end)| end.is_failure())).collect();
            Plain::from_iter([
                ("nodes", Plain::from(seen.nodes.len())),
                ("never_read", Plain::from(seen.nodes.iter().filter(|one| one.facts.is_none()).count())),
                ("failed", Plain::from(failed.len())),
                ("first", failed.iter().take(FEW).map(|one| line(one, &seen)).collect()),
                ("runs", seen.runs.iter().take(FEW).map(|past| head(past)).collect()),
                ("problems", Plain::List(Vec::new())),
            ])
        }
    }
}
