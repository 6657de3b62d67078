//! A graph as Mermaid draws it, which forges and wikis do by themselves.

use crate::infra::graph::{Affected, Graph, Kind, Need, Node};
use std::collections::HashMap;
use std::fmt::Write;

/// The graph as a flowchart, what is affected marked with its wave.
pub fn mermaid(graph: &Graph, affected: Option<&Affected>) -> String {
    let waves: HashMap<&str, usize> =
        affected.into_iter().flat_map(|a| &a.affected).map(|one| (one.key.as_str(), one.wave)).collect();
    let mut out = String::from("flowchart BT\n");
    let mut ids: HashMap<Node, String> = HashMap::new();
    let stacks = graph.stacks.iter().map(|stack| (Kind::Stack, &stack.key, stack.external));
    let modules = graph.modules.iter().map(|module| (Kind::Module, &module.key, false));
    let nodes = graph.nodes.iter().flatten().map(|node| (Kind::Node, &node.key, false));
    let known =
        stacks.chain(modules).chain(nodes).map(|(kind, key, external)| (Node { kind, key: key.clone() }, external));
    let dangling = graph.edges.iter().map(|edge| (edge.to.clone(), true));
    for (node, external) in known.chain(dangling) {
        if ids.contains_key(&node) {
            continue;
        }
        let id = format!("n{}", ids.len());
        let label = label(&node.key);
        let wave = waves.get(node.key.as_str()).filter(|_| node.kind == Kind::Stack);
        let _ = match (node.kind, wave) {
            (Kind::Module, _) => writeln!(out, "  {id}[[\"{label}\"]]:::module"),
            (Kind::Node, _) => writeln!(out, "  {id}([\"{label}\"]):::host"),
            (Kind::Stack, Some(wave)) => writeln!(out, "  {id}[\"{label}<br>wave {wave}\"]:::affected"),
            (Kind::Stack, None) if external => writeln!(out, "  {id}[\"{label}\"]:::external"),
            (Kind::Stack, None) => writeln!(out, "  {id}[\"{label}\"]"),
        };
        ids.insert(node, id);
    }
    for edge in &graph.edges {
        let (Some(from), Some(to)) = (ids.get(&edge.from), ids.get(&edge.to)) else { continue };
        let arrow = match (edge.kind, edge.inferred) {
            (Need::UsesModule, _) => "-.->".to_owned(),
            (kind, true) => format!("-. {} .->", kind.name()),
            (_, false) => "-->".to_owned(),
        };
        let _ = writeln!(out, "  {from} {arrow} {to}");
    }
    out.push_str("  classDef module fill:#eee,stroke:#999,color:#555\n");
    if graph.nodes.is_some() {
        out.push_str("  classDef host fill:#e8f0fe,stroke:#1f6feb\n");
    }
    out.push_str("  classDef external stroke-dasharray:4\n");
    out.push_str("  classDef affected fill:#fdd0a2,stroke:#e6550d\n");
    out
}

/// Text between quotes; what Mermaid could take for its own is written as entities.
fn label(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' | '<' | '>' | '&' | '#' | ';' | '`' => {
                let _ = write!(out, "#{};", u32::from(c));
            }
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
