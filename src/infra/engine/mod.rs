//! Plans, applies and destroys stacks: each as soon as those it depends on are done.
//!
//! Enters: stacks, their order, a store. Leaves: plan files, states of runs and stacks, problems. Never prints, and
//! never applies a plan that is not the one that was made.

pub mod artifact;
pub mod redact;
pub mod schedule;
pub mod summary;

pub use artifact::Artifact;
pub use redact::Redactor;
pub use summary::Summary;
