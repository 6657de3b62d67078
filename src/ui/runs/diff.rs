//! What differs between two runs.

use super::purpose;
use crate::base::Plain;
use crate::run::past::Head;
use crate::run::past::diff::{Change, Difference, NodeDifference, OperationChange};
use crate::ui::text::{clean, count, width};
use crate::ui::{Paint, plan};

/// Both runs, then the nodes that differ, those that differ alike together.
pub fn diff(first: &Head, second: &Head, found: &Difference, paint: Paint) -> String {
    let mut out = String::new();
    for (sign, head) in [("-", first), ("+", second)] {
        let line = clean(&format!("{sign} {}  {}", head.id, purpose(head)));
        let line = if sign == "-" { paint.removed(line.trim_end()) } else { paint.added(line.trim_end()) };
        out.push_str(&format!("{line}\n"));
    }
    if found.is_empty() {
        out.push_str(&format!("\nno difference on {}\n", count(found.same.len(), "node")));
        return out;
    }
    for (lead, nodes) in [("only in the first: ", &found.first_only), ("only in the second: ", &found.second_only)] {
        if !nodes.is_empty() {
            let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
            out.push_str(&format!("\n{}", plan::wrapped(lead, &nodes, paint)));
        }
    }
    for (nodes, group) in &found.groups {
        let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
        out.push_str(&format!("\n{}{}", plan::wrapped("", &nodes, paint), body(group, paint)));
    }
    if !found.same.is_empty() {
        out.push_str(&format!("\nno difference on {}\n", count(found.same.len(), "node")));
    }
    out
}

fn body(found: &NodeDifference, paint: Paint) -> String {
    let mut out = String::new();
    let mut line = |text: String| out.push_str(&format!("  {text}\n"));
    if let Some((one, other)) = &found.outcome {
        line(format!("{} {} → {}", paint.quiet("outcome:"), clean(one), clean(other)));
    }
    if let Some(which) = found.unrecorded {
        line(format!("{} not recorded in the {which} run: the node was not reached", paint.quiet("config:")));
    }
    found.modules_removed.iter().for_each(|module| line(paint.removed(&format!("- module {}", clean(module)))));
    found.modules_added.iter().for_each(|module| line(paint.added(&format!("+ module {}", clean(module)))));
    if let Some((one, other)) = &found.order {
        let order = clean(&format!("{} → {}", one.join(", "), other.join(", ")));
        line(format!("{} {order}", paint.quiet("module order:")));
    }
    let names = found.values.iter().map(|(path, _)| width(path)).filter(|width| *width <= NAMES).max().unwrap_or(0);
    for (path, change) in &found.values {
        let path = clean(path);
        let gap = " ".repeat(names.saturating_sub(width(&path)) + 2);
        line(match change {
            Change { before: Some(before), after: Some(after) } => {
                let (before, after) = (paint.removed(&value(before)), paint.added(&value(after)));
                format!("{} {path}{gap}{before} → {after}", paint.changed("~"))
            }
            Change { before, after: None } => {
                paint.removed(&format!("- {path}{gap}{}", before.as_ref().map(value).unwrap_or_default()))
            }
            Change { after, .. } => {
                paint.added(&format!("+ {path}{gap}{}", after.as_ref().map(value).unwrap_or_default()))
            }
        });
    }
    for (module, title, change) in &found.operations {
        let behind = paint.quiet(&clean(&format!("· {module} · operation")));
        let title = clean(title);
        line(match change {
            OperationChange::FirstOnly(_) => format!("{}  {behind}", paint.removed(&format!("- {title}"))),
            OperationChange::SecondOnly(_) => format!("{}  {behind}", paint.added(&format!("+ {title}"))),
            OperationChange::Other(_) => format!("{} {title}  {behind}: another change", paint.changed("~")),
            OperationChange::Fate(one, other) => {
                format!("{} {title}  {behind}: {} → {}", paint.changed("~"), one.word(), other.word())
            }
        });
    }
    out
}

/// A path longer than this is not waited for by the others.
const NAMES: usize = 32;

/// A value on one line: text as it is, lists and mappings as JSON.
fn value(value: &Plain) -> String {
    match value {
        Plain::Str(text) if !text.is_empty() && !text.contains('\n') => clean(text),
        other => clean(&other.to_json_line()),
    }
}
