//! Which nodes have to wait for others: those whose data reads facts that a run changes.

use super::card::Card;
use super::glob::Glob;
use super::select::{Selection, select};
use super::workspace::Workspace;
use crate::base::{Place, Problem, Problems, Result};
use crate::data::{Kind, Lookup, Value, value::From, value::SelfRule};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A node whose data reads a field of the facts of another one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Need {
    pub reader: String,
    pub provider: String,
    /// The top-level key of the reader's data that it is below.
    pub key: String,
    /// From the module's name on: `infra.network/prod.address`.
    pub field: String,
    pub place: Place,
}

/// The needs among the selected nodes, as far as they are about facts of these modules. Nothing is merged where no
/// selected node has one of the modules.
///
/// # Errors
/// A selection that matches nothing. What is wrong with a node is left to [`super::Catalogue::build`].
pub fn needs(workspace: &Workspace, selection: &Selection, modules: &BTreeSet<String>) -> Result<Vec<Need>> {
    let cards = select(workspace, selection, &mut Problems::new())?;
    let cards: Vec<Arc<Card>> = cards.into_iter().filter_map(|(_, card)| card.ok()).collect();
    let mut providers: BTreeMap<&str, Vec<&Card>> = BTreeMap::new();
    for card in &cards {
        let Ok(view) = card.view(workspace) else { continue };
        for module in view.modules.iter().filter(|module| modules.contains(*module)) {
            let module = modules.get(module).map(String::as_str).unwrap_or_default();
            providers.entry(module).or_default().push(card);
        }
    }
    let mut needs: BTreeMap<[String; 4], Place> = BTreeMap::new();
    if providers.is_empty() {
        return Ok(Vec::new());
    }
    for card in &cards {
        let Ok(probe) = workspace.probe(&card.name) else { continue };
        let Ok(shape) = card.shape(workspace, &probe) else { continue };
        let Ok(Some(merged)) = workspace.stacks().get(workspace, &shape).merge(workspace, &card.name) else { continue };
        let mut found = |key: &str, lookup: &Lookup, place: Place| {
            let module = lookup.field.split('.').next().unwrap_or_default();
            if lookup.from != From::Facts || lookup.self_ == SelfRule::Only {
                return;
            }
            let glob = Glob::new(&lookup.nodes);
            let fits = |other: &&&Card| {
                let role = lookup.role.as_deref().is_none_or(|role| role == &*other.role);
                role && glob.matches(&other.name) && other.name != card.name
            };
            for provider in providers.get(module).into_iter().flatten().filter(fits) {
                let names = [&*card.name, &*provider.name, &lookup.field, key];
                needs.entry(names.map(str::to_owned)).or_insert(place);
            }
        };
        for (key, slot) in merged.map().into_iter().flat_map(|map| map.iter()) {
            markers(&slot.value, &mut |lookup, place| found(key, lookup, place));
        }
    }
    let need =
        |([reader, provider, field, key], place): ([String; 4], Place)| Need { reader, provider, key, field, place };
    Ok(needs.into_iter().map(need).collect())
}

/// The nodes of a pattern, and of a role where one is named, that have a module; by name.
pub fn having(workspace: &Workspace, nodes: &str, role: Option<&str>, module: &str) -> Vec<String> {
    let glob = Glob::new(nodes);
    let has = |name: &&str| {
        let card = workspace.card(name).ok().filter(|card| role.is_none_or(|role| role == &*card.role));
        card.and_then(|card| card.view(workspace).ok()).is_some_and(|view| view.modules.iter().any(|m| **m == *module))
    };
    workspace.node_names().filter(|name| glob.matches(name)).filter(has).map(str::to_owned).collect()
}

/// The nodes of a pattern, and of a role where one is named, whose data has something under a dotted path; by name. What
/// it is may be looked up itself, or be a secret.
pub fn telling(workspace: &Workspace, nodes: &str, role: Option<&str>, field: &str) -> Vec<String> {
    let glob = Glob::new(nodes);
    let (top, rest) = field.split_once('.').unwrap_or((field, ""));
    let has = |name: &&str| {
        let Some(card) = workspace.card(name).ok().filter(|card| role.is_none_or(|role| role == &*card.role)) else {
            return false;
        };
        if matches!(top, "role" | "modules") {
            return true;
        }
        let slice = card.view(workspace).and_then(|view| view.slice(workspace, name, top)).ok().flatten();
        let path = rest.split('.').filter(|key| !key.is_empty());
        slice.is_some_and(|slice| {
            let mut value = &slice;
            for key in path {
                match value.get(key) {
                    Some(next) => value = next,
                    None => return matches!(value.kind, Kind::Lookup(_)),
                }
            }
            true
        })
    };
    workspace.node_names().filter(|name| glob.matches(name)).filter(has).map(str::to_owned).collect()
}

/// The nodes that have one of these modules, by name.
pub fn holders(workspace: &Workspace, modules: &BTreeSet<String>) -> Vec<String> {
    holders_of(workspace, workspace.node_names(), modules)
}

/// Those of `nodes` that have one of these modules, in their order.
pub fn holders_of<'a>(
    workspace: &Workspace,
    nodes: impl IntoIterator<Item = &'a str>,
    modules: &BTreeSet<String>,
) -> Vec<String> {
    let has = |name: &&str| {
        let view = workspace.card(name).and_then(|card| card.view(workspace));
        view.is_ok_and(|view| view.modules.iter().any(|module| modules.contains(module)))
    };
    nodes.into_iter().filter(has).map(str::to_owned).collect()
}

fn markers(value: &Value, found: &mut dyn FnMut(&Lookup, Place)) {
    match &value.kind {
        Kind::Lookup(lookup) => found(lookup, value.place),
        Kind::List(list) => list.iter().for_each(|item| markers(item, found)),
        Kind::Map(map) => map.values().for_each(|slot| markers(&slot.value, found)),
        Kind::Scalar(_) | Kind::Secret(_) => {}
    }
}

/// Nodes that wait for each other: none of them could ever be the first.
pub fn circle(needs: &[Need]) -> Option<Problem> {
    let mut open: Vec<&Need> = needs.iter().collect();
    loop {
        let before = open.len();
        let waiting: BTreeSet<&str> = open.iter().map(|need| need.reader.as_str()).collect();
        open.retain(|need| waiting.contains(need.provider.as_str()));
        if open.len() == before {
            break;
        }
    }
    // Each of those left waits for another of them: who follows them comes round.
    let mut trail: Vec<&Need> = vec![open.first()?];
    loop {
        let last = trail.last()?;
        let next = open.iter().find(|need| need.reader == last.provider)?;
        if let Some(from) = trail.iter().position(|need| need.reader == next.reader) {
            let round = trail.iter().skip(from);
            let names: Vec<&str> =
                round.clone().map(|need| need.reader.as_str()).chain([next.reader.as_str()]).collect();
            let what = format!("nodes read each other's facts in a circle: {}", names.join(" -> "));
            let problem = Problem::new(what).at(trail.get(from)?.place);
            let problem = round.skip(1).fold(problem, |problem, need| {
                problem.note_at(format!("`{}` reads `{}` at", need.reader, need.field), need.place)
            });
            return Some(problem.help("let one of them hold the layers that all of them read"));
        }
        trail.push(next);
    }
}
