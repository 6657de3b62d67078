//! One command on many nodes: no module, no facts, no plan, no record.

use super::prepare::target;
use super::watch::{Event, Watch};
use super::{Setup, Stop, lock};
use crate::base::{Problem, clock, problem, problem::Kind};
use crate::catalogue::Catalogue;
use crate::node::{Failure, Outcome, Reason, Script, Session, Target};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

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
        match target(setup, entry) {
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
    let gate = Arc::new(Semaphore::new(errand.parallel.max(1)));
    let mut tasks = Vec::with_capacity(targets.len());
    for target in targets {
        let (setup, errand, watch) = (setup.clone(), errand.clone(), watch.clone());
        let (gate, stop) = (gate.clone(), stop.clone());
        let copy = target.clone();
        let task = tokio::spawn(async move {
            let _turn = gate.acquire().await;
            let started = clock::instant();
            let answer = one(&setup, &target, &errand, &*watch, &stop).await.map_err(|failure| told(&target, failure));
            let reply = Reply { node: target.node.clone(), answer, seconds: started.elapsed().as_secs_f64() };
            watch.event(&Event::Planned { node: &target.node, well: reply.word() == "done" });
            reply
        });
        tasks.push((copy, task));
    }
    let mut replies = Vec::with_capacity(tasks.len());
    for (target, task) in tasks {
        replies.push(task.await.unwrap_or_else(|error| {
            let problem = Problem::new(format!("node `{}`: suil itself failed: {error}", target.node));
            let answer = Err(Failure { reason: Reason::Local, problem: Box::new(problem) });
            Reply { node: target.node, answer, seconds: 0.0 }
        }));
    }
    replies
}

async fn one(
    setup: &Setup,
    target: &Target,
    errand: &Errand,
    watch: &dyn Watch,
    stop: &Stop,
) -> Result<Outcome, Failure> {
    let node = target.node.as_str();
    if stop.asked() {
        return Err(stopped(node, "before anything ran on it"));
    }
    watch.event(&Event::Phase { node, phase: "connecting" });
    let mut session = tokio::select! {
        opened = Session::open(target, &setup.access) => opened?,
        () = stop.wished() => return Err(stopped(node, "before anything ran on it")),
    };
    if let Some(who) = &errand.lock
        && let Err(failure) = lock::hold(&mut session, who, watch, stop).await
    {
        session.close().await;
        return Err(failure);
    }
    watch.event(&Event::Phase { node, phase: "running" });
    let answer = tokio::select! {
        answer = session.command(&errand.script, errand.limit) => answer,
        () = stop.wished() => Err(Failure {
            reason: Reason::Limit,
            ..stopped(node, "in the middle of the command, which was ended")
        }),
    };
    session.close().await;
    answer.map_err(|mut failure| {
        // The node was reached: it is not its address that is wrong.
        failure.problem.place = None;
        failure
    })
}

/// A failure as it is told here: what helps is no apply.
fn told(target: &Target, mut failure: Failure) -> Failure {
    let apply = format!("then `suil apply --node {}`", target.node);
    failure.problem.help = failure.problem.help.map(|help| help.replace(&apply, "then again"));
    failure
}

fn stopped(node: &str, when: &str) -> Failure {
    let problem = Problem::new(format!("node `{node}`: stopped {when}")).kind(Kind::Interrupted);
    Failure { reason: Reason::Local, problem: Box::new(problem) }
}
