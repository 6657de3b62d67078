//! What can be wrong with a graph as a whole.

use super::net::Net;
use super::order::{Order, spelled};
use super::{Code, Graph, Kind, Need, Warning};
use std::collections::{BTreeSet, HashMap};

/// What a check of a whole graph found.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Checked {
    /// What no run can be right with: a cycle of stacks, a key that two nodes have.
    pub errors: Vec<Warning>,
    /// A cycle of modules, which Terraform refuses by itself.
    pub warnings: Vec<Warning>,
}

/// Checks a whole graph.
pub fn check(graph: &Graph) -> Checked {
    let mut checked = Checked::default();
    for cycle in Order::new(graph).cycles() {
        let subject = spelled(&cycle);
        checked.errors.push(found(graph, Code::DependencyCycle, &cycle, format!("cycle: {subject}")));
    }
    for cycle in module_cycles(graph) {
        let subject = spelled(&cycle);
        checked.warnings.push(found(graph, Code::ModuleCycle, &cycle, format!("modules use each other: {subject}")));
    }
    let mut seen = BTreeSet::new();
    for key in graph.stacks.iter().map(|s| &s.key).chain(graph.modules.iter().map(|m| &m.key)) {
        if !seen.insert(key) {
            let message = format!("two nodes have the key `{key}`");
            checked.errors.push(Warning { code: Code::DuplicateKey, subject: key.clone(), message, at: None });
        }
    }
    checked
}

/// A cycle, with the place of its first edge.
fn found(graph: &Graph, code: Code, cycle: &[String], message: String) -> Warning {
    let first = match cycle {
        [from, to, ..] => graph.edges.iter().find(|edge| edge.from.key == *from && edge.to.key == *to),
        _ => None,
    };
    Warning { code, subject: spelled(cycle), message, at: first.and_then(|edge| edge.at.clone()) }
}

fn module_cycles(graph: &Graph) -> Vec<Vec<String>> {
    let numbers: HashMap<&str, usize> =
        graph.modules.iter().enumerate().map(|(number, module)| (module.key.as_str(), number)).collect();
    let edges = graph.edges.iter().filter(|edge| edge.kind == Need::UsesModule && edge.from.kind == Kind::Module);
    let edges = edges.filter_map(|e| Some((*numbers.get(e.from.key.as_str())?, *numbers.get(e.to.key.as_str())?)));
    let name = |number: &usize| graph.modules.get(*number).map(|module| module.key.clone()).unwrap_or_default();
    let cycles = Net::new(graph.modules.len(), edges).cycles();
    cycles.iter().map(|cycle| cycle.iter().map(name).collect()).collect()
}
