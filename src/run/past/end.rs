//! How the nodes of a recorded run ended.

use crate::base::Plain;
use crate::run::outcome::WORDS;

/// `summary.yaml`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Summary {
    /// `2026-11-30T02:54:46Z`.
    pub ended: String,
    /// How long the run took; `None` in an older record, as `exit`.
    pub seconds: Option<f64>,
    pub exit: Option<i64>,
    /// In the order of the catalogue.
    pub nodes: Vec<(String, End)>,
}

/// How one node ended.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct End {
    /// One of [`WORDS`].
    pub outcome: String,
    /// So many operations were performed.
    pub operations: usize,
    pub planned: usize,
    pub problems: Vec<String>,
}

impl End {
    /// True where the node did not reach what it was asked for.
    pub fn is_failure(&self) -> bool {
        matches!(self.outcome.as_str(), "failed" | "in doubt" | "not reached")
    }
}

impl Summary {
    pub(super) fn read(summary: &Plain) -> Option<Summary> {
        let nodes = summary.get("nodes")?.as_map()?;
        Some(Summary {
            ended: text(summary, "ended"),
            seconds: summary.get("seconds").and_then(number),
            exit: summary.get("exit").and_then(Plain::as_int),
            nodes: nodes.iter().map(|(node, end)| (node.clone(), read(end))).collect(),
        })
    }
}

/// So many nodes ended with each word, in the order of [`WORDS`]; words that no node ended with are left out.
pub fn counts(ends: &[(String, End)]) -> Vec<(&str, usize)> {
    let of = |word: &&'static str| (*word, ends.iter().filter(|(_, end)| end.outcome == *word).count());
    WORDS.iter().map(of).filter(|(_, n)| *n > 0).collect()
}

fn read(end: &Plain) -> End {
    let count = |key: &str| end.get(key).and_then(Plain::as_int).and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
    End {
        outcome: text(end, "outcome"),
        operations: count("operations"),
        planned: count("planned"),
        problems: texts(end, "problems"),
    }
}

pub(super) fn text(value: &Plain, key: &str) -> String {
    value.get(key).and_then(Plain::as_str).unwrap_or_default().to_owned()
}

pub(super) fn texts(value: &Plain, key: &str) -> Vec<String> {
    let list = value.get(key).and_then(Plain::as_list).unwrap_or_default();
    list.iter().filter_map(Plain::as_str).map(str::to_owned).collect()
}

pub(super) fn number(value: &Plain) -> Option<f64> {
    match value {
        Plain::Float(x) => Some(*x),
        Plain::Int(n) => Some(*n as f64),
        _ => None,
    }
}

/// How far each node of the plan came in a run that wrote no summary.
pub(super) fn of_killed(plan: &Plain, events: &[Plain]) -> Vec<(String, End)> {
    let nodes = plan.get("nodes").and_then(Plain::as_list).unwrap_or_default();
    let name = |node: &Plain| node.get("node").and_then(Plain::as_str).map(str::to_owned);
    let nodes = nodes.iter().filter_map(|node| Some((name(node)?, node)));
    nodes.map(|(name, node)| (name.clone(), far(&name, node, events))).collect()
}

fn far(name: &str, node: &Plain, events: &[Plain]) -> End {
    let own = events.iter().filter(|event| event.get("node").and_then(Plain::as_str) == Some(name));
    let mut end =
        End { planned: node.get("operations").and_then(Plain::as_list).unwrap_or_default().len(), ..End::default() };
    let (mut open, mut told) = (None, None);
    for event in own {
        match event.get("event").and_then(Plain::as_str) {
            Some("starting") => open = event.get("title").and_then(Plain::as_str),
            Some("ended") => {
                open = None;
                match event.get("problem").and_then(Plain::as_str) {
                    None => end.operations += 1,
                    Some(problem) => end.problems.push(problem.to_owned()),
                }
            }
            Some("finished") => told = event.get("outcome").and_then(Plain::as_str),
            _ => {}
        }
    }
    end.outcome = match (told, open) {
        (Some(word), _) => word,
        (None, Some(_)) => "in doubt",
        (None, None) if end.operations == 0 && end.problems.is_empty() => "not reached",
        (None, None) => "failed",
    }
    .to_owned();
    if told.is_none() {
        end.problems.push(match open {
            Some(title) => format!("the run ended in the middle of `{title}`"),
            None => "the run ended before this node did".to_owned(),
        });
    }
    end
}
