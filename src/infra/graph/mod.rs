//! The graph of stacks: which there are, what each needs, and what a change touches.
//!
//! Enters: the files of a tree, and the paths that changed. Leaves: a [`Graph`], the [`Affected`] stacks in the order in
//! which they are run, and the ways between them. Never starts Terraform, and asks no network.
//!
//! The rules are those of Stackorder, as `tests/conformance/infra-graph` measures them; where suil does better the item
//! says so. Begin reading at `scan`.

mod affected;
mod check;
mod code;
mod config;
mod discover;
mod each;
mod edges;
mod files;
mod glob;
pub mod key;
mod memo;
mod model;
mod modules;
mod net;
mod order;
mod result;
mod scan;
mod settle;
mod source;
mod state;
mod template;
mod tree;

pub use affected::{Query, affected};
pub use check::{Checked, check};
pub use model::{
    At, Backend, Code, Config, Edge, Env, Graph, Kind, Module, Need, Node, Origin, Policy, Stack, Warning,
};
pub use order::{Order, spelled};
pub use result::{Affected, Cell, Holder, Loose, Matrix, Reason, Removed, Touched};

use crate::base::Result;
use std::path::Path;

/// Makes the graph of the tree at `root`, which is the repository `repo` (`owner/name`).
///
/// # Errors
/// A folder cannot be listed, or everything that is wrong in the configuration.
pub fn scan(root: &Path, repo: &str) -> Result<Graph> {
    let listing = files::Listing::of_disk(root, Some("stacks.out"), &scan::makes)?;
    scan::scan(files::Files::Disk(root), &listing, &memo::Memo::default(), repo)
}
