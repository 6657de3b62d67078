//! Puts the operations of one node in order, and lets triggers fire after the last change that asks for them.

use super::{NodePlan, Operation, want::Want};
use crate::base::{Problem, problem};
use crate::resource::{Ahead, Change, Facts, Fire, Id, Planned, Resource, Trigger, compare_all, ordered};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Where an operation belongs: the module's turn, the resource's turn in it, then the order of making.
type Turn = (usize, usize, usize);

/// Whose want owes what, and why; `None`: nothing is owed.
type Owed = Option<(usize, Fire, String)>;

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
                ids: vec![queued(change, &want.module)],
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

/// Whom an operation of `deploy()` is about: the layer that it applies, else the module as a whole.
fn queued(change: &Change, module: &str) -> Id {
    change.action.layer.as_ref().map_or_else(|| Id::new("deploy", module), |layer| Id::new("layer", &layer.name))
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

/// A resource that reacts to others, with all that it reacts to: two modules may declare one service, each for a file
/// of its own.
struct Reaction<'a> {
    id: Id,
    turn: Turn,
    /// The module and the resource of each declaration; the first is the one that is compared.
    sites: Vec<(usize, &'a Arc<dyn Resource>)>,
}

impl Reaction<'_> {
    /// Whom a trigger would be asked by, as `(module, trigger)`.
    fn triggers(&self) -> impl Iterator<Item = (usize, Trigger)> {
        self.sites.iter().flat_map(|(m, resource)| resource.triggers().into_iter().map(|t| (*m, t)))
    }

    /// What an earlier run left undone: the module of the declaration that knows it, what, and why.
    fn owed(&self, wants: &[Want], facts: &Facts) -> Owed {
        let owed = self.sites.iter().filter_map(|(m, resource)| {
            let recorded = || wants.get(*m).and_then(|want| recorded(&***resource, want));
            resource.owed(facts).or_else(recorded).map(|(what, why)| (*m, what, why))
        });
        owed.reduce(|first, other| if other.1 > first.1 { other } else { first })
    }
}

/// All that react to something, in the order in which they are declared.
fn reactions(wants: &[Want]) -> Vec<Reaction<'_>> {
    let mut reactions: Vec<Reaction<'_>> = Vec::new();
    let mut at: BTreeMap<Id, usize> = BTreeMap::new();
    for (m, want) in wants.iter().enumerate() {
        let own = want.resources.iter().enumerate();
        for (position, resource) in own.chain(want.triggering.iter().map(|resource| (0, resource))) {
            let id = resource.id();
            match at.get(&id).and_then(|known| reactions.get_mut(*known)) {
                Some(known) => known.sites.push((m, resource)),
                None => {
                    at.insert(id.clone(), reactions.len());
                    reactions.push(Reaction { id, turn: (m, position, 0), sites: vec![(m, resource)] });
                }
            }
        }
    }
    reactions.retain(|reaction| reaction.triggers().next().is_some());
    reactions
}

/// Adds the operations that triggers ask for. A command that the change of a file runs may in turn restart a service:
/// who reacts to a reaction comes after it.
fn fire(wants: &[Want], facts: &Facts, steps: &mut Vec<Step>) {
    let mut changed = turns(steps);
    let mut stirred: BTreeSet<Id> = changed.keys().cloned().collect();
    let mut idle = reactions(wants);
    let mut pending: Vec<(Reaction<'_>, Owed)> = Vec::new();
    loop {
        let (now, rest): (Vec<_>, Vec<_>) = idle
            .into_iter()
            .map(|reaction| (reaction.owed(wants, facts), reaction))
            .partition(|(owed, reaction)| owed.is_some() || reaction.triggers().any(|(_, t)| stirred.contains(&t.on)));
        idle = rest.into_iter().map(|(_, reaction)| reaction).collect();
        if now.is_empty() {
            break;
        }
        stirred.extend(now.iter().map(|(_, reaction)| reaction.id.clone()));
        pending.extend(now.into_iter().map(|(owed, reaction)| (reaction, owed)));
    }
    pending.sort_by_key(|(reaction, _)| reaction.turn);
    while !pending.is_empty() {
        let waits = |reaction: &Reaction<'_>| {
            let mut on = reaction.triggers().map(|(_, trigger)| trigger.on).filter(|on| *on != reaction.id);
            on.any(|on| pending.iter().any(|(other, _)| other.id == on))
        };
        // In a circle the first begins.
        let next = pending.iter().position(|(reaction, _)| !waits(reaction)).unwrap_or(0);
        let (reaction, owed) = pending.remove(next);
        if let Some(step) = react(&reaction, owed, facts, steps, &changed) {
            for id in &step.ids {
                let turn = changed.entry(id.clone()).or_insert(step.turn);
                *turn = (*turn).max(step.turn);
            }
            steps.push(step);
        }
    }
}

/// The operation of one that reacts, behind the last change that asks for it.
fn react(
    reaction: &Reaction<'_>,
    owed: Owed,
    facts: &Facts,
    steps: &[Step],
    changed: &BTreeMap<Id, Turn>,
) -> Option<Step> {
    let asked: Vec<(usize, Trigger)> = reaction.triggers().filter(|(_, t)| changed.contains_key(&t.on)).collect();
    let asked_for = asked.iter().map(|(_, t)| t.fire).max();
    let what = asked_for.max(owed.as_ref().map(|(_, what, _)| *what))?;
    let module = asked.first().map(|(m, _)| *m).or(owed.as_ref().map(|(m, ..)| *m))?;
    let (_, resource) = reaction.sites.iter().find(|(m, _)| *m == module)?;
    let last = asked.iter().filter_map(|(_, t)| changed.get(&t.on).copied()).max();
    // A start that comes before the last change which asks for it implies nothing: it ran on the old.
    let after = |step: &&Step| last.is_none_or(|last| step.turn > last);
    let own = steps.iter().filter(|s| s.ids.contains(&reaction.id)).filter(after);
    let present: Vec<Change> = own.map(|s| s.change.clone()).collect();
    let change = resource.fire(what, facts, &present)?;
    let turn = last.map_or(reaction.turn, |last| last.max(reaction.turn));
    let mut triggered_by: Vec<Id> = Vec::with_capacity(asked.len());
    for (_, trigger) in asked {
        if !triggered_by.contains(&trigger.on) {
            triggered_by.push(trigger.on);
        }
    }
    Some(Step {
        turn: (turn.0, turn.1, AFTER),
        module,
        ids: vec![reaction.id.clone()],
        change,
        triggered_by,
        owed: owed.filter(|_| asked_for.is_none()).map(|(_, _, why)| why),
        resource: Some((*resource).clone()),
    })
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
        resources: step.ids.iter().map(|id| id.0.clone()).collect(),
        verb: step.change.verb,
        title: step.change.title,
        diff: step.change.diff,
        action: step.change.action,
        triggered_by: step.triggered_by.into_iter().map(|id| id.0).collect(),
        judged_then: step.change.judged_then,
        owed: step.owed,
        guards_access: step.change.guards_access,
        undo: step.change.undo,
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

    /// Each of two modules has a file of its own for one service, and a command stands between a third and it.
    #[test]
    fn a_service_of_two_modules_restarts_once_and_after_all_that_it_reacts_to() {
        let built = |kind: &str, name: &str, yaml: &str| {
            build(kind, name, &Plain::from_yaml(yaml).expect("yaml"), None, None).expect("built")
        };
        let first = built("service", "app", "{running: true, reload_on: [file /a], restart_on: [command chain]}");
        let second = built("service", "app", "{running: true, restart_on: [file /b]}");
        let chain = built("command", "chain", "{run: 'true', triggered_by: [file /c]}");
        let file = |name: &str| built("file", name, "{}");
        let want = |resources: Vec<Arc<dyn Resource>>| Want { resources, ..Want::default() };
        let mut wants = [
            want(vec![first.clone(), file("/a")]),
            Want { triggering: vec![second.clone()], ..want(vec![file("/b"), chain]) },
            want(vec![file("/c")]),
        ];
        let mut facts = Facts::default();
        let resources = wants.iter().flat_map(|want| want.resources.iter().chain(&want.triggering));
        for request in resources.flat_map(|resource| resource.requests()) {
            let fields = match request.kind {
                "service" => Fields::of([("load", "loaded"), ("active", "active")]),
                "path" if request.args.first().is_some_and(|path| path == "/") => Fields::of([("type", "directory")]),
                _ => Fields::of([("type", "missing")]),
            };
            facts.insert(request, Answer::Known(fields));
        }
        let titles = |wants: &[Want]| -> Vec<String> {
            node("n", wants, &facts).operations.into_iter().map(|operation| operation.title).collect()
        };
        let all = ["write /a", "write /b", "write /c", "run chain", "restart app"];
        assert_eq!(titles(&wants), all);
        // What an earlier run left undone of the second declaration is no less owed than that of the first.
        for want in &mut wants {
            want.resources.retain(|resource| resource.kind() != "file");
        }
        assert_eq!(titles(&wants), [""; 0]);
        wants[1].owed.insert("service app".to_owned(), "it was not performed".to_owned());
        assert_eq!(titles(&wants), ["restart app"]);
    }
}
