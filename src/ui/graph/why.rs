//! Why a stack is affected, as text.

use super::place;
use crate::infra::graph::{Edge, Kind, Reason, Step, Why};
use crate::ui::text::{clean, cut};
use crate::ui::{Paint, Table};

/// What there is to say about a stack. `asked` is false where nobody knows what changed.
pub fn why(why: &Why, asked: bool, columns: Option<usize>, paint: Paint) -> String {
    let stack = &why.stack;
    let mut out = paint.heading(&clean(&stack.key)) + "\n";
    let mut line = |name: &str, value: &str| {
        let text = clean(&format!("  {name:<12} {value}"));
        out.push_str(&columns.map_or(text.clone(), |columns| cut(&text, columns)));
        out.push('\n');
    };
    if let Some(state) = &stack.state {
        line("state", state);
    }
    if !stack.workspace.is_empty() {
        line("workspace", &stack.workspace);
    }
    if !stack.external {
        line("environment", &stack.environment);
    }
    match &why.touched {
        Some(touched) => {
            let reasons = touched.reasons.iter().copied().map(Reason::name).collect::<Vec<_>>().join(", ");
            line("affected", &format!("wave {}: {reasons}", touched.wave));
            for step in &why.way {
                line("", &stepped(step));
            }
        }
        None if asked => line("affected", "no"),
        None => {}
    }
    out.push_str(&edges("NEEDS", &why.needs, |edge| (edge.to.kind, &edge.to.key), columns, paint));
    out.push_str(&edges("NEEDED BY", &why.needed_by, |edge| (edge.from.kind, &edge.from.key), columns, paint));
    out
}

fn stepped(step: &Step) -> String {
    match (&step.path, &step.edge) {
        (Some(path), _) => format!("{path} changed: {}", step.node.key),
        (None, Some(edge)) => format!("-> {}, which {} it ({})", step.node.key, verb(edge), place(edge.at.as_ref())),
        (None, None) => step.node.key.clone(),
    }
}

fn verb(edge: &Edge) -> &'static str {
    match edge.kind.name() {
        "depends_on" => "depends on",
        "reads_state" => "reads the state of",
        "reads_output" => "reads an output of",
        "reads_host_data" => "reads what is known of",
        _ => "uses",
    }
}

fn edges(
    heading: &str,
    edges: &[Edge],
    other: impl Fn(&Edge) -> (Kind, &String),
    columns: Option<usize>,
    paint: Paint,
) -> String {
    if edges.is_empty() {
        return String::new();
    }
    let mut table = Table::new([heading, "BY", "AT"]);
    for edge in edges {
        let (_, key) = other(edge);
        let inferred = if edge.inferred { ", inferred" } else { "" };
        let fields = edge.meta.get("fields").map(|fields| format!(" {}", fields.replace(' ', ", ")));
        let how = format!("{}{}{inferred}", edge.kind.name(), fields.unwrap_or_default());
        table.row([key.clone(), how, place(edge.at.as_ref())]);
    }
    format!("\n{}", table.render(columns, paint))
}
