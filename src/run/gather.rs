//! Connects to every prepared node, reads its facts and plans it: everything before anything changes.

use super::facts::{Folder, Recorded};
use super::link;
use super::outcome::Outcome;
use super::prepare::Prepared;
use super::watch::{Event, Watch};
use super::{Options, Setup, Stop};
use crate::base::{Plain, Problem, Problems, problem::Kind};
use crate::catalogue::{Catalogue, Entry, Probe, Workspace};
use crate::node::{Failure, Session, Survey, Target};
use crate::plan::{Collected, Facts, Force, Intent, NodePlan, Part, Past, Plan};

use std::collections::BTreeMap;
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
    /// What the node is, as `facts/<node>/suil.yaml` keeps it.
    pub probe: Plain,
}

/// How far a node came, in the order of the catalogue.
pub struct Gathered {
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
                () = stop.wished() => Err(Outcome::NotReached { problems: vec![stopped(&node)] }),
            };
            watch.event(&Event::Planned { node: &node, well: gathered.is_ok() });
            gathered
        });
        tasks.push((node, task));
    }
    let mut gathered = Gathered { nodes: Vec::new(), plan: Plan::default() };
    for (node, task) in tasks {
        let found = task.await.unwrap_or_else(|error| {
            let problem = Problem::new(format!("node `{node}`: suil itself failed: {error}"));
            Err(Outcome::NotReached { problems: vec![problem] })
        });
        let (ready, plan) = match found {
            Ok((ready, plan)) => (Ok(ready), plan),
            Err(outcome) => {
                let problems = outcome.problems().into_iter().cloned().collect();
                (Err(outcome), NodePlan { node: node.clone(), problems, ..NodePlan::default() })
            }
        };
        gathered.nodes.push((node, ready));
        gathered.plan.nodes.push(plan);
    }
    gathered
}

fn stopped(node: &str) -> Problem {
    Problem::new(format!("node `{node}`: stopped before anything was changed")).kind(Kind::Interrupted)
}

fn failed(problems: Problems) -> Outcome {
    Outcome::Failed { performed: 0, planned: 0, problems }
}

fn missed(failure: Failure) -> Outcome {
    Outcome::NotReached { problems: vec![*failure.problem] }
}

async fn one(
    setup: &Setup,
    prepared: Prepared,
    options: &Options,
    watch: &dyn Watch,
) -> Result<(Ready, NodePlan), Outcome> {
    let Prepared { entry, target, intent: early } = prepared;
    let node = entry.name.to_string();
    watch.event(&Event::Phase { node: &node, phase: "connecting" });
    let (mut session, survey) = connect(setup, &target, early.as_ref()).await.map_err(missed)?;
    let found = session.probe().map_err(|problem| failed(problem.into()))?;
    let probe = Probe { family: Some(found.family.clone()), release: Some(Plain::from(found.release)) };
    let folder = Folder::of(setup.workspace.root(), &node);
    let (entry, intent, survey) = match early.zip(survey) {
        Some((intent, survey)) if probe == entry.probe => (entry, intent, survey),
        _ => {
            folder.probe(found.to_plain()).map_err(|problem| failed(problem.into()))?;
            let entry = rebuilt(&setup.workspace, &node, probe).map_err(failed)?;
            let intent = setup.intent(&entry, &target, options).map_err(failed)?;
            watch.event(&Event::Phase { node: &node, phase: "reading facts" });
            let collectors = link::collectors(&intent.parts);
            let survey = session.survey(&intent.requests(), &collectors).await.map_err(missed)?;
            (entry, intent, survey)
        }
    };
    let Survey { facts, collected } = link::known(survey, &intent);
    let recorded: BTreeMap<String, Recorded> =
        intent.parts.iter().map(|part| (part.name.clone(), folder.recorded(&part.name))).collect();
    let plan = intent.plan(&facts, &collected, &|part| past(part, recorded.get(&part.name), options));
    for (part, report) in intent.reports(&facts, &collected) {
        let also = recorded.get(&part.name).cloned().unwrap_or_default();
        folder.module(part, report, &also, setup.vault.mask()).map_err(|problem| failed(problem.into()))?;
    }
    if !plan.problems.is_empty() {
        session.close().await;
        return Err(failed(plan.problems));
    }
    Ok((Ready { node, session, intent, facts, collected, recorded, entry, probe: found.to_plain() }, plan))
}

async fn connect(
    setup: &Setup,
    target: &Target,
    intent: Option<&Intent>,
) -> Result<(Session, Option<Survey>), Failure> {
    match intent {
        Some(intent) => {
            let (requests, collectors) = (intent.requests(), link::collectors(&intent.parts));
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

fn past(part: &Part, recorded: Option<&Recorded>, options: &Options) -> Past {
    let force = match recorded.and_then(|recorded| recorded.signature.as_ref()) {
        _ if options.force => Force::Asked,
        Some(signature) if *signature != part.signature => Force::Changed,
        _ => Force::No,
    };
    Past { force, owed: recorded.map(|recorded| recorded.owed.clone()).unwrap_or_default() }
}
