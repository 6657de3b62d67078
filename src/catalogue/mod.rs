//! Turns trees into one entry per node: ordered modules, connection settings, data slices, public view.
//!
//! Enters: a workspace and a selection. Leaves: [`Catalogue`], explanations and lists. Never connects, never prints,
//! and decrypts only for the public view, when it is handed the keys.

mod build;
mod card;
mod common;
mod deployment;
mod entry;
mod explain;
mod files;
mod glob;
mod hierarchy;
mod hook;
pub mod impact;
mod inventory;
mod keep;
mod keys;
mod list;
mod lookup;
pub mod need;
mod order;
mod pattern;
mod probe;
mod public;
mod reach;
mod requires;
mod select;
mod sequence;
mod sketch;
mod sources;
mod stack;
mod validate;
mod workspace;

pub use build::Catalogue;
pub use card::Card;
pub use deployment::deployment_schema;
pub use entry::Entry;
pub use explain::{Explanation, Touch, explain};
pub use glob::Glob;
pub use hierarchy::Hierarchy;
pub use hook::{Hook, Hooks};
pub use keep::Keep;
pub use list::{ModuleRow, NodeRow, RoleRow};
pub use lookup::{Open, Questions, Read};
pub use need::Need;
pub use order::Graph;
pub use pattern::Pattern;
pub use probe::Probe;
pub use public::public;
pub use select::{Selection, selected};
pub use sequence::Sequence;
pub use sketch::sketch;
pub use sources::Source;
pub use validate::validate;
pub use workspace::{Workspace, find};
