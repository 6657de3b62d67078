//! Goes over the nodes of a plan in waves, and leaves the rest alone once too much has failed.

use super::gather::{Gathered, Ready};
use super::outcome::Outcome;
use super::perform::together;
use super::watch::{Event, Watch};
use super::{Options, Setup, Stop};
use crate::base::{Problem, Problems, problem::Kind};
use crate::plan::{NodePlan, Roll, Wave};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A node that is ready for its turn.
pub(super) type Turn = (Ready, NodePlan);

/// How a run ended.
#[derive(Debug, Default)]
pub struct Rolled {
    /// In the order of the catalogue.
    pub outcomes: Vec<(String, Outcome)>,
    /// What went wrong beside the nodes.
    pub problems: Problems,
}

/// Applies a plan, one wave of nodes after the other; within a wave nodes are worked on in parallel.
///
/// A wave has ended when all of its nodes have been checked. No wave begins once more nodes have failed than the roll
/// allows, and no node of a role while one of an earlier role has failed.
pub async fn perform(
    setup: &Arc<Setup>,
    gathered: Gathered,
    options: &Arc<Options>,
    watch: &Arc<dyn Watch>,
    stop: &Stop,
) -> Rolled {
    let Gathered { nodes, plan, .. } = gathered;
    let order: Vec<String> = nodes.iter().map(|(node, _)| node.clone()).collect();
    let waves = whole(&plan.roll, &order);
    watch.event(&Event::Applying { batches: waves.len() });
    let mut run = Run {
        setup,
        options,
        watch,
        stop,
        roll: &plan.roll,
        waiting: BTreeMap::new(),
        outcomes: BTreeMap::new(),
        failed_roles: BTreeMap::new(),
        failures: 0,
        problems: Problems::new(),
    };
    for ((node, ready), plan) in nodes.into_iter().zip(plan.nodes) {
        match ready {
            Ok(ready) => drop(run.waiting.insert(node, (ready, plan))),
            Err(outcome) => run.end(node, outcome),
        }
    }
    let early: Vec<String> = run.outcomes.keys().cloned().collect();
    for node in &early {
        run.count(&waves, node);
    }
    for (n, wave) in waves.iter().enumerate() {
        match run.halted(&waves, n) {
            Some(problem) => {
                let rest: Vec<&str> = waves.iter().skip(n).flat_map(Wave::nodes).collect();
                run.leave(&rest, &problem).await;
                break;
            }
            None => run.wave(&waves, n, wave).await,
        }
    }
    let mut outcomes = run.outcomes;
    let ended = order.into_iter().filter_map(|node| outcomes.remove_entry(&node)).collect();
    Rolled { outcomes: ended, problems: run.problems }
}

/// The waves; all nodes at once where nobody dealt them.
fn whole(roll: &Roll, order: &[String]) -> Vec<Wave> {
    match roll.waves.is_empty() {
        true => vec![Wave::of(order)],
        false => roll.waves.clone(),
    }
}

struct Run<'a> {
    setup: &'a Arc<Setup>,
    options: &'a Arc<Options>,
    watch: &'a Arc<dyn Watch>,
    stop: &'a Stop,
    roll: &'a Roll,
    waiting: BTreeMap<String, Turn>,
    outcomes: BTreeMap<String, Outcome>,
    /// The first node of each role that failed.
    failed_roles: BTreeMap<String, String>,
    failures: usize,
    problems: Problems,
}

impl Run<'_> {
    fn end(&mut self, node: String, outcome: Outcome) {
        self.watch.event(&Event::Finished { node: &node, outcome: &outcome });
        self.outcomes.insert(node, outcome);
    }

    /// Counts a node that has ended, where it failed.
    fn count(&mut self, waves: &[Wave], node: &str) {
        if self.outcomes.get(node).is_some_and(Outcome::is_failure) {
            self.failures += 1;
            let parts = waves.iter().flat_map(|wave| &wave.parts);
            for part in parts.filter(|part| part.nodes.iter().any(|other| other == node)) {
                self.failed_roles.entry(part.role.clone()).or_insert_with(|| node.to_owned());
            }
        }
    }

    /// Why no further wave begins.
    fn halted(&self, waves: &[Wave], next: usize) -> Option<Problem> {
        let words = Batches { from: next + 1, of: waves.len() };
        if self.stop.asked() {
            let problem = Problem::new(format!("stopped before {words} begun")).kind(Kind::Interrupted);
            return Some(problem.help("`suil apply --failed` continues"));
        }
        let most = self.roll.most_failures.filter(|most| self.failures > *most)?;
        let failed = if self.failures == 1 { "1 node".to_owned() } else { format!("{} nodes", self.failures) };
        let allowed = if most == 0 { "none".to_owned() } else { most.to_string() };
        let problem = Problem::new(format!("{failed} failed, and {allowed} may: {words} not begun"));
        Some(problem.help("mend the cause, then `suil apply --failed` goes on; `--max-failures` allows more"))
    }

    async fn wave(&mut self, waves: &[Wave], n: usize, wave: &Wave) {
        let nodes: Vec<&str> = wave.nodes().collect();
        for part in &wave.parts {
            if let Some(problem) = self.blocked(&part.role, &part.after) {
                let nodes: Vec<&str> = part.nodes.iter().map(String::as_str).collect();
                self.leave(&nodes, &problem).await;
            }
        }
        let turns: Vec<Turn> = nodes.iter().filter_map(|node| self.waiting.remove(*node)).collect();
        let begun: Vec<String> = turns.iter().map(|(ready, _)| ready.node.clone()).collect();
        if begun.is_empty() {
            return;
        }
        let batch = |begins| Event::Batch { batch: n + 1, of: waves.len(), nodes: &begun, begins };
        self.watch.event(&batch(true));
        self.outcomes.extend(together(self.setup, turns, self.options, self.watch, self.stop).await);
        self.watch.event(&batch(false));
        for node in &begun {
            self.count(waves, node);
        }
    }

    /// Why the nodes of a role do not begin.
    fn blocked(&self, role: &str, after: &BTreeSet<String>) -> Option<Problem> {
        let (first, node) = self.failed_roles.iter().find(|(failed, _)| after.contains(*failed))?;
        let what =
            format!("role `{role}` comes after `{first}`, of which `{node}` failed: none of its nodes was begun");
        Some(Problem::new(what).help("mend the cause, then `suil apply --failed` goes on"))
    }

    /// Ends nodes whose turn does not come. Those with nothing to do are what they should be all the same, if their
    /// check says so.
    async fn leave(&mut self, nodes: &[&str], problem: &Problem) {
        let turns = nodes.iter().filter_map(|node| self.waiting.remove(*node));
        let (idle, left): (Vec<Turn>, Vec<Turn>) = turns.partition(|(_, plan)| plan.operations.is_empty());
        self.outcomes.extend(together(self.setup, idle, self.options, self.watch, self.stop).await);
        let names: Vec<String> = left.iter().map(|(ready, _)| ready.node.clone()).collect();
        let closing: Vec<_> = left.into_iter().map(|(ready, _)| tokio::spawn(ready.session.close())).collect();
        let problem = problem.clone().note(format!("not reached: {}", names.join(", ")));
        for node in names {
            self.end(node, Outcome::NotReached { problems: vec![problem.clone()] });
        }
        for end in closing {
            let _ = end.await;
        }
    }
}

/// `batch 4 of 4 was`, `batches 3 to 4 of 4 were`.
struct Batches {
    from: usize,
    of: usize,
}

impl std::fmt::Display for Batches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Batches { from, of } = self;
        match from < of {
            true => write!(f, "batches {from} to {of} of {of} were"),
            false => write!(f, "batch {from} of {of} was"),
        }
    }
}
