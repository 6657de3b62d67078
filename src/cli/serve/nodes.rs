//! The nodes, and the runs over them.

use super::answer::{Answer, Answered, Fault};
use super::hosts::{NodeLine, Past, Seen};
use super::listing::{Asked, Listed, Page, Path};
use super::shelf::Shelf;
use super::stacks::told;
use crate::base::{Plain, clock};
use crate::cli::nodes::plain;
use crate::infra::graph::Kind;
use axum::extract::State;
use std::sync::Arc;

/// What was seen of the hosts.
///
/// # Errors
/// There is no workspace, or it cannot be read.
fn seen(shelf: &Shelf) -> Result<Arc<Seen>, Fault> {
    let hosts = shelf.hosts.as_ref().ok_or_else(|| Fault::not_found("there are no nodes: no workspace is served"))?;
    Ok(hosts.seen()?)
}

/// `{id, state, started, …}` of a run; one whose record is broken says so.
pub fn head(past: &Past) -> Plain {
    let mut row = match &past.head {
        Ok(head) => head.to_plain(&past.run),
        Err(_) => Plain::from_iter([
            ("id", Plain::from(&past.run.id)),
            ("state", Plain::from("broken")),
            ("started", Plain::from(clock::stamp(past.run.started()))),
        ]),
    };
    row.set("problem", past.head.as_ref().err().map(|problem| Plain::from(&problem.what)));
    row
}

pub fn line(line: &NodeLine, seen: &Seen) -> Plain {
    let last = line.last.as_ref().and_then(|(number, end)| {
        let past = seen.runs.get(*number)?;
        let mode = past.head.as_ref().map(|head| head.mode.clone()).unwrap_or_default();
        Some(Plain::from_iter([
            ("id", Plain::from(&past.run.id)),
            ("started", Plain::from(clock::stamp(past.run.started()))),
            ("mode", Plain::from(mode)),
            ("outcome", Plain::from(&end.outcome)),
            ("operations", Plain::from(end.operations)),
            ("planned", Plain::from(end.planned)),
            ("problems", end.problems.iter().map(Plain::from).collect()),
        ]))
    });
    let mut row = plain(&line.row, line.facts);
    row.set("last_run", last);
    row
}

pub async fn all(State(shelf): State<Arc<Shelf>>, asked: Asked) -> Answered {
    shelf
        .read(move |shelf| {
            let page = Page::of(&asked, &["q"])?;
            let words = asked.get("q").map(|q| q.to_lowercase()).unwrap_or_default();
            let seen = seen(shelf)?;
            let fits = |one: &&NodeLine| {
                words
                    .split_whitespace()
                    .all(|word| one.row.name.contains(word) || one.row.role.to_lowercase().contains(word))
            };
            let mut found: Vec<&NodeLine> = seen.nodes.iter().filter(fits).collect();
            found.sort_by(|a, b| a.row.name.cmp(&b.row.name));
            page.cut(found, |one| one.row.name.clone(), |one| line(one, &seen)).answer("nodes")
        })
        .await
}

/// A node, with the newest runs that had it.
pub async fn one(State(shelf): State<Arc<Shelf>>, Path(name): Path<String>) -> Answered {
    shelf
        .read(move |shelf| {
            let seen = seen(shelf)?;
            let found = seen.nodes.iter().find(|one| one.row.name == name);
            let found = found.ok_or_else(|| Fault::not_found(format!("there is no node `{name}`")))?;
            let mut node = line(found, &seen);
            let runs = seen.runs.iter().filter_map(|past| {
                let (_, end) = past.ends.iter().find(|(node, _)| *node == name)?;
                let mut row = head(past);
                row.set("outcome", &end.outcome);
                row.set("operations", end.operations);
                Some(row)
            });
            node.set("runs", runs.take(50).collect::<Plain>());
            // A tree that cannot be read is told by its own calls.
            let known = shelf.known().ok();
            let (needs, users) = known.as_ref().map(|known| known.edges(Kind::Node, &name)).unwrap_or_default();
            node.set("depends_on", needs.into_iter().map(told).collect::<Plain>());
            node.set("depended_on_by", users.into_iter().map(told).collect::<Plain>());
            Ok(Answer(node))
        })
        .await
}

/// The runs over nodes, the newest first.
pub async fn runs(State(shelf): State<Arc<Shelf>>, asked: Asked) -> Answered {
    shelf
        .read(move |shelf| {
            let page = Page::of(&asked, &[])?;
            let seen = seen(shelf)?;
            let start = match &page.after {
                None => 0,
                Some(after) => seen
                    .runs
                    .iter()
                    .position(|past| past.run.id == *after)
                    .map(|at| at + 1)
                    .ok_or_else(|| Fault::invalid("`cursor` names no run that is known"))?,
            };
            let some: Vec<&Arc<Past>> = seen.runs.iter().skip(start).take(page.limit).collect();
            let next = (seen.runs.len() > start + some.len()).then(|| some.last().map(|past| past.run.id.clone()));
            let items = some.iter().map(|past| head(past)).collect();
            Listed { items, next: next.flatten(), total: Some(seen.runs.len()) }.answer("runs")
        })
        .await
}

/// A run over nodes: how each ended, and what was planned for it.
pub async fn run(State(shelf): State<Arc<Shelf>>, Path(id): Path<String>) -> Answered {
    shelf
        .read(move |shelf| {
            let seen = seen(shelf)?;
            let past = seen.runs.iter().find(|past| past.run.id == id);
            let past = past.ok_or_else(|| Fault::not_found(format!("there is no run `{id}`")))?;
            Ok(Answer(past.run.story()?.to_plain(&past.run)))
        })
        .await
}
