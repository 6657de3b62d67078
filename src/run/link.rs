//! Between intents and sessions: which collectors a survey runs, and facts read again after operations.

use super::gather::Ready;
use super::watch::Watch;
use super::{Setup, layers};
use crate::base::Problems;
use crate::node::{Collector, Survey};
use crate::plan::{Intent, Language, NodePlan, Part, Request, owed};

/// The modules' own collectors, each with the public config that it is given.
pub fn collectors<'a>(parts: impl IntoIterator<Item = &'a Part>) -> Vec<Collector> {
    let with_collector = parts.into_iter().filter_map(|part| Some((part, part.collector.as_ref()?)));
    let with_collector = with_collector.filter(|(_, collector)| collector.language != Language::Layers);
    with_collector
        .map(|(part, collector)| Collector {
            module: part.name.clone(),
            file: collector.path.rsplit('/').next().unwrap_or_default().to_owned(),
            text: String::from_utf8_lossy(&collector.text).into_owned(),
            config: part.config.public.clone(),
        })
        .collect()
}

/// What is asked of a node as a whole: the facts of its resources, and what it owes.
pub fn requests(intent: &Intent) -> Vec<Request> {
    intent.requests().into_iter().chain([owed::request()]).collect()
}

/// The facts with what only the catalogue knows of the node. Where it names no login user, the session did.
pub fn known(mut survey: Survey, intent: &Intent) -> Survey {
    survey.facts.family = intent.family.clone().unwrap_or_default();
    if !intent.ssh_user.is_empty() {
        survey.facts.ssh_user = intent.ssh_user.clone();
    }
    survey
}

/// Reads the facts of the modules that queued operations again, into what is known of the node.
pub async fn refresh(setup: &Setup, ready: &mut Ready, plan: &NodePlan, watch: &dyn Watch) -> Result<(), Problems> {
    let changed = plan.modules();
    let requests = ready.intent.only(&changed);
    let collectors = collectors(ready.intent.parts.iter().filter(|part| changed.contains(&part.name)));
    let survey =
        ready.session.survey(&requests, &collectors).await.map_err(|failure| Problems::from(*failure.problem))?;
    for (request, answer) in survey.facts.iter() {
        ready.facts.insert(request.clone(), answer.clone());
    }
    ready.collected.extend(survey.collected);
    let parts = ready.intent.parts.iter().filter(|part| changed.contains(&part.name));
    let read = layers::read(setup, &ready.entry, layers::modules(parts), watch).await?;
    ready.collected.extend(read);
    Ok(())
}
