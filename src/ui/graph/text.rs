//! A graph as text: how much there is, then each stack and module with what it needs.

use crate::infra::graph::{Edge, Graph, Kind, Node, Origin, Stack};
use crate::ui::Paint;
use crate::ui::text::{clean, count, cut};
use std::collections::HashMap;

/// The graph as a person reads it; `columns` is the width of the screen.
pub fn graph(graph: &Graph, columns: Option<usize>, paint: Paint) -> String {
    let mut edges: HashMap<&Node, Vec<&Edge>> = HashMap::new();
    for edge in &graph.edges {
        edges.entry(&edge.from).or_default().push(edge);
    }
    let own = graph.stacks.iter().filter(|stack| !stack.external).count();
    let mut head = vec![count(own, "stack"), count(graph.modules.len(), "module"), count(graph.edges.len(), "edge")];
    if let Some(nodes) = &graph.nodes {
        head.insert(2, count(nodes.len(), "node"));
    }
    if own < graph.stacks.len() {
        head.push(format!("{} of other repositories", count(graph.stacks.len() - own, "stack")));
    }
    let mut out = paint.heading(&format!("{}: {}", clean(&graph.repo), head.join(", ")));
    out.push('\n');
    let mut line = |text: String| {
        let text = clean(&text);
        out.push_str(&columns.map_or(text.clone(), |columns| cut(&text, columns)));
        out.push('\n');
    };
    for stack in &graph.stacks {
        line(stacked(stack));
        let node = Node { kind: Kind::Stack, key: stack.key.clone() };
        edges.get(&node).into_iter().flatten().for_each(|edge| line(need(edge)));
    }
    for module in &graph.modules {
        let node = Node { kind: Kind::Module, key: module.key.clone() };
        let kind = match module.kind {
            Origin::Local => "module",
            Origin::Git => "git module",
            Origin::Registry => "registry module",
        };
        line(format!("{}  ({kind})", module.key));
        edges.get(&node).into_iter().flatten().for_each(|edge| line(need(edge)));
    }
    for host in graph.nodes.iter().flatten() {
        let node = Node { kind: Kind::Node, key: host.key.clone() };
        line(format!("{}  (node, {})", host.key, host.role));
        edges.get(&node).into_iter().flatten().for_each(|edge| line(need(edge)));
    }
    out
}

fn stacked(stack: &Stack) -> String {
    match (&stack.state, stack.external) {
        (_, true) => format!("{}  (external)", stack.key),
        (Some(state), _) => format!("{}  {state}", stack.key),
        (None, _) => stack.key.clone(),
    }
}

fn need(edge: &Edge) -> String {
    let inferred = if edge.inferred { "  (inferred)" } else { "" };
    format!("  {} {}{inferred}", edge.kind.name(), edge.to.key)
}
