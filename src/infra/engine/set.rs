//! The stacks of a run, in their order.

use super::schedule::Order;
use super::{Site, Unit};
use crate::base::{Problem, Problems, Result};
use crate::infra::graph::{self, Graph, Reason};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A stack that was chosen for a run, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chosen {
    pub key: String,
    pub reasons: Vec<Reason>,
    pub via: Vec<String>,
}

/// The stacks of a run, sorted by key, and who comes before whom: directly, or through stacks that are left out.
#[derive(Clone, Debug)]
pub struct Set {
    pub units: Vec<Unit>,
    pub chosen: Vec<Chosen>,
    pub order: Order,
}

impl Set {
    /// Makes the chosen stacks ready. Those before a stack are those it depends on, or with `backwards` those that
    /// depend on it.
    ///
    /// # Errors
    /// A stack cannot be made ready, or there is a cycle; all of them together.
    pub fn new(site: &Site, graph: &Graph, chosen: Vec<Chosen>, backwards: bool) -> Result<Set> {
        Set::with(graph, chosen, backwards, |stack| Unit::new(site, graph, stack))
    }

    /// The same where `unit` makes a stack ready.
    ///
    /// # Errors
    /// As [`Set::new`].
    pub fn with(
        graph: &Graph,
        chosen: Vec<Chosen>,
        backwards: bool,
        unit: impl Fn(&graph::Stack) -> Result<Unit, Problem>,
    ) -> Result<Set> {
        let chosen: BTreeMap<String, Chosen> = chosen.into_iter().map(|one| (one.key.clone(), one)).collect();
        let keys: BTreeSet<String> = chosen.keys().cloned().collect();
        let order = graph::Order::new(graph);
        order.waves(&keys).map_err(|cycles| cycles.iter().map(|cycle| circle(cycle)).collect::<Problems>())?;
        let before = order.predecessors(&keys);
        let stacks: HashMap<&str, &graph::Stack> =
            graph.stacks.iter().map(|stack| (stack.key.as_str(), stack)).collect();
        let (mut units, mut problems) = (Vec::new(), Problems::new());
        for key in &keys {
            match stacks.get(key.as_str()).map(|stack| unit(stack)) {
                Some(Ok(unit)) => units.push(unit),
                Some(Err(problem)) => problems.push(problem),
                None => problems.push(unknown(graph, key)),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let numbers: HashMap<&String, usize> = keys.iter().enumerate().map(|(at, key)| (key, at)).collect();
        let numbered = keys.iter().map(|key| {
            let before = before.get(key).into_iter().flatten();
            before.filter_map(|key| numbers.get(key).copied()).collect()
        });
        let order = Order::new(numbered.collect());
        let order = if backwards { order.reversed() } else { order };
        Ok(Set { units, chosen: chosen.into_values().collect(), order })
    }

    pub fn len(&self) -> usize {
        self.units.len()
    }

    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// The stacks that are left out and depend on one of these, on any way; sorted.
    pub fn dependents(&self, graph: &Graph) -> Vec<String> {
        let mut found: BTreeSet<&str> = self.units.iter().map(|unit| unit.key()).collect();
        let mut open: Vec<&str> = found.iter().copied().collect();
        while let Some(key) = open.pop() {
            let edges = graph.edges.iter().filter(|edge| edge.kind.orders() && edge.to.key == key);
            open.extend(edges.map(|edge| edge.from.key.as_str()).filter(|key| found.insert(key)));
        }
        let own = |key: &&str| !self.units.iter().any(|unit| unit.key() == *key);
        found.into_iter().filter(own).map(str::to_owned).collect()
    }

    pub fn key(&self, at: usize) -> &str {
        self.units.get(at).map_or("", |unit| unit.key())
    }
}

/// Stacks that depend on each other in a circle.
pub fn circle(cycle: &[String]) -> Problem {
    Problem::new(format!("stacks depend on each other in a circle: {}", graph::spelled(cycle)))
        .help("take one of these edges away; `suil infra why STACK` tells where each is written")
}

/// There is no such stack; the instances of a bare path, or what is spelled like it.
pub fn unknown(graph: &Graph, key: &str) -> Problem {
    let problem = Problem::usage(format!("there is no stack `{key}`"));
    let instances: Vec<&str> =
        graph.stacks.iter().filter(|stack| stack.path == key).map(|stack| stack.key.as_str()).collect();
    if !instances.is_empty() {
        let all = instances.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        return problem.expected(format!("expected one of its instances: {all}"));
    }
    match crate::base::nearest::nearest(key, graph.stacks.iter().map(|stack| stack.key.as_str())) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help("`suil infra graph` names all stacks"),
    }
}
