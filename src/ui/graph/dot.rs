//! A graph in the language of Graphviz.

use crate::infra::graph::{Affected, Edge, Graph, Kind, Need, Node, Origin};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

/// The colours of waves, from wave 0, then again from the first.
const WAVES: [&str; 6] = ["#c6dbef", "#c7e9c0", "#fdd0a2", "#dadaeb", "#fcc5c0", "#d9d9d9"];

/// The graph as DOT, what is affected filled.
pub fn dot(graph: &Graph, affected: Option<&Affected>) -> String {
    let sha = graph.sha.as_deref().unwrap_or("local");
    let label = format!("{} {}", graph.repo, sha.get(..12).unwrap_or(sha));
    let mut out = format!("digraph stackorder {{\n  rankdir=BT;\n  label={};\n", quoted(&label));
    let waves: HashMap<&str, usize> =
        affected.into_iter().flat_map(|a| &a.affected).map(|one| (one.key.as_str(), one.wave)).collect();
    let mut known: BTreeSet<Node> = BTreeSet::new();
    for stack in &graph.stacks {
        let mut look = vec!["shape=box".to_owned()];
        let mut label = stack.key.clone();
        if stack.external {
            look.push("style=dashed".to_owned());
        } else if let Some(wave) = waves.get(stack.key.as_str()) {
            let _ = write!(label, "\nwave {wave}");
            let colour = WAVES.get(wave % WAVES.len()).unwrap_or(&"#d9d9d9");
            look.push(format!("style=filled, fillcolor={}", quoted(colour)));
        }
        let _ = writeln!(out, "  {} [label={}, {}];", id(Kind::Stack, &stack.key), quoted(&label), look.join(", "));
        known.insert(Node { kind: Kind::Stack, key: stack.key.clone() });
    }
    for module in &graph.modules {
        let style = if module.kind == Origin::Local { "" } else { ", style=dashed" };
        let (id, label) = (id(Kind::Module, &module.key), quoted(&module.key));
        let _ = writeln!(out, "  {id} [label={label}, shape=component{style}];");
        known.insert(Node { kind: Kind::Module, key: module.key.clone() });
    }
    for node in graph.nodes.iter().flatten() {
        let (id, label) = (id(Kind::Node, &node.key), quoted(&node.key));
        let _ = writeln!(out, "  {id} [label={label}, shape=ellipse];");
        known.insert(Node { kind: Kind::Node, key: node.key.clone() });
    }
    let unknown: BTreeSet<&Node> = graph.edges.iter().map(|edge| &edge.to).filter(|to| !known.contains(*to)).collect();
    for node in unknown {
        let label = quoted(&node.key);
        let _ = writeln!(out, "  {} [label={label}, shape=box, style=dotted];", id(node.kind, &node.key));
    }
    for edge in &graph.edges {
        let _ = writeln!(
            out,
            "  {} -> {} [label={}{}];",
            id(edge.from.kind, &edge.from.key),
            id(edge.to.kind, &edge.to.key),
            quoted(edge.kind.name()),
            drawn(edge)
        );
    }
    out.push_str("}\n");
    out
}

fn drawn(edge: &Edge) -> &'static str {
    match (edge.kind, edge.inferred) {
        (Need::UsesModule, _) => ", color=grey, fontcolor=grey",
        (_, true) => ", style=dashed",
        (_, false) => "",
    }
}

fn id(kind: Kind, key: &str) -> String {
    quoted(&match kind {
        Kind::Stack => format!("stack:{key}"),
        Kind::Module => format!("module:{key}"),
        Kind::Node => format!("node:{key}"),
    })
}

/// A string of DOT, in which a line end is `\n`.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
