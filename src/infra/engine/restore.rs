//! Stacks that the tree has no more and whose state is left: their code comes back from the last commit that had it, into a
//! private picture of the tree, so that they can be destroyed. A layer is rendered there when its turn comes.

use super::picture::{self, Picture};
use super::session::APPLY;
use super::unit::Past;
use super::{Site, Unit};
use crate::base::problem::Kind;
use crate::base::{Problem, Problems, Result, folder};
use crate::data::Tree;
use crate::data::tree::{Repository, Revision, told};
use crate::infra::graph::{self, Code, Graph, Kind as NodeKind, Stack, key};
use crate::infra::layer::{Layer, Run};
use crate::infra::store::{Phase, Seen, Store};
use crate::infra::terraform::process::is_any_running;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// So many changes are looked behind for one stack.
const CHANGES: usize = 16;
/// The folder of pictures, below that of runs in flight.
const PICTURES: &str = "removed";
/// A link in a picture: to where programs that work in it say what they do.
pub const LOGS: &str = ".suil-logs";

/// Removed stacks, ready to be destroyed. What was restored of them is gone when this is dropped, unless a program still
/// works there.
pub struct Restored {
    /// The graph of the tree and, with them, that of the removed stacks.
    pub graph: Graph,
    /// Those among the other removed stacks that depend on one of these; sorted.
    pub dependents: Vec<String>,
    units: BTreeMap<String, Unit>,
    root: PathBuf,
    pictures: Vec<(PathBuf, folder::Hold)>,
}

impl Restored {
    /// What a removed stack is run with; `None` for one that the tree has.
    pub fn unit(&self, key: &str) -> Option<&Unit> {
        self.units.get(key)
    }
}

impl Drop for Restored {
    fn drop(&mut self) {
        for (top, _hold) in self.pictures.drain(..) {
            clear(&self.root, &top);
        }
    }
}

/// Removes the pictures that killed runs left, but for those in which a program still works.
pub fn sweep(site: &Site) {
    let all = site.work().join(PICTURES);
    if all.is_dir() {
        for (top, _hold) in folder::left(&all).unwrap_or_default() {
            clear(&site.root, &top);
        }
    }
}

/// Removes a picture, unless a Terraform that nobody waits for works there: it needs the way to its state.
fn clear(root: &Path, top: &Path) {
    if !is_any_running(&top.join(LOGS), APPLY) {
        picture::clear(root, top);
    }
}

/// The stacks that the tree had and has no more, but for those that were destroyed since they were applied last.
///
/// # Errors
/// The store cannot be read.
pub fn removed(store: &dyn Store, repo: &str) -> Result<Vec<Seen>, Problem> {
    let mut found = Vec::new();
    for seen in store.seen(repo)?.into_iter().filter(|seen| seen.removed.is_some()) {
        let last = |phase| store.last(repo, &seen.key, phase);
        let destroyed = last(Phase::Destroy)?.filter(|outcome| outcome.error.is_none()).map(|outcome| outcome.ended);
        let applied = last(Phase::Apply)?.map(|outcome| outcome.ended);
        if destroyed.is_none_or(|destroyed| applied.is_some_and(|applied| applied > destroyed)) {
            found.push(seen);
        }
    }
    Ok(found)
}

/// The last commit that has the folder of a stack: of a layer its own, of anything else that of its code.
///
/// # Errors
/// There is no `git`.
pub fn last_commit(site: &Site, git: &Repository, key: &str) -> Result<Option<String>, Problem> {
    let (path, instance) = key::split(key);
    if !instance.is_empty()
        && let Some(commit) = git.last_with(&layer_folder(site, path, instance))?
    {
        return Ok(Some(commit));
    }
    git.last_with(path)
}

/// The folder of a layer, seen from the root.
fn layer_folder(site: &Site, stack: &str, layer: &str) -> String {
    format!("{stack}/{}/{layer}", site.layers.options.layers.display())
}

/// Restores the code of removed stacks. `others` are those that stay as they are.
///
/// # Errors
/// The tree is in no git repository, or no commit has the code of one; all of them together.
pub fn restore(site: &Site, graph: &Graph, keys: &[String], others: &[String]) -> Result<Restored> {
    sweep(site);
    let git = Repository::find(&site.root)
        .map_err(|problem| problem.note("the code of a removed stack is restored from a commit"))?;
    let mut history = History { site, git, known: BTreeMap::new() };
    let (mut commits, mut problems) = (BTreeMap::<String, Vec<&str>>::new(), Problems::new());
    for key in keys {
        match history.find(key) {
            Ok(commit) => commits.entry(commit).or_default().push(key),
            Err(more) => problems.extend(more),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let dependents = others.iter().filter(|other| history.depends(other, keys)).cloned().collect();
    let (root, pictures) = (site.root.clone(), Vec::new());
    let mut restored = Restored { graph: graph.clone(), dependents, units: BTreeMap::new(), root, pictures };
    for (commit, keys) in commits {
        if let Some(Ok(known)) = history.known.get(&commit)
            && let Err(more) = restored.add(site, known, &keys)
        {
            problems.extend(more);
        }
    }
    restored.graph.stacks.sort_by(|a, b| a.key.cmp(&b.key));
    if problems.is_empty() { Ok(restored) } else { Err(problems) }
}

/// The commits that were looked at.
struct History<'a> {
    site: &'a Site,
    git: Repository,
    known: BTreeMap<String, Result<Known>>,
}

/// A tree as it was.
struct Known {
    revision: Arc<Revision>,
    graph: Graph,
    /// Reads the layers of it, and opens nothing.
    run: Arc<Run>,
}

impl History<'_> {
    /// The last commit in which a stack stands with all that it is made of; where there is none, the last one that has it.
    fn find(&mut self, key: &str) -> Result<String> {
        let Some(last) = last_commit(self.site, &self.git, key)? else {
            let help =
                "fetch the history that had it (`git fetch --unshallow`), or put the code back and destroy it there";
            let problem = Problem::new(format!("no commit has the code of removed stack `{key}`"));
            return Err(problem.kind(Kind::Refused).help(help).into());
        };
        let mut partly = None;
        let mut parts = self.parts(key);
        match self.look(&last, key) {
            Found::Whole => return Ok(last),
            Found::Partly(modules) => {
                parts.extend(modules);
                partly = Some(last.clone());
            }
            Found::None => {}
        }
        // What else it is made of went first: its base, its environment, a module, the setting that names it.
        for commit in self.git.before_changes(&last, &parts, CHANGES)? {
            match self.look(&commit, key) {
                Found::Whole => return Ok(commit),
                Found::Partly(_) => drop(partly.get_or_insert(commit)),
                Found::None => {}
            }
        }
        if let Some(partly) = partly {
            return Ok(partly);
        }
        if let Some(Err(problems)) = self.known.get(&last) {
            return Err(problems.clone());
        }
        let short = last.get(..12).unwrap_or(&last);
        Err(Problem::new(format!("the code of removed stack `{key}` cannot be restored"))
            .note(format!("it was looked for in commit {short}, the last one that has its folder, and before that"))
            .help("put the code back, and destroy it there")
            .kind(Kind::Refused)
            .into())
    }

    /// True where a removed stack depends on one of `keys`, directly or through others; what cannot be restored depends on
    /// nothing.
    fn depends(&mut self, key: &str, keys: &[String]) -> bool {
        let Ok(commit) = self.find(key) else { return false };
        let Some(Ok(known)) = self.known.get(&commit) else { return false };
        let (mut seen, mut open) = (BTreeSet::from([key]), vec![key]);
        while let Some(at) = open.pop() {
            let edges = known.graph.edges.iter().filter(|edge| edge.kind.orders() && edge.from.key == at);
            for to in edges.map(|edge| edge.to.key.as_str()) {
                if keys.iter().any(|key| key == to) {
                    return true;
                }
                open.extend(seen.insert(to).then_some(to));
            }
        }
        false
    }

    /// What the stack of a key may be made of, as paths from the root.
    fn parts(&self, key: &str) -> Vec<String> {
        let (path, instance) = key::split(key);
        let environments = self.site.layers.options.environments.display().to_string();
        [path.to_owned(), layer_folder(self.site, path, instance), environments, "stackorder.yaml".to_owned()].into()
    }

    fn look(&mut self, commit: &str, key: &str) -> Found {
        let (site, git) = (self.site, &self.git);
        let known = self.known.entry(commit.to_owned()).or_insert_with(|| Known::read(site, git, commit));
        known.as_ref().map_or(Found::None, |known| known.look(site, key))
    }
}

/// How much of a stack a commit has.
enum Found {
    Whole,
    /// It does not render, or modules of it are not there: these, from the root.
    Partly(Vec<String>),
    None,
}

impl Known {
    fn read(site: &Site, git: &Repository, commit: &str) -> Result<Known> {
        // The short name is the one that problems show.
        let revision = Arc::new(git.revision(commit.get(..12).unwrap_or(commit))?);
        let options = &site.layers.options;
        let tree: Arc<dyn Tree> = revision.clone();
        let graph = graph::of_revision(&tree, &site.repo, &site.root, options);
        let graph = graph.map_err(|problems| told(problems, revision.name()))?;
        let run = Arc::new(graph::lenient(&site.root, options).of_revision(revision.clone()));
        Ok(Known { revision, graph, run })
    }

    fn look(&self, site: &Site, key: &str) -> Found {
        let Some(stack) = self.stack(key) else { return Found::None };
        let folder = match stack.layer.as_ref().map(|folder| Layer::of(&self.run, &site.root.join(folder))) {
            None => stack.path.clone(),
            Some(Ok(layer)) => layer.shown(&layer.output),
            Some(Err(_)) => return Found::None,
        };
        let told = |code| self.graph.warnings.iter().filter(move |warning| warning.code == code);
        let missing = told(Code::ModuleMissing).filter_map(|warning| warning.subject.strip_prefix(&folder));
        let missing = missing.filter_map(|rest| key::beside(&folder, rest.strip_prefix(": ")?));
        let missing: Vec<String> = missing.collect();
        match missing.is_empty() && !told(Code::LayerUnrendered).any(|warning| warning.subject == key) {
            true => Found::Whole,
            false => Found::Partly(missing),
        }
    }

    fn stack(&self, key: &str) -> Option<&Stack> {
        self.graph.stacks.iter().find(|stack| stack.key == key && !stack.external)
    }
}

impl Restored {
    /// Restores what one commit has.
    fn add(&mut self, site: &Site, known: &Known, keys: &[&str]) -> Result<()> {
        let all = site.work().join(PICTURES);
        let (top, hold) = folder::hold(&all).map_err(|e| Problem::io("make a folder in", &all, &e))?;
        let top = top.keep();
        // Whatever happens from here on, it is removed with the rest.
        self.pictures.push((top.clone(), hold));
        let past = Past { revision: known.revision.clone(), top: top.clone() };
        let (mut wanted, mut outputs) = (BTreeSet::new(), BTreeMap::new());
        let mut problems = Problems::new();
        for stack in keys.iter().filter_map(|key| known.stack(key)) {
            let unit = match Unit::removed(site, &known.graph, stack, &known.run, &past) {
                Ok(unit) => unit,
                Err(problem) => {
                    problems.push(problem);
                    continue;
                }
            };
            let below = |path: &Path| path.strip_prefix(&top).ok().and_then(Path::to_str).map(str::to_owned);
            match &unit.layer {
                Some(layer) => {
                    wanted.insert(stack.path.clone());
                    outputs.extend(below(&unit.folder).map(|folder| (folder, layer.output.clone())));
                }
                None => wanted.extend(below(&unit.folder)),
            }
            wanted.extend(unit.parts.iter().skip(1).filter_map(|part| below(part)));
            self.graph.stacks.push(unit.stack.clone());
            self.units.insert(unit.key().to_owned(), unit);
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Picture { old: &known.revision, root: &site.root, top: &top, wanted: &wanted, outputs: &outputs }.draw()?;
        let ours = |kind, key: &str| kind == NodeKind::Stack && keys.contains(&key);
        let edges = known.graph.edges.iter().filter(|edge| ours(edge.from.kind, &edge.from.key));
        self.graph.edges.extend(edges.cloned());
        Ok(())
    }
}
