//! The Starlark host: compiles a module's code once, calls its functions for any node on any thread.
//!
//! Hermetic: no clock, no network, no file outside the module. Every call runs under limits on steps, memory and
//! depth, and a panic of the interpreter becomes a problem.

mod arguments;
mod builtin;
mod call;
mod compile;
mod deploy;
mod depth;
mod error;
mod json;
mod limit;
mod namespace;
mod put;
mod record;
mod render;
mod story;
mod thing;
mod value;

pub(super) use arguments::Arguments;
pub(super) use builtin::{Builtin, Here};
pub(super) use call::{Answer, Called, Wanted, call};
pub(super) use compile::{Program, compile, safe};
pub(super) use error::Texts;
pub(super) use namespace::Namespace;
pub(super) use story::{Call, Made, Rendered, Story};
pub(super) use value::to_plain;

pub use deploy::Queued;

#[cfg(test)]
mod tests;
