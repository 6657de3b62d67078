//! The edges between stacks: those that somebody wrote, and those that the code shows.

use super::code::{Code, Said, shown};
use super::config::Text;
use super::settle::Settled;
use super::state::{self, KNOWN, State, Unclear};
use super::tree::{Found, Tree};
use super::{At, Code as Word, Edge, Kind, Need, Node, Stack, key};
use crate::infra::hcl::{Literal, Read};
use std::collections::{BTreeMap, HashMap};

/// The stacks by their keys, paths and states, for whoever names one.
pub struct Names<'a> {
    keys: HashMap<&'a str, &'a Settled>,
    paths: HashMap<&'a str, Vec<&'a Settled>>,
    pub states: BTreeMap<&'a State, Vec<&'a str>>,
}

impl<'a> Names<'a> {
    pub fn new(stacks: &'a [Settled], states: &'a HashMap<String, State>) -> Names<'a> {
        let mut names = Names { keys: HashMap::new(), paths: HashMap::new(), states: BTreeMap::new() };
        for stack in stacks {
            names.keys.insert(&stack.key, stack);
            names.paths.entry(&stack.path).or_default().push(stack);
            if let Some(state) = states.get(&stack.key) {
                names.states.entry(state).or_default().push(&stack.key);
            }
        }
        names
    }

    /// The key of the stack that an entry of `from` means, if there is one.
    fn resolve(&self, from: &Settled, target: &str) -> Option<String> {
        if self.keys.contains_key(target) {
            return Some(target.to_owned());
        }
        if target.contains(':') {
            return None;
        }
        let own = key::key(target, &from.instance);
        let there = self.paths.get(target)?;
        match (self.keys.contains_key(own.as_str()), there.as_slice()) {
            (true, _) => Some(own),
            (false, [only]) => Some(only.key.clone()),
            _ => None,
        }
    }
}

/// Says which stacks share a state.
pub fn shared(names: &Names, found: &mut Found) {
    for (state, keys) in names.states.iter().filter(|(_, keys)| keys.len() > 1) {
        let mut keys = keys.clone();
        keys.sort_unstable();
        let keys = keys.join(", ");
        found.warn(
            Word::SharedStateObject,
            &keys,
            format!("stacks {keys} share the state object {}", state.uri()),
            None,
        );
    }
}

/// A stack, and what it runs.
pub struct Runs<'a> {
    pub stack: &'a Settled,
    /// The folder that its code runs in.
    pub folder: &'a str,
    pub code: &'a Code,
    /// Its own state.
    pub own: Option<&'a State>,
    /// The stacks whose states its templates ask for, and where.
    pub asked: Option<&'a BTreeMap<String, Option<At>>>,
}

/// The key of an edge's `meta` that says who reads the state, where that is not the code itself.
const BY: &str = "by";
const TEMPLATE: &str = "template";

impl Edge {
    /// True where templates read the state: without it nothing can be rendered.
    pub fn is_of_template(&self) -> bool {
        self.meta.get(BY).is_some_and(|by| by == TEMPLATE)
    }
}

/// The edges of one stack.
pub fn edges(tree: &Tree, runs: &Runs, names: &Names, states: &HashMap<String, State>, found: &mut Found) -> Vec<Edge> {
    let Runs { stack, folder, code, own, asked } = *runs;
    let mut edges: BTreeMap<String, Edge> = BTreeMap::new();
    for entry in &stack.depends_on {
        let Some(target) = target(tree, stack, entry, "depends_on", found) else { continue };
        let at = Some(entry.at.clone());
        let external = key::qualified(&target).is_some();
        let to = match names.resolve(stack, &target).filter(|_| !external) {
            Some(to) => to,
            None => {
                if !external {
                    let message = format!("{}: depends_on {target}: no such stack in this repository", stack.key);
                    found.warn(Word::UnknownDependency, arrow(&stack.key, &target), message, at.clone());
                }
                target
            }
        };
        if to == stack.key {
            let message = format!("{}: depends_on names the stack itself; it is dropped", stack.key);
            found.warn(Word::SelfDependency, &stack.key, message, at);
            continue;
        }
        edges.entry(to.clone()).or_insert_with(|| edge(stack, to, Need::DependsOn, BTreeMap::new(), at));
    }
    let mut ignored: Vec<String> = Vec::new();
    for entry in &stack.ignore_inferred {
        let Some(target) = target(tree, stack, entry, "ignore_inferred", found) else { continue };
        match names.resolve(stack, &target) {
            Some(to) => ignored.push(to),
            None => {
                let message = format!("{}: ignore_inferred {target}: no such stack in this repository", stack.key);
                let at = Some(entry.at.clone());
                found.warn(Word::UnknownIgnored, arrow(&stack.key, &target), message, at);
            }
        }
    }
    for read in &code.states {
        let Some(state) = wanted(tree, folder, read) else { continue };
        let at = read.at(read.what.at);
        for to in names.states.get(&state).into_iter().flatten().filter(|to| **to != stack.key && own != Some(&state)) {
            infer(stack, to, Some(&state), Some(&at), &ignored, &mut edges, found);
        }
    }
    for (to, at) in asked.into_iter().flatten().filter(|(to, _)| **to != stack.key) {
        infer(stack, to, states.get(to), at.as_ref(), &ignored, &mut edges, found);
        if let Some(edge) = edges.get_mut(to).filter(|edge| edge.kind == Need::ReadsState) {
            edge.meta.insert(BY.to_owned(), TEMPLATE.to_owned());
        }
    }
    edges.into_values().collect()
}

/// Adds an edge that the code shows, unless somebody wrote one, or wrote that there is none.
fn infer(
    stack: &Settled,
    to: &str,
    state: Option<&State>,
    at: Option<&At>,
    ignored: &[String],
    edges: &mut BTreeMap<String, Edge>,
    found: &mut Found,
) {
    if ignored.iter().any(|other| other == to) {
        if !edges.contains_key(to) {
            let message = format!("{}: reads the state of {to}, and `ignore_inferred` drops the edge", stack.key);
            found.warn(Word::InferredSuppressed, arrow(&stack.key, to), message, at.cloned());
        }
        return;
    }
    let mut meta = BTreeMap::new();
    if let Some(state) = state {
        meta.insert("state".to_owned(), state.uri());
        if let Some((bucket, object)) = state.address.split_once('/').filter(|_| state.kind == "s3") {
            meta.insert("bucket".to_owned(), bucket.to_owned());
            meta.insert("key".to_owned(), object.to_owned());
        }
    }
    edges.entry(to.to_owned()).or_insert_with(|| edge(stack, to.to_owned(), Need::ReadsState, meta, at.cloned()));
}

fn edge(stack: &Settled, to: String, kind: Need, meta: BTreeMap<String, String>, at: Option<At>) -> Edge {
    let node = |key| Node { kind: Kind::Stack, key };
    Edge { from: node(stack.key.clone()), to: node(to), kind, inferred: kind == Need::ReadsState, meta, at }
}

/// What stands between the ends of an edge.
pub const ARROW: &str = " -> ";

/// `from -> to`
pub fn arrow(from: &str, to: &str) -> String {
    format!("{from}{ARROW}{to}")
}

/// The key that an entry names, `owner/name//key` for one of another repository.
fn target(tree: &Tree, stack: &Settled, entry: &Text, setting: &str, found: &mut Found) -> Option<String> {
    let text = entry.text.trim();
    let (repo, rest) = key::qualified(text).map_or((None, text), |(repo, rest)| (Some(repo), rest));
    let (path, instance) = key::split(rest);
    let clean = key::clean(path).filter(|path| !path.is_empty());
    let owner = repo.is_none_or(|repo| {
        let plain = |name: &str| {
            !name.is_empty() && !name.contains(['.', ':', ' ']) || name.len() > 1 && !name.contains([':', ' '])
        };
        matches!(repo.split('/').collect::<Vec<_>>().as_slice(), [owner, name] if plain(owner) && plain(name))
    });
    let Some(path) = clean.filter(|_| owner) else {
        let what = format!("`{setting}` of stack `{}` names `{text}`", stack.key);
        found.fail(tree, what, Some(&entry.at), "expected `path`, `path:instance` or `owner/name//path`");
        return None;
    };
    let key = key::key(&path, instance);
    Some(match repo.filter(|repo| !key::same_repo(repo, tree.repo)) {
        Some(repo) => format!("{repo}//{key}"),
        None => key,
    })
}

/// The stacks of other repositories that edges lead to. Two spellings of one repository are one.
pub fn external(edges: &mut [Edge]) -> Vec<Stack> {
    let mut known: BTreeMap<String, Stack> = BTreeMap::new();
    for edge in edges.iter_mut().filter(|edge| edge.to.kind == Kind::Stack) {
        let Some((repo, rest)) = key::qualified(&edge.to.key) else { continue };
        let (path, instance) = key::split(rest);
        let one = format!("{}//{rest}", repo.to_lowercase());
        let stack = known.entry(one).or_insert_with(|| Stack {
            key: edge.to.key.clone(),
            path: path.to_owned(),
            instance: instance.to_owned(),
            repo: repo.to_owned(),
            external: true,
            ..Stack::default()
        });
        edge.to.key = stack.key.clone();
    }
    known.into_values().collect()
}

/// The state that a block reads; `None` where it does not say, or where it is of a kind that makes no edge here.
fn wanted(tree: &Tree, folder: &str, read: &Said<Read>) -> Option<State> {
    clear(tree, folder, read).ok().flatten()
}

fn clear(tree: &Tree, folder: &str, read: &Said<Read>) -> Result<Option<State>, &'static str> {
    let backend = match &read.what.backend {
        Some(Literal::Text(kind)) => kind.as_str(),
        Some(Literal::Computed) => return Err("`backend` is computed"),
        None => return Err("it has no `backend`"),
    };
    if backend != "s3" && !tree.root.every_backend || !KNOWN.contains(&backend) || backend == "inmem" {
        return Ok(None);
    }
    let Some(config) = &read.what.config else { return Err("its `config` is no literal map") };
    let workspace = match &read.what.workspace {
        Some(Literal::Text(name)) => name.as_str(),
        Some(Literal::Computed) => return Err("`workspace` is computed"),
        None => "",
    };
    match state::state(backend, config, workspace, folder) {
        Ok(state) => Ok(Some(state)),
        Err(Unclear::Computed(name)) => Err(name),
        Err(Unclear::Missing(name)) => Err(name),
        Err(Unclear::Unknown) => Ok(None),
    }
}

/// Says which blocks of a folder read a state that nobody knows before it runs.
pub fn dynamic(tree: &Tree, folder: &str, code: &Code, found: &mut Found) {
    for read in &code.states {
        let Err(why) = clear(tree, folder, read) else { continue };
        let why = if why.contains(' ') { why.to_owned() } else { format!("`{why}` is not written out") };
        let name = &read.what.name;
        let message = format!("`{}` reads the state `{name}`, but {why}; it makes no edge", shown(folder));
        found.warn(
            Word::RemoteStateDynamic,
            format!("{}: {name}", shown(folder)),
            message,
            Some(read.at(read.what.at)),
        );
    }
}
