//! The ground floor: places in files, problems, plain values, and the few things every room needs.
//!
//! Enters: nothing. Leaves: values. Never prints, never reads the environment, never starts a process.

pub mod clock;
pub mod digest;
pub mod file;
pub mod folder;
pub mod json;
pub mod mark;
pub mod mask;
pub mod nearest;
pub mod needles;
pub mod number;
pub mod pattern;
pub mod place;
pub mod plain;
pub mod problem;
pub mod shell;
pub mod swap;

pub use mark::{Mark, Moment, Top};
pub use mask::Mask;
pub use needles::Needles;
pub use place::{FileId, Place};
pub use plain::Plain;
pub use problem::{Note, Problem, Problems, Result};
