//! One run, told from its record.

use super::{outcome, purpose};
use crate::base::Plain;
use crate::run::past::story::{Fate, NodeStory, Step, Story};
use crate::ui::Paint;
use crate::ui::plan::{self, Details};
use crate::ui::text::{age, clean, count, took};
use chrono::TimeDelta;

/// So many of the last lines that a node said to an operation that failed are shown.
const SAID: usize = 12;

/// The run as a whole, then each node; nodes for which everything went alike stand together.
pub fn show(story: &Story, ago: TimeDelta, paint: Paint) -> String {
    let head = &story.head;
    let mut out = format!("{}\n", paint.heading(&format!("run {}", head.id)));
    let mut line = |label: &str, words: String| {
        if !words.is_empty() {
            out.push_str(&format!("  {} {}\n", paint.quiet(&format!("{label:<8}")), clean(&words)));
        }
    };
    let when = match age(ago.num_seconds()).as_str() {
        "now" => "just now".to_owned(),
        age => format!("{age} ago"),
    };
    line("when", format!("{} ({when})", story.started));
    line("for", purpose(head));
    line("mode", head.mode.clone());
    let known = |key: &str| head.about.get(key).and_then(Plain::as_str).unwrap_or_default().to_owned();
    line("commit", known("commit"));
    line("suil", known("suil"));
    line("took", head.seconds.map(took).unwrap_or_default());
    line("outcome", outcome(head));
    head.problems.iter().for_each(|problem| line("problem", problem.clone()));
    line("exit", head.exit.map(|exit| exit.to_string()).unwrap_or_default());
    for (names, body) in groups(&story.nodes, &Details::new(), paint) {
        let names: Vec<&str> = names.iter().map(|node| node.node.as_str()).collect();
        out.push('\n');
        out.push_str(&plan::wrapped("", &names, paint));
        out.push_str(&body);
    }
    out
}

/// Nodes whose stories read the same, and how they read. `details` has what stands below an operation where more is known
/// of it than the record keeps.
pub fn groups<'a>(nodes: &'a [NodeStory], details: &Details, paint: Paint) -> Vec<(Vec<&'a NodeStory>, String)> {
    let mut groups: Vec<(Vec<&NodeStory>, String, String)> = Vec::new();
    for node in nodes {
        // Two nodes never take equally long: what is shown of one says enough of its like.
        let alike = body(node, false, details, Paint::OFF);
        match groups.iter_mut().find(|(_, key, _)| *key == alike) {
            Some((nodes, ..)) => nodes.push(node),
            None => groups.push((vec![node], alike, body(node, true, details, paint))),
        }
    }
    groups.into_iter().map(|(nodes, _, body)| (nodes, body)).collect()
}

fn body(node: &NodeStory, timed: bool, details: &Details, paint: Paint) -> String {
    let mut out = String::new();
    let performed = match (node.end.outcome.as_str(), node.end.planned) {
        ("nothing to do" | "not reached", _) | (_, 0) => String::new(),
        ("failed" | "in doubt", planned) => format!(", {} of {}", node.end.operations, count(planned, "operation")),
        (_, planned) => format!(", {}", count(planned, "operation")),
    };
    let mut facts =
        vec![format!("{}{performed}", if node.end.outcome.is_empty() { "configs only" } else { &node.end.outcome })];
    if !node.role.is_empty() {
        facts.push(format!("role {}", node.role));
    }
    if !node.modules.is_empty() {
        facts.push(node.modules.join(", "));
    }
    out.push_str(&format!("  {}\n", paint.quiet(&clean(&facts.join(" · ")))));
    for step in &node.steps {
        out.push_str(&one(step, timed, details.get(&(node.node.clone(), step.id)), paint));
    }
    for problem in node.other_problems() {
        out.push_str(&format!("  {}\n", paint.bad(&clean(problem))));
    }
    out
}

fn one(step: &Step, timed: bool, known: Option<&String>, paint: Paint) -> String {
    let (sign, words) = match step.fate {
        Fate::Done => (paint.added("✓"), String::new()),
        Fate::Failed => (paint.bad("✗"), String::new()),
        Fate::InDoubt => (paint.bad("?"), " · in doubt".to_owned()),
        Fate::NotPerformed => (paint.quiet("·"), " · not performed".to_owned()),
        Fate::Planned => (planned(&step.verb, paint), String::new()),
    };
    let resource = match step.resource.split_once(' ') {
        Some((kind, name)) if step.title.contains(name) => kind,
        _ => &step.resource,
    };
    let seconds = step.seconds.filter(|_| timed).map(|s| format!(" · {}", took(s))).unwrap_or_default();
    let behind = clean(&format!("· {} · {resource}{words}{seconds}", step.module));
    let mut out = format!("  {sign} {}  {}\n", clean(&step.title), paint.quiet(&behind));
    match known {
        Some(known) => out.push_str(known),
        None => {
            for line in changes(&step.diff) {
                out.push_str(&format!("      {}\n", clean(&line)));
            }
            if !step.triggered_by.is_empty() {
                let by = clean(&step.triggered_by.join(", "));
                out.push_str(&format!("      {} {by}\n", paint.quiet("triggered by:")));
            }
        }
    }
    if let Some(problem) = &step.problem {
        out.push_str(&format!("      {}\n", paint.bad(&clean(problem))));
        let lines: Vec<&str> = step.output.trim().lines().collect();
        for line in lines.iter().skip(lines.len().saturating_sub(SAID)) {
            out.push_str(&format!("      | {}\n", clean(line)));
        }
    }
    out
}

/// The sign that a plan has before an operation.
fn planned(verb: &str, paint: Paint) -> String {
    match verb {
        "create" => paint.added("+"),
        "change" => paint.changed("~"),
        "remove" => paint.removed("-"),
        _ => paint.run("▸"),
    }
}

/// `mode  0600 → 0644`, and for a content the first digits of its digests: a record keeps no content.
fn changes(diff: &Plain) -> Vec<String> {
    let mut rows: Vec<(String, String)> = Vec::new();
    let word = |value: Option<&Plain>| value.and_then(Plain::as_str).map(str::to_owned);
    for attribute in diff.get("attributes").and_then(Plain::as_list).unwrap_or_default() {
        let change = match (word(attribute.get("before")), word(attribute.get("after"))) {
            (None, None) => continue,
            (None, Some(after)) => after,
            (Some(before), None) => format!("{before} → nothing"),
            (Some(before), Some(after)) if before == after => after,
            (Some(before), Some(after)) => format!("{before} → {after}"),
        };
        rows.push((word(attribute.get("name")).unwrap_or_default(), change));
    }
    if let Some(text) = diff.get("text") {
        let digest = |key: &str| word(text.get(key)).map(|digest| digest.chars().take(12).collect::<String>());
        if let (Some(before), Some(after)) = (digest("before_sha256"), digest("after_sha256")) {
            let change =
                if before == EMPTY { format!("sha256 {after}") } else { format!("sha256 {before} → {after}") };
            rows.push(("content".to_owned(), change));
        }
    }
    let width = rows.iter().map(|(name, _)| crate::ui::text::width(name)).max().unwrap_or(0);
    rows.into_iter()
        .map(|(name, change)| {
            format!("{name}{}  {change}", " ".repeat(width - crate::ui::text::width(&name).min(width)))
        })
        .collect()
}

/// What the digest of no content begins with.
const EMPTY: &str = "e3b0c44298fc";
