//! The same work on many nodes: a session with each, in parallel.

use super::watch::{Event, Watch};
use super::{Setup, Stop};
use crate::base::{Problem, clock, problem::Kind};
use crate::node::{Failure, Reason, Session, Target};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// What the work on one node came to.
pub struct Found<T> {
    pub node: String,
    pub answer: Result<T, Failure>,
    pub seconds: f64,
}

/// Opens a session with each of `targets`, so many at once, and does `work` in it. The answers come in the order of the
/// targets; a node that fails takes no other with it.
pub async fn each<T, W, F>(
    setup: &Arc<Setup>,
    targets: Vec<Target>,
    parallel: usize,
    watch: &Arc<dyn Watch>,
    stop: &Stop,
    work: W,
) -> Vec<Found<T>>
where
    T: Send + 'static,
    W: Fn(Session) -> F + Clone + Send + 'static,
    F: Future<Output = Result<T, Failure>> + Send,
{
    let gate = Arc::new(Semaphore::new(parallel.max(1)));
    let mut tasks = Vec::with_capacity(targets.len());
    for target in targets {
        let (setup, watch, gate, stop, work) = (setup.clone(), watch.clone(), gate.clone(), stop.clone(), work.clone());
        let node = target.node.clone();
        let task = tokio::spawn(async move {
            let _turn = gate.acquire().await;
            let started = clock::instant();
            let answer = match open(&setup, &target, &*watch, &stop).await {
                Ok(session) => work(session).await,
                Err(failure) => Err(failure),
            };
            watch.event(&Event::Planned { node: &target.node, well: answer.is_ok() });
            (answer.map_err(|failure| told(&target, failure)), started.elapsed().as_secs_f64())
        });
        tasks.push((node, task));
    }
    let mut found = Vec::with_capacity(tasks.len());
    for (node, task) in tasks {
        let (answer, seconds) = task.await.unwrap_or_else(|error| {
            let problem = Problem::new(format!("node `{node}`: suil itself failed: {error}"));
            (Err(Failure { reason: Reason::Local, problem: Box::new(problem) }), 0.0)
        });
        found.push(Found { node, answer, seconds });
    }
    found
}

async fn open(setup: &Setup, target: &Target, watch: &dyn Watch, stop: &Stop) -> Result<Session, Failure> {
    let early = || stopped(&target.node, "before anything ran on it");
    if stop.asked() {
        return Err(early());
    }
    watch.event(&Event::Phase { node: &target.node, phase: "connecting" });
    tokio::select! {
        opened = Session::open(target, &setup.access) => opened,
        () = stop.wished() => Err(early()),
    }
}

/// A failure as it is told here: what helps is no apply.
fn told(target: &Target, mut failure: Failure) -> Failure {
    let apply = format!("then `suil apply --node {}`", target.node);
    failure.problem.help = failure.problem.help.map(|help| help.replace(&apply, "then again"));
    failure
}

/// Somebody wished to stop.
pub fn stopped(node: &str, when: &str) -> Failure {
    let problem = Problem::new(format!("node `{node}`: stopped {when}")).kind(Kind::Interrupted);
    Failure { reason: Reason::Local, problem: Box::new(problem) }
}
