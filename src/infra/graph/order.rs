//! The order of stacks: who comes before whom, and whether that is possible.

use super::net::Net;
use super::{Graph, Kind, Need};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The stacks of a graph with the edges that order them. Numbers are in the order of keys.
pub struct Order<'a> {
    graph: &'a Graph,
    numbers: HashMap<&'a str, usize>,
    pub(super) net: Net,
    /// Edges from `from` to `to`, with what `from` needs.
    pub(super) needs: BTreeMap<(usize, usize), BTreeSet<Need>>,
}

impl<'a> Order<'a> {
    pub fn new(graph: &'a Graph) -> Order<'a> {
        let numbers: HashMap<&str, usize> =
            graph.stacks.iter().enumerate().map(|(at, stack)| (stack.key.as_str(), at)).collect();
        let mut needs: BTreeMap<(usize, usize), BTreeSet<Need>> = BTreeMap::new();
        for edge in graph.edges.iter().filter(|edge| edge.kind.orders()) {
            if edge.from.kind == Kind::Stack
                && edge.to.kind == Kind::Stack
                && let (Some(from), Some(to)) = (numbers.get(edge.from.key.as_str()), numbers.get(edge.to.key.as_str()))
                && from != to
            {
                needs.entry((*from, *to)).or_default().insert(edge.kind);
            }
        }
        let net = Net::new(graph.stacks.len(), needs.keys().copied());
        Order { graph, numbers, net, needs }
    }

    /// The number of a key.
    pub(super) fn number(&self, key: &str) -> Option<usize> {
        self.numbers.get(key).copied()
    }

    pub(super) fn key(&self, number: usize) -> &'a str {
        self.graph.stacks.get(number).map_or("", |stack| stack.key.as_str())
    }

    /// For each of `keys` those of `keys` that must be done before it, the nearest ones on each way: a way through stacks
    /// that are left out still counts. Keys that the graph does not have are left out of the answer.
    pub fn predecessors(&self, keys: &BTreeSet<String>) -> BTreeMap<String, BTreeSet<String>> {
        let chosen = self.chosen(keys);
        let near = self.net.nearest(|node| chosen.get(node).copied().unwrap_or(false));
        let named = |nodes: &Vec<usize>| nodes.iter().map(|node| self.key(*node).to_owned()).collect();
        keys.iter()
            .filter_map(|key| Some((key.clone(), near.get(self.number(key)?).map(named).unwrap_or_default())))
            .collect()
    }

    /// The keys in waves: each after all that it needs, directly or through stacks that are left out.
    ///
    /// # Errors
    /// The cycles, where there are some that a wave would have to cut.
    pub fn waves(&self, keys: &BTreeSet<String>) -> Result<Vec<Vec<String>>, Vec<Vec<String>>> {
        let before = self.predecessors(keys);
        let names: Vec<&String> = before.keys().collect();
        let number: HashMap<&String, usize> = names.iter().enumerate().map(|(at, key)| (*key, at)).collect();
        let edges = before.iter().flat_map(|(from, to)| to.iter().map(move |to| (from, to)));
        let edges = edges.filter_map(|(from, to)| Some((*number.get(from)?, *number.get(to)?)));
        let net = Net::new(names.len(), edges);
        let cycles = net.cycles();
        let word = |node: &usize| names.get(*node).map(|name| (*name).clone()).unwrap_or_default();
        if !cycles.is_empty() {
            return Err(cycles.iter().map(|cycle| cycle.iter().map(word).collect()).collect());
        }
        let mut waves: Vec<Vec<String>> = Vec::new();
        for (node, level) in net.levels(|_| true).into_iter().enumerate() {
            if waves.len() <= level {
                waves.resize(level + 1, Vec::new());
            }
            if let Some(wave) = waves.get_mut(level) {
                wave.push(word(&node));
            }
        }
        Ok(waves)
    }

    /// The cycles of the whole graph, each from its smallest key back to it.
    pub fn cycles(&self) -> Vec<Vec<String>> {
        self.named(&self.net.cycles())
    }

    pub(super) fn named(&self, cycles: &[Vec<usize>]) -> Vec<Vec<String>> {
        cycles.iter().map(|cycle| cycle.iter().map(|node| self.key(*node).to_owned()).collect()).collect()
    }

    fn chosen(&self, keys: &BTreeSet<String>) -> Vec<bool> {
        let mut chosen = vec![false; self.graph.stacks.len()];
        for slot in keys.iter().filter_map(|key| self.number(key)) {
            if let Some(slot) = chosen.get_mut(slot) {
                *slot = true;
            }
        }
        chosen
    }
}

/// Puts a cycle into words: `a -> b -> a`.
pub fn spelled(cycle: &[String]) -> String {
    cycle.join(" -> ")
}
