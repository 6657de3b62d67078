//! Layers of which an output folder is left and nothing else: git removes what it knows of a layer, and the rest stays.

use super::{At, Code, Graph, Kind, Warning, edges};
use crate::infra::graph::Listing;
use std::collections::BTreeSet;

/// The layers of a graph in whose folders no file stands but in the output folder: their keys, and their folders.
pub fn bare(graph: &Graph, listing: &Listing) -> Vec<(String, String)> {
    let is_bare = |folder: &str| listing.below(folder).all(|(_, folder)| folder.files.is_empty());
    let layers = graph.stacks.iter().filter_map(|stack| Some((&stack.key, stack.layer.as_ref()?)));
    layers.filter(|(_, folder)| is_bare(folder)).map(|(key, folder)| (key.clone(), folder.clone())).collect()
}

/// Who still needs one of `keys`, which the tree has no more, by its own words: `from`, `to`, and where it says so.
pub fn needed<'a>(graph: &'a Graph, keys: &[String]) -> Vec<(&'a str, &'a str, Option<&'a At>)> {
    let told = graph.warnings.iter().filter(|warning| warning.code == Code::UnknownDependency);
    let pairs = told.filter_map(|warning| {
        let (from, to) = warning.subject.split_once(edges::ARROW)?;
        Some((from, to, warning.at.as_ref()))
    });
    pairs.filter(|(_, to, _)| keys.iter().any(|key| key == to)).collect()
}

/// Takes stacks out of a graph. Who needs one of them is told of in a warning.
pub fn without(graph: &mut Graph, keys: &BTreeSet<String>) {
    let gone = graph.stacks.extract_if(.., |stack| keys.contains(&stack.key));
    let folders: Vec<String> = gone.filter_map(|stack| stack.layer).map(|folder| format!("{folder}/")).collect();
    graph.warnings.retain(|warning| match warning.code {
        Code::SharedStateObject => warning.subject.split(", ").filter(|key| !keys.contains(*key)).count() > 1,
        _ => !keys.contains(&warning.subject) && !folders.iter().any(|folder| warning.subject.starts_with(folder)),
    });
    let of = |kind, key: &str| kind == Kind::Stack && keys.contains(key);
    graph.edges.retain(|edge| !of(edge.from.kind, &edge.from.key));
    for edge in graph.edges.extract_if(.., |edge| of(edge.to.kind, &edge.to.key)) {
        let (from, to) = (&edge.from.key, &edge.to.key);
        graph.warnings.push(Warning {
            code: Code::UnknownDependency,
            subject: edges::arrow(from, to),
            message: format!("{from}: {} {to}: no such layer in this tree", edge.kind.name()),
            at: edge.at.clone(),
        });
    }
    graph.warnings.sort();
}
