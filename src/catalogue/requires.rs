//! What modules require: `requires.yaml` of each.

use super::order::Graph;
use crate::base::{Place, Problem, Problems, Result};
use crate::data::library::{Library, ModuleDir};

/// Reads the graph of all modules of a workspace.
///
/// # Errors
/// A broken `requires.yaml`, a name that is no module, a cycle: all of them.
pub fn read(library: &Library) -> Result<Graph> {
    let mut graph = Graph::default();
    let mut problems = Problems::new();
    for module in library.iter() {
        match edges(module) {
            Ok(requires) => graph.add(&module.name, requires),
            Err(more) => {
                graph.add(&module.name, Vec::new());
                problems.extend(more);
            }
        }
    }
    for name in library.absent_names() {
        graph.add(name, Vec::new());
    }
    problems.extend(graph.problems());
    if problems.is_empty() { Ok(graph) } else { Err(problems) }
}

fn edges(module: &ModuleDir) -> Result<Vec<(String, Place)>> {
    const FILE: &str = "requires.yaml";
    const EXPECTED: &str = "expected a list of module names, as in `requires: [base]`";
    let Some(bytes) = module.read(FILE)? else { return Ok(Vec::new()) };
    let Some(file) = crate::data::load(&module.shown(FILE), &bytes)? else { return Ok(Vec::new()) };
    if !file.is_map() {
        let what = format!("`requires.yaml` of module `{}` is no mapping", module.name);
        return Err(Problem::new(what).at(file.place).expected(EXPECTED).into());
    }
    let Some(list) = file.get("requires") else { return Ok(Vec::new()) };
    let Some(list) = list.value.settle()? else { return Ok(Vec::new()) };
    let Some(items) = list.list() else {
        let what = format!("`requires` of module `{}` is {}", module.name, list.type_name());
        return Err(Problem::new(what).at(list.place).expected(EXPECTED).into());
    };
    let mut problems = Problems::new();
    let mut requires = Vec::new();
    for item in items {
        match item.as_str() {
            Some(name) => requires.push((name.to_owned(), item.place)),
            None => {
                let what = format!("`requires` of module `{}` names {}", module.name, item.type_name());
                problems.push(Problem::new(what).at(item.place).expected("expected the name of a module"));
            }
        }
    }
    if problems.is_empty() { Ok(requires) } else { Err(problems) }
}
