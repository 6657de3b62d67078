//! Whole stdout, stderr and status of the offline commands, in a sealed room: no environment, a home of its own, a
//! fixed width.

#![allow(clippy::disallowed_methods)]

#[path = "cli/init.rs"]
mod init;
#[path = "cli/room.rs"]
mod room;
#[path = "cli/usage.rs"]
mod usage;
