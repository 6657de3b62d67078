//! What a run comes to later: nodes whose data is made from what the layers of others bring, and layers that are made from
//! what is read from nodes.

mod held;

pub use held::{Back, Blocked};

use super::Selection;
use super::impact::with_layers;
use super::load::Loaded;
use super::start::Start;
use crate::base::{Plain, Problem, Problems, problem};
use crate::catalogue::{self, Catalogue, Need, Workspace, need};
use crate::run::{self, Gathered, Prepared, layers};
use held::{Held, Hold};
use std::collections::BTreeSet;

/// The nodes and the layers that are not come to yet.
#[derive(Default)]
pub struct Later {
    needs: Vec<Need>,
    nodes: BTreeSet<String>,
    held: Held,
}

impl Later {
    /// Parts the selected nodes: those that can be read at once, as a selection, and those that come later. Layers that
    /// earlier rounds were `blocked` from stay so.
    ///
    /// # Errors
    /// The selection matches nothing, or nodes and layers wait for each other.
    pub fn part(
        loaded: &Loaded,
        asked: &Selection,
        selection: catalogue::Selection,
        blocked: &[Blocked],
    ) -> Result<(catalogue::Selection, Later), Problems> {
        let workspace = &loaded.workspace;
        let needs = need::needs(workspace, &selection, &with_layers(&loaded.modules))?;
        if let Some(problem) = need::circle(&needs) {
            return Err(problem.into());
        }
        let all = catalogue::selected(workspace, &selection)?;
        let held = held(loaded, asked, &all, &needs, blocked)?;
        if needs.is_empty() {
            return Ok((selection, Later { held, ..Later::default() }));
        }
        let nodes: BTreeSet<String> = needs.iter().map(|need| need.reader.clone()).collect();
        let first = catalogue::Selection::names(all.difference(&nodes).map(String::as_str));
        Ok((first, Later { needs, nodes, held }))
    }

    /// The same where every node is read at once, and only layers come later.
    ///
    /// # Errors
    /// As [`Later::part`].
    pub fn layers(loaded: &Loaded, asked: &Selection, selection: &catalogue::Selection) -> Result<Later, Problems> {
        let all = catalogue::selected(&loaded.workspace, selection)?;
        Ok(Later { held: held(loaded, asked, &all, &[], &[])?, ..Later::default() })
    }

    /// Says to who reads layers which of them are held back.
    pub fn back(&self) -> Back {
        self.held.back()
    }

    /// True where no node comes later.
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

    /// How it ends where what it waits for is `gone`; `halted`: nobody begins any more.
    fn left(&self, gone: impl Fn(&Need) -> bool, halted: bool) -> Option<run::Outcome> {
        let need = self.needs.iter().find(|need| halted || gone(need))?;
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

/// What follows a round.
#[derive(Default)]
pub struct Next {
    /// The nodes that come in the next one.
    pub nodes: Vec<String>,
    /// How those end that do not come any more.
    pub left: Vec<(String, run::Outcome)>,
    /// The layers that are not come to any more.
    pub blocked: Vec<Blocked>,
}

/// Parts those that wait: who comes next, and how the others end. `holds` is what layers wait for.
pub fn next(mut waiting: Vec<Waiting>, holds: &[Hold], outcomes: &[(String, run::Outcome)], halted: bool) -> Next {
    let mut next = Next::default();
    let ended = |node: &str| outcomes.iter().find(|(name, _)| name == node).map(|(_, end)| !end.is_failure());
    loop {
        let Next { left, blocked, .. } = &next;
        let fails = |node: &str| !ended(node).unwrap_or_else(|| !left.iter().any(|(name, _)| name == node));
        let gone = |need: &Need| fails(&need.provider) || blocked.iter().any(|one| one.brings(need));
        let found: Vec<(String, run::Outcome)> =
            waiting.iter().filter_map(|one| Some((one.node.clone(), one.left(gone, halted)?))).collect();
        let new = |hold: &&Hold| blocked.iter().all(|one| one.layer != hold.layer);
        let mut lost: Vec<Blocked> = Vec::new();
        for hold in holds.iter().filter(new).filter(|hold| halted || hold.fails(fails, blocked)) {
            if lost.iter().all(|one| one.layer != hold.layer) {
                lost.push(hold.blocked());
            }
        }
        if found.is_empty() && lost.is_empty() {
            break;
        }
        waiting.retain(|one| !found.iter().any(|(node, _)| *node == one.node));
        next.left.extend(found);
        next.blocked.extend(lost);
    }
    let mut nodes: BTreeSet<String> = waiting.into_iter().map(|one| one.node).collect();
    let open = holds.iter().filter(|hold| next.blocked.iter().all(|one| one.layer != hold.layer));
    // A node that failed goes no further.
    nodes.extend(open.map(|hold| hold.layer.node.clone()).filter(|node| ended(node) == Some(true)));
    next.nodes = nodes.into_iter().collect();
    next
}

/// What the layers of the selected nodes wait for.
fn held(
    loaded: &Loaded,
    asked: &Selection,
    selected: &BTreeSet<String>,
    needs: &[Need],
    blocked: &[Blocked],
) -> Result<Held, Problems> {
    let modules = with_layers(&loaded.modules);
    Held::find(loaded, selected, &modules, &|module| asked.has_module(module), needs, blocked)
}

impl Start {
    /// What the layers wait for that have no part in the plan, for the sake of other nodes.
    pub fn holds(&self) -> &[Hold] {
        self.later.held.holds()
    }

    /// Of the nodes whose layers were applied, those that ended well and have others that waited for them.
    pub fn unfinished(
        &self,
        nodes: &[String],
        outcomes: &[(String, run::Outcome)],
        blocked: &[Blocked],
    ) -> Vec<String> {
        let modules = with_layers(&self.setup().modules);
        let well = |node: &&String| {
            outcomes.iter().any(|(name, outcome)| name == *node && matches!(outcome, run::Outcome::Done { .. }))
        };
        let unfinished = nodes.iter().filter(well);
        let stays = |node: &str, name: &str| {
            let blocked = blocked.iter().map(|one| &one.layer);
            let held = self.holds().iter().map(|hold| &hold.layer);
            blocked.chain(held).any(|layer| layer.node == node && layer.name == name)
        };
        let has = |node: &&String| layers::is_unfinished(self.root(), node, &modules, &|name| stays(node, name));
        unfinished.filter(has).cloned().collect()
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
    /// sees the preparations of each lot. Layers that need not wait are planned as well. Returns which nodes still wait.
    ///
    /// # Errors
    /// As [`Start::prepare`] and [`Start::gather`].
    pub fn follow(
        &mut self,
        gathered: &mut Gathered,
        mut tell: impl FnMut(&Start, &Catalogue, &[Prepared]) -> Result<(), Problem>,
    ) -> Result<Vec<Waiting>, Problems> {
        while !self.stop.asked() {
            let ready = self.later.ready(gathered);
            if !ready.is_empty() {
                let selection = catalogue::Selection::names(ready.iter().map(String::as_str));
                let more = Catalogue::build(self.workspace(), &selection)?;
                let prepared = run::prepare(self.setup(), &more, &self.options)?;
                tell(self, &more, &prepared)?;
                let found = self.gather(prepared, "reading facts")?;
                gathered.join(found);
                self.catalogue.join(more);
            }
            let free = self.later.held.release(gathered);
            if ready.is_empty() && free.is_empty() {
                break;
            }
            self.rest(gathered, &free);
        }
        let rest = self.later.held.settle(gathered);
        if !self.stop.asked() {
            self.rest(gathered, &rest);
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
