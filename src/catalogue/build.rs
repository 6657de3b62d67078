//! Builds the catalogue: one entry for every selected node, all problems of all nodes together.

use super::card::Card;
use super::entry::Entry;
use super::files::keep;
use super::lookup::{Answers, Found, Read};
use super::probe::Probe;
use super::select::{Selected, Selection, select};
use super::stack::Stack;
use super::workspace::Workspace;
use crate::base::{Problems, Result, problem};
use crate::data::Value;
use std::sync::Arc;

/// The entries of the selected nodes.
#[derive(Debug, Default)]
pub struct Catalogue {
    /// By name.
    pub entries: Vec<Entry>,
    /// What is worth saying, though nothing fails because of it.
    pub warnings: Problems,
    /// What the lookups of the entries find.
    pub reads: Vec<Read>,
}

impl Catalogue {
    /// Builds the entries of the selected nodes. Connects to nothing and decrypts nothing.
    ///
    /// # Errors
    /// All problems of all selected nodes, and of the nodes that their lookups read, sorted by place.
    pub fn build(workspace: &Workspace, selection: &Selection) -> Result<Catalogue> {
        let (catalogue, problems) = Catalogue::sound(workspace, selection)?;
        if problems.is_empty() { Ok(catalogue) } else { Err(problems) }
    }

    /// Builds the entries of those selected nodes that can be built, with the problems of the others: a fault of one
    /// must not hide those of another. For checks only; a run needs [`Catalogue::build`].
    ///
    /// # Errors
    /// A selection that matches nothing.
    pub fn sound(workspace: &Workspace, selection: &Selection) -> Result<(Catalogue, Problems)> {
        let mut warnings = workspace.warnings().to_vec();
        let cards = select(workspace, selection, &mut warnings)?;
        Ok(Catalogue::of(workspace, cards, warnings))
    }

    /// Builds the entries of these nodes, with the problems of those that cannot be built.
    pub(super) fn of(workspace: &Workspace, cards: Vec<Selected>, warnings: Problems) -> (Catalogue, Problems) {
        let mut problems = Problems::new();
        let mut answers = Answers::default();
        let mut entries = Vec::with_capacity(cards.len());
        for (node, card) in cards {
            let Some(card) = keep(card, &mut problems) else {
                role_of_a_broken_one(workspace, &node, &mut problems);
                continue;
            };
            let probe = workspace.probe(&card.name).map_err(Problems::from);
            let entry = probe.and_then(|probe| one(workspace, &card, probe, &mut answers));
            entries.extend(keep(entry, &mut problems));
        }
        let reads = answers.reads();
        problems.append(&mut answers.problems);
        problem::sort(&mut problems);
        (Catalogue { entries, warnings, reads }, problems)
    }

    /// Adds the entries of other nodes.
    pub fn join(&mut self, more: Catalogue) {
        self.entries.extend(more.entries);
        self.entries.sort_by(|a, b| a.name.cmp(&b.name));
        self.warnings
            .extend(more.warnings.into_iter().filter(|warning| !self.warnings.contains(warning)).collect::<Vec<_>>());
        self.reads.extend(more.reads);
    }

    /// Builds the entry of one node again after a fresh probe, from the files that were already read.
    ///
    /// # Errors
    /// All that is wrong with the node now, its OS layers known.
    pub fn rebuild(&mut self, workspace: &Workspace, node: &str, probe: Probe) -> Result<()> {
        let card = workspace.card(node)?;
        let mut answers = Answers::default();
        let entry = one(workspace, &card, probe, &mut answers)?;
        if !answers.problems.is_empty() {
            problem::sort(&mut answers.problems);
            return Err(answers.problems);
        }
        match self.entries.binary_search_by(|known| (*known.name).cmp(node)) {
            Ok(at) => self.entries.splice(at..=at, [entry]).for_each(drop),
            Err(at) => self.entries.insert(at, entry),
        }
        Ok(())
    }
}

/// What is wrong in the role of a node whose own file is broken: both are told in one run, not one after the other.
fn role_of_a_broken_one(workspace: &Workspace, node: &str, problems: &mut Problems) {
    let Some(role) = workspace.seeming_role(node) else { return };
    if let Some(layer) = keep(workspace.role_layer_of(&role), problems).flatten() {
        problems.extend(layer.problems.iter().cloned());
    }
}

fn one(workspace: &Workspace, card: &Card, probe: Probe, answers: &mut Answers) -> Result<Entry> {
    let shape = card.shape(workspace, &probe)?;
    let stack: Arc<Stack> = workspace.stacks().get(workspace, &shape);
    let data = stack.merge(workspace, &card.name)?;
    entry(workspace, card, probe, stack.modules.clone(), data, answers)
}

/// The entry of a node whose layers are merged: its lookups are answered.
pub(super) fn entry(
    workspace: &Workspace,
    card: &Card,
    probe: Probe,
    modules: Arc<[String]>,
    merged: Option<Value>,
    answers: &mut Answers,
) -> Result<Entry> {
    let mut problems = Problems::new();
    let mut found = Found::default();
    if let Some(data) = &merged {
        let mut answer = |lookup: &_, place| answers.answer(workspace, lookup, place);
        found.gather(data, card.number, &mut answer, &mut problems);
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Entry {
        name: card.name.clone(),
        role: card.role.clone(),
        provisional: !probe.is_known(),
        probe,
        modules,
        place: card.layer.whole.place,
        number: card.number,
        merged,
        found,
    })
}
