//! Scans a tree: from its files to a graph.

use super::code::{Code, is_code};
use super::config;
use super::discover;
use super::edges::{self, Names};
use super::files::{Files, Listing, Wants};
use super::layers::{self, Layers};
use super::links::Link;
use super::memo::Memo;
use super::modules;
use super::settle::{self, Settled};
use super::state::{self, State};
use super::tree::{Found, Tree};
use super::{At, Backend, Code as Word, Edge, Graph, Kind, Node, Origin, Stack, Warning, key};
use crate::base::{Result, problem};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How layers are rendered.
const SETTINGS: &str = "stacks.yaml";

/// The ends of the names of files that make the graph beside code.
const DATA: [&str; 4] = [".tfvars", ".tfvars.json", ".tfvars.jinja", ".tfbackend"];

/// True for a file whose content makes the graph wherever it stands.
pub fn makes(name: &str) -> bool {
    is_code(name) || DATA.iter().any(|end| name.ends_with(end)) || matches!(name, config::ROOT | config::OWN | SETTINGS)
}

/// The files whose marks a listing needs: all of them where `whole`, else those that make the graph.
pub fn wants(whole: bool) -> Wants<'static> {
    if whole { &|_| true } else { &makes }
}

/// Makes the graph of the listed files, which has these links.
///
/// # Errors
/// Everything that is wrong in the configuration, with its places.
pub fn scan(
    files: Files,
    listing: &Listing,
    memo: &Memo,
    repo: &str,
    layers: &Layers,
    links: Vec<Link>,
) -> Result<Graph> {
    let tree = Tree::open(files, listing, memo, repo, &layers.run.options, links)?;
    let mut found = Found::default();
    let layered = layers::stacks(listing, &layers.run.options);
    if !layered.is_empty() {
        // Without it no layer renders, and nobody would know what needs what.
        layers.run.sources.settings()?;
    }
    let places = discover::places(&tree, &layered, &mut found);
    let surveyed = layers::survey(&tree, layers, &layered, &mut found);
    let mut stacks: Vec<Settled> = Vec::new();
    for place in places.values() {
        found.warnings.extend(place.code.warnings.iter().cloned());
        stacks.extend(settle::settle(&tree, place, &mut found));
    }
    let plain = stacks.len();
    for one in &surveyed {
        found.warnings.extend(one.code.warnings.iter().cloned());
        stacks.push(one.settled.clone());
    }
    // Where the code of each stack runs, and that code.
    let runs: Vec<(&str, &Code)> = (stacks.iter().take(plain))
        .filter_map(|stack| places.get(&stack.path).map(|place| (place.path.as_str(), &place.code)))
        .chain(surveyed.iter().map(|one| (one.output.as_str(), &one.code)))
        .collect();
    let states = states(&tree, stacks.iter().zip(runs.iter().map(|(folder, _)| *folder)), plain);
    let codes: BTreeMap<&str, &Code> = runs.iter().copied().collect();
    let modules = modules::modules(&tree, &codes, &mut found);
    let names = Names::new(&stacks, &states);
    edges::shared(&names, &mut found);
    let mut all: Vec<Edge> = Vec::new();
    for (folder, code) in &codes {
        edges::dynamic(&tree, folder, code, &mut found);
    }
    let reads: HashMap<&str, &BTreeMap<String, Option<At>>> =
        surveyed.iter().map(|one| (one.settled.key.as_str(), &one.reads)).collect();
    for (stack, (folder, code)) in stacks.iter().zip(&runs) {
        let asked = reads.get(stack.key.as_str()).copied();
        let runs = edges::Runs { stack, folder, code, own: states.get(&stack.key), asked };
        all.extend(edges::edges(&tree, &runs, &names, &states, &mut found));
        let node = Node { kind: Kind::Stack, key: stack.key.clone() };
        all.extend(modules.edges(&node, folder));
    }
    for module in modules.modules.values().filter(|module| module.kind == Origin::Local) {
        let node = Node { kind: Kind::Module, key: module.key.clone() };
        all.extend(modules.edges(&node, &module.path));
    }
    ignore_globs(&tree, &mut found);
    rest(&tree);
    problem::sort(&mut found.problems);
    if !found.problems.is_empty() {
        return Err(found.problems);
    }
    let external = edges::external(&mut all);
    let owners: BTreeSet<&str> = places.keys().map(String::as_str).collect();
    let mut nodes: Vec<Stack> = stacks.iter().map(|stack| node(&tree, stack, &states, &owners)).collect();
    for (node, one) in nodes.iter_mut().skip(plain).zip(&surveyed) {
        node.layer = Some(one.path.clone());
        node.watch_globs = one.globs.iter().cloned().collect();
        node.host_reads = one.host_reads.clone();
        let watched: BTreeSet<String> = node.watch_paths.drain(..).chain(one.watch.iter().cloned()).collect();
        node.watch_paths = watched.into_iter().collect();
    }
    nodes.extend(external);
    let graph = finished(&tree, nodes, modules.modules.into_values().collect(), all, found.warnings);
    Ok(Graph { closed: modules.closed, ..graph })
}

/// Sorts everything.
fn finished(
    tree: &Tree,
    mut stacks: Vec<Stack>,
    modules: Vec<super::Module>,
    mut edges: Vec<Edge>,
    mut warnings: Vec<Warning>,
) -> Graph {
    stacks.sort_by(|a, b| a.key.cmp(&b.key));
    edges.sort_by(|a, b| (&a.from, a.kind, &a.to).cmp(&(&b.from, b.kind, &b.to)));
    warnings.sort();
    warnings.dedup_by(|a, b| (a.code, &a.subject, &a.message) == (b.code, &b.subject, &b.message));
    Graph {
        repo: tree.repo.to_owned(),
        sha: None,
        tree_hash: tree.memo.tree_hash(),
        stacks,
        modules,
        nodes: None,
        edges,
        warnings,
        policy: tree.root.policy.clone(),
        links: tree.links.clone(),
        closed: BTreeMap::new(),
    }
}

/// The states of stacks, each with the folder that its code runs in; the first `plain` of them are no layers.
fn states<'a>(
    tree: &Tree,
    stacks: impl Iterator<Item = (&'a Settled, &'a str)>,
    plain: usize,
) -> HashMap<String, State> {
    let mut states = HashMap::new();
    for (number, (stack, folder)) in stacks.enumerate() {
        let Some((kind, settings)) = &stack.backend else { continue };
        // What makes a folder a stack says nothing of layers, which are stacks anyway.
        if kind != "s3" && !tree.root.every_backend && number < plain {
            continue;
        }
        if let Ok(state) = state::state(kind, settings, &stack.workspace, folder) {
            states.insert(stack.key.clone(), state);
        }
    }
    states
}

fn node(tree: &Tree, stack: &Settled, states: &HashMap<String, State>, owners: &BTreeSet<&str>) -> Stack {
    let backend = stack.backend.as_ref();
    // A file belongs to the deepest stack that holds it; what belongs to another is watched.
    let owner =
        |path: &str| key::ancestors(key::folder(path)).find(|folder| owners.contains(folder)).map(str::to_owned);
    let watched = stack.reads.iter().filter(|path| owner(path).as_deref() != Some(stack.path.as_str()));
    Stack {
        key: stack.key.clone(),
        path: stack.path.clone(),
        instance: stack.instance.clone(),
        workspace: stack.workspace.clone(),
        repo: tree.repo.to_owned(),
        backend: backend.map(|(kind, settings)| Backend { kind: kind.clone(), settings: state::shown(kind, settings) }),
        state: states.get(&stack.key).map(State::uri),
        environment: stack.environment.clone(),
        tool: stack.tool.clone(),
        tool_version: stack.tool_version.clone(),
        plan_output: stack.plan_output.clone(),
        config: stack.config.clone(),
        external: false,
        watch_paths: watched.cloned().collect(),
        layer: None,
        unmapped: stack.unmapped,
        watch_globs: Vec::new(),
        host_reads: Vec::new(),
    }
}

fn ignore_globs(tree: &Tree, found: &mut Found) {
    for pattern in &tree.root.policy.ignore {
        if let Err(words) = super::glob::Glob::new(pattern) {
            let message = format!("`stacks.ignore` has `{pattern}`, which is no pattern: {words}; it ignores nothing");
            found.warn(Word::IgnoreGlob, pattern, message, None);
        }
    }
}

/// Enters every file that belongs to the digest of the tree and was not read on the way.
fn rest(tree: &Tree) {
    let paths: Vec<String> = tree
        .listing
        .folders
        .iter()
        .flat_map(|(folder, entries)| {
            let names = entries.files.iter().filter(|entry| makes(&entry.name));
            names.map(move |entry| super::tree::below(folder, &entry.name))
        })
        .collect();
    super::each::each(&paths, |path| {
        // A link to nothing and a file that nobody may read are told where they matter.
        let _ = tree.memo.enter(&tree.files, tree.listing, path);
    });
}
