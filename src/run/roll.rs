//! Goes over the nodes of a plan in waves, and leaves the rest alone once too much has failed.

use super::gather::{Gathered, Ready};
use super::hook::Call;
use super::outcome::Outcome;
use super::perform::together;
use super::watch::{Event, Watch};
use super::{Options, Setup, Stop};
use crate::base::{Problem, Problems, problem::Kind};
use crate::plan::{Group, NodePlan, Roll, Wave};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
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
/// allows, and no node of a role while one of an earlier role has failed. `record` is the folder of the run's record.
pub async fn perform(
    setup: &Arc<Setup>,
    gathered: Gathered,
    options: &Arc<Options>,
    watch: &Arc<dyn Watch>,
    stop: &Stop,
    record: &Path,
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
        roles: roles(&waves),
        failed_roles: BTreeMap::new(),
        failures: 0,
        failed_hooks: 0,
        problems: Problems::new(),
        record,
    };
    for ((node, ready), plan) in nodes.into_iter().zip(plan.nodes) {
        match ready {
            Ok(ready) => drop(run.waiting.insert(node, (ready, plan))),
            Err(outcome) => run.end(node, outcome),
        }
    }
    let early: Vec<String> = run.outcomes.keys().cloned().collect();
    for node in &early {
        run.count(node);
    }
    for (n, wave) in waves.iter().enumerate() {
        match run.halted(n + 1, waves.len()) {
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

fn roles(waves: &[Wave]) -> BTreeMap<String, String> {
    let parts = waves.iter().flat_map(|wave| &wave.parts);
    parts.flat_map(|part| part.nodes.iter().map(|node| (node.clone(), part.role.clone()))).collect()
}

struct Run<'a> {
    setup: &'a Arc<Setup>,
    options: &'a Arc<Options>,
    watch: &'a Arc<dyn Watch>,
    stop: &'a Stop,
    roll: &'a Roll,
    waiting: BTreeMap<String, Turn>,
    outcomes: BTreeMap<String, Outcome>,
    /// The role of each node.
    roles: BTreeMap<String, String>,
    /// What failed first of each role.
    failed_roles: BTreeMap<String, String>,
    failures: usize,
    failed_hooks: usize,
    problems: Problems,
    /// The folder of the run's record.
    record: &'a Path,
}

impl Run<'_> {
    fn end(&mut self, node: String, outcome: Outcome) {
        self.watch.event(&Event::Finished { node: &node, outcome: &outcome });
        self.outcomes.insert(node, outcome);
    }

    /// Counts a node that has ended, where it failed.
    fn count(&mut self, node: &str) {
        if self.outcomes.get(node).is_some_and(Outcome::is_failure) {
            self.failures += 1;
            if let Some(role) = self.roles.get(node) {
                self.failed_roles.entry(role.clone()).or_insert_with(|| node.to_owned());
            }
        }
    }

    /// Why no further wave begins.
    fn halted(&self, next: usize, of: usize) -> Option<Problem> {
        if let Some(problem) = self.stopped(next, of) {
            return Some(problem);
        }
        let most = self.roll.most_failures.filter(|most| self.failures + self.failed_hooks > *most)?;
        let failed = [(self.failures, "node"), (self.failed_hooks, "hook")].into_iter().filter(|(n, _)| *n > 0);
        let failed: Vec<String> =
            failed.map(|(n, word)| format!("{n} {word}{}", if n == 1 { "" } else { "s" })).collect();
        let allowed = if most == 0 { "none".to_owned() } else { most.to_string() };
        let words = Batches { from: next, of };
        let problem = Problem::new(format!("{} failed, and {allowed} may: {words} not begun", failed.join(" and ")));
        Some(problem.help("mend the cause, then `suil apply --failed` goes on; `--max-failures` allows more"))
    }

    fn stopped(&self, next: usize, of: usize) -> Option<Problem> {
        let what = || format!("stopped before {} begun", Batches { from: next, of });
        let problem = self.stop.asked().then(|| Problem::new(what()).kind(Kind::Interrupted))?;
        Some(problem.help("`suil apply --failed` continues"))
    }

    async fn wave(&mut self, waves: &[Wave], n: usize, wave: &Wave) {
        for part in &wave.parts {
            if let Some(problem) = self.blocked(&part.role, &part.after) {
                // In this batch and in all further ones.
                let all = waves.iter().flat_map(|wave| &wave.parts).filter(|other| other.role == part.role);
                let nodes: Vec<&str> = all.flat_map(|part| &part.nodes).map(String::as_str).collect();
                self.leave(&nodes, &problem).await;
            }
        }
        let nodes: Vec<&str> = wave.nodes().filter(|node| self.waiting.contains_key(*node)).collect();
        if nodes.is_empty() {
            return;
        }
        let works = |node: &str| self.waiting.get(node).is_some_and(|(_, plan)| !plan.operations.is_empty());
        let groups = wave.groups(works);
        let address = |node: &&str| Some(((*node).to_owned(), self.waiting.get(*node)?.0.session.host().to_owned()));
        let hosts: BTreeMap<String, String> =
            groups.iter().flat_map(|group| &group.nodes).filter_map(address).collect();
        let call = |name, hook, group| Call {
            name,
            hook,
            group,
            hosts: &hosts,
            batch: n + 1,
            batches: waves.len(),
            record: self.record,
            outcomes: None,
        };
        let (setup, watch, stop) = (self.setup, self.watch, self.stop);
        let mut begun: Vec<&Group<'_>> = Vec::new();
        let mut broken = None;
        let mut waited = n > 0;
        for group in &groups {
            begun.push(group);
            if let Some(hook) = &group.hooks.before {
                waited = true;
                broken = call("before_batch", hook, group).make(setup, &**watch, stop).await.err();
            }
            if stop.asked() || broken.is_some() {
                break;
            }
        }
        match broken.or_else(|| self.stopped(n + 1, waves.len())) {
            Some(problem) => self.leave(&nodes, &problem).await,
            None => self.work(n + 1, waves.len(), &nodes, waited).await,
        }
        for node in nodes {
            self.count(node);
        }
        for group in begun {
            let Some(hook) = &group.hooks.after else { continue };
            let call = Call { outcomes: Some(&self.outcomes), ..call("after_batch", hook, group) };
            if let Err(problem) = call.make(setup, &**watch, stop).await {
                for role in &group.roles {
                    let failed = self.failed_roles.entry((*role).to_owned());
                    failed.or_insert_with(|| "after_batch".to_owned());
                }
                self.failed_hooks += 1;
                self.problems.push(problem);
            }
        }
    }

    /// Applies the plans of these nodes.
    async fn work(&mut self, batch: usize, of: usize, nodes: &[&str], waited: bool) {
        let names: Vec<String> = nodes.iter().map(|node| (*node).to_owned()).collect();
        let turns: Vec<Turn> = nodes.iter().filter_map(|node| self.waiting.remove(*node)).collect();
        self.watch.event(&Event::Batch { batch, of, nodes: &names, begins: true });
        self.outcomes.extend(together(self.setup, turns, self.options, self.watch, self.stop, waited).await);
        self.watch.event(&Event::Batch { batch, of, nodes: &names, begins: false });
    }

    /// Why the nodes of a role do not begin.
    fn blocked(&self, role: &str, after: &BTreeSet<String>) -> Option<Problem> {
        let (first, failed) = self.failed_roles.iter().find(|(failed, _)| after.contains(*failed))?;
        let what = format!("role `{role}` was not begun: it comes after `{first}`, where `{failed}` failed");
        Some(Problem::new(what).help("mend the cause, then `suil apply --failed` goes on"))
    }

    /// Ends nodes whose turn does not come. Those with nothing to do are what they should be all the same, if their
    /// check says so.
    async fn leave(&mut self, nodes: &[&str], problem: &Problem) {
        let turns = nodes.iter().filter_map(|node| self.waiting.remove(*node));
        let (idle, left): (Vec<Turn>, Vec<Turn>) = turns.partition(|(_, plan)| plan.operations.is_empty());
        self.outcomes.extend(together(self.setup, idle, self.options, self.watch, self.stop, false).await);
        let mut names: Vec<String> = left.iter().map(|(ready, _)| ready.node.clone()).collect();
        names.sort();
        let closing: Vec<_> = left.into_iter().map(|(ready, _)| tokio::spawn(ready.session.close())).collect();
        let problem = problem.clone().note(format!("not reached: {}", listed(&names)));
        for node in names {
            self.end(node, Outcome::NotReached { problems: vec![problem.clone()] });
        }
        for end in closing {
            let _ = end.await;
        }
    }
}

/// So many names are listed; every node has its own line anyhow.
const NAMES: usize = 20;

fn listed(names: &[String]) -> String {
    let (shown, more) = names.split_at(names.len().min(NAMES));
    match more.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
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
