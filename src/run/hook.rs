//! Runs the hooks of a batch on the control machine.

use super::outcome::Outcome;
use super::watch::{Event, Watch};
use super::{Setup, Stop};
use crate::base::{Plain, Problem};
use crate::catalogue::Hook;
use crate::node::{Chore, Returned};
use crate::plan::Group;
use std::collections::BTreeMap;
use std::path::Path;

/// One call of a hook: for which nodes of which batch.
pub(super) struct Call<'a> {
    /// `before_batch` or `after_batch`.
    pub name: &'static str,
    pub hook: &'a Hook,
    pub group: &'a Group<'a>,
    /// The address of each node.
    pub hosts: &'a BTreeMap<String, String>,
    /// Counts from 1.
    pub batch: usize,
    pub batches: usize,
    /// The folder of the run's record.
    pub record: &'a Path,
    /// How the nodes of the batch ended.
    pub outcomes: Option<&'a BTreeMap<String, Outcome>>,
}

impl Call<'_> {
    /// Runs the hook to its end, or until a stop is demanded.
    ///
    /// # Errors
    /// It could not be started, ended badly, or was ended.
    pub async fn make(&self, setup: &Setup, watch: &dyn Watch, stop: &Stop) -> Result<(), Problem> {
        let nodes: Vec<String> = self.group.nodes.iter().map(|node| (*node).to_owned()).collect();
        let (hook, batch, of) = (self.name, self.batch, self.batches);
        watch.event(&Event::Hook { hook, batch, of, nodes: &nodes, ended: None });
        let variables = self.variables();
        let root = std::path::absolute(setup.workspace.root());
        let chore = Chore {
            words: &self.hook.words,
            folder: root.as_deref().unwrap_or(setup.workspace.root()),
            variables: &variables,
            limit: self.hook.timeout,
        };
        let returned = chore.run(stop.demanded()).await;
        let mask = setup.vault.mask();
        let output = returned.as_ref().map(|returned| mask.apply(&String::from_utf8_lossy(&returned.output)));
        let output = output.unwrap_or_default();
        let problem = self.problem(&returned, &output);
        let seconds = returned.map_or(0.0, |returned| returned.seconds);
        let ended = (seconds, problem.as_ref().map(|problem| problem.what.as_str()), output.as_str());
        watch.event(&Event::Hook { hook, batch, of, nodes: &nodes, ended: Some(ended) });
        problem.map_or(Ok(()), Err)
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        let hosts = self.group.nodes.iter().map(|node| self.hosts.get(*node).map_or(*node, String::as_str));
        let record = std::path::absolute(self.record);
        let mut variables = vec![
            ("SUIL_HOOK", self.name.to_owned()),
            ("SUIL_NODES", self.group.nodes.join(" ")),
            ("SUIL_HOSTS", hosts.collect::<Vec<_>>().join(" ")),
            ("SUIL_ROLES", self.group.roles.join(" ")),
            ("SUIL_BATCH", self.batch.to_string()),
            ("SUIL_BATCHES", self.batches.to_string()),
            ("SUIL_RUN", record.as_deref().unwrap_or(self.record).display().to_string()),
        ];
        if let Some(outcomes) = self.outcomes {
            let word = |node: &&str| Some(((*node).to_owned(), Plain::from(outcomes.get(*node)?.word())));
            let words: Plain = self.group.nodes.iter().filter_map(word).collect();
            variables.push(("SUIL_OUTCOME", words.to_json_line()));
        }
        variables
    }

    fn problem(&self, returned: &std::io::Result<Returned>, output: &str) -> Option<Problem> {
        let why = match returned {
            Err(error) => format!("cannot be started: {}", words(error)),
            Ok(returned) if returned.late => format!("took longer than {} s", self.hook.timeout.as_secs()),
            Ok(Returned { status: Some(0), .. }) => return None,
            Ok(Returned { status: Some(status), .. }) => format!("ended with status {status}"),
            Ok(Returned { status: None, .. }) => "was ended by a signal".to_owned(),
        };
        let what = format!("`{}` of batch {} of {} {why}", self.name, self.batch, self.batches);
        let mut problem = Problem::new(what).at(self.hook.place);
        let lines: Vec<&str> = output.trim().lines().collect();
        for line in lines.iter().skip(lines.len().saturating_sub(WORDS)) {
            problem = problem.note(format!("it said: {line}"));
        }
        Some(problem.note(format!("it was run for: {}", self.group.nodes.join(", "))))
    }
}

/// So many of the last lines that a hook said are shown.
const WORDS: usize = 12;

fn words(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}
