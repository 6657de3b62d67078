//! Surgery on states: lists, imports, removes, renames and moves resources, and edits a state as text.
//!
//! Enters: a layer, and what is to become of its state. Leaves: the state changed through Terraform, backups of what it
//! was, and what a plan says afterwards. Never writes a state where Terraform keeps it: every change goes through
//! Terraform's own commands, with its locks and its checks of lineage and serial.

mod act;
pub mod address;
mod difference;
mod json;
pub mod record;
mod secrets;
mod site;
mod state;
pub mod undo;

pub use act::{Change, Done, Work};
pub use address::Address;
pub use difference::differences;
pub use json::Json;
pub use secrets::Sensitive;
pub use site::{Pulled, Site};
pub use state::{Item, Moved, State, absent, transfer};
