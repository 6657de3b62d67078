//! A node's turn to be changed: its lock is taken, and it must still be what its plan was made for.

use super::debt;
use super::gather::{Ready, past};
use super::layers;
use super::link;
use super::lock;
use super::outcome::Outcome;
use super::watch::{Event, Watch};
use super::{Options, Setup, Stop};
use crate::base::Problem;
use crate::node::{Reason, Survey};
use crate::plan::NodePlan;
use std::collections::BTreeSet;

/// Takes the lock of a node. One that `waited` for others, and one whose session broke meanwhile and was renewed, is
/// read again: its plan is not made anew, so what would be planned now has to be the same.
///
/// # Errors
/// How the node ended: nothing was changed on it.
pub(super) async fn take(
    setup: &Setup,
    mut ready: Ready,
    plan: &NodePlan,
    options: &Options,
    watch: &dyn Watch,
    stop: &Stop,
    waited: bool,
) -> Result<Ready, Outcome> {
    let mut taken = lock::take(&mut ready, options, watch, stop).await;
    let renewed = matches!(&taken, Err(failure) if failure.reason == Reason::Lost);
    if renewed {
        watch.event(&Event::Phase { node: &ready.node, phase: "connecting again" });
        ready.session = match ready.session.renew().await {
            Ok(session) => session,
            Err(failure) => return Err(Outcome::NotReached { problems: vec![*failure.problem] }),
        };
        taken = lock::take(&mut ready, options, watch, stop).await;
    }
    let checked = match taken {
        Ok(()) if waited || renewed => unmoved(setup, &mut ready, plan, options, watch).await,
        Ok(()) => Ok(()),
        Err(failure) => Err(*failure.problem),
    };
    match checked {
        Ok(()) => Ok(ready),
        Err(problem) => {
            ready.session.close().await;
            Err(Outcome::NotReached { problems: vec![problem] })
        }
    }
}

/// Reads the whole node again.
async fn unmoved(
    setup: &Setup,
    ready: &mut Ready,
    plan: &NodePlan,
    options: &Options,
    watch: &dyn Watch,
) -> Result<(), Problem> {
    watch.event(&Event::Phase { node: &ready.node, phase: "reading facts again" });
    let collectors = link::collectors(&ready.intent.parts);
    let requests = link::requests(&ready.intent);
    let survey = ready.session.survey(&requests, &collectors).await.map_err(|failure| *failure.problem)?;
    let Survey { facts, mut collected } = link::known(survey, &ready.intent);
    match layers::read(setup, &ready.entry, layers::modules(&ready.intent.parts), watch).await {
        Ok(read) => collected.extend(read),
        Err(problems) => return Err(problems.into_iter().next().unwrap_or_default()),
    }
    // Somebody else may have paid what it owes.
    if let Some(problem) = debt::found(&ready.node, &facts, &mut ready.recorded) {
        return Err(problem);
    }
    let past = |part: &crate::plan::Part| past(part, ready.recorded.get(&part.name), options);
    let now = ready.intent.plan(&facts, &collected, &past);
    let mask = setup.vault.mask();
    if now.to_plain(mask) != plan.to_plain(mask) {
        return Err(moved(plan, &now));
    }
    (ready.facts, ready.collected) = (facts, collected);
    Ok(())
}

fn moved(plan: &NodePlan, now: &NodePlan) -> Problem {
    let node = &plan.node;
    let mut problem = Problem::new(format!("node `{node}` has changed since its plan was made, and was left alone"));
    let titles = |plan: &NodePlan| plan.operations.iter().map(|op| op.title.clone()).collect::<BTreeSet<String>>();
    let (before, after) = (titles(plan), titles(now));
    for title in before.difference(&after) {
        problem = problem.note(format!("no longer needed: {title}"));
    }
    for title in after.difference(&before) {
        problem = problem.note(format!("needed now, and not planned: {title}"));
    }
    for found in &now.problems {
        problem = problem.note(found.what.clone());
    }
    if problem.notes.is_empty() {
        problem = problem.note("its operations are the same, and what they would change is not");
    }
    problem.help(format!("`suil apply --node {node}` plans it again"))
}
