//! Commands that hold a tree against something else: `suil infra diff` against a revision, `suil infra lint`
//! against how the original reads it, `suil infra drift` against the world, `suil infra versions` against what there is.

#![allow(clippy::disallowed_methods)]

#[path = "compare/diff.rs"]
mod diff;
#[path = "compare/drift.rs"]
mod drift;
#[path = "compare/lint.rs"]
mod lint;
#[path = "cli/room.rs"]
#[allow(dead_code, reason = "others need the rest")]
mod room;
#[path = "compare/tree.rs"]
mod tree;
#[path = "compare/versions.rs"]
mod versions;
