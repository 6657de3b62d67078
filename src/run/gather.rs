//! Connects to every selected node, reads its facts and plans it: everything before anything changes.

use super::facts::Folder;
use super::link;
use super::watch::{Event, Watch};
use super::{Options, Setup, Stop};
use crate::base::{Plain, Problem, Problems};
use crate::catalogue::{Catalogue, Entry, Probe, Workspace};
use crate::node::{Session, Survey, Target};
use crate::plan::{Collected, Facts, Force, Intent, NodePlan, Part, Plan};

use std::sync::Arc;
use tokio::sync::Semaphore;

/// A node between its facts and its operations.
pub struct Ready {
    pub node: String,
    pub session: Session,
    pub intent: Intent,
    pub facts: Facts,
    pub collected: Collected,
    pub entry: Entry,
    /// What the node is, as `facts/<node>/suil.yaml` keeps it.
    pub probe: Plain,
}

/// How far a node came, in the order of the catalogue.
pub struct Gathered {
    pub nodes: Vec<(String, Result<Ready, Problems>)>,
    pub plan: Plan,
}

/// Gathers all nodes of the catalogue in parallel. A node that fails has its problems and an empty plan; the others
/// go on.
pub async fn gather(
    setup: &Arc<Setup>,
    catalogue: &Catalogue,
    options: &Arc<Options>,
    watch: &Arc<dyn Watch>,
    stop: &Stop,
) -> Gathered {
    let gate = Arc::new(Semaphore::new(options.parallel.max(1)));
    let tasks: Vec<_> = catalogue
        .entries
        .iter()
        .map(|entry| {
            let (setup, options, watch) = (setup.clone(), options.clone(), watch.clone());
            let (entry, gate, stop) = (entry.clone(), gate.clone(), stop.clone());
            tokio::spawn(async move {
                let _turn = gate.acquire().await;
                tokio::select! {
                    ready = one(&setup, entry, &options, &*watch) => ready,
                    () = stop.wished() => Err(Problem::new("stopped before anything was changed")
                        .kind(crate::base::problem::Kind::Interrupted).into()),
                }
            })
        })
        .collect();
    let mut gathered = Gathered { nodes: Vec::new(), plan: Plan::default() };
    for (entry, task) in catalogue.entries.iter().zip(tasks) {
        let (ready, plan) = match task.await {
            Ok(Ok((ready, plan))) => (Ok(ready), plan),
            Ok(Err(problems)) => (Err(problems), NodePlan { node: entry.name.to_string(), ..NodePlan::default() }),
            Err(error) => {
                let problem = Problem::new(format!("node `{}`: suil itself failed: {error}", entry.name));
                (Err(problem.into()), NodePlan { node: entry.name.to_string(), ..NodePlan::default() })
            }
        };
        let ready = ready.and_then(|ready| match plan.problems.is_empty() {
            true => Ok(ready),
            false => Err(plan.problems.clone()),
        });
        gathered.nodes.push((entry.name.to_string(), ready));
        gathered.plan.nodes.push(plan);
    }
    gathered
}

async fn one(setup: &Setup, entry: Entry, options: &Options, watch: &dyn Watch) -> Result<(Ready, NodePlan), Problems> {
    let node = entry.name.to_string();
    let target = target(setup, &entry)?;
    let ssh_user = target.user.clone().unwrap_or_default();
    let intend = |entry: &Entry| Intent::of(entry, &setup.modules, &setup.vault, &ssh_user, &options.only);
    // Where the node was probed before, its questions are sent along with the login: one round trip in all.
    let early = if entry.probe.is_known() { Some(intend(&entry)?) } else { None };
    watch.event(&Event::Phase { node: &node, phase: "connecting" });
    let (mut session, survey) = connect(setup, &target, early.as_ref()).await?;
    let found = session.probe()?;
    let probe = Probe { family: Some(found.family.clone()), release: Some(Plain::from(found.release)) };
    let folder = Folder::of(setup.workspace.root(), &node);
    let (entry, intent, survey) = match early.zip(survey) {
        Some((intent, survey)) if probe == entry.probe => (entry, intent, survey),
        _ => {
            folder.probe(found.to_plain())?;
            let entry = rebuilt(&setup.workspace, &node, probe)?;
            let intent = intend(&entry)?;
            watch.event(&Event::Phase { node: &node, phase: "reading facts" });
            let collectors = link::collectors(&intent.parts);
            let survey = session.survey(&intent.requests(), &collectors).await;
            (entry, intent, survey.map_err(|failure| Problems::from(*failure.problem))?)
        }
    };
    let Survey { facts, collected } = link::known(survey, &intent);
    let plan = intent.plan(&facts, &collected, &|part| force(part, &folder, options));
    for (part, report) in intent.reports(&facts, &collected) {
        folder.module(part, report, false, setup.vault.mask())?;
    }
    Ok((Ready { node, session, intent, facts, collected, entry, probe: found.to_plain() }, plan))
}

async fn connect(
    setup: &Setup,
    target: &Target,
    intent: Option<&Intent>,
) -> Result<(Session, Option<Survey>), Problems> {
    let opened = match intent {
        Some(intent) => {
            let (requests, collectors) = (intent.requests(), link::collectors(&intent.parts));
            let opened = Session::open_with_survey(target, &setup.access, &requests, &collectors).await;
            opened.map(|(session, survey)| (session, Some(survey)))
        }
        None => Session::open(target, &setup.access).await.map(|session| (session, None)),
    };
    opened.map_err(|failure| Problems::from(*failure.problem))
}

/// The entry again, with the OS layer that the fresh probe names.
fn rebuilt(workspace: &Workspace, node: &str, probe: Probe) -> Result<Entry, Problems> {
    let mut alone = Catalogue::default();
    alone.rebuild(workspace, node, probe)?;
    let entry = alone.entries.pop();
    entry.ok_or_else(|| Problem::new(format!("node `{node}` is not in the catalogue")).into())
}

fn force(part: &Part, folder: &Folder, options: &Options) -> Force {
    if options.force {
        return Force::Asked;
    }
    match folder.signature(&part.name) {
        Some(recorded) if recorded != part.signature => Force::Changed,
        _ => Force::No,
    }
}

/// How the node is reached, with the secrets of its `deployment` revealed.
pub fn target(setup: &Setup, entry: &Entry) -> Result<Target, Problems> {
    let mut problems = Problems::new();
    let deployment = entry.deployment();
    let mut reveal = |cipher: &_, place| match setup.vault.reveal(cipher, "deployment", place) {
        Ok(plaintext) => Plain::Str(plaintext.as_str().unwrap_or_default().to_owned()),
        Err(problem) => {
            problems.push(problem);
            Plain::Null
        }
    };
    let plain = deployment.as_ref().map_or_else(Plain::map, |value| value.to_plain(&mut reveal));
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut target = Target::from_plain(&entry.name, &plain)?;
    target.place = deployment.as_ref().map(|value| value.get("ssh_host").map_or(value.place, |host| host.place));
    Ok(target)
}
