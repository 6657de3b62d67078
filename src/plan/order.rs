//! Puts the operations of one node in order, and lets triggers fire after the last change that asks for them.

use super::{NodePlan, Operation, want::Want};
use crate::base::{Problem, problem};
use crate::resource::{Ahead, Change, Facts, Fire, Id, Planned, Resource, Trigger, compare_all, ordered};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Where an operation belongs: the module's turn, the resource's turn in it, then the order of making.
type Turn = (usize, usize, usize);

struct Step {
    turn: Turn,
    module: usize,
    ids: Vec<Id>,
    change: Change,
    triggered_by: Vec<Id>,
    owed: Option<String>,
    resource: Option<Arc<dyn Resource>>,
}

/// Compares all modules of a node with its facts.
///
/// Every problem of every module is reported; a node with one has no operations, for what comes after a fact that
/// could not be read would be a guess.
pub fn node(name: &str, wants: &[Want], facts: &Facts) -> NodePlan {
    let mut problems = Vec::new();
    let mut steps: Vec<Step> = Vec::new();
    let mut ahead = Ahead::default();
    // A turn is a place in this order, so what a resource needs has the earlier turn. A circle is reported below.
    let in_order = |want: &Want| match ordered(&want.resources) {
        Ok(resources) => Want { resources, ..want.clone() },
        Err(_) => want.clone(),
    };
    let wants = &wants.iter().map(in_order).collect::<Vec<Want>>();
    for (m, want) in wants.iter().enumerate() {
        match compare_all(&want.resources, facts, &mut ahead, want.force) {
            Ok(planned) => {
                steps.extend(planned.into_iter().enumerate().map(|(n, p)| first_step(m, n, p, &want.resources)));
            }
            Err(found) => problems.extend(found.into_iter().map(|p| named(p, name, &want.module))),
        }
        let last = want.resources.len();
        for (n, change) in want.queued.iter().enumerate() {
            ahead.brought.extend(change.brings.iter().cloned());
            steps.push(Step {
                turn: (m, last, n),
                module: m,
                ids: vec![Id::new("deploy", &want.module)],
                change: change.clone(),
                triggered_by: Vec::new(),
                owed: None,
                resource: None,
            });
        }
    }
    fire(wants, facts, &mut steps);
    steps.sort_by_key(|step| step.turn);
    let mut plan = NodePlan { node: name.to_owned(), ..NodePlan::default() };
    problem::sort(&mut problems);
    if problems.is_empty() {
        plan.operations = steps.into_iter().enumerate().map(|(n, step)| operation(n + 1, step, wants)).collect();
    }
    plan.problems = problems;
    plan
}

fn first_step(module: usize, made: usize, planned: Planned, resources: &[Arc<dyn Resource>]) -> Step {
    let first = planned.resources.first().copied().unwrap_or(0);
    Step {
        turn: (module, first, made),
        module,
        ids: planned.resources.iter().filter_map(|i| resources.get(*i)).map(|r| r.id()).collect(),
        change: planned.change,
        triggered_by: Vec::new(),
        owed: None,
        resource: resources.get(first).cloned(),
    }
}

/// Adds the operations that triggers ask for, until nothing new is asked for: a command that a file's change runs
/// may in turn restart a service.
fn fire(wants: &[Want], facts: &Facts, steps: &mut Vec<Step>) {
    let mut fired: BTreeSet<Id> = BTreeSet::new();
    loop {
        let changed = turns(steps);
        let before = steps.len();
        for (m, want) in wants.iter().enumerate() {
            let own = want.resources.iter().enumerate();
            let foreign = want.triggering.iter().map(|resource| (0, resource));
            for (position, resource) in own.chain(foreign) {
                let id = resource.id();
                if fired.contains(&id) {
                    continue;
                }
                let asked: Vec<Trigger> =
                    resource.triggers().into_iter().filter(|t| changed.contains_key(&t.on)).collect();
                let owed = resource.owed(facts).or_else(|| recorded(&**resource, want));
                let asked_for = asked.iter().map(|t| t.fire).max();
                let Some(what) = asked_for.max(owed.as_ref().map(|(what, _)| *what)) else { continue };
                fired.insert(id.clone());
                let last = asked.iter().filter_map(|t| changed.get(&t.on).copied()).max();
                // A start that comes before the last change which asks for it implies nothing: it ran on the old.
                let after = |step: &&Step| last.is_none_or(|last| step.turn > last);
                let own = steps.iter().filter(|s| s.ids.contains(&id)).filter(after);
                let present: Vec<Change> = own.map(|s| s.change.clone()).collect();
                let Some(change) = resource.fire(what, facts, &present) else { continue };
                let turn = last.map_or((m, position, 0), |last| last.max((m, position, 0)));
                steps.push(Step {
                    turn: (turn.0, turn.1, AFTER),
                    module: m,
                    ids: vec![id],
                    change,
                    triggered_by: asked.into_iter().map(|t| t.on).collect(),
                    owed: owed.filter(|_| asked_for.is_none()).map(|(_, why)| why),
                    resource: Some(resource.clone()),
                });
            }
        }
        if steps.len() == before {
            return;
        }
    }
}

/// What an earlier run left undone, where the node itself cannot tell: a command leaves no trace of not being run.
fn recorded(resource: &dyn Resource, want: &Want) -> Option<(Fire, String)> {
    let why = want.owed.get(&resource.id().0)?;
    let fire = resource.triggers().iter().map(|trigger| trigger.fire).max()?;
    Some((fire, why.clone()))
}

/// What a trigger asks for comes behind every first step of the same turn.
const AFTER: usize = usize::MAX;

/// The last turn in which each resource changes.
fn turns(steps: &[Step]) -> BTreeMap<Id, Turn> {
    let mut turns: BTreeMap<Id, Turn> = BTreeMap::new();
    for step in steps {
        for id in &step.ids {
            let turn = turns.entry(id.clone()).or_insert(step.turn);
            *turn = (*turn).max(step.turn);
        }
    }
    turns
}

fn operation(id: usize, step: Step, wants: &[Want]) -> Operation {
    let module = wants.get(step.module).map(|w| w.module.clone()).unwrap_or_default();
    Operation {
        id,
        module,
        resource: step.ids.iter().map(|id| id.0.clone()).collect::<Vec<_>>().join(", "),
        verb: step.change.verb,
        title: step.change.title,
        diff: step.change.diff,
        action: step.change.action,
        triggered_by: step.triggered_by.into_iter().map(|id| id.0).collect(),
        judged_then: step.change.judged_then,
        owed: step.owed,
        guards_access: step.change.guards_access,
        place: step.resource.and_then(|r| r.place()),
    }
}

fn named(mut problem: Problem, node: &str, module: &str) -> Problem {
    if !problem.what.starts_with("node `") {
        problem.what = format!("node `{node}`: module `{module}`: {}", problem.what);
    }
    problem
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Plain;
    use crate::resource::{Answer, Fields, build};

    #[test]
    fn what_a_resource_needs_is_done_before_it() {
        let file = |name: &str, yaml: &str| {
            build("file", name, &Plain::from_yaml(yaml).expect("yaml"), None, None).expect("built")
        };
        let resources = vec![file("/a", "needs: [file /b]"), file("/b", "{}")];
        let mut facts = Facts::default();
        for request in resources.iter().flat_map(|resource| resource.requests()) {
            let kind = if request.args.first().is_some_and(|path| path == "/") { "directory" } else { "missing" };
            facts.insert(request, Answer::Known(Fields::of([("type", kind)])));
        }
        let plan = node("n", &[Want { resources, ..Want::default() }], &facts);
        let titles: Vec<&str> = plan.operations.iter().map(|operation| operation.title.as_str()).collect();
        assert_eq!(titles, ["write /b", "write /a"]);
    }

    /// A service of an earlier module is started before the file of a later one is there.
    #[test]
    fn a_start_before_the_last_change_does_not_stand_for_the_restart() {
        let built = |kind: &str, name: &str, yaml: &str| {
            build(kind, name, &Plain::from_yaml(yaml).expect("yaml"), None, None).expect("built")
        };
        let service = built("service", "app", "{running: true, restart_on: [file /a]}");
        let file = built("file", "/a", "{}");
        let mut facts = Facts::default();
        for request in service.requests().into_iter().chain(file.requests()) {
            let fields = match request.kind {
                "service" => Fields::of([("load", "loaded"), ("active", "inactive")]),
                "path" if request.args.first().is_some_and(|path| path == "/") => Fields::of([("type", "directory")]),
                _ => Fields::of([("type", "missing")]),
            };
            facts.insert(request, Answer::Known(fields));
        }
        let titles = |wants: &[Want]| -> Vec<String> {
            node("n", wants, &facts).operations.into_iter().map(|operation| operation.title).collect()
        };
        let want = |resources: Vec<Arc<dyn Resource>>| Want { resources, ..Want::default() };
        let apart = [want(vec![service.clone()]), want(vec![file.clone()])];
        assert_eq!(titles(&apart), ["start app", "write /a", "restart app"]);
        assert_eq!(titles(&[want(vec![service, file])]), ["write /a", "start app"]);
    }
}
