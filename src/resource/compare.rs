//! Compares all resources of a module with the facts, in order.

use super::{Ahead, Brought, Change, Facts, Id, Resource, build};
use crate::base::{Problem, Problems, Result};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A change, and which resources it is for: one, or all of a transaction.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Indexes into the resources that were compared.
    pub resources: Vec<usize>,
    pub change: Change,
}

/// Returns the changes that close every difference, in the order of the list and of `needs`; the changes of one
/// transaction are joined where its first stands. `ahead` learns what they bring.
///
/// A resource is compared with what the changes before it leave, not with what was found.
///
/// # Errors
/// All resources whose facts are unknown or whose wanted state cannot be reached, and circles of `needs`.
pub fn compare_all(
    resources: &[Arc<dyn Resource>],
    facts: &Facts,
    ahead: &mut Ahead,
    force: bool,
) -> Result<Vec<Planned>> {
    let order = order(resources)?;
    let mut facts = Cow::Borrowed(facts);
    for settled in &ahead.settled {
        settled.settle(facts.to_mut());
    }
    let mut problems = Problems::new();
    let mut planned: Vec<Planned> = Vec::new();
    let mut transactions = Transactions::default();
    for index in order {
        let Some(resource) = resources.get(index) else { continue };
        let changes = match resource.compare(&facts, ahead, force) {
            Ok(changes) => changes,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        if changes.is_empty() {
            continue;
        }
        ahead.changed.insert(resource.id());
        ahead.brought.extend(changes.iter().flat_map(|change| change.brings.iter().cloned()));
        ahead.settled.push(resource.clone());
        resource.settle(facts.to_mut());
        let join = build::kind(resource.kind()).and_then(|kind| kind.join);
        match resource.batch().zip(join) {
            Some((batch, join)) => transactions.add(batch, join, index, resource.as_ref(), changes, &mut planned),
            None => planned.extend(changes.into_iter().map(|change| Planned { resources: vec![index], change })),
        }
    }
    if problems.is_empty() { Ok(planned) } else { Err(problems) }
}

/// The transactions that may still grow: by batch, where each stands in the plan and what it is made of.
#[derive(Default)]
struct Transactions(BTreeMap<&'static str, (usize, Vec<Change>)>);

impl Transactions {
    fn add(
        &mut self,
        batch: &'static str,
        join: fn(&[Change]) -> Change,
        index: usize,
        resource: &dyn Resource,
        changes: Vec<Change>,
        planned: &mut Vec<Planned>,
    ) {
        let open = self.0.get_mut(batch).filter(|(at, _)| !must_wait(resource, planned.iter().skip(at + 1)));
        let Some((at, parts)) = open else {
            let change = if let [change] = changes.as_slice() { change.clone() } else { join(&changes) };
            self.0.insert(batch, (planned.len(), changes));
            planned.push(Planned { resources: vec![index], change });
            return;
        };
        parts.extend(changes);
        if let Some(earlier) = planned.get_mut(*at) {
            earlier.resources.push(index);
            earlier.change = join(parts);
        }
    }
}

/// True where a resource cannot be handled before these changes: it needs one of them, or they set where packages
/// come from.
fn must_wait<'a>(resource: &dyn Resource, between: impl Iterator<Item = &'a Planned>) -> bool {
    const SOURCES: &[&str] =
        &["/etc/apt/", "/etc/yum", "/etc/dnf/", "/etc/pki/", "/etc/apk/", "/etc/zypp/", "/etc/pacman"];
    let sources = |brought: &Brought| match brought {
        Brought::Repository(_) => true,
        Brought::Path(path) => SOURCES.iter().any(|root| path.starts_with(root)),
        _ => false,
    };
    let needs = !resource.needs().is_empty();
    between.into_iter().any(|planned| needs || planned.change.brings.iter().any(sources))
}

/// Returns the resources in the order in which [`compare_all`] compares them.
///
/// # Errors
/// A circle of `needs`.
pub fn ordered(resources: &[Arc<dyn Resource>]) -> Result<Vec<Arc<dyn Resource>>> {
    Ok(order(resources)?.into_iter().filter_map(|index| resources.get(index).cloned()).collect())
}

/// The order of the list, but with whatever a resource needs before it. A need of another module's resource is met
/// by the order of modules.
fn order(resources: &[Arc<dyn Resource>]) -> Result<Vec<usize>> {
    let by_id: BTreeMap<Id, usize> = resources.iter().enumerate().map(|(i, resource)| (resource.id(), i)).collect();
    let mut walk = Walk { resources, by_id, done: BTreeSet::new(), path: Vec::new(), order: Vec::new() };
    for index in 0..resources.len() {
        walk.visit(index)?;
    }
    Ok(walk.order)
}

struct Walk<'a> {
    resources: &'a [Arc<dyn Resource>],
    by_id: BTreeMap<Id, usize>,
    done: BTreeSet<usize>,
    path: Vec<usize>,
    order: Vec<usize>,
}

impl Walk<'_> {
    fn visit(&mut self, index: usize) -> Result<()> {
        if self.done.contains(&index) {
            return Ok(());
        }
        let Some(resource) = self.resources.get(index) else { return Ok(()) };
        if let Some(start) = self.path.iter().position(|on| *on == index) {
            let circle = self.path.iter().skip(start).chain([&index]).filter_map(|i| self.resources.get(*i));
            let circle: Vec<String> = circle.map(|resource| format!("`{}`", resource.id())).collect();
            let problem = Problem::new(format!("resources need each other: {}", circle.join(" needs ")));
            return Err(match resource.place() {
                Some(place) => problem.at(place),
                None => problem,
            }
            .into());
        }
        self.path.push(index);
        for need in resource.needs() {
            if let Some(first) = self.by_id.get(&need).copied() {
                self.visit(first)?;
            }
        }
        self.path.pop();
        self.done.insert(index);
        self.order.push(index);
        Ok(())
    }
}
