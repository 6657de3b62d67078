//! Whole stdout, stderr and status of the offline commands, in a sealed room: no environment, a home of its own, a
//! fixed width.

#![allow(clippy::disallowed_methods)]

#[path = "cli/apply.rs"]
mod apply;
#[path = "cli/explain.rs"]
mod explain;
#[path = "cli/init.rs"]
mod init;
#[path = "cli/lists.rs"]
mod lists;
#[path = "cli/origin.rs"]
mod origin;
#[path = "cli/room.rs"]
mod room;
#[path = "cli/secrets.rs"]
mod secrets;
#[path = "cli/tests.rs"]
mod tests;
#[path = "cli/usage.rs"]
mod usage;
#[path = "cli/validate.rs"]
mod validate;
