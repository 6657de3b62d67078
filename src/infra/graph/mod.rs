//! The graph of stacks: which there are, what each needs, and what a change touches.
//!
//! Enters: the files of a tree, and the paths that changed. Leaves: a [`Graph`], the [`Affected`] stacks in the order in
//! which they are run, and the ways between them. Never starts Terraform, and asks no network.
//!
//! The rules are those of Stackorder, as `tests/conformance/infra-graph` measures them; where suil does better the item
//! says so. Begin reading at `scan`.

mod affected;
mod cache;
mod check;
mod code;
mod config;
mod discover;
mod each;
mod edges;
mod files;
mod glob;
pub mod key;
mod layers;
pub mod left;
mod links;
mod memo;
mod model;
mod modules;
mod net;
mod order;
mod removed;
mod result;
mod scan;
mod settle;
mod source;
mod state;
mod template;
mod told;
mod tree;
mod why;

pub use affected::{Query, affected, affected_with};
pub use cache::Before;
pub use check::{Checked, check};
pub use files::Listing;
pub use links::Link;
pub use model::{
    At, Backend, Code, Config, Edge, Env, Graph, Host, HostRead, Kind, Module, Need, Node, Origin, Policy, Stack,
    Warning,
};
pub use order::{Order, spelled};
pub use removed::{may_be as may_be_removed, removed};
pub use result::{Affected, Cell, Holder, Loose, Matrix, Reason, Removed, Touched};
pub use told::{Told, Word, keep as keep_told};
pub use why::{Step, Why, find, why};

use crate::base::{Mask, Moment, Problem, Result};
use crate::data::Tree;
use crate::infra::envelope::Keys;
use crate::infra::layer::{Options, Run};
use std::path::Path;
use std::sync::Arc;

/// A graph, and how it came about.
#[derive(Clone, Debug)]
pub struct Opened {
    pub graph: Graph,
    /// It is that of an earlier scan of the same files.
    pub cached: bool,
    /// That of the listing.
    pub digest: String,
}

/// Makes the graph of the tree at `root`, which is the repository `repo` (`owner/name`), or takes the one that is in its
/// cache.
///
/// # Errors
/// A folder cannot be listed, or everything that is wrong in the configuration.
pub fn scan(root: &Path, repo: &str) -> Result<Graph> {
    let options = Options::default();
    let begun = Begun::now(root);
    Ok(open(root, repo, &options, &list(root, &options, false)?, begun)?.graph)
}

/// Lists the tree at `root`; the first half of a scan, for which nobody needs to know the name of the repository. The disk is
/// asked about all files where `whole`, else about those that make the graph.
///
/// # Errors
/// A folder cannot be listed.
pub fn list(root: &Path, options: &Options, whole: bool) -> Result<Listing> {
    let output = options.output.to_str();
    Listing::of_disk(root, output, scan::wants(whole))
}

/// Reads the graph that an earlier scan left, whether it is still the tree's or not; this can be done while the tree is
/// listed.
pub fn before(root: &Path) -> Option<Before> {
    cache::before(root)
}

/// What is known when the second half of a scan begins.
pub struct Begun {
    /// A moment before the tree was listed.
    pub moment: Moment,
    /// The graph of an earlier scan.
    pub before: Option<Before>,
    /// The digest of the listing, where somebody knows it.
    pub digest: Option<String>,
}

impl Begun {
    /// Reads the earlier graph, now.
    pub fn now(root: &Path) -> Begun {
        Begun { moment: Moment::now(), before: before(root), digest: None }
    }
}

/// The second half: the graph of what is listed, or the earlier one where nothing changed since.
///
/// # Errors
/// Everything that is wrong in the configuration.
pub fn open(root: &Path, repo: &str, options: &Options, listing: &Listing, begun: Begun) -> Result<Opened> {
    let digest = begun.digest.unwrap_or_else(|| cache::digest(listing));
    let links = links::of(&files::Files::Disk(root), listing);
    let id = cache::id(&digest, &format!("{repo}\n{options:?}\n{links:?}"));
    if let Some(graph) = begun.before.and_then(|before| before.graph(root, &id)) {
        return Ok(Opened { graph: Graph { links, ..graph }, cached: true, digest });
    }
    let memo = cache::memo(root);
    let real = root.canonicalize().map_err(|e| Problem::io("find", root, &e))?;
    let layers = layers::Layers { run: &lenient(&real, options), root: &real };
    let graph = scan::scan(files::Files::Disk(root), listing, &memo, repo, &layers, links)?;
    cache::keep(root, listing, id, &graph, memo.into_seen(), begun.moment);
    Ok(Opened { graph, cached: false, digest })
}

/// The graph of the tree at `root`, which is the repository `repo`, as a revision has it, layers and all.
///
/// # Errors
/// A folder cannot be listed, or everything that is wrong in the configuration.
pub fn of_revision(old: &Arc<dyn Tree>, repo: &str, root: &Path, options: &Options) -> Result<Graph> {
    let root = root.canonicalize().map_err(|e| Problem::io("find", root, &e))?;
    let listing = Listing::of_tree(&**old)?;
    let run = Arc::new(lenient(&root, options).of_revision(Arc::clone(old)));
    let layers = layers::Layers { run: &run, root: &root };
    let files = files::Files::Tree(&**old);
    scan::scan(files, &listing, &memo::Memo::default(), repo, &layers, links::of(&files, &listing))
}

/// A run over layers without any key: no secret is opened to make a graph.
pub fn lenient(root: &Path, options: &Options) -> Arc<Run> {
    Arc::new(Run::new(root, options.clone(), Keys::none(), Mask::new()).lenient())
}
