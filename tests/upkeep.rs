//! Upkeep of secrets: rekey, edit and the list, on files as people write them.

#![allow(clippy::disallowed_methods)]

#[path = "upkeep/edit.rs"]
mod edit;
#[path = "upkeep/list.rs"]
mod list;
#[path = "upkeep/nest.rs"]
mod nest;
#[path = "upkeep/rekey.rs"]
mod rekey;
#[allow(dead_code, reason = "shared with the tests of the command line, which use all of it")]
#[path = "cli/room.rs"]
mod room;
