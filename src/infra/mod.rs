//! Terraform layers: variables and templates become a folder that Terraform runs in.
//!
//! Enters: a tree of `environments/` and `stacks/`, and a layer of it. Leaves: `stacks.out/`, what differs from another
//! revision, and what Terraform said. Never prints; never changes a file of the tree outside an output folder.
//!
//! The rules are those of cisco-open/stacks 2.0.21, measured; where suil does better the item says so.

pub mod compare;
pub mod drift;
pub mod engine;
pub mod envelope;
pub mod graph;
pub mod hcl;
pub mod jinja;
pub mod layer;
pub mod lint;
pub mod reader;
pub mod role;
pub mod secret;
pub mod store;
pub mod surgery;
pub mod terraform;
pub mod value;
pub mod versions;

pub use value::{Number, Value};
