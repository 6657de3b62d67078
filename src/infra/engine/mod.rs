//! Plans, applies and destroys stacks: each as soon as those it depends on are done.
//!
//! Enters: stacks, their order, a store. Leaves: plan files, states of runs and stacks, problems. Never prints, and
//! never applies a plan that is not the one that was made.

mod apply;
pub mod artifact;
mod content;
mod gate;
mod hold;
mod hook;
mod init;
mod mirror;
mod picture;
mod plan;
mod provisional;
mod redact;
mod restore;
mod resume;
pub mod schedule;
mod session;
mod set;
mod site;
mod stand;
mod summary;
mod unit;
mod work;

pub use artifact::{Artifact, Card};
pub use content::content;
pub use gate::{Bases, Basis};
pub use redact::{Redactor, is_secret_name};
pub use restore::{Restored, last_commit, removed, restore};
pub use resume::adopt;
pub use session::{Failure, Planned, Session};
pub use set::{Chosen, Set, circle, unknown};
pub use site::{Layers, Site, StatePatience};
pub use stand::{Follow, Stand};
pub use summary::Summary;
pub use unit::{Purpose, Unit};
pub use work::{Begin, Work};
