//! Performs the operations of a plan, looks again, and judges.

use super::debt::Ledger;
use super::facts::Folder;
use super::gather::{Gathered, Ready};
use super::guard::{self, Shut};
use super::layers;
use super::link;
use super::outcome::Outcome;
use super::roll::Turn;
use super::turn;
use super::watch::{Event, Watch};
use super::{Options, Setup, Stop};
use crate::base::{Problem, Problems, clock, problem::Kind};
use crate::node::{Failure, Reason};
use crate::plan::owed::Change;
use crate::plan::{NodePlan, Operation};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Applies the operations of these nodes in order, nodes in parallel, and checks each.
///
/// One node's failure never stops another node's work. Returns when all have ended. `waited` as for [`turn::take`].
pub(super) async fn together(
    setup: &Arc<Setup>,
    turns: Vec<Turn>,
    options: &Arc<Options>,
    watch: &Arc<dyn Watch>,
    stop: &Stop,
    waited: bool,
) -> Vec<(String, Outcome)> {
    let gate = Arc::new(Semaphore::new(options.parallel.max(1)));
    let mut outcomes = Vec::new();
    let mut tasks = Vec::new();
    for (ready, plan) in turns {
        let (setup, options, watch) = (setup.clone(), options.clone(), watch.clone());
        let (gate, stop) = (gate.clone(), stop.clone());
        let name = ready.node.clone();
        let task = tokio::spawn(async move {
            let node = ready.node.clone();
            let outcome = {
                let _turn = gate.acquire().await;
                one(&setup, ready, &plan, &options, &*watch, &stop, waited).await
            };
            // Told at once: who waits for another node must not seem to be at work.
            watch.event(&Event::Finished { node: &node, outcome: &outcome });
            outcome
        });
        tasks.push((name, task));
    }
    for (node, task) in tasks {
        let outcome = task.await.unwrap_or_else(|error| Outcome::Failed {
            performed: 0,
            planned: 0,
            problems: vec![Problem::new(format!("node `{node}`: suil itself failed: {error}"))],
        });
        outcomes.push((node, outcome));
    }
    outcomes
}

/// Ends every session without having changed anything: a dry run, or an answer of no.
pub async fn leave(gathered: Gathered) -> Vec<(String, Outcome)> {
    let mut outcomes = Vec::new();
    let mut closing = Vec::new();
    for ((node, ready), plan) in gathered.nodes.into_iter().zip(&gathered.plan.nodes) {
        let outcome = match ready {
            Ok(ready) => {
                closing.push(tokio::spawn(ready.session.close()));
                match plan.operations.len() {
                    0 => Outcome::Nothing,
                    operations => Outcome::Planned { operations },
                }
            }
            Err(outcome) => outcome,
        };
        outcomes.push((node, outcome));
    }
    for end in closing {
        let _ = end.await;
    }
    outcomes
}

async fn one(
    setup: &Setup,
    mut ready: Ready,
    plan: &NodePlan,
    options: &Options,
    watch: &dyn Watch,
    stop: &Stop,
    waited: bool,
) -> Outcome {
    let planned = plan.operations.len();
    let mut performed = 0;
    if planned > 0 {
        ready = match turn::take(setup, ready, plan, options, watch, stop, waited).await {
            Ok(ready) => ready,
            Err(outcome) => return outcome,
        };
    }
    let mut ledger = Ledger::of(&ready);
    for operation in &plan.operations {
        if stop.asked() {
            let mut problems = vec![interrupted(&ready.node, performed, planned)];
            if performed > 0 {
                problems.extend(after_failure(setup, &mut ready, plan, &ledger, watch).await.err().unwrap_or_default());
            }
            ready.session.close().await;
            return match performed {
                0 => Outcome::NotReached { problems },
                _ => Outcome::Failed { performed, planned, problems },
            };
        }
        let owed = match ledger.owe(setup, &mut ready, plan, operation) {
            Ok(owed) => owed,
            Err(problem) => {
                ready.session.close().await;
                return Outcome::Failed { performed, planned, problems: vec![problem] };
            }
        };
        watch.event(&Event::Starting { node: &ready.node, operation, of: planned });
        match step(setup, &mut ready, operation, &owed, plan, options, watch, stop).await {
            Ok(()) => {
                performed += 1;
                ledger.pay(operation);
            }
            Err(Broken::Failed(problem)) => {
                let mut problems = vec![*problem];
                problems.extend(after_failure(setup, &mut ready, plan, &ledger, watch).await.err().unwrap_or_default());
                ready.session.close().await;
                return Outcome::Failed { performed, planned, problems };
            }
            Err(Broken::Lost(problem)) => return Outcome::InDoubt { performed, planned, problem: *problem },
        }
    }
    let mut problems = judge(setup, &mut ready, plan, watch).await;
    problems.extend(ledger.close(&mut ready, plan, options, watch, stop).await);
    ready.session.close().await;
    match (problems.is_empty(), planned) {
        (true, 0) => Outcome::Nothing,
        (true, operations) => Outcome::Done { operations },
        (false, planned) => Outcome::Failed { performed, planned, problems },
    }
}

/// How an operation ended badly.
enum Broken {
    Failed(Box<Problem>),
    Lost(Box<Problem>),
}

#[allow(clippy::too_many_arguments, reason = "one operation of a run needs all that the run has")]
async fn step(
    setup: &Setup,
    ready: &mut Ready,
    operation: &Operation,
    owed: &[Change; 2],
    plan: &NodePlan,
    options: &Options,
    watch: &dyn Watch,
    stop: &Stop,
) -> Result<(), Broken> {
    let planned = plan.operations.len();
    let started = clock::instant();
    let ended = tokio::select! {
        ended = guarded(setup, ready, operation, owed, plan, options, watch) => Some(ended),
        () = stop.demanded() => None,
    };
    let seconds = started.elapsed().as_secs_f64();
    let report = |problem: Option<&str>, output: &str| {
        watch.event(&Event::Ended { node: &ready.node, operation, seconds, problem, output });
    };
    match ended {
        Some((Err(failure), Some(shut))) if failure.reason == Reason::Lost => {
            report(Some(&shut.problem.what), "");
            Err(broken(shut))
        }
        Some((Ok(outcome), shut)) if outcome.status == 0 => {
            report(shut.as_ref().map(|shut| shut.problem.what.as_str()), said(&outcome).trim());
            shut.map_or(Ok(()), |shut| Err(broken(shut)))
        }
        Some((Ok(outcome), shut)) => {
            let problem = refused(&ready.node, operation, planned, &outcome);
            report(Some(&problem.what), &said(&outcome));
            Err(also(problem, shut))
        }
        Some((Err(Failure { reason, mut problem }), shut)) => {
            if matches!(reason, Reason::Local | Reason::Limit) {
                // The node was reached: it is not how to reach it that is wrong.
                problem.place = operation.place.or(problem.place);
            }
            report(Some(&problem.what), "");
            match reason {
                Reason::Lost => Err(Broken::Lost(problem)),
                _ => Err(also(*problem, shut)),
            }
        }
        None => {
            let problem = Problem::new(format!(
                "node `{}`: stopped in the middle of operation {} of {planned}, `{}`",
                ready.node, operation.id, operation.title
            ))
            .kind(Kind::Interrupted);
            report(Some(&problem.what), "");
            Err(Broken::Lost(Box::new(problem)))
        }
    }
}

/// Performs an operation; what one that could cut the access changes is kept before, and the access is proven after,
/// whether it ended well or not: a daemon that does not start any more is lost as well. The node writes down what is
/// owed in the same round trip.
async fn guarded(
    setup: &Setup,
    ready: &mut Ready,
    operation: &Operation,
    owed: &[Change; 2],
    plan: &NodePlan,
    options: &Options,
    watch: &dyn Watch,
) -> (Result<crate::node::Outcome, Failure>, Option<Shut>) {
    if let Some(layer) = &operation.action.layer {
        return (layers::apply(setup, ready, layer, owed, options, watch).await, None);
    }
    let planned = plan.operations.len();
    if operation.guards_access
        && let Err(failure) = guard::keep(ready, operation).await
    {
        let cut = failure.reason == Reason::Lost && ready.session.armed();
        let shut = match cut {
            true => Some(guard::lost(ready, operation, planned, &failure, watch).await),
            false => None,
        };
        return (Err(failure), shut);
    }
    let between = owed.each_ref().map(Change::script);
    let between = between.each_ref().map(String::as_str);
    let ended = ready.session.perform_between(&operation.title, between, &operation.action, options.step_limit).await;
    let shut = match &ended {
        Err(failure) if failure.reason == Reason::Lost && ready.session.armed() => {
            Some(guard::lost(ready, operation, planned, failure, watch).await)
        }
        Err(failure) if matches!(failure.reason, Reason::Lost | Reason::Locked) => None,
        _ if operation.guards_access => guard::prove(ready, operation, plan, watch).await.err(),
        _ => None,
    };
    (ended, shut)
}

fn broken(shut: Shut) -> Broken {
    match shut.in_doubt {
        true => Broken::Lost(Box::new(shut.problem)),
        false => Broken::Failed(Box::new(shut.problem)),
    }
}

/// An operation that failed and shut suil out as well.
fn also(problem: Problem, shut: Option<Shut>) -> Broken {
    let Some(shut) = shut else { return Broken::Failed(Box::new(problem)) };
    let notes =
        std::iter::once(format!("and {}", shut.problem.what)).chain(shut.problem.notes.into_iter().map(|n| n.text));
    let problem = notes.fold(problem, Problem::note);
    broken(Shut { problem, in_doubt: shut.in_doubt })
}

/// All that an operation said: whom it waited for stands on stderr, whether it ended well or not.
fn said(outcome: &crate::node::Outcome) -> String {
    let line = if outcome.stdout.is_empty() || outcome.stdout.ends_with('\n') { "" } else { "\n" };
    format!("{}{line}{}", outcome.stdout, outcome.stderr)
}

/// An operation whose script ended badly, in the node's own words.
fn refused(node: &str, operation: &Operation, planned: usize, outcome: &crate::node::Outcome) -> Problem {
    let what = format!("node `{node}`: operation {} of {planned}, `{}`, failed", operation.id, operation.title);
    let mut problem = Problem::new(what);
    if let Some(place) = operation.place {
        problem = problem.at(place);
    }
    let said = if outcome.stderr.trim().is_empty() { &outcome.stdout } else { &outcome.stderr };
    let lines: Vec<&str> = said.trim().lines().collect();
    let from = lines.len().saturating_sub(WORDS);
    for line in lines.iter().skip(from) {
        problem = problem.note(format!("{node}: {line}"));
    }
    if lines.is_empty() {
        problem = problem.note(format!("it ended with status {} and said nothing", outcome.status));
    }
    problem.help(format!("mend the cause, then `suil apply --node {node}` continues"))
}

/// So many of the last lines that a node said are shown.
const WORDS: usize = 12;

fn interrupted(node: &str, performed: usize, planned: usize) -> Problem {
    Problem::new(format!("node `{node}`: stopped after {performed} of {planned} operations"))
        .kind(Kind::Interrupted)
        .help(format!("`suil apply --node {node}` continues"))
}

/// Records what a failed node looks like now; the recorded signatures stay the old ones.
async fn after_failure(
    setup: &Setup,
    ready: &mut Ready,
    plan: &NodePlan,
    ledger: &Ledger,
    watch: &dyn Watch,
) -> Result<(), Problems> {
    link::refresh(setup, ready, plan, watch).await?;
    record(setup, ready, false, ledger)
}

/// Reads the facts of the changed modules again, records them, and returns what is not as it should be.
async fn judge(setup: &Setup, ready: &mut Ready, plan: &NodePlan, watch: &dyn Watch) -> Problems {
    if !plan.operations.is_empty() {
        watch.event(&Event::Phase { node: &ready.node, phase: "checking" });
        if let Err(problems) = link::refresh(setup, ready, plan, watch).await {
            return problems;
        }
    }
    let mut problems = ready.intent.check(&ready.facts, &ready.collected, plan);
    // Every operation was performed, so nothing is owed any more.
    if let Err(found) = record(setup, ready, problems.is_empty(), &Ledger::nothing()) {
        problems.extend(found);
    }
    problems
}

fn record(setup: &Setup, ready: &Ready, applied: bool, ledger: &Ledger) -> Result<(), Problems> {
    let folder = Folder::of(setup.workspace.root(), &ready.node);
    for (part, report) in ready.intent.reports(&ready.facts, &ready.collected) {
        let signature = applied.then_some(part.signature.as_str());
        folder.module(part, report, &ledger.recorded(ready, &part.name, signature), setup.vault.mask())?;
    }
    Ok(())
}
