//! Resources that cannot both be had.

use super::{Claim, Id, Resource};
use crate::base::{Problem, Problems};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Returns a problem for each two resources of one node, of whichever modules, that claim the same thing differently:
/// the same id with another wanted state, or a path that one owns whole and another changes.
pub fn conflicts<'a>(resources: impl IntoIterator<Item = &'a Arc<dyn Resource>>) -> Problems {
    let mut by_id: BTreeMap<Id, &dyn Resource> = BTreeMap::new();
    let mut by_path: BTreeMap<&str, Vec<(&dyn Resource, Claim)>> = BTreeMap::new();
    let mut problems = Problems::new();
    for resource in resources {
        let resource = resource.as_ref();
        match by_id.get(&resource.id()) {
            Some(first) if first.wanted() != resource.wanted() => problems.push(both(*first, resource)),
            Some(_) => {}
            None => {
                by_id.insert(resource.id(), resource);
                if let Some((path, claim)) = resource.claim() {
                    by_path.entry(path).or_default().push((resource, claim));
                }
            }
        }
    }
    for claims in by_path.values() {
        let Some(&(whole, _)) = claims.iter().find(|(_, claim)| *claim == Claim::Whole) else { continue };
        let others = claims.iter().map(|(other, _)| *other).filter(|other| other.id() != whole.id());
        problems.extend(others.map(|other| both(whole, other)));
    }
    problems
}

fn both(first: &dyn Resource, second: &dyn Resource) -> Problem {
    let what = match first.id() == second.id() {
        true => format!("`{}` is declared twice, and differently{}", first.id(), difference(first, second)),
        false => format!("`{}` would undo `{}`", first.id(), second.id()),
    };
    let mut problem = Problem::new(what).expected("expected one resource for one thing on a node");
    if let Some(place) = first.place() {
        problem = problem.note_at("declared first at", place);
    }
    match second.place() {
        Some(place) => problem.at(place),
        None => problem,
    }
}

/// `: mode 0644 and 0600`
fn difference(first: &dyn Resource, second: &dyn Resource) -> String {
    let (first, second) = (first.wanted(), second.wanted());
    let names = first.as_map().into_iter().chain(second.as_map()).flat_map(|map| map.keys());
    let word = |value: Option<&crate::base::Plain>| match value {
        None => "nothing".to_owned(),
        Some(value) => value.as_str().map_or_else(|| value.to_json_line(), str::to_owned),
    };
    match names.into_iter().find(|name| first.get(name) != second.get(name)) {
        Some(name) => format!(": `{name}` is {} and {}", word(first.get(name)), word(second.get(name))),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Plain;
    use crate::resource::build;

    #[test]
    fn two_claims_on_one_thing_are_found_and_equal_ones_are_fine() {
        let file = |yaml: &str| build("file", "/f", &Plain::from_yaml(yaml).expect("yaml"), None, None).expect("built");
        let line = build("line", "/f", &Plain::from_yaml("line: x").expect("yaml"), None, None).expect("built");
        let said = |resources: &[Arc<dyn Resource>]| {
            conflicts(resources).into_iter().map(|problem| problem.what).collect::<Vec<_>>()
        };
        assert_eq!(said(&[file("content: a"), file("content: a")]), Vec::<String>::new());
        assert_eq!(
            said(&[file("mode: '0644'"), file("mode: '0600'")]),
            ["`file /f` is declared twice, and differently: `mode` is 0644 and 0600"]
        );
        assert_eq!(said(&[line.clone(), file("content: a")]), ["`file /f` would undo `line /f: x`"]);
        assert_eq!(said(&[line, file("mode: '0600'")]), Vec::<String>::new());
    }
}
