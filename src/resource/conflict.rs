//! Resources that cannot both be had.

use super::{Claim, Resource};
use crate::base::{Problem, Problems};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Returns a problem for each resource that changes a path which another one owns whole: the two would undo each other
/// in every run. `resources` are all of one node, of whichever modules. Two that have the same id are no matter of
/// this function.
pub fn conflicts<'a>(resources: impl IntoIterator<Item = &'a Arc<dyn Resource>>) -> Problems {
    let mut by_path: BTreeMap<&str, Vec<(&dyn Resource, Claim)>> = BTreeMap::new();
    for resource in resources {
        if let Some((path, claim)) = resource.claim() {
            by_path.entry(path).or_default().push((resource.as_ref(), claim));
        }
    }
    let mut problems = Problems::new();
    for claims in by_path.values() {
        let Some(&(whole, _)) = claims.iter().find(|(_, claim)| *claim == Claim::Whole) else { continue };
        let others = claims.iter().map(|(other, _)| *other).filter(|other| other.id() != whole.id());
        problems.extend(others.map(|other| both(whole, other)));
    }
    problems
}

fn both(whole: &dyn Resource, other: &dyn Resource) -> Problem {
    let mut problem = Problem::new(format!("`{}` and `{}` would undo each other", whole.id(), other.id()))
        .expected("expected one resource that owns the path");
    if let Some(place) = whole.place() {
        problem = problem.note_at("the other one is declared at", place);
    }
    match other.place() {
        Some(place) => problem.at(place),
        None => problem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Plain;
    use crate::resource::build;

    #[test]
    fn a_line_in_a_file_that_is_owned_whole_is_found_and_beside_a_mode_is_fine() {
        let file = |yaml: &str| build("file", "/f", &Plain::from_yaml(yaml).expect("yaml"), None, None).expect("built");
        let line = build("line", "/f", &Plain::from_yaml("line: x").expect("yaml"), None, None).expect("built");
        let said = |resources: &[Arc<dyn Resource>]| {
            conflicts(resources).into_iter().map(|problem| problem.what).collect::<Vec<_>>()
        };
        assert_eq!(said(&[file("content: a"), file("content: a")]), Vec::<String>::new());
        assert_eq!(said(&[line.clone(), file("content: a")]), ["`file /f` and `line /f: x` would undo each other"]);
        assert_eq!(said(&[line.clone(), file("ensure: absent")]), ["`file /f` and `line /f: x` would undo each other"]);
        assert_eq!(said(&[line, file("mode: '0600'")]), Vec::<String>::new());
    }
}
