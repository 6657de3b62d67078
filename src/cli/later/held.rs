//! Layers that a run comes to later: their templates read facts of nodes that are read, or changed, in the same run, or
//! they need a layer that another node holds.

use crate::base::{FileId, Place, Problem, Problems, file};
use crate::catalogue::{Catalogue, Need, Selection, need};
use crate::cli::impact::{Holding, holdings};
use crate::cli::infra::options;
use crate::cli::infra::tree;
use crate::cli::load::Loaded;
use crate::infra::graph::{self, Edge, Graph, Kind};
use crate::infra::layer::Options;
use crate::infra::role::Wait;
use crate::run::{Gathered, layers};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A layer as a node holds it: `<stack>/<layer>`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Layer {
    pub node: String,
    pub name: String,
}

/// What a layer needs of another node before it is planned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hold {
    pub layer: Layer,
    /// The node that has it.
    pub provider: String,
    pub what: What,
    /// Where the layer says so.
    pub place: Option<Place>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum What {
    /// A field of facts, from the module's name on.
    Fact(String),
    /// An output of a layer that the provider holds, read from its facts: the field, and the layer.
    Output(String, String),
    /// A layer that the provider holds, in itself, with the module that it is held by.
    Layer(String, String),
}

/// The layers that are not planned at once, and those that failed to be come to in an earlier round.
#[derive(Default)]
pub struct Held {
    holds: Vec<Hold>,
    /// Those of which it is not known yet whether they have to wait.
    open: BTreeSet<Layer>,
    back: Back,
}

/// Says to who reads layers which of them are held back.
#[derive(Clone, Default)]
pub struct Back(Arc<Mutex<BTreeMap<Layer, Wait>>>);

impl Back {
    /// Why a layer is not planned now.
    pub fn get(&self, node: &str, name: &str) -> Option<Wait> {
        let layer = Layer { node: node.to_owned(), name: name.to_owned() };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&layer).cloned()
    }

    fn set(&self, layer: &Layer, wait: Option<Wait>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match wait {
            Some(wait) => drop(all.insert(layer.clone(), wait)),
            None => drop(all.remove(layer)),
        }
    }
}

/// A layer that is not come to in this run, and why.
#[derive(Clone, Debug)]
pub struct Blocked {
    pub layer: Layer,
    pub by: String,
    pub problem: Problem,
}

impl Blocked {
    /// True where what is needed is an output of this layer.
    pub fn brings(&self, need: &Need) -> bool {
        let Layer { node, name } = &self.layer;
        let rest = need.field.split_once('.').and_then(|(_, rest)| rest.strip_prefix(name.as_str()));
        *node == need.provider && rest.is_some_and(|rest| rest.starts_with('.'))
    }
}

impl Held {
    /// Finds what the layers of the selected nodes need of each other and of the others. `needs` is what the data of
    /// nodes needs; those of `blocked` stay back.
    ///
    /// # Errors
    /// The graph of a tree cannot be made, a setting makes no sense, or nodes and layers wait for each other.
    pub fn find(
        loaded: &Loaded,
        selected: &BTreeSet<String>,
        modules: &BTreeSet<String>,
        only: &dyn Fn(&str) -> bool,
        needs: &[Need],
        blocked: &[Blocked],
    ) -> Result<Held, Problems> {
        let asked: BTreeSet<String> = modules.iter().filter(|name| only(name)).cloned().collect();
        let holders: Vec<String> = match asked.is_empty() {
            true => Vec::new(),
            false => need::holders_of(&loaded.workspace, selected.iter().map(String::as_str), &asked),
        };
        if holders.is_empty() {
            return Ok(Held::default());
        }
        // What is wrong with a node is told where the node is built.
        let selection = Selection::names(holders.iter().map(String::as_str));
        let entries = Catalogue::sound(&loaded.workspace, &selection).map(|(found, _)| found.entries);
        let entries = entries.unwrap_or_default();
        let holdings: Vec<Holding> =
            entries.iter().flat_map(|entry| holdings(loaded, loaded.version(), entry, &asked)).collect();
        let (mut held, mut within) = (Held::default(), Vec::new());
        let roots: BTreeSet<&PathBuf> = holdings.iter().map(|holding| &holding.root).collect();
        let options = options::read(false)?;
        for root in roots.into_iter().filter(|root| root.is_dir()) {
            let of_tree: Vec<&Holding> = holdings.iter().filter(|holding| holding.root == *root).collect();
            let opened = Opened::new(root, loaded, &options)?;
            for holding in &of_tree {
                held.holds.extend(opened.facts(loaded, holding, &holdings, selected, modules, only));
                let (others, own) = opened.layers(holding, &of_tree);
                held.holds.extend(others);
                within.extend(own);
            }
        }
        if let Some(problem) = circle(needs, &held.holds, &within, &holdings) {
            return Err(problem.into());
        }
        held.holds.retain(|hold| !blocked.iter().any(|one| one.layer == hold.layer));
        held.open = held.holds.iter().map(|hold| hold.layer.clone()).collect();
        for layer in &held.open {
            held.back.set(layer, Some(Wait { why: held.why(layer, None), open: true }));
        }
        for Blocked { layer, by, .. } in blocked {
            let wait = Wait { why: format!("it waits for `{by}`, which was not applied"), open: false };
            held.back.set(layer, Some(wait));
        }
        Ok(held)
    }

    pub fn back(&self) -> Back {
        self.back.clone()
    }

    /// The nodes of layers that need not wait any more: what they need is there, and stays as it is.
    pub fn release(&mut self, gathered: &Gathered) -> BTreeSet<String> {
        let waits = |layer: &Layer| {
            let mut holds = self.holds.iter().filter(|hold| hold.layer == *layer);
            holds.any(|hold| hold.is_pending(gathered))
        };
        let free: Vec<Layer> = self.open.iter().filter(|layer| !waits(layer)).cloned().collect();
        for layer in &free {
            self.open.remove(layer);
            self.holds.retain(|hold| hold.layer != *layer);
            self.back.set(layer, None);
        }
        free.into_iter().map(|layer| layer.node).collect()
    }

    /// Lets the others wait for good, and returns their nodes.
    pub fn settle(&mut self, gathered: &Gathered) -> BTreeSet<String> {
        self.holds.retain(|hold| hold.is_pending(gathered));
        let rest = std::mem::take(&mut self.open);
        for layer in &rest {
            self.back.set(layer, Some(Wait { why: self.why(layer, Some(gathered)), open: false }));
        }
        rest.into_iter().map(|layer| layer.node).collect()
    }

    /// What the layers that wait wait for.
    pub fn holds(&self) -> &[Hold] {
        &self.holds
    }

    /// What a layer waits for, in words.
    fn why(&self, layer: &Layer, gathered: Option<&Gathered>) -> String {
        let mut reads: BTreeMap<&What, Vec<&str>> = BTreeMap::new();
        for hold in self.holds.iter().filter(|hold| hold.layer == *layer) {
            reads.entry(&hold.what).or_default().push(&hold.provider);
        }
        let lost = |node: &str| {
            let ready = |found: &Gathered| found.nodes.iter().any(|(name, ready)| name == node && ready.is_ok());
            gathered.is_some_and(|found| found.nodes.iter().any(|(name, _)| name == node) && !ready(found))
        };
        let words = reads.iter().map(|(what, nodes)| {
            let ends = match (nodes.iter().all(|node| lost(node)), nodes.len()) {
                (true, _) => "which could not be read",
                (false, 1) => "which is to be applied first",
                (false, _) => "which are to be applied first",
            };
            format!("{} of {}, {ends}", what.words(), some(nodes))
        });
        words.collect::<Vec<String>>().join("; ")
    }
}

impl Hold {
    /// True while what is needed is about to change, or is not known.
    fn is_pending(&self, gathered: &Gathered) -> bool {
        match &self.what {
            What::Fact(field) | What::Output(field, _) => layers::is_pending(gathered, &self.provider, field),
            What::Layer(module, layer) => {
                layers::is_pending(gathered, &self.provider, &format!("{module}.{layer}.output"))
            }
        }
    }

    /// The layer of the provider that is needed.
    fn of(&self) -> Option<Layer> {
        match &self.what {
            What::Fact(_) => None,
            What::Output(_, name) | What::Layer(_, name) => {
                Some(Layer { node: self.provider.clone(), name: name.clone() })
            }
        }
    }
}

impl What {
    fn words(&self) -> String {
        match self {
            What::Fact(field) | What::Output(field, _) => format!("its template reads `{field}`"),
            What::Layer(_, name) => format!("it needs layer `{name}`"),
        }
    }
}

/// So many names are told.
const NAMES: usize = 3;

fn some(names: &[&str]) -> String {
    let mut words: Vec<String> = names.iter().take(NAMES).map(|name| format!("`{name}`")).collect();
    if names.len() > NAMES {
        words.push(format!("{} more", names.len() - NAMES));
    }
    match words.pop() {
        Some(last) if !words.is_empty() => format!("{} and {last}", words.join(", ")),
        Some(last) => last,
        None => String::new(),
    }
}

/// A tree of layers that nodes hold.
struct Opened<'a> {
    root: &'a Path,
    workspace: &'a Path,
    stacks: &'a Path,
    graph: Graph,
}

impl<'a> Opened<'a> {
    fn new(root: &'a Path, loaded: &'a Loaded, options: &'a Options) -> Result<Opened<'a>, Problems> {
        let place = tree::Where { repo_root: Some(root.to_owned()), repo: None };
        let (opened, _) = tree::open(&place, None, &loaded.context)?;
        Ok(Opened { root, workspace: loaded.workspace.root(), stacks: &options.stacks, graph: opened.graph })
    }

    /// The key of a layer in the graph.
    fn key(&self, holding: &Holding) -> String {
        holding.key(self.stacks)
    }

    /// What the templates of a layer read of facts that are read in this run.
    fn facts(
        &self,
        loaded: &Loaded,
        holding: &Holding,
        all: &[Holding],
        selected: &BTreeSet<String>,
        modules: &BTreeSet<String>,
        only: &dyn Fn(&str) -> bool,
    ) -> Vec<Hold> {
        let key = self.key(holding);
        let stack = self.graph.stacks.iter().find(|stack| stack.key == key);
        let mut holds = Vec::new();
        for read in stack.into_iter().flat_map(|stack| &stack.host_reads).filter(|read| read.facts) {
            let module = read.field.split('.').next().unwrap_or_default();
            if !only(module) {
                continue;
            }
            let place = read.at.as_ref().and_then(|at| self.place(at));
            for provider in need::having(&loaded.workspace, &read.nodes, read.role.as_deref(), module) {
                let what = match modules.contains(module) {
                    false => What::Fact(read.field.clone()),
                    true => match output(all, &provider, &read.field) {
                        // One that reads itself sees what it brought last.
                        Some(other) if provider != holding.node || other.layer != holding.layer => {
                            What::Output(read.field.clone(), other.layer.clone())
                        }
                        _ => continue,
                    },
                };
                if selected.contains(&provider) {
                    let layer = Layer { node: holding.node.clone(), name: holding.layer.clone() };
                    holds.push(Hold { layer, provider, what, place });
                }
            }
        }
        holds
    }

    /// What a layer needs by the graph: of the layers of other nodes, and of those of its own.
    fn layers(&self, holding: &Holding, all: &[&Holding]) -> (Vec<Hold>, Vec<(Layer, Layer)>) {
        let held: BTreeMap<String, &Holding> = all.iter().map(|other| (self.key(other), *other)).collect();
        let of = |holding: &Holding| Layer { node: holding.node.clone(), name: holding.layer.clone() };
        let (mut holds, mut own) = (Vec::new(), Vec::new());
        let key = self.key(holding);
        let (mut open, mut seen) = (vec![key.as_str()], BTreeSet::from([key.as_str()]));
        while let Some(from) = open.pop() {
            let next = |edge: &&Edge| edge.from.key == from && edge.kind.orders() && edge.to.kind == Kind::Stack;
            for edge in self.graph.edges.iter().filter(next) {
                if !seen.insert(&edge.to.key) {
                    continue;
                }
                open.push(&edge.to.key);
                match held.get(&edge.to.key) {
                    Some(other) if other.node != holding.node => holds.push(Hold {
                        layer: of(holding),
                        provider: other.node.clone(),
                        what: What::Layer(other.module.clone(), other.layer.clone()),
                        place: edge.at.as_ref().and_then(|at| self.place(at)),
                    }),
                    Some(other) => own.push((of(holding), of(other))),
                    None => {}
                }
            }
        }
        holds.sort_by(|a, b| (&a.provider, &a.what).cmp(&(&b.provider, &b.what)));
        (holds, own)
    }

    /// A place of the tree as a person types it at the workspace.
    fn place(&self, at: &graph::At) -> Option<Place> {
        let path = self.root.join(&at.file);
        let text = file::read_text(&path).ok()?;
        let shown = path.strip_prefix(self.workspace).unwrap_or(&path);
        Some(Place { file: FileId::new(shown, text), line: at.line, column: at.column, width: 1 })
    }
}

/// The layer whose output a field of the facts of `node` is.
fn output<'a>(all: &'a [Holding], node: &str, field: &str) -> Option<&'a Holding> {
    all.iter().find(|holding| holding.brings(node, field))
}

/// Who may wait.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Who {
    Node(String),
    Layer(Layer),
}

impl Who {
    fn words(&self) -> String {
        match self {
            Who::Node(name) => format!("`{name}`"),
            Who::Layer(layer) => format!("`{}` of `{}`", layer.name, layer.node),
        }
    }
}

/// Why one waits for another.
struct Link {
    words: String,
    place: Option<Place>,
    /// Both are layers of one node, whose order is that of their tree.
    within: bool,
}

/// Nodes and layers that wait for each other: none of them could ever be the first. `within` are needs between layers of
/// one node.
fn circle(needs: &[Need], holds: &[Hold], within: &[(Layer, Layer)], all: &[Holding]) -> Option<Problem> {
    let mut links: BTreeMap<Who, BTreeMap<Who, Link>> = BTreeMap::new();
    let mut link = |from: Who, to: Who, words: String, place: Option<Place>| {
        links.entry(from).or_default().entry(to).or_insert(Link { words, place, within: false });
    };
    for need in needs {
        let to = match output(all, &need.provider, &need.field) {
            Some(holding) => Who::Layer(Layer { node: holding.node.clone(), name: holding.layer.clone() }),
            None => Who::Node(need.provider.clone()),
        };
        let words = format!("the data of `{}` reads `{}` of `{}`", need.reader, need.field, need.provider);
        link(Who::Node(need.reader.clone()), to, words, Some(need.place));
    }
    for hold in holds {
        let Layer { node, name } = &hold.layer;
        let to = hold.of().map_or_else(|| Who::Node(hold.provider.clone()), Who::Layer);
        let words = match &hold.what {
            What::Fact(field) | What::Output(field, _) => {
                format!("the template of `{name}` reads `{field}` of `{}`", hold.provider)
            }
            What::Layer(_, other) => format!("`{name}` needs `{other}`"),
        };
        // Its own node's facts are there before its layers are.
        if to != Who::Node(node.clone()) {
            link(Who::Layer(hold.layer.clone()), to, words, hold.place);
        }
    }
    for holding in all {
        let layer = Layer { node: holding.node.clone(), name: holding.layer.clone() };
        let words = format!("`{}` holds `{}`", holding.node, holding.layer);
        link(Who::Layer(layer), Who::Node(holding.node.clone()), words, None);
    }
    for (from, to) in within {
        let words = format!("`{}` needs `{}`", from.name, to.name);
        let links = links.entry(Who::Layer(from.clone())).or_default();
        links.entry(Who::Layer(to.clone())).or_insert(Link { words, place: None, within: true });
    }
    let round = round(&links)?;
    let names: Vec<String> = round.iter().chain(round.first()).map(Who::words).collect();
    let problem = Problem::new(format!("nodes and layers wait for each other in a circle: {}", names.join(" -> ")));
    let pairs = round.iter().zip(round.iter().skip(1).chain(round.first()));
    let steps: Vec<&Link> = pairs.filter_map(|(from, to)| links.get(from)?.get(to)).collect();
    // A circle of the layers of one node is told with the graph of their tree.
    if steps.iter().all(|link| link.within) {
        return None;
    }
    let problem = match steps.iter().find_map(|link| link.place) {
        Some(place) => problem.at(place),
        None => problem,
    };
    let problem = steps.iter().fold(problem, |problem, link| match link.place {
        Some(place) => problem.note_at(format!("{} at", link.words), place),
        None => problem.note(link.words.clone()),
    });
    Some(problem.help("take one of these reads away, or put what is read into a layer of its own"))
}

/// The first circle, along the links.
fn round(links: &BTreeMap<Who, BTreeMap<Who, Link>>) -> Option<Vec<Who>> {
    // Who waits for nobody that is left is no part of a circle.
    let mut left: BTreeMap<&Who, BTreeSet<&Who>> = links.iter().map(|(from, to)| (from, to.keys().collect())).collect();
    loop {
        let known: BTreeSet<&Who> = left.keys().copied().collect();
        let before: usize = left.values().map(BTreeSet::len).sum();
        left.values_mut().for_each(|to| to.retain(|who| known.contains(who)));
        left.retain(|_, to| !to.is_empty());
        if left.values().map(BTreeSet::len).sum::<usize>() == before {
            break;
        }
    }
    let mut trail: Vec<&Who> = vec![left.keys().next().copied()?];
    loop {
        let next = *left.get(trail.last()?)?.first()?;
        if let Some(from) = trail.iter().position(|who| *who == next) {
            return Some(trail.into_iter().skip(from).cloned().collect());
        }
        trail.push(next);
    }
}

impl Hold {
    /// How the layer ends where what it waits for did not end well.
    pub fn blocked(&self) -> Blocked {
        let Layer { node, name } = &self.layer;
        let what = format!("layer `{name}` of node `{node}` was not begun: it waits for `{}`", self.provider);
        let problem = Problem::new(what).note(self.what.words());
        let problem = self.place.into_iter().fold(problem, Problem::at);
        let problem = problem.help("mend the cause, then `suil apply --failed` goes on");
        Blocked { layer: self.layer.clone(), by: self.provider.clone(), problem }
    }

    /// True where what it waits for ended badly.
    pub fn fails(&self, failed: impl Fn(&str) -> bool, blocked: &[Blocked]) -> bool {
        failed(&self.provider) || self.of().is_some_and(|layer| blocked.iter().any(|one| one.layer == layer))
    }
}
