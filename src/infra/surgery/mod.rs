//! Surgery on states: lists, imports, removes, renames and moves resources, and edits a state as text.
//!
//! Enters: a layer, and what is to become of its state. Leaves: the state changed through Terraform, backups of what it
//! was, and what a plan says afterwards. Never writes a state where Terraform keeps it: every change goes through
//! Terraform's own commands, with its locks and its checks of lineage and serial.

pub mod address;
mod json;
mod site;
mod state;

pub use address::Address;
pub use json::Json;
pub use site::Site;
pub use state::{Item, Moved, State, absent, transfer};
