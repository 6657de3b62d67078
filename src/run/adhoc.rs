//! One command on many nodes: no module, no facts, no plan, no record.

use super::each::{Found, each, stopped};
use super::prepare::target;
use super::watch::{Event, Watch};
use super::{Setup, Stop, lock};
use crate::base::{Problem, problem};
use crate::catalogue::Catalogue;
use crate::node::{Failure, Outcome, Reason, Script, Session, Target};
use std::sync::Arc;
use std::time::Duration;

/// What is to be done on each node.
#[derive(Clone, Debug)]
pub struct Errand {
    pub script: Script,
    /// So long it may take; what it started is ended then.
    pub limit: Duration,
    /// So many nodes are worked on at once.
    pub parallel: usize,
    /// Who runs this and why, where the lock of each node is to be held meanwhile.
    pub lock: Option<String>,
}

/// What came of it on one node.
#[derive(Clone, Debug)]
pub struct Reply {
    pub node: String,
    pub answer: Result<Outcome, Failure>,
    pub seconds: f64,
}

impl Reply {
    /// `done`, `failed` or `not reached`: a node that was not reached is another thing than a command that failed.
    pub fn word(&self) -> &'static str {
        match &self.answer {
            Ok(outcome) if outcome.status == 0 => "done",
            Ok(_) => "failed",
            Err(failure) if matches!(failure.reason, Reason::Limit | Reason::Lost) => "failed",
            Err(_) => "not reached",
        }
    }

    pub fn problem(&self) -> Option<&Problem> {
        self.answer.as_ref().err().map(|failure| &*failure.problem)
    }
}

/// How each node of the catalogue is reached, in its order.
///
/// # Errors
/// All problems of all nodes.
pub fn targets(setup: &Setup, catalogue: &Catalogue) -> problem::Result<Vec<Target>> {
    let mut problems = Vec::new();
    let mut targets = Vec::with_capacity(catalogue.entries.len());
    for entry in &catalogue.entries {
        match target(&setup.vault, entry) {
            Ok(target) => targets.push(target),
            Err(found) => problems.extend(found),
        }
    }
    problem::sort(&mut problems);
    if problems.is_empty() { Ok(targets) } else { Err(problems) }
}

/// Does the errand on all nodes in parallel. A wish to stop ends what runs on the nodes.
pub async fn adhoc(
    setup: &Arc<Setup>,
    targets: Vec<Target>,
    errand: &Arc<Errand>,
    watch: &Arc<dyn Watch>,
    stop: &Stop,
) -> Vec<Reply> {
    let work = {
        let (errand, watch, stop) = (errand.clone(), watch.clone(), stop.clone());
        move |session| {
            let (errand, watch, stop) = (errand.clone(), watch.clone(), stop.clone());
            async move { one(session, &errand, &*watch, &stop).await }
        }
    };
    let found = each(setup, targets, errand.parallel, watch, stop, work).await;
    found.into_iter().map(|Found { node, answer, seconds }| Reply { node, answer, seconds }).collect()
}

async fn one(mut session: Session, errand: &Errand, watch: &dyn Watch, stop: &Stop) -> Result<Outcome, Failure> {
    let node = session.node().to_owned();
    if let Some(who) = &errand.lock
        && let Err(failure) = lock::hold(&mut session, who, watch, stop).await
    {
        session.close().await;
        return Err(failure);
    }
    watch.event(&Event::Phase { node: &node, phase: "running" });
    let answer = tokio::select! {
        answer = session.command(&errand.script, errand.limit) => answer,
        () = stop.wished() => Err(Failure {
            reason: Reason::Limit,
            ..stopped(&node, "in the middle of the command, which was ended")
        }),
    };
    session.close().await;
    answer.map_err(|mut failure| {
        // The node was reached: it is not its address that is wrong.
        failure.problem.place = None;
        failure
    })
}
