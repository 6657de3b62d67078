//! A plan as people read it: per node its operations with their diffs. Nodes with equal plans stand together, so
//! that fifty of them can be read.

pub(super) mod content;
mod roll;

use super::Paint;
use super::text::{self, count};
use crate::base::Mask;
use crate::plan::{NodePlan, Operation, Plan};
use crate::resource::{Attribute, Verb};
use std::collections::HashMap;

/// How many names a heading lists before it only counts.
const NAMES: usize = 60;
/// How many batches a screen shows.
const BATCHES: usize = 40;
/// Headings are broken before this column.
const WIDTH: usize = 78;

/// Renders the difference of two texts, which hold no secret.
pub fn difference(diff: &crate::resource::TextDiff, paint: Paint) -> String {
    let lines = if super::columns().is_some() { content::LINES } else { usize::MAX };
    content::render(lines, diff, &Mask::new(), paint)
}

/// Renders the whole plan and a summary line. What `mask` knows never shows. Why a node could not be planned is told
/// with the other problems, at the end of the run.
pub fn render(plan: &Plan, mask: &Mask, paint: Paint) -> String {
    // A screen forgets what has left it; whoever reads from a pipe wants all.
    let lines = if super::columns().is_some() { content::LINES } else { usize::MAX };
    render_in(lines, plan, mask, paint)
}

/// Renders the plan with so many lines of each content.
fn render_in(lines: usize, plan: &Plan, mask: &Mask, paint: Paint) -> String {
    let mut out = String::new();
    for group in groups(lines, plan, mask, paint) {
        out.push_str(&wrapped("", &group.nodes, paint));
        out.push_str(&group.body);
        out.push('\n');
    }
    let nothing = names(plan, |node| node.operations.is_empty() && node.problems.is_empty());
    let stuck = names(plan, |node| !node.problems.is_empty());
    for (lead, nodes) in [("nothing to do: ", nothing), ("could not be planned: ", stuck)] {
        if !nodes.is_empty() {
            out.push_str(&wrapped(lead, &nodes, paint));
            out.push('\n');
        }
    }
    out.push_str(&roll::render(if lines == usize::MAX { lines } else { BATCHES }, plan, mask, paint));
    out.push_str(&format!("{}\n", summary(plan)));
    out
}

/// `plan: 3 operations on 2 nodes (1 create, 2 run), nothing to do on 1 node`.
pub fn summary(plan: &Plan) -> String {
    let changed = names(plan, |node| !node.operations.is_empty()).len();
    let nothing = names(plan, |node| node.operations.is_empty() && node.problems.is_empty()).len();
    let stuck = names(plan, |node| !node.problems.is_empty()).len();
    let mut parts = Vec::new();
    if changed > 0 {
        let kinds = [(Verb::Create, "create"), (Verb::Change, "change"), (Verb::Remove, "remove"), (Verb::Run, "run")];
        let kinds: Vec<String> = kinds
            .into_iter()
            .map(|(verb, word)| (operations(plan).filter(|op| op.verb == verb).count(), word))
            .filter(|(n, _)| *n > 0)
            .map(|(n, word)| format!("{n} {word}"))
            .collect();
        let total = count(plan.operations(), "operation");
        parts.push(format!("{total} on {} ({})", count(changed, "node"), kinds.join(", ")));
    }
    if nothing > 0 || (changed == 0 && stuck == 0) {
        parts.push(format!("nothing to do on {}", count(nothing, "node")));
    }
    if stuck > 0 {
        parts.push(format!("{} could not be planned", count(stuck, "node")));
    }
    format!("plan: {}", parts.join(", "))
}

/// Nodes whose plans read the same, and how they read.
struct Group<'a> {
    nodes: Vec<&'a str>,
    body: String,
}

fn groups<'a>(lines: usize, plan: &'a Plan, mask: &Mask, paint: Paint) -> Vec<Group<'a>> {
    let mut groups: Vec<Group> = Vec::new();
    for node in plan.nodes.iter().filter(|node| !node.operations.is_empty()) {
        let body: String = node.operations.iter().map(|operation| one(lines, operation, mask, paint)).collect();
        match groups.iter_mut().find(|group| group.body == body) {
            Some(group) => group.nodes.push(&node.node),
            None => groups.push(Group { nodes: vec![&node.node], body }),
        }
    }
    groups
}

fn names(plan: &Plan, of: impl Fn(&NodePlan) -> bool) -> Vec<&str> {
    plan.nodes.iter().filter(|node| of(node)).map(|node| node.node.as_str()).collect()
}

fn operations(plan: &Plan) -> impl Iterator<Item = &Operation> {
    plan.nodes.iter().flat_map(|node| &node.operations)
}

/// Renders who is not planned yet, and why: `waiting: web-1, web-2 (2 nodes)`, those with the same reason together.
pub fn waiting<'a>(nodes: impl Iterator<Item = (&'a str, String)>, paint: Paint) -> String {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for (node, why) in nodes {
        match groups.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => names.push(node),
            None => groups.push((why, vec![node])),
        }
    }
    let one = |(why, names): (String, Vec<&str>)| {
        format!("{}      {}\n", wrapped("waiting: ", &names, paint), paint.quiet(&text::clean(&why)))
    };
    groups.into_iter().map(one).collect()
}

/// Renders `<lead>a, b, c (3 nodes)`, broken between names.
pub fn wrapped(lead: &str, nodes: &[&str], paint: Paint) -> String {
    let mut words: Vec<String> = nodes.iter().take(NAMES).map(|name| format!("{},", text::clean(name))).collect();
    if let Some(last) = words.last_mut() {
        last.pop();
    }
    if nodes.len() > 1 {
        let more = nodes.len().saturating_sub(NAMES);
        let more = if more > 0 { format!("… and {more} more ") } else { String::new() };
        words.push(format!("{more}({})", count(nodes.len(), "node")));
    }
    let mut lines = vec![lead.to_owned()];
    for word in words {
        let last = lines.last().map_or(0, |line| text::width(line));
        if last > lead.len().max(4) && last + 1 + text::width(&word) > WIDTH {
            lines.push(format!("    {word}"));
        } else if let Some(line) = lines.last_mut() {
            if !line.is_empty() && !line.ends_with(' ') {
                line.push(' ');
            }
            line.push_str(&word);
        }
    }
    lines.iter().map(|line| paint.heading(line) + "\n").collect()
}

/// One operation: its line, what differs, and what there is to know about it.
fn one(lines: usize, op: &Operation, mask: &Mask, paint: Paint) -> String {
    let show = |text: &str| text::clean(&mask.apply(text));
    let title = show(&op.title);
    let head = match op.verb {
        Verb::Create => paint.added(&format!("+ {title}")),
        Verb::Change => paint.changed(&format!("~ {title}")),
        Verb::Remove => paint.removed(&format!("- {title}")),
        Verb::Run => paint.run(&format!("▸ {title}")),
    };
    let named = op.resource();
    let resource = match named.split_once(' ') {
        // The title says the name already.
        Some((kind, name)) if op.title.contains(name) => kind.to_owned(),
        _ => show(&named),
    };
    let head = format!("  {head}  {}\n", paint.quiet(&format!("· {} · {resource}", op.module)));
    head + &below(lines, op, mask, paint)
}

/// Renders what stands below the line of each operation, by node and number, with at most so many lines of each content.
pub fn details(lines: usize, plan: &Plan, mask: &Mask) -> Details {
    let all = plan.nodes.iter().flat_map(|node| node.operations.iter().map(move |op| (node, op)));
    all.map(|(node, op)| ((node.node.clone(), op.id), below(lines, op, mask, Paint::OFF))).collect()
}

/// What stands below the line of an operation: by node and number of the operation.
pub type Details = HashMap<(String, usize), String>;

fn below(lines: usize, op: &Operation, mask: &Mask, paint: Paint) -> String {
    let show = |text: &str| text::clean(&mask.apply(text));
    let mut out = String::new();
    let names = op.diff.attributes.iter().map(|a| text::width(&a.name)).max().unwrap_or(0);
    for attribute in &op.diff.attributes {
        out.push_str(&values(attribute, names, mask, paint));
    }
    if let Some(diff) = &op.diff.text {
        out.push_str(&content::render(lines, diff, mask, paint));
    }
    let mut remark = |label: &str, words: &str| {
        out.push_str(&format!("      {} {}\n", paint.quiet(&format!("{label}:")), show(words)));
    };
    if let Some(what) = &op.judged_then {
        remark("judged then", what);
    }
    if !op.triggered_by.is_empty() {
        remark("triggered by", &op.triggered_by.join(", "));
    }
    if let Some(why) = &op.owed {
        remark("owed", why);
    }
    if op.guards_access {
        remark("access", "tested over a second connection, and undone where suil could no longer come back");
    }
    out
}

/// `mode  0600 → 0644`.
pub(super) fn values(attribute: &Attribute, names: usize, mask: &Mask, paint: Paint) -> String {
    let show = |text: &str| text::clean(&mask.apply(text));
    let name = show(&attribute.name);
    let gap = " ".repeat(names.saturating_sub(text::width(&name)) + 2);
    let change = match (&attribute.before, &attribute.after) {
        (None, None) => String::new(),
        (None, Some(after)) => paint.added(&show(after)),
        (Some(before), None) => format!("{} → nothing", paint.removed(&show(before))),
        (Some(before), Some(after)) if before == after => show(after),
        (Some(before), Some(after)) => format!("{} → {}", paint.removed(&show(before)), paint.added(&show(after))),
    };
    format!("      {name}{gap}{change}").trim_end().to_owned() + "\n"
}

#[cfg(test)]
#[path = "test.rs"]
mod tests;
