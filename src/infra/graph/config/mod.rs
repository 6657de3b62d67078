//! The configuration: `stackorder.yaml` at the root, `.stackorder.yaml` beside a stack's code.
//!
//! Enters: their text. Leaves: settings with their places, templates not yet rendered; or every mistake of the file.

mod cron;
mod own;
mod read;
mod root;

pub use own::{Own, Variable, workspace_fault};
pub use root::Root;

use super::At;
use serde::{Deserialize, Serialize};

/// The name of the file at the root.
pub const ROOT: &str = "stackorder.yaml";

/// The name of the file beside a stack's code.
pub const OWN: &str = ".stackorder.yaml";

/// A text and where it was written; it may be a template.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Text {
    pub text: String,
    pub at: At,
}
