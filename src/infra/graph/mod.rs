//! The graph of stacks: which there are, what each needs, and what a change touches.
//!
//! Enters: the files of a tree, and the paths that changed. Leaves: a [`Graph`], the [`Affected`] stacks in the order in
//! which they are run, and the ways between them. Never starts Terraform, and asks no network.
//!
//! The rules are those of Stackorder, as `tests/conformance/infra-graph` measures them; where suil does better the item
//! says so. Begin reading at `scan`.

mod glob;
pub mod key;
mod model;
mod net;
mod order;
mod result;
mod source;
mod template;

pub use model::{
    At, Backend, Code, Config, Edge, Env, Graph, Kind, Module, Need, Node, Origin, Policy, Stack, Warning,
};
pub use order::{Order, spelled};
pub use result::{Affected, Cell, Holder, Loose, Matrix, Reason, Removed, Touched};
