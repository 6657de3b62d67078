//! Figures for Prometheus, and whether the server can answer.

use super::answer::Fault;
use super::shelf::Shelf;
use crate::base::clock;
use crate::infra::store::{DriftState, Filter, Life, RunState};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use std::fmt::Write as _;
use std::sync::Arc;

/// The most runs of a state that are counted.
const MOST: u32 = 1000;

/// Well where the tree can be scanned and the store be read.
pub async fn ready(State(shelf): State<Arc<Shelf>>) -> Result<&'static str, Fault> {
    shelf
        .read(|shelf| {
            // Who asks needs no token, so the answer tells nothing of the workspace.
            let bad = |what: &str| Fault::unavailable(format!("{what} cannot be read"));
            shelf.tree.known().map_err(|_| bad("the tree"))?;
            shelf
                .store()
                .map_err(|_| bad("the store"))?
                .map(|store| store.locks())
                .transpose()
                .map_err(|_| bad("the store"))?;
            Ok("ready\n")
        })
        .await
}

/// The figures, in the text format of Prometheus.
struct Text(String);

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP suil_{name} {help}\n# TYPE suil_{name} {kind}");
    }

    fn gauge(&mut self, name: &str, help: &str, value: f64) {
        self.family(name, "gauge", help);
        let _ = writeln!(self.0, "suil_{name} {value}");
    }

    fn labelled(&mut self, name: &str, label: &str, word: &str, value: f64) {
        let _ = writeln!(self.0, "suil_{name}{{{label}=\"{word}\"}} {value}");
    }
}

pub async fn metrics(State(shelf): State<Arc<Shelf>>) -> Result<Response, Fault> {
    let text = shelf.read(|shelf| figures(shelf).map(|text| text.0)).await?;
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}

fn figures(shelf: &Shelf) -> Result<Text, Fault> {
    let mut text = Text(String::new());
    text.family("build_info", "gauge", "The version that runs.");
    text.labelled("build_info", "version", env!("CARGO_PKG_VERSION"), 1.0);
    let known = shelf.tree.known();
    text.gauge("tree_readable", "1 where the last scan of the tree went well.", f64::from(u8::from(known.is_ok())));
    if let Ok(known) = &known {
        text.gauge("stacks", "Stacks of the tree.", known.own().count() as f64);
        text.gauge("modules", "Modules that stacks use, or that stand in the tree.", known.graph.modules.len() as f64);
        text.gauge("edges", "Edges of the graph.", known.graph.edges.len() as f64);
        text.gauge("graph_warnings", "Warnings of the scan.", known.graph.warnings.len() as f64);
        text.gauge("graph_cycles", "Groups of stacks that depend on themselves.", known.cycles.len() as f64);
    }
    if let Some(store) = shelf.store()? {
        let repo = known.as_ref().map(|known| known.graph.repo.clone()).unwrap_or_default();
        let locks = shelf.locks(&*store, &repo)?;
        text.gauge("locks", "Locks that are held.", locks.len() as f64);
        let left = locks.iter().filter(|lock| lock.life() == Life::Gone).count();
        text.gauge("locks_left_over", "Locks whose process is gone.", left as f64);
        let oldest = locks.iter().map(|lock| (clock::now() - lock.taken).num_seconds()).max().unwrap_or(0);
        text.gauge("oldest_lock_seconds", "Age of the oldest lock.", oldest as f64);
        let drift = store.drift(&repo)?;
        text.family("drift_stacks", "gauge", "Stacks by what the last look for drift found.");
        for state in DriftState::ALL {
            let count = drift.iter().filter(|one| one.state == *state).count();
            text.labelled("drift_stacks", "state", state.word(), count as f64);
        }
        text.family("runs_open", "gauge", "Runs over stacks that have not ended, by state.");
        for state in RunState::ALL.iter().filter(|state| !state.is_final()) {
            let filter =
                Filter { repo: shelf.rows_of(&repo), state: Some(*state), limit: Some(MOST), ..Filter::default() };
            text.labelled("runs_open", "state", state.word(), store.runs(&filter)?.len() as f64);
        }
        if let Some(last) =
            store.runs(&Filter { repo: shelf.rows_of(&repo), limit: Some(1), ..Filter::default() })?.first()
        {
            text.gauge(
                "last_run_timestamp_seconds",
                "When the newest run over stacks began.",
                last.started.timestamp() as f64,
            );
        }
    }
    if let Some(hosts) = &shelf.hosts
        && let Ok(seen) = hosts.seen()
    {
        text.gauge("nodes", "Nodes of the workspace.", seen.nodes.len() as f64);
        text.gauge(
            "nodes_never_read",
            "Nodes whose facts were never read.",
            seen.nodes.iter().filter(|one| one.facts.is_none()).count() as f64,
        );
        let failed = seen.nodes.iter().filter(|one| one.last.as_ref().is_some_and(|(_, end)| end.is_failure())).count();
        text.gauge("nodes_failed", "Nodes that did not reach what their last run asked for.", failed as f64);
        let oldest = seen.nodes.iter().filter_map(|one| one.facts).min();
        if let Some(oldest) = oldest {
            text.gauge(
                "oldest_facts_timestamp_seconds",
                "When the facts of the node were read that was read longest ago.",
                oldest.timestamp() as f64,
            );
        }
    }
    text.family("http_responses_total", "counter", "Answers of this server, by status.");
    for (status, count) in shelf.answers() {
        text.labelled("http_responses_total", "status", &status.to_string(), count as f64);
    }
    Ok(text)
}
