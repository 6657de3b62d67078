//! What a command said on many nodes: equal answers once, under the names of the nodes that gave them.

use super::text::{self, count};
use super::{Paint, names};
use crate::base::{Mask, Plain};
use crate::run::Reply;

/// The columns of a heading where the screen does not say.
const COLUMNS: usize = 80;

/// The nodes that gave one answer.
struct Group<'a> {
    nodes: Vec<&'a str>,
    status: i32,
    stdout: &'a str,
    stderr: &'a str,
}

/// Renders the answers, those of most nodes first, then in the order of the nodes. Nodes without an answer have their
/// problem elsewhere. `terminal` is its width where there is one: nothing in an answer may steer it.
pub fn render(replies: &[Reply], terminal: Option<usize>, paint: Paint) -> String {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for reply in replies {
        let Ok(outcome) = &reply.answer else { continue };
        let (status, stdout, stderr) = (outcome.status, outcome.stdout.as_str(), outcome.stderr.as_str());
        let same = |group: &&mut Group<'_>| (group.status, group.stdout, group.stderr) == (status, stdout, stderr);
        match groups.iter_mut().find(same) {
            Some(group) => group.nodes.push(&reply.node),
            None => groups.push(Group { nodes: vec![&reply.node], status, stdout, stderr }),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.nodes.len()));
    let mut out = String::new();
    for group in &groups {
        if !out.is_empty() {
            out.push('\n');
        }
        group.render(&mut out, terminal, paint);
    }
    if replies.len() > 1 {
        let gap = if out.is_empty() { "" } else { "\n" };
        out.push_str(&format!("{gap}{}\n", tally(replies, paint)));
    }
    out
}

impl Group<'_> {
    fn render(&self, out: &mut String, terminal: Option<usize>, paint: Paint) {
        let nodes = names::fold(self.nodes.iter().copied());
        let mut lines = names::lines(&nodes, terminal.unwrap_or(COLUMNS));
        if let (Some(last), more @ 2..) = (lines.last_mut(), self.nodes.len()) {
            last.push_str(&format!(" ({})", count(more, "node")));
        }
        let last = lines.len().saturating_sub(1);
        for (i, line) in lines.iter().enumerate() {
            out.push_str(&paint.heading(line));
            if i == last && self.status != 0 {
                out.push_str(&format!("  {}", paint.bad(&format!("exit {}", self.status))));
            }
            out.push('\n');
        }
        said(out, self.stdout, terminal);
        if !self.stderr.is_empty() {
            out.push_str(&format!("{}\n", paint.quiet("stderr:")));
            said(out, self.stderr, terminal);
        }
    }
}

/// A screen gets cleaned text, a pipe what the node said.
fn said(out: &mut String, words: &str, terminal: Option<usize>) {
    match terminal {
        Some(_) => out.push_str(&text::clean_lines(words)),
        None => out.push_str(words),
    }
    if !words.is_empty() && !words.ends_with('\n') {
        out.push('\n');
    }
}

/// `12 nodes: 9 done, 2 failed, 1 not reached`.
fn tally(replies: &[Reply], paint: Paint) -> String {
    let words = ["done", "failed", "not reached"].into_iter().filter_map(|word| {
        let n = replies.iter().filter(|reply| reply.word() == word).count();
        let text = format!("{n} {word}");
        (n > 0).then(|| if word == "done" { paint.added(&text) } else { paint.bad(&text) })
    });
    format!("{}: {}", count(replies.len(), "node"), words.collect::<Vec<_>>().join(", "))
}

/// `{version, nodes: [{node, outcome, status, stdout, stderr, seconds, problem}]}`; `status` is null where there was no
/// answer, `problem` where there was one.
pub fn plain(replies: &[Reply], mask: &Mask) -> Plain {
    let node = |reply: &Reply| {
        let answer = reply.answer.as_ref().ok();
        Plain::from_iter([
            ("node", Plain::from(&reply.node)),
            ("outcome", Plain::from(reply.word())),
            ("status", Plain::from(answer.map(|outcome| Plain::Int(outcome.status.into())))),
            ("stdout", Plain::from(answer.map_or("", |outcome| &outcome.stdout))),
            ("stderr", Plain::from(answer.map_or("", |outcome| &outcome.stderr))),
            ("seconds", Plain::from((reply.seconds * 1000.0).round() / 1000.0)),
            ("problem", Plain::from(reply.problem().map(|problem| Plain::from(&problem.what)))),
        ])
    };
    mask.plain(&Plain::from_iter([("version", Plain::Int(1)), ("nodes", replies.iter().map(node).collect())]))
}
