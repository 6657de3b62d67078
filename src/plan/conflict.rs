//! Two modules that claim one thing differently fail the plan; two that agree share it.

use super::want::Want;
use crate::base::{Plain, Problem, Problems};
use crate::resource::{self, Id, Resource};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Moves what an earlier module already declared alike into `triggering`.
///
/// # Errors
/// One problem for each thing that is claimed differently, with both places.
pub fn settle(node: &str, wants: &mut [Want]) -> Result<(), Problems> {
    let mut claims: BTreeMap<Id, (String, Arc<dyn Resource>)> = BTreeMap::new();
    let mut problems = resource::conflicts(wants.iter().flat_map(|want| &want.resources));
    for want in wants.iter_mut() {
        let mut kept = Vec::with_capacity(want.resources.len());
        for resource in want.resources.drain(..) {
            let claim = resource.id();
            match claims.get(&claim) {
                None => {
                    claims.insert(claim, (want.module.clone(), resource.clone()));
                    kept.push(resource);
                }
                Some((_, first)) if state(&**first) == state(&*resource) => want.triggering.push(resource),
                Some((module, first)) => problems.push(clash(node, module, &**first, &want.module, &*resource)),
            }
        }
        want.resources = kept;
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// The wanted state without what the resource reacts to.
fn state(resource: &dyn Resource) -> (&'static str, Plain) {
    let mut wanted = resource.wanted();
    if let Plain::Map(map) = &mut wanted {
        for reaction in ["restart_on", "reload_on", "triggered_by", "needs"] {
            map.shift_remove(reaction);
        }
    }
    (resource.kind(), wanted)
}

fn clash(node: &str, first_module: &str, first: &dyn Resource, module: &str, second: &dyn Resource) -> Problem {
    let mut problem = Problem::new(if first_module == module {
        format!("node `{node}`: module `{module}` declares `{}` twice, differently", second.id())
    } else {
        format!("node `{node}`: modules `{first_module}` and `{module}` claim `{}` differently", second.id())
    });
    problem = problem.expected("expected one declaration, or two that agree");
    if let Some(place) = second.place() {
        problem = problem.at(place);
    }
    if let Some(place) = first.place() {
        problem = problem.note_at("the first stands at", place);
    }
    for (name, one, other) in differing(&state(first).1, &state(second).1) {
        problem = problem.note(format!("`{name}` is {one} in the first and {other} in the second"));
    }
    problem.help(format!("let one module own `{}`", second.id()))
}

fn differing(a: &Plain, b: &Plain) -> Vec<(String, String, String)> {
    let (Plain::Map(a), Plain::Map(b)) = (a, b) else { return Vec::new() };
    let mut names: Vec<&String> = a.keys().chain(b.keys()).collect();
    names.sort();
    names.dedup();
    let show = |value: Option<&Plain>| value.map_or("not set".to_owned(), |v| format!("`{}`", v.to_json_line()));
    names
        .into_iter()
        .filter(|name| a.get(*name) != b.get(*name))
        .map(|name| (name.clone(), show(a.get(name)), show(b.get(name))))
        .collect()
}
