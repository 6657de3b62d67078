//! The graph of the tree, scanned again when somebody asks and the last scan is a few seconds old.

use super::kept::Kept;
use crate::base::Problems;
use crate::cli::Context;
use crate::cli::infra::nodes::Around;
use crate::cli::infra::tree;
use crate::infra::graph::{Edge, Graph, Kind, Node, Order, Stack};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// So long a scan is good.
const FRESH: Duration = Duration::from_secs(3);

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
}

impl Tree {
    pub fn new(root: PathBuf, name: Option<String>, context: Context) -> Tree {
        Tree { root, name, context, last: Kept::new(FRESH) }
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

    fn scan(&self) -> Result<Graph, Problems> {
        let place = tree::Where { repo_root: Some(self.root.clone()), repo: self.name.clone() };
        let (tree, _) = tree::open(&place, None, &self.context)?;
        // What is wrong with the workspace is told where its nodes are.
        let around = Around::open(&tree, &self.context).ok().flatten();
        let drawn = around.and_then(|around| around.drawn(tree.graph.clone()).ok());
        Ok(drawn.unwrap_or(tree.graph))
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
