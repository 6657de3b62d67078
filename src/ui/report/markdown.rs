//! A run as Markdown, small enough for a comment on a pull request. What nodes said stands in fences and in escaped
//! code alone, so that nothing of it can become markup, a mention or a link.

use super::Subject;
use crate::run::outcome::WORDS;
use crate::run::past::end::counts;
use crate::run::past::story::{NodeStory, Story};
use crate::ui::Paint;
use crate::ui::plan::Details;
use crate::ui::problem::render_all;
use crate::ui::runs::show::groups;
use crate::ui::text::{count, took};

/// So many bytes may a report have: forges take 65,536 characters.
const LIMIT: usize = 65_000;
/// So many names does a line list.
const NAMES: usize = 20;
/// A fence is never cut below so many bytes in favour of others.
const SHARE: usize = 2_000;

/// Renders the report.
pub fn render(subject: &Subject<'_>) -> String {
    match subject {
        Subject::Run { story, details } => run(story, details),
        Subject::Problems { problems, mask } => {
            let text = render_all(problems, mask, Paint::OFF);
            let title = if subject.is_nothing() { "nothing to do" } else { "nothing was run" };
            format!("### suil: {title}\n\n{}", fence(&text, LIMIT - 200))
        }
    }
}

fn run(story: &Story, details: &Details) -> String {
    let mut out = format!("### {}\n\n", title(story));
    let head = &story.head;
    let mut facts = vec![code(&head.id)];
    facts.extend(
        [&head.command, &head.reason, &head.by].into_iter().filter(|text| !text.is_empty()).map(|text| code(text)),
    );
    let commit = head.about.get("commit").and_then(crate::base::Plain::as_str).unwrap_or_default();
    facts.extend(
        Some(commit)
            .filter(|commit| !commit.is_empty())
            .map(|commit| format!("commit {}", code(&commit.chars().take(12).collect::<String>()))),
    );
    facts.extend(head.seconds.map(took));
    out.push_str(&format!("{}\n\n| outcome | nodes | operations |\n| --- | --- | --- |\n", facts.join(" · ")));
    for word in WORDS {
        let of: Vec<&NodeStory> = story.nodes.iter().filter(|node| node.end.outcome == word).collect();
        if !of.is_empty() {
            let (performed, planned) =
                of.iter().fold((0, 0), |(p, q), node| (p + node.end.operations, q + node.end.planned));
            let operations = match word {
                "planned" => planned.to_string(),
                _ if performed == planned => performed.to_string(),
                _ => format!("{performed} of {planned}"),
            };
            out.push_str(&format!("| {word} | {} | {operations} |\n", names(&of)));
        }
    }
    for problem in &head.problems {
        out.push_str(&format!("\n**{}**\n", code(problem)));
    }
    let mut blocks = groups(&story.nodes, details, Paint::OFF);
    blocks.retain(|(nodes, _)| nodes.iter().any(|node| !node.steps.is_empty() || !node.end.problems.is_empty()));
    // What went wrong is read first, and cut last.
    blocks.sort_by_key(|(nodes, _)| !nodes.iter().any(|node| node.end.is_failure()));
    let mut left = LIMIT.saturating_sub(out.len() + 200);
    let share = (left / blocks.len().max(1)).max(SHARE);
    let mut omitted = 0;
    for (nodes, body) in &blocks {
        let bad = nodes.iter().any(|node| node.end.is_failure());
        let head = format!("\n<details{}><summary>{}</summary>\n\n", if bad { " open" } else { "" }, summary(nodes));
        let room = share.min(left).saturating_sub(head.len() + "\n</details>\n".len());
        if room < SHARE / 4 && body.len() > room {
            omitted += nodes.len();
            continue;
        }
        let block = format!("{head}{}\n</details>\n", fence(body, room));
        left = left.saturating_sub(block.len());
        out.push_str(&block);
    }
    if omitted > 0 {
        let (nodes, id) = (count(omitted, "node"), code(&head.id));
        out.push_str(&format!("\n{nodes} left out, as a comment may not be longer: see the record {id}\n"));
    }
    out
}

/// `suil dry run: 3 operations on 2 nodes`, or how many nodes ended how.
fn title(story: &Story) -> String {
    let ends: Vec<_> = story.nodes.iter().map(|node| (node.node.clone(), node.end.clone())).collect();
    let counts = counts(&ends);
    let planned: usize = story.nodes.iter().filter(|n| n.end.outcome == "planned").map(|n| n.end.planned).sum();
    let words: Vec<String> = counts.iter().map(|(word, n)| format!("{n} {word}")).collect();
    let mode = if story.head.mode.is_empty() { "run" } else { &story.head.mode };
    match counts.as_slice() {
        [] => format!("suil {mode}: no nodes"),
        [("nothing to do", _)] => format!("suil {mode}: nothing to do on {}", count(story.nodes.len(), "node")),
        all if planned > 0 && all.iter().all(|(word, _)| matches!(*word, "planned" | "nothing to do")) => {
            let nodes = all.iter().find(|(word, _)| *word == "planned").map_or(0, |(_, n)| *n);
            format!("suil {mode}: {} on {}", count(planned, "operation"), count(nodes, "node"))
        }
        _ => format!("suil {mode}: {}", words.join(", ")),
    }
}

fn summary(nodes: &[&NodeStory]) -> String {
    let outcome = nodes.first().map(|node| node.end.outcome.as_str()).unwrap_or_default();
    let operations = nodes.first().map(|node| node.end.planned).filter(|planned| *planned > 0);
    let operations = operations.map(|planned| format!(", {}", count(planned, "operation"))).unwrap_or_default();
    format!("{}: {outcome}{operations}", names(nodes))
}

fn names(nodes: &[&NodeStory]) -> String {
    let shown: Vec<String> = nodes.iter().take(NAMES).map(|node| code(&node.node)).collect();
    let more = match nodes.len().saturating_sub(NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", shown.join(", "))
}

/// Text as inline code. Whatever could be markup in Markdown, in a table or in HTML stands as a character reference,
/// which is never markup; nothing in code is a mention.
fn code(text: &str) -> String {
    let mut out = String::from("<code>");
    for c in text.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | ' ' | '-' | '.' | ',' | '/' | '=' | '+' | '%' => out.push(c),
            c if c.is_control() => out.push('\u{fffd}'),
            c if c.is_ascii() => out.push_str(&format!("&#{};", c as u32)),
            c => out.push(c),
        }
    }
    out + "</code>"
}

/// Text as a fenced block of at most about `room` bytes, behind a fence longer than any in it.
fn fence(text: &str, room: usize) -> String {
    let ticks = text.lines().map(longest).max().unwrap_or(0).max(2) + 1;
    let fence = "`".repeat(ticks);
    let room = room.saturating_sub(2 * ticks + 60);
    let mut kept = String::new();
    let mut lines = text.lines();
    for line in lines.by_ref() {
        if kept.len() + line.len() + 1 > room {
            let hidden = 1 + lines.count();
            kept.push_str(&format!("… {}\n", count(hidden, "more line")));
            break;
        }
        kept.push_str(&format!("{}\n", line.replace('\u{0}', "\u{fffd}")));
    }
    format!("{fence}text\n{kept}{fence}\n")
}

/// How many backticks stand together at most.
fn longest(line: &str) -> usize {
    line.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out_of_code() {
        assert_eq!(
            code("a|b`c`<i>@x\n*_[#"),
            "<code>a&#124;b&#96;c&#96;&#60;i&#62;&#64;x\u{fffd}&#42;&#95;&#91;&#35;</code>"
        );
        let fenced = fence("```\n</details>\n````` x\n", 1000);
        assert_eq!(fenced, "``````text\n```\n</details>\n````` x\n``````\n");
    }

    #[test]
    fn a_long_text_is_cut_between_lines_and_says_how_much_is_missing() {
        let text: String = (0..100).map(|n| format!("line {n}\n")).collect();
        let fenced = fence(&text, 200);
        assert!(fenced.len() <= 200 && fenced.contains("more lines\n```\n"), "{fenced}");
    }
}
