//! Hosts and stacks in one: the workspace around a tree, what its data means for layers, and what layers mean for its nodes.

use super::tree::{Changes, Tree};
use super::{begin, hosts, options};
use crate::base::problem::Kind::Warning;
use crate::base::{Mask, Plain, Problems};
use crate::catalogue::{self, Catalogue, Need, Selection, need};
use crate::cli::Context;
use crate::cli::impact::{Holding, holdings, with_layers};
use crate::cli::load::Loaded;
use crate::data::tree::{Repository, Tree as Files};
use crate::infra::compare::{Both, Compared};
use crate::infra::graph::{Affected, At, Edge, Graph, Host, Kind, Need as Relation, Node as End, Stack};
use crate::ui::{self, Paint, Table};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The workspace around a tree of layers. It is loaded when something of it is asked for: a run over stacks that ask for
/// no host data does not care what state it is in.
pub struct Around {
    context: Context,
    root: PathBuf,
    tree: PathBuf,
    loaded: OnceLock<Loaded>,
}

/// A node to which affected stacks matter.
#[derive(Default)]
pub struct Touched {
    /// The affected layers that it holds, by their keys.
    holds: BTreeSet<String>,
    /// The fields that its data reads of affected layers, each with the node that has them.
    reads: BTreeSet<(String, String)>,
}

impl Around {
    /// The workspace at or above the tree; `None` where there is none, or the tree has no layers.
    pub fn open(tree: &Tree, context: &Context) -> Option<Around> {
        if tree.graph.stacks.iter().all(|stack| stack.layer.is_none()) {
            return None;
        }
        let root = context.workspace.clone().or_else(|| catalogue::find(&tree.root))?;
        let context = Context { workspace: Some(root.clone()), ..context.clone() };
        Some(Around { context, root, tree: tree.root.clone(), loaded: OnceLock::new() })
    }

    /// The workspace.
    ///
    /// # Errors
    /// It cannot be opened.
    fn loaded(&self) -> Result<&Loaded, Problems> {
        if let Some(loaded) = self.loaded.get() {
            return Ok(loaded);
        }
        let loaded = self.context.load()?;
        Ok(self.loaded.get_or_init(|| loaded))
    }

    /// The keys of the layers whose templates read host data that differs. Where nobody knows the revision to compare with,
    /// all that read any are taken once a path of the data has changed.
    ///
    /// # Errors
    /// A setting makes no sense, or git cannot compare.
    pub fn told(&self, tree: &Tree, changes: &Changes) -> Result<Vec<String>, Problems> {
        let root = self.root.as_path();
        let data = |path: &str| ["data/", "modules/", "modules.yaml"].iter().any(|start| path.starts_with(start));
        let changed = match &changes.base {
            Some(base) => Repository::around(root).changes(base)?.iter().any(|change| data(&change.path)),
            None => self.is_top() && changes.changes.iter().any(|change| data(&change.path)),
        };
        let asking: Vec<&Stack> = if changed { self.asking(tree) } else { Vec::new() };
        if asking.is_empty() {
            return Ok(Vec::new());
        }
        let Some(base) = &changes.base else { return Ok(asking.iter().map(|stack| stack.key.clone()).collect()) };
        let mask = Mask::new();
        let options = options::read(false)?;
        let run = |revision: Option<Arc<dyn Files>>| {
            let mut run = begin::run(&self.context, &self.tree, options.clone(), &mask)?.lenient();
            run.hosts = Some(hosts::of(root, &self.tree, &mask, revision));
            Ok::<_, Problems>(Arc::new(run))
        };
        let revision = Repository::find(root)?.revision(&format!("{base}...HEAD"))?;
        let both = Both {
            revision: base.clone(),
            before: run(Some(Arc::new(revision)))?,
            after: run(None)?,
            mask: mask.clone(),
        };
        let folder = |stack: &&Stack| self.tree.join(stack.layer.as_deref().unwrap_or_default());
        let paths: Vec<PathBuf> = asking.iter().map(folder).collect();
        let differs = |compared: &Result<Compared, Problems>| match compared {
            Ok(compared) => !compared.files.is_empty(),
            // What cannot be compared counts as different.
            Err(_) => true,
        };
        let compared = both.compare(&paths);
        let differing = asking.iter().zip(&compared).filter(|(_, compared)| differs(compared));
        Ok(differing.map(|(stack, _)| stack.key.clone()).collect())
    }

    /// True where the tree of layers and the workspace have one root.
    fn is_top(&self) -> bool {
        same(&self.tree, &self.root)
    }

    /// The layers whose code asks for host data.
    fn asking<'a>(&self, tree: &'a Tree) -> Vec<&'a Stack> {
        let layers = || tree.graph.stacks.iter().filter(|stack| stack.layer.is_some() && !stack.external);
        let paths: BTreeSet<&str> = layers().map(|stack| stack.path.as_str()).collect();
        let shared = |path: &str| path.split_once('/').map_or("", |(folder, _)| folder).to_owned();
        let asking = |path: &&str| asks(&self.tree.join(path), true) || asks(&self.tree.join(shared(path)), false);
        let asking: BTreeSet<&str> = paths.into_iter().filter(asking).collect();
        layers().filter(|stack| asking.contains(stack.path.as_str())).collect()
    }

    /// The layers of this tree that nodes hold, each with its key in the graph. What is wrong with a node is told where
    /// the node is planned.
    fn holdings(&self, modules: &BTreeSet<String>) -> Result<Vec<(Holding, String)>, Problems> {
        let loaded = self.loaded()?;
        let workspace = &loaded.workspace;
        let holders = need::holders(workspace, modules);
        if holders.is_empty() {
            return Ok(Vec::new());
        }
        let options = options::read(false)?;
        let selection = Selection::names(holders.iter().map(String::as_str));
        let entries =
            Catalogue::sound(workspace, &selection).map(|(catalogue, _)| catalogue.entries).unwrap_or_default();
        let held = entries.iter().flat_map(|entry| holdings(loaded, loaded.version(), entry, modules));
        let keyed = held.filter(|holding| same(&holding.root, &self.tree)).map(|holding| {
            let key = holding.key(&options.stacks);
            (holding, key)
        });
        Ok(keyed.collect())
    }

    /// The nodes that hold affected layers, and those whose data reads their outputs.
    ///
    /// # Errors
    /// A setting makes no sense.
    pub fn nodes(&self, affected: &Affected) -> Result<BTreeMap<String, Touched>, Problems> {
        let mut nodes: BTreeMap<String, Touched> = BTreeMap::new();
        let keys: BTreeSet<&str> = affected.affected.iter().map(|stack| stack.key.as_str()).collect();
        if keys.is_empty() {
            return Ok(nodes);
        }
        let loaded = self.loaded()?;
        let modules = with_layers(&loaded.modules);
        // How the fields of affected layers begin, by who holds them; and what a node that reads some holds itself.
        let mut begins: BTreeSet<(String, String)> = BTreeSet::new();
        let mut held: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (holding, key) in self.holdings(&modules)? {
            held.entry(holding.node.clone()).or_default().insert(holding.begin());
            if keys.contains(key.as_str()) {
                begins.insert((holding.node.clone(), holding.begin()));
                nodes.entry(holding.node).or_default().holds.insert(key);
            }
        }
        if held.is_empty() {
            return Ok(nodes);
        }
        let needs = need::needs(&loaded.workspace, &Selection::default(), &modules)?;
        loop {
            let reads = |need: &&Need| {
                begins.iter().any(|(node, field)| *node == need.provider && need.field.starts_with(field.as_str()))
            };
            let found: Vec<&Need> = needs.iter().filter(reads).collect();
            let known = begins.len();
            for need in found {
                let reader = nodes.entry(need.reader.clone()).or_default();
                reader.reads.insert((need.provider.clone(), need.field.clone()));
                let own = held.get(&need.reader).into_iter().flatten();
                begins.extend(own.map(|field| (need.reader.clone(), field.clone())));
            }
            if begins.len() == known {
                return Ok(nodes);
            }
        }
    }

    /// The graph as [`Around::drawn`] makes it; as it is, with a warning, where the workspace is broken.
    pub fn drawn_if_sound(&self, graph: &Graph) -> Option<Graph> {
        let told = |problems: Problems| {
            let warnings: Problems = problems.into_iter().map(|problem| problem.kind(Warning)).collect();
            ui::warn(&warnings, &Mask::new());
        };
        self.drawn(graph.clone()).map_err(told).ok()
    }

    /// The graph with the nodes whose data reads outputs of its layers, and those of which its layers read something.
    ///
    /// # Errors
    /// The workspace is broken, or a setting makes no sense.
    pub fn drawn(&self, graph: Graph) -> Result<Graph, Problems> {
        let loaded = self.loaded()?;
        let workspace = &loaded.workspace;
        let modules = with_layers(&loaded.modules);
        let held = self.holdings(&modules)?;
        let needs = if held.is_empty() { Vec::new() } else { need::needs(workspace, &Selection::default(), &modules)? };
        let mut edges: BTreeMap<(End, Relation, End), Edge> = BTreeMap::new();
        // All fields that one reads of another are one edge, and stand at the first of them.
        let mut add = |from: End, kind: Relation, to: End, field: &str, at: Option<At>| {
            let new = Edge { from: from.clone(), to: to.clone(), kind, inferred: true, meta: BTreeMap::new(), at };
            let fields = edges.entry((from, kind, to)).or_insert(new).meta.entry("fields".to_owned()).or_default();
            if !fields.split(' ').any(|known| known == field) {
                fields.extend(if fields.is_empty() { ["", field] } else { [" ", field] });
            }
        };
        let end = |kind, key: &str| End { kind, key: key.to_owned() };
        for need in &needs {
            let brings = |held: &&(Holding, String)| held.0.brings(&need.provider, &need.field);
            let Some((_, key)) = held.iter().find(brings) else { continue };
            let (from, to) = (end(Kind::Node, &need.reader), end(Kind::Stack, key));
            add(from, Relation::ReadsOutput, to, &need.field, Some(need.place.into()));
        }
        for stack in graph.stacks.iter().filter(|stack| !stack.external) {
            for read in &stack.host_reads {
                let role = read.role.as_deref();
                let nodes = match read.facts {
                    true => {
                        let module = read.field.split('.').next().unwrap_or_default();
                        need::having(workspace, &read.nodes, role, module)
                    }
                    false => need::telling(workspace, &read.nodes, role, &read.field),
                };
                for node in nodes {
                    let (from, to) = (end(Kind::Stack, &stack.key), end(Kind::Node, &node));
                    add(from, Relation::ReadsHostData, to, &read.field, read.at.clone());
                }
            }
        }
        let ends = edges.keys().flat_map(|(from, _, to)| [from, to]).filter(|end| end.kind == Kind::Node);
        let names: BTreeSet<&str> = ends.map(|end| end.key.as_str()).collect();
        let host = |name: &&str| {
            let role = workspace.card(name).map(|card| card.role.to_string()).unwrap_or_default();
            Host { key: (*name).to_owned(), role }
        };
        let hosts = names.iter().map(host).collect();
        Ok(graph.with_nodes(hosts, edges.into_values()))
    }
}

impl Touched {
    /// `{node, holds: [key], reads: [{node, field}]}`.
    pub fn to_plain(&self, node: &str) -> Plain {
        let read = |(node, field): &(String, String)| {
            Plain::from_iter([("node", Plain::from(node)), ("field", Plain::from(field))])
        };
        Plain::from_iter([
            ("node", Plain::from(node)),
            ("holds", self.holds.iter().map(Plain::from).collect()),
            ("reads", self.reads.iter().map(read).collect()),
        ])
    }
}

/// The nodes as a person reads them.
pub fn render(nodes: &BTreeMap<String, Touched>, columns: Option<usize>, paint: Paint) -> String {
    if nodes.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["NODE", "HOLDS", "READS"]);
    for (node, touched) in nodes {
        let holds: Vec<&str> = touched.holds.iter().map(String::as_str).collect();
        let reads: Vec<String> = touched.reads.iter().map(|(node, field)| format!("{field} of {node}")).collect();
        table.row([node.clone(), holds.join(", "), reads.join(", ")]);
    }
    format!("\n{}", table.render(columns, paint))
}

fn same(a: &Path, b: &Path) -> bool {
    a == b || a.canonicalize().ok().zip(b.canonicalize().ok()).is_some_and(|(a, b)| a == b)
}

/// So many folders deep code of a stack may lie.
const DEPTH: usize = 16;
/// Larger files are no templates that anybody writes.
const LARGEST: u64 = 1 << 20;

/// True where a file of code or of variables in `folder` calls `lookup(`; `below`: in a folder below it, too.
fn asks(folder: &Path, below: bool) -> bool {
    fn walk(folder: &Path, depth: usize) -> bool {
        let Ok(entries) = std::fs::read_dir(folder) else { return false };
        entries.flatten().any(|entry| {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => {
                    depth > 0 && !name.starts_with('.') && name != "stacks.out" && walk(&path, depth - 1)
                }
                Ok(_) => {
                    let code = [".tf", ".jinja", ".json", ".tfvars", ".j2"].iter().any(|end| name.ends_with(end));
                    let small = || std::fs::metadata(&path).is_ok_and(|meta| meta.is_file() && meta.len() <= LARGEST);
                    code && small() && std::fs::read(&path).is_ok_and(|bytes| holds(&bytes, b"lookup("))
                }
                Err(_) => false,
            }
        })
    }
    walk(folder, if below { DEPTH } else { 0 })
}

fn holds(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|window| window == word)
}
