//! What a list of runs shows of each: who ran what, and how it ended on the whole. Cheap even where a run had ten
//! thousand nodes.

use super::Run;
use super::end::{self, number, text, texts};
use crate::base::{Plain, Problem, clock};

/// How far a run came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Ended,
    /// Its suil is at work.
    Going,
    /// It was killed, or the machine went down.
    Unfinished,
    /// The record of a suil that recorded configs alone.
    Configs,
}

impl State {
    pub fn word(self) -> &'static str {
        match self {
            State::Ended => "ended",
            State::Going => "going",
            State::Unfinished => "unfinished",
            State::Configs => "configs only",
        }
    }
}

/// One run in a list.
#[derive(Clone, PartialEq, Debug)]
pub struct Head {
    pub id: String,
    pub state: State,
    /// `apply` or `dry run`; empty where the record does not say, as the next two.
    pub mode: String,
    pub by: String,
    pub command: String,
    /// Why, where somebody said so; else empty.
    pub reason: String,
    /// All of `run.yaml`.
    pub about: Plain,
    pub ended: Option<String>,
    pub seconds: Option<f64>,
    pub exit: Option<i64>,
    /// What went wrong beside the nodes, each in one line.
    pub problems: Vec<String>,
    /// So many nodes ended with each outcome, the gravest first; an outcome of none is left out.
    pub counts: Counts,
}

/// Nodes by outcome.
type Counts = Vec<(String, usize)>;

impl Run {
    /// Reads what a list shows.
    ///
    /// # Errors
    /// A file of the record is broken.
    pub fn head(&self) -> Result<Head, Problem> {
        let about = self.about()?;
        let (figures, counts) = self.figures()?;
        let state = match (&figures, &about) {
            (Some(_), _) => State::Ended,
            (None, _) if self.is_going() => State::Going,
            (None, None) if !self.path.join("plan.json").exists() => State::Configs,
            (None, _) => State::Unfinished,
        };
        let about = about.unwrap_or_else(Plain::map);
        let figures = figures.unwrap_or_default();
        Ok(Head {
            id: self.id.clone(),
            state,
            mode: text(&about, "mode"),
            by: text(&about, "by"),
            command: text(&about, "command"),
            reason: text(&about, "reason"),
            ended: figures.get("ended").and_then(Plain::as_str).map(str::to_owned),
            seconds: figures.get("seconds").and_then(number),
            exit: figures.get("exit").and_then(Plain::as_int),
            problems: texts(&figures, "problems"),
            about,
            counts,
        })
    }

    /// The summary without its nodes, which stand last, and the counts. An older summary must be read whole for them.
    fn figures(&self) -> Result<(Option<Plain>, Counts), Problem> {
        let Some(text) = self.text("summary.yaml")? else { return Ok((None, Vec::new())) };
        if let Some((head, _)) = text.split_once("\nnodes:")
            && let Ok(head) = Plain::from_yaml(head)
            && let Some(counts) = head.get("counts").and_then(Plain::as_map)
        {
            let counts = counts.iter().filter_map(|(word, n)| Some((word.clone(), usize::try_from(n.as_int()?).ok()?)));
            let counts = counts.filter(|(_, n)| *n > 0).collect();
            return Ok((Some(self.understood("summary.yaml", head)?), counts));
        }
        let summary = self.summary()?.unwrap_or_default();
        let counts = end::counts(&summary.nodes).into_iter().map(|(word, n)| (word.to_owned(), n)).collect();
        Ok((Some(Plain::from_iter([("ended", Plain::from(summary.ended))])), counts))
    }

    /// True where the run has a node for which `is` holds.
    ///
    /// # Errors
    /// A file of the record is broken.
    pub fn has_node(&self, is: impl Fn(&str) -> bool) -> Result<bool, Problem> {
        Ok(self.nodes()?.iter().any(|node| is(node)) || self.ends()?.iter().any(|(node, _)| is(node)))
    }
}

impl Head {
    /// `{id, state, started, mode, by, command, reason, selection, commit, suil, ended, seconds, exit, problems, counts}`.
    pub fn to_plain(&self, run: &Run) -> Plain {
        let known = |key: &str| self.about.get(key).cloned().unwrap_or_default();
        let counts: Plain = self.counts.iter().map(|(word, n)| (word.clone(), Plain::from(*n))).collect();
        Plain::from_iter([
            ("id", Plain::from(&self.id)),
            ("state", Plain::from(self.state.word())),
            ("started", Plain::from(clock::stamp(run.started()))),
            ("mode", known("mode")),
            ("by", known("by")),
            ("command", known("command")),
            ("reason", known("reason")),
            ("selection", known("selection")),
            ("commit", known("commit")),
            ("suil", known("suil")),
            ("ended", Plain::from(self.ended.clone())),
            ("seconds", Plain::from(self.seconds)),
            ("exit", Plain::from(self.exit)),
            ("problems", self.problems.iter().map(Plain::from).collect()),
            ("counts", counts),
        ])
    }
}
