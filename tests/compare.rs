//! Commands that hold a tree of layers against something else: `suil infra diff` against a revision, `suil infra lint`
//! against how the original reads it.

#![allow(clippy::disallowed_methods)]

#[path = "compare/diff.rs"]
mod diff;
#[path = "compare/lint.rs"]
mod lint;
#[path = "cli/room.rs"]
#[allow(dead_code, reason = "others need the rest")]
mod room;
#[path = "compare/tree.rs"]
mod tree;
