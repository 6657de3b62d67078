//! The graph of the tree, scanned again when somebody asks and the last scan is a few seconds old; and those of a few
//! revisions of it.

use super::answer::Fault;
use super::kept::Kept;
use crate::base::Problems;
use crate::cli::Context;
use crate::cli::infra::nodes::Around;
use crate::cli::infra::options;
use crate::cli::infra::tree;
use crate::data::tree::Repository;
use crate::data::{self, tree::told};
use crate::infra::graph::{self, Edge, Graph, Kind, Node, Order, Stack};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// So long a scan is good.
const FRESH: Duration = Duration::from_secs(3);
/// So many graphs of revisions are kept.
const REVISIONS: usize = 4;
/// So many requests wait for the scan of a revision; more are sent away, so that they do not hold up the others.
const WAITING: usize = 2;
/// The longest name of a revision that is looked up.
const NAME: usize = 200;

/// A scanned graph, and what many answers need of it.
pub struct Known {
    pub graph: Graph,
    /// By key, the number of the stack.
    numbers: HashMap<String, usize>,
    /// By key, the wave in which the stack comes where all are run; none where they go round in a circle.
    pub waves: BTreeMap<String, usize>,
    pub cycles: Vec<Vec<String>>,
}

pub struct Tree {
    root: PathBuf,
    /// What the repository is to be called; `None` for what it is called.
    name: Option<String>,
    context: Context,
    last: Kept<Known>,
    revisions: Revisions,
}

/// The graphs of revisions that were asked for last, the newest at the end. A commit never changes.
#[derive(Default)]
struct Revisions {
    known: Mutex<VecDeque<Arc<Known>>>,
    /// One is scanned at a time.
    scanning: Mutex<()>,
    waiting: AtomicUsize,
}

impl Revisions {
    fn get(&self, commit: &str) -> Option<Arc<Known>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|known| known.graph.sha.as_deref() == Some(commit)).cloned()
    }

    fn keep(&self, new: &Arc<Known>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.push_back(Arc::clone(new));
        while known.len() > REVISIONS {
            known.pop_front();
        }
    }
}

impl Tree {
    pub fn new(root: PathBuf, name: Option<String>, context: Context) -> Tree {
        Tree { root, name, context, last: Kept::new(FRESH), revisions: Revisions::default() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The graph. Who comes while it is being scanned waits for the same scan.
    ///
    /// # Errors
    /// A folder cannot be listed, or the configuration is wrong.
    pub fn known(&self) -> Result<Arc<Known>, Problems> {
        self.last.get(|| self.scan().map(Known::new))
    }

    /// The graph of a revision: a commit, a branch, a tag. It is called `repo`, and has no nodes.
    ///
    /// # Errors
    /// There is no such revision, its configuration is wrong, or many are asked for at once.
    pub fn at(&self, name: &str, repo: &str) -> Result<Arc<Known>, Fault> {
        let missing = || Fault::not_found(format!("there is no revision `{name}`"));
        if !is_name(name) {
            return Err(missing());
        }
        let git = Repository::find(&self.root).map_err(|_| missing())?;
        let commit = git.commit(name).map_err(|_| missing())?;
        if let Some(known) = self.revisions.get(&commit) {
            return Ok(known);
        }
        let waiting = self.revisions.waiting.fetch_add(1, Ordering::SeqCst);
        let known = match waiting > WAITING {
            true => Err(Fault::unavailable("other revisions are being read: ask again in a moment")),
            false => self.once(&git, &commit, repo),
        };
        self.revisions.waiting.fetch_sub(1, Ordering::SeqCst);
        known
    }

    /// Scans a commit, unless somebody did meanwhile.
    fn once(&self, git: &Repository, commit: &str, repo: &str) -> Result<Arc<Known>, Fault> {
        let _one = self.revisions.scanning.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = self.revisions.get(commit) {
            return Ok(known);
        }
        let revision = git.revision(commit).map_err(|problem| Fault::not_found(problem.what))?;
        let tree: Arc<dyn data::Tree> = Arc::new(Bare(revision));
        let graph = graph::of_revision(&tree, repo, &self.root, &options::read(false)?);
        let short = commit.get(..12).unwrap_or(commit);
        let mut graph = graph.map_err(|problems| told(problems, short))?;
        graph.sha = Some(commit.to_owned());
        let known = Arc::new(Known::new(graph));
        self.revisions.keep(&known);
        Ok(known)
    }

    fn scan(&self) -> Result<Graph, Problems> {
        let place = tree::Where { repo_root: Some(self.root.clone()), repo: self.name.clone() };
        let (tree, _) = tree::open(&place, None, &self.context)?;
        // What is wrong with the workspace is told where its nodes are.
        let around = Around::open(&tree, &self.context);
        let drawn = around.and_then(|around| around.drawn(tree.graph.clone()).ok());
        Ok(drawn.unwrap_or(tree.graph))
    }
}

/// True for what may name a commit, a branch or a tag: no range, and no search through the history.
fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._/+@~^-".contains(c);
    !name.is_empty() && name.len() <= NAME && !name.contains("..") && !name.starts_with('-') && name.chars().all(fits)
}

/// A revision whose files are called as in the tree. So a text that many commits have is held once.
#[derive(Debug)]
struct Bare<T>(T);

impl<T: data::Tree> data::Tree for Bare<T> {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        self.0.read(path)
    }

    fn entries(&self, path: &str) -> io::Result<Vec<(String, bool)>> {
        self.0.entries(path)
    }

    fn is_file(&self, path: &str) -> bool {
        self.0.is_file(path)
    }

    fn is_executable(&self, path: &str) -> bool {
        self.0.is_executable(path)
    }

    fn resolved(&self, path: &str) -> io::Result<String> {
        self.0.resolved(path)
    }

    fn shown(&self, path: &str) -> PathBuf {
        PathBuf::from(path)
    }

    fn real_path(&self, path: &str) -> Option<PathBuf> {
        self.0.real_path(path)
    }
}

impl Known {
    pub fn new(graph: Graph) -> Known {
        let keys: BTreeSet<String> =
            graph.stacks.iter().filter(|stack| !stack.external).map(|stack| stack.key.clone()).collect();
        let (waves, cycles) = match Order::new(&graph).waves(&keys) {
            Ok(waves) => (waves, Vec::new()),
            Err(cycles) => (Vec::new(), cycles),
        };
        let waves = waves.into_iter().enumerate().flat_map(|(n, keys)| keys.into_iter().map(move |key| (key, n)));
        let waves = waves.collect();
        let numbers = graph.stacks.iter().enumerate().map(|(n, stack)| (stack.key.clone(), n)).collect();
        Known { numbers, waves, cycles, graph }
    }

    pub fn stack(&self, key: &str) -> Option<&Stack> {
        self.graph.stacks.get(*self.numbers.get(key)?)
    }

    /// The stacks that stand in this tree.
    pub fn own(&self) -> impl Iterator<Item = &Stack> {
        self.graph.stacks.iter().filter(|stack| !stack.external)
    }

    /// The edges that go from, or to, a stack or a module.
    pub fn edges<'a>(&'a self, kind: Kind, key: &'a str) -> (Vec<&'a Edge>, Vec<&'a Edge>) {
        let is = |node: &Node| node.kind == kind && node.key == key;
        let from = self.graph.edges.iter().filter(|edge| is(&edge.from)).collect();
        let to = self.graph.edges.iter().filter(|edge| is(&edge.to)).collect();
        (from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_graphs_of_a_few_commits_are_kept_the_oldest_go() {
        let revisions = Revisions::default();
        for n in 0..7 {
            let graph = Graph { sha: Some(n.to_string()), ..Graph::default() };
            revisions.keep(&Arc::new(Known::new(graph)));
        }
        let kept: Vec<usize> = (0..7).filter(|n| revisions.get(&n.to_string()).is_some()).collect();
        assert_eq!(kept, [3, 4, 5, 6]);
    }

    #[test]
    fn names_of_commits_are_told_from_ranges_searches_and_options() {
        for name in ["main", "HEAD~3^2", "more/layers", "v1.2.0", "@", "0123abc", "a+b"] {
            assert!(is_name(name), "{name}");
        }
        let long = "a".repeat(201);
        for name in
            ["", "-x", "--all", "a..b", "a...b", ":/words", "HEAD^{/words}", "HEAD:file", "a b", "é", "a\n", &long]
        {
            assert!(!is_name(name), "{name}");
        }
    }
}
