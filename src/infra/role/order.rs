//! In which order a node's layers are applied: by the graph of their tree, then as they are listed.

use crate::infra::graph::{Graph, Kind};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Layers by their places in the list, in the order in which they are applied, each with those of the list that it
/// needs, directly or through stacks that are not in it.
pub fn order(graph: &Graph, keys: &[String]) -> Vec<(usize, BTreeSet<usize>)> {
    let mut needs: HashMap<&str, Vec<&str>> = HashMap::new();
    let stacks = |edge: &&crate::infra::graph::Edge| edge.kind.orders() && edge.to.kind == Kind::Stack;
    for edge in graph.edges.iter().filter(stacks) {
        needs.entry(&edge.from.key).or_default().push(&edge.to.key);
    }
    let places: HashMap<&str, usize> = keys.iter().enumerate().map(|(at, key)| (key.as_str(), at)).collect();
    let reached = |key: &str, own: usize| {
        let (mut open, mut seen, mut found) = (vec![key], HashSet::from([key]), BTreeSet::new());
        while let Some(key) = open.pop() {
            for next in needs.get(key).into_iter().flatten().filter(|next| seen.insert(**next)).collect::<Vec<_>>() {
                open.push(next);
                found.extend(places.get(next).filter(|at| **at != own));
            }
        }
        found
    };
    let mut waiting: Vec<(usize, BTreeSet<usize>)> =
        keys.iter().enumerate().map(|(at, key)| (at, reached(key, at))).collect();
    let mut ordered: Vec<(usize, BTreeSet<usize>)> = Vec::with_capacity(keys.len());
    let mut done: BTreeSet<usize> = BTreeSet::new();
    while !waiting.is_empty() {
        // In a circle the first begins.
        let next = waiting.iter().position(|(_, needs)| needs.is_subset(&done)).unwrap_or(0);
        let layer = waiting.remove(next);
        done.insert(layer.0);
        ordered.push(layer);
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::order;
    use crate::infra::graph::{Edge, Graph, Kind, Need, Node};

    fn graph(edges: &[(&str, &str)]) -> Graph {
        let node = |key: &str| Node { kind: Kind::Stack, key: key.to_owned() };
        let edge = |(from, to): &(&str, &str)| Edge {
            from: node(from),
            to: node(to),
            kind: Need::ReadsState,
            inferred: true,
            meta: Default::default(),
            at: None,
        };
        Graph { edges: edges.iter().map(edge).collect(), ..Graph::default() }
    }

    fn ordered(edges: &[(&str, &str)], keys: &[&str]) -> String {
        let owned: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        let name = |at: &usize| keys.get(*at).copied().unwrap_or_default();
        let layers = order(&graph(edges), &owned).into_iter().map(|(at, needs)| {
            let needs: Vec<&str> = needs.iter().map(name).collect();
            format!("{}<{}", name(&at), needs.join("+"))
        });
        layers.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_a_layer_needs_comes_first_and_the_rest_as_it_is_listed() {
        assert_eq!(ordered(&[], &["c", "a", "b"]), "c< a< b<");
        assert_eq!(ordered(&[("a", "b"), ("b", "c")], &["a", "x", "c", "b"]), "x< c< b<c a<c+b");
        assert_eq!(ordered(&[("a", "between"), ("between", "b")], &["a", "b"]), "b< a<b");
    }

    #[test]
    fn a_circle_ends_and_loses_nobody() {
        assert_eq!(ordered(&[("a", "b"), ("b", "a"), ("c", "c")], &["a", "b", "c"]), "c< a<b b<a");
    }
}
