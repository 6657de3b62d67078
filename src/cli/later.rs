//! Nodes that a run comes to later: their data is made from what the layers of others bring.

use super::impact::with_layers;
use super::start::Start;
use crate::base::{Plain, Problem, Problems, problem};
use crate::catalogue::{self, Catalogue, Need, Workspace, need};
use crate::plan::Modules;
use crate::run::{self, Gathered, Prepared, layers};
use std::collections::BTreeSet;

/// The nodes that are not come to yet.
#[derive(Default)]
pub struct Later {
    needs: Vec<Need>,
    nodes: BTreeSet<String>,
}

impl Later {
    /// Parts the selected nodes: those that can be read at once, as a selection, and those that come later.
    ///
    /// # Errors
    /// The selection matches nothing, or nodes wait for each other.
    pub fn part(
        workspace: &Workspace,
        modules: &Modules,
        selection: catalogue::Selection,
    ) -> Result<(catalogue::Selection, Later), Problems> {
        let names = with_layers(modules);
        let needs = need::needs(workspace, &selection, &names)?;
        if needs.is_empty() {
            return Ok((selection, Later::default()));
        }
        if let Some(problem) = need::circle(&needs) {
            return Err(problem.into());
        }
        let nodes: BTreeSet<String> = needs.iter().map(|need| need.reader.clone()).collect();
        let all = catalogue::selected(workspace, &selection)?;
        let first = catalogue::Selection::names(all.difference(&nodes).map(String::as_str));
        Ok((first, Later { needs, nodes }))
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// What is wrong with their data, as far as it does not hang on what they wait for.
    pub fn problems(&self, workspace: &Workspace) -> (Catalogue, Problems) {
        if self.nodes.is_empty() {
            return Default::default();
        }
        let selection = catalogue::Selection::names(self.nodes.iter().map(String::as_str));
        let (catalogue, problems) =
            Catalogue::sound(workspace, &selection).unwrap_or_else(|p| (Catalogue::default(), p));
        let waits = |problem: &Problem| self.needs.iter().any(|need| Some(need.place) == problem.place);
        (catalogue, problems.into_iter().filter(|problem| !waits(problem)).collect())
    }

    /// Takes out the nodes that need nothing any more which is about to change.
    fn ready(&mut self, gathered: &Gathered) -> BTreeSet<String> {
        let waiting: BTreeSet<String> = self.pending(gathered).map(|need| need.reader.clone()).collect();
        let ready = self.nodes.difference(&waiting).cloned().collect();
        self.nodes = waiting;
        ready
    }

    /// What is still waited for, by the name of who waits.
    pub fn pending<'a>(&'a self, gathered: &'a Gathered) -> impl Iterator<Item = &'a Need> {
        let waiting = self.needs.iter().filter(|need| self.nodes.contains(&need.reader));
        waiting.filter(|need| layers::is_pending(gathered, &need.provider, &need.field))
    }
}

/// A node that waits in the end, and for what.
#[derive(Clone, Debug)]
pub struct Waiting {
    pub node: String,
    /// Each field that it waits for, with the node that has it.
    pub needs: Vec<Need>,
}

impl Waiting {
    /// `{node, for: [{node, field}]}`.
    pub fn to_plain(&self) -> Plain {
        let need = |need: &Need| {
            Plain::from_iter([("node", Plain::from(&need.provider)), ("field", Plain::from(&need.field))])
        };
        Plain::from_iter([("node", Plain::from(&self.node)), ("for", self.needs.iter().map(need).collect())])
    }

    /// Why it cannot be planned, in one line.
    pub fn why(&self) -> String {
        let needs: Vec<String> =
            self.needs.iter().map(|need| format!("`{}` of `{}`", need.field, need.provider)).collect();
        format!("its data reads {}, which is to be applied first", needs.join(", "))
    }

    /// How it ends where one that it waits for did not end well; `halted`: nobody begins any more.
    fn left(&self, ends_well: impl Fn(&str) -> bool, halted: bool) -> Option<run::Outcome> {
        let need = self.needs.iter().find(|need| halted || !ends_well(&need.provider))?;
        let problem = Problem::new(format!("node `{}` was not begun: it waits for `{}`", self.node, need.provider))
            .at(need.place)
            .note(format!("its data reads `{}`", need.field))
            .help("mend the cause, then `suil apply --failed` goes on");
        Some(run::Outcome::NotReached { problems: vec![problem] })
    }
}

/// The warning of a node whose layers could not all be planned when the saved plan was made.
pub fn unfinished(node: &str) -> Problem {
    Problem::warning(format!("node `{node}`: a layer that waited for others can be planned now"))
        .note("the plan that was applied has no part of it")
        .help(format!("`suil apply --node {node}` plans it"))
}

/// Parts those that wait: who comes next, and how the others end.
pub fn next(
    mut waiting: Vec<Waiting>,
    outcomes: &[(String, run::Outcome)],
    halted: bool,
) -> (Vec<String>, Vec<(String, run::Outcome)>) {
    let mut left: Vec<(String, run::Outcome)> = Vec::new();
    loop {
        let ends_well = |node: &str| {
            let ended = outcomes.iter().find(|(name, _)| name == node).map(|(_, end)| !end.is_failure());
            ended.unwrap_or_else(|| !left.iter().any(|(name, _)| name == node))
        };
        let found: Vec<(String, run::Outcome)> =
            waiting.iter().filter_map(|one| Some((one.node.clone(), one.left(ends_well, halted)?))).collect();
        if found.is_empty() {
            return (waiting.into_iter().map(|one| one.node).collect(), left);
        }
        waiting.retain(|one| !found.iter().any(|(node, _)| *node == one.node));
        left.extend(found);
    }
}

impl Start {
    /// Of the nodes whose layers were applied, those that ended well and have others that waited for them.
    pub fn unfinished(&self, nodes: &[String], outcomes: &[(String, run::Outcome)]) -> Vec<String> {
        let modules = with_layers(&self.setup().modules);
        let well = |node: &&String| {
            outcomes.iter().any(|(name, outcome)| name == *node && matches!(outcome, run::Outcome::Done { .. }))
        };
        let unfinished = nodes.iter().filter(well);
        unfinished.filter(|node| layers::is_unfinished(self.root(), node, &modules)).cloned().collect()
    }

    /// Prepares every node that can be read at once.
    ///
    /// # Errors
    /// All problems that can be known before anything connects, of those that come later as well.
    pub fn prepare(&self) -> Result<Vec<Prepared>, Problems> {
        let (rest, mut problems) = self.later.problems(self.workspace());
        problems.extend(run::prepare(self.setup(), &rest, &self.options).err().unwrap_or_default());
        match run::prepare(self.setup(), &self.catalogue, &self.options) {
            Ok(prepared) if problems.is_empty() => Ok(prepared),
            found => {
                problems.extend(found.err().unwrap_or_default());
                problem::sort(&mut problems);
                Err(problems)
            }
        }
    }

    /// Gathers those that come later and need not wait any more: nothing that they read is about to change. `tell`
    /// sees the preparations of each lot. Returns who still waits.
    ///
    /// # Errors
    /// As [`Start::prepare`] and [`Start::gather`].
    pub fn follow(
        &mut self,
        gathered: &mut Gathered,
        mut tell: impl FnMut(&Start, &Catalogue, &[Prepared]) -> Result<(), Problem>,
    ) -> Result<Vec<Waiting>, Problems> {
        loop {
            let ready = self.later.ready(gathered);
            if ready.is_empty() || self.stop.asked() {
                break;
            }
            let selection = catalogue::Selection::names(ready.iter().map(String::as_str));
            let more = Catalogue::build(self.workspace(), &selection)?;
            let prepared = run::prepare(self.setup(), &more, &self.options)?;
            tell(self, &more, &prepared)?;
            let found = self.gather(prepared, "reading facts")?;
            gathered.join(found);
            self.catalogue.join(more);
        }
        let mut waiting: Vec<Waiting> = Vec::new();
        for need in self.later.pending(gathered) {
            match waiting.last_mut() {
                Some(last) if last.node == need.reader => last.needs.push(need.clone()),
                _ => waiting.push(Waiting { node: need.reader.clone(), needs: vec![need.clone()] }),
            }
        }
        Ok(waiting)
    }
}
