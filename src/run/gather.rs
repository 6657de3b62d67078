//! Connects to every prepared node, reads its facts and plans it: everything before anything changes.

use super::bystander::{self, Bystander};
use super::debt;
use super::facts::{Folder, Recorded};
use super::layers;
use super::link;
use super::outcome::Outcome;
use super::prepare::Prepared;
use super::watch::{Event, Watch};
use super::{Options, Setup, Stop};
use crate::base::{Plain, Problem, Problems, problem::Kind};
use crate::catalogue::{Catalogue, Entry, Probe, Workspace};
use crate::node::{Failure, Reason, Session, Survey, Target};
use crate::plan::{Collected, Facts, Force, Intent, NodePlan, Part, Past, Plan};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// A node between its facts and its operations.
pub struct Ready {
    pub node: String,
    pub session: Session,
    pub intent: Intent,
    pub facts: Facts,
    pub collected: Collected,
    /// What earlier runs recorded of each module.
    pub recorded: BTreeMap<String, Recorded>,
    pub entry: Entry,
    /// Who reacts to what this run changes and has no part in it.
    pub bystanders: Vec<Bystander>,
    /// What the node is, as `facts/<node>/suil.yaml` keeps it.
    pub probe: Plain,
}

/// How far a node came, in the order of the catalogue.
#[derive(Default)]
pub struct Gathered {
    /// Nodes whose host key is not known: once a person accepted the keys they can be gathered again.
    pub unknown: Vec<Prepared>,
    /// A node that is not ready has its outcome already.
    pub nodes: Vec<(String, Result<Ready, Outcome>)>,
    pub plan: Plan,
}

/// Gathers all nodes in parallel. A node that fails has its outcome and an empty plan; the others go on.
pub async fn gather(
    setup: &Arc<Setup>,
    prepared: Vec<Prepared>,
    options: &Arc<Options>,
    watch: &Arc<dyn Watch>,
    stop: &Stop,
) -> Gathered {
    let gate = Arc::new(Semaphore::new(options.parallel.max(1)));
    let mut tasks = Vec::with_capacity(prepared.len());
    for prepared in prepared {
        let (setup, options, watch) = (setup.clone(), options.clone(), watch.clone());
        let (gate, stop) = (gate.clone(), stop.clone());
        let node = prepared.entry.name.to_string();
        let task = tokio::spawn(async move {
            let node = prepared.entry.name.to_string();
            let _turn = gate.acquire().await;
            let gathered = tokio::select! {
                gathered = one(&setup, prepared, &options, &*watch) => gathered,
                () = stop.wished() => Err(Missed::from(Outcome::NotReached { problems: vec![stopped(&node)] })),
            };
            watch.event(&Event::Planned { node: &node, well: gathered.is_ok() });
            gathered
        });
        tasks.push((node, task));
    }
    let mut gathered = Gathered::default();
    for (node, task) in tasks {
        let found = task.await.unwrap_or_else(|error| {
            let problem = Problem::new(format!("node `{node}`: suil itself failed: {error}"));
            Err(Missed::from(Outcome::NotReached { problems: vec![problem] }))
        });
        gathered.add(node, found);
    }
    gathered
}

impl Gathered {
    fn add(&mut self, node: String, found: Result<(Ready, NodePlan), Missed>) {
        let (ready, plan) = match found {
            Ok((ready, plan)) => (Ok(ready), plan),
            Err(Missed { outcome, again }) => {
                self.unknown.extend(again.map(|prepared| *prepared));
                let problems = outcome.problems().into_iter().cloned().collect();
                (Err(*outcome), NodePlan { node: node.clone(), problems, ..NodePlan::default() })
            }
        };
        self.nodes.push((node, ready));
        self.plan.nodes.push(plan);
    }

    /// Adds other nodes, in the order of the catalogue.
    pub fn join(&mut self, more: Gathered) {
        for ((node, ready), plan) in more.nodes.into_iter().zip(more.plan.nodes) {
            let at = self.nodes.partition_point(|(known, _)| *known < node);
            self.nodes.insert(at, (node, ready));
            self.plan.nodes.insert(at.min(self.plan.nodes.len()), plan);
        }
    }

    /// Puts what a second try gathered in the place of the first.
    pub fn replace(&mut self, second: Gathered) {
        for ((node, ready), plan) in second.nodes.into_iter().zip(second.plan.nodes) {
            if let Some(at) = self.nodes.iter().position(|(known, _)| *known == node)
                && let (Some(old), Some(old_plan)) = (self.nodes.get_mut(at), self.plan.nodes.get_mut(at))
            {
                *old = (node, ready);
                *old_plan = plan;
            }
        }
        self.unknown = second.unknown;
    }
}

/// A node that did not come to a plan.
struct Missed {
    outcome: Box<Outcome>,
    /// Where another try makes sense once its host key was accepted.
    again: Option<Box<Prepared>>,
}

impl From<Outcome> for Missed {
    fn from(outcome: Outcome) -> Missed {
        Missed { outcome: Box::new(outcome), again: None }
    }
}

impl From<Failure> for Missed {
    fn from(failure: Failure) -> Missed {
        Outcome::NotReached { problems: vec![*failure.problem] }.into()
    }
}

impl From<Problems> for Missed {
    /// The node was reached and nothing was changed on it.
    fn from(problems: Problems) -> Missed {
        Outcome::Failed { performed: 0, planned: 0, problems }.into()
    }
}

impl From<Problem> for Missed {
    fn from(problem: Problem) -> Missed {
        Problems::from(problem).into()
    }
}

fn stopped(node: &str) -> Problem {
    Problem::new(format!("node `{node}`: stopped before anything was changed")).kind(Kind::Interrupted)
}

async fn one(
    setup: &Setup,
    prepared: Prepared,
    options: &Options,
    watch: &dyn Watch,
) -> Result<(Ready, NodePlan), Missed> {
    let node = prepared.entry.name.to_string();
    watch.event(&Event::Phase { node: &node, phase: "connecting" });
    let (mut session, survey) = match connect(setup, &prepared.target, prepared.intent.as_ref()).await {
        Ok(opened) => opened,
        Err(failure) => {
            let again = (failure.reason == Reason::UnknownHost).then(|| Box::new(prepared));
            return Err(Missed { again, ..Missed::from(failure) });
        }
    };
    let Prepared { entry, target, intent: early } = prepared;
    let found = session.probe()?;
    let probe = Probe { family: Some(found.family.clone()), release: Some(Plain::from(found.release)) };
    let folder = Folder::of(setup.workspace.root(), &node);
    let (entry, intent, survey) = match early.zip(survey) {
        Some((intent, survey)) if probe == entry.probe => (entry, intent, survey),
        _ => {
            folder.probe(found.to_plain())?;
            let entry = rebuilt(&setup.workspace, &node, probe)?;
            let intent = setup.intent(&entry, &target, options)?;
            watch.event(&Event::Phase { node: &node, phase: "reading facts" });
            let collectors = link::collectors(&intent.parts);
            let survey = session.survey(&link::requests(&intent), &collectors).await?;
            (entry, intent, survey)
        }
    };
    let Survey { facts, mut collected } = link::known(survey, &intent);
    match layers::read(setup, &entry, layers::modules(&intent.parts), watch).await {
        Ok(read) => collected.extend(read),
        // What is recorded of them stays: others may read it.
        Err(problems) => {
            session.close().await;
            return Err(problems.into());
        }
    }
    let recorded = intent.parts.iter().map(|part| (part.name.clone(), folder.recorded(&part.name))).collect();
    let (bystanders, probe) = (Vec::new(), found.to_plain());
    let mut ready = Ready { node, session, intent, facts, collected, recorded, entry, bystanders, probe };
    match planned(setup, &mut ready, options) {
        Ok(plan) => Ok((ready, plan)),
        Err(problems) => {
            ready.session.close().await;
            Err(problems.into())
        }
    }
}

/// Plans a node whose facts were read, and writes them down.
fn planned(setup: &Setup, ready: &mut Ready, options: &Options) -> Result<NodePlan, Problems> {
    let unknown = debt::found(&ready.node, &ready.facts, &mut ready.recorded);
    let past = |part: &Part| past(part, ready.recorded.get(&part.name), options);
    let mut plan = ready.intent.plan(&ready.facts, &ready.collected, &past);
    plan.warnings.extend(unknown);
    plan.warnings.extend(layers::waiting(&ready.node, &ready.collected));
    let folder = Folder::of(setup.workspace.root(), &ready.node);
    let reports = ready.intent.reports(&ready.facts, &ready.collected);
    for (part, report) in reports.filter(|(part, _)| !layers::is_open(&ready.collected, &part.name)) {
        let also = ready.recorded.get(&part.name).cloned().unwrap_or_default();
        folder.module(part, report, &also, setup.vault.mask())?;
    }
    if !plan.problems.is_empty() {
        return Err(plan.problems);
    }
    if !plan.operations.is_empty() {
        ready.bystanders = bystander::all(setup, &ready.entry, &ready.intent.ssh_user, options);
    }
    Ok(plan)
}

/// Reads the layers of these nodes that were held back, and plans the nodes anew.
pub async fn rest(
    setup: &Setup,
    mut gathered: Gathered,
    nodes: &BTreeSet<String>,
    options: &Options,
    watch: &dyn Watch,
) -> Gathered {
    for ((node, found), plan) in gathered.nodes.iter_mut().zip(&mut gathered.plan.nodes) {
        let Some(ready) = found.as_mut().ok().filter(|_| nodes.contains(node)) else { continue };
        let read = layers::read_rest(setup, &ready.entry, layers::modules(&ready.intent.parts), watch).await;
        let now = read.and_then(|read| {
            ready.collected.extend(read);
            planned(setup, ready, options)
        });
        match now {
            Ok(now) => *plan = now,
            Err(problems) => {
                *plan = NodePlan { node: node.clone(), problems: problems.clone(), ..NodePlan::default() };
                let outcome = Outcome::Failed { performed: 0, planned: 0, problems };
                if let Ok(ready) = std::mem::replace(found, Err(outcome)) {
                    ready.session.close().await;
                }
            }
        }
    }
    gathered
}

async fn connect(
    setup: &Setup,
    target: &Target,
    intent: Option<&Intent>,
) -> Result<(Session, Option<Survey>), Failure> {
    match intent {
        Some(intent) => {
            let (requests, collectors) = (link::requests(intent), link::collectors(&intent.parts));
            let opened = Session::open_with_survey(target, &setup.access, &requests, &collectors).await;
            opened.map(|(session, survey)| (session, Some(survey)))
        }
        None => Session::open(target, &setup.access).await.map(|session| (session, None)),
    }
}

/// The entry again, with the OS layer that the fresh probe names.
fn rebuilt(workspace: &Workspace, node: &str, probe: Probe) -> Result<Entry, Problems> {
    let mut alone = Catalogue::default();
    alone.rebuild(workspace, node, probe)?;
    let entry = alone.entries.pop();
    entry.ok_or_else(|| Problem::new(format!("node `{node}` is not in the catalogue")).into())
}

pub(super) fn past(part: &Part, recorded: Option<&Recorded>, options: &Options) -> Past {
    let force = match recorded.and_then(|recorded| recorded.signature.as_ref()) {
        _ if options.force => Force::Asked,
        Some(signature) if *signature != part.signature => Force::Changed,
        _ => Force::No,
    };
    Past { force, owed: recorded.map(|recorded| recorded.owed.clone()).unwrap_or_default() }
}
