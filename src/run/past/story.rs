//! All that a record tells of its run, put together: the plan, what became of each operation, how each node ended.

use super::Run;
use super::end::{End, number, text, texts};
use super::head::{Head, State};
use crate::base::{Plain, Problem, clock};
use std::collections::HashMap;

/// A run as `suil runs show` and the reports tell it.
#[derive(Clone, PartialEq, Debug)]
pub struct Story {
    pub head: Head,
    /// When it began: `2026-11-30T02:54:46Z`.
    pub started: String,
    /// In the order of the catalogue.
    pub nodes: Vec<NodeStory>,
}

impl Story {
    /// This story and the one of the round after it, which tells last how a node ended. What was done in a round before
    /// stands first, with numbers behind those of the last.
    #[must_use]
    pub fn and(self, mut next: Story) -> Story {
        for mut before in self.nodes {
            match next.nodes.iter_mut().find(|node| node.node == before.node) {
                Some(node) => {
                    let own = node.steps.len();
                    before.steps.iter_mut().for_each(|step| step.id += own);
                    before.steps.append(&mut node.steps);
                    node.steps = before.steps;
                }
                None => next.nodes.push(before),
            }
        }
        next.nodes.sort_by(|a, b| a.node.cmp(&b.node));
        next
    }
}

/// What a run was for one node.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NodeStory {
    pub node: String,
    /// Empty where the node was not reached, as the modules.
    pub role: String,
    pub modules: Vec<String>,
    pub end: End,
    pub steps: Vec<Step>,
}

/// What became of one operation.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Step {
    /// Counts from 1 within the node.
    pub id: usize,
    pub module: String,
    pub resource: String,
    pub verb: String,
    pub title: String,
    pub fate: Fate,
    pub seconds: Option<f64>,
    /// What went wrong, in one line.
    pub problem: Option<String>,
    /// What the node said.
    pub output: String,
    /// `diff` of the plan: attributes before and after, contents as their digests.
    pub diff: Plain,
    pub triggered_by: Vec<String>,
    /// `file:line:column` of what declared the resource.
    pub place: Option<String>,
}

/// How an operation ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fate {
    Done,
    Failed,
    /// It was begun, and nobody knows whether it ended.
    InDoubt,
    #[default]
    NotPerformed,
    /// Of a dry run, or an answer of no.
    Planned,
}

impl Fate {
    pub fn word(self) -> &'static str {
        match self {
            Fate::Done => "done",
            Fate::Failed => "failed",
            Fate::InDoubt => "in doubt",
            Fate::NotPerformed => "not performed",
            Fate::Planned => "planned",
        }
    }
}

impl Run {
    /// Reads all that the record tells.
    ///
    /// # Errors
    /// A file of the record is broken.
    pub fn story(&self) -> Result<Story, Problem> {
        let head = self.head()?;
        let (plan, ends, events) = (self.plan()?, self.ends()?, self.events()?);
        let told = Told::read(&events);
        let planned = plan.as_ref().and_then(|plan| plan.get("nodes")).and_then(Plain::as_list).unwrap_or_default();
        let mut by_node: HashMap<String, &Plain> = planned.iter().map(|node| (text(node, "node"), node)).collect();
        let mut nodes = Vec::new();
        for (node, end) in ends {
            let operations = by_node.remove(&node).and_then(|plan| plan.get("operations")).and_then(Plain::as_list);
            let steps = operations.unwrap_or_default().iter().map(|op| told.step(&node, op, &end)).collect();
            nodes.push(NodeStory { node, end, steps, ..NodeStory::default() });
        }
        if head.state == State::Configs {
            nodes.extend(self.nodes()?.into_iter().map(|node| NodeStory { node, ..NodeStory::default() }));
        }
        for node in &mut nodes {
            let entry = self.entry(&node.node)?.unwrap_or_default();
            node.role = text(&entry, "role");
            node.modules = texts(&entry, "modules");
        }
        Ok(Story { head, started: clock::stamp(self.started()), nodes })
    }
}

/// What the events say of operations, by node and number.
struct Told<'a> {
    ended: HashMap<(&'a str, i64), &'a Plain>,
    begun: HashMap<(&'a str, i64), ()>,
}

impl<'a> Told<'a> {
    fn read(events: &'a [Plain]) -> Told<'a> {
        let mut told = Told { ended: HashMap::new(), begun: HashMap::new() };
        for event in events {
            let word = |key: &str| event.get(key).and_then(Plain::as_str);
            let (Some(node), Some(id)) = (word("node"), event.get("operation").and_then(Plain::as_int)) else {
                continue;
            };
            match word("event") {
                Some("starting") => drop(told.begun.insert((node, id), ())),
                Some("ended") => drop(told.ended.insert((node, id), event)),
                _ => {}
            }
        }
        told
    }

    fn step(&self, node: &str, operation: &Plain, end: &End) -> Step {
        let id = operation.get("id").and_then(Plain::as_int).unwrap_or(0);
        let ended = self.ended.get(&(node, id)).copied();
        let problem = ended.and_then(|event| event.get("problem")).and_then(Plain::as_str);
        let fate = match (ended, problem) {
            (Some(_), None) => Fate::Done,
            (Some(_), Some(_)) if end.outcome == "in doubt" => Fate::InDoubt,
            (Some(_), Some(_)) => Fate::Failed,
            (None, _) if self.begun.contains_key(&(node, id)) => Fate::InDoubt,
            (None, _) if end.outcome == "planned" => Fate::Planned,
            (None, _) => Fate::NotPerformed,
        };
        Step {
            id: usize::try_from(id).unwrap_or(0),
            module: text(operation, "module"),
            resource: text(operation, "resource"),
            verb: text(operation, "verb"),
            title: text(operation, "title"),
            fate,
            seconds: ended.and_then(|event| event.get("seconds")).and_then(number),
            problem: problem.map(str::to_owned),
            output: ended.map(|event| text(event, "output")).unwrap_or_default(),
            diff: operation.get("diff").cloned().unwrap_or_default(),
            triggered_by: texts(operation, "triggered_by"),
            place: operation.get("place").and_then(Plain::as_str).map(str::to_owned),
        }
    }
}

impl NodeStory {
    /// The problems that no operation tells already: of the way to the node, of the check.
    pub fn other_problems(&self) -> impl Iterator<Item = &str> {
        let known = |problem: &&String| !self.steps.iter().any(|step| step.problem.as_ref() == Some(*problem));
        self.end.problems.iter().filter(known).map(String::as_str)
    }

    pub fn to_plain(&self) -> Plain {
        Plain::from_iter([
            ("node", Plain::from(&self.node)),
            ("role", Plain::from(Some(self.role.as_str()).filter(|role| !role.is_empty()))),
            ("modules", self.modules.iter().map(Plain::from).collect()),
            ("outcome", Plain::from(Some(self.end.outcome.as_str()).filter(|outcome| !outcome.is_empty()))),
            ("performed", Plain::from(self.end.operations)),
            ("planned", Plain::from(self.end.planned)),
            ("problems", self.end.problems.iter().map(Plain::from).collect()),
            ("operations", self.steps.iter().map(Step::to_plain).collect()),
        ])
    }
}

impl Step {
    fn to_plain(&self) -> Plain {
        Plain::from_iter([
            ("id", Plain::from(self.id)),
            ("module", Plain::from(&self.module)),
            ("resource", Plain::from(&self.resource)),
            ("verb", Plain::from(&self.verb)),
            ("title", Plain::from(&self.title)),
            ("status", Plain::from(self.fate.word())),
            ("seconds", Plain::from(self.seconds)),
            ("problem", Plain::from(self.problem.clone())),
            ("output", Plain::from(&self.output)),
            ("diff", self.diff.clone()),
            ("triggered_by", self.triggered_by.iter().map(Plain::from).collect()),
            ("place", Plain::from(self.place.clone())),
        ])
    }
}

impl Story {
    /// Keeps the nodes for which `is` holds.
    pub fn only(&mut self, is: impl Fn(&str) -> bool) {
        self.nodes.retain(|node| is(&node.node));
    }

    /// `{run: {…}, nodes: [{node, role, modules, outcome, performed, planned, problems, operations}]}`.
    pub fn to_plain(&self, run: &Run) -> Plain {
        Plain::from_iter([
            ("run", self.head.to_plain(run)),
            ("nodes", self.nodes.iter().map(NodeStory::to_plain).collect()),
        ])
    }
}
