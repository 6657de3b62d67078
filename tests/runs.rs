//! The records of runs: listed, shown, compared, pruned and reported, in a sealed room.

#![allow(clippy::disallowed_methods)]

#[path = "local/room.rs"]
mod room;

#[path = "runs/past.rs"]
mod past;
#[path = "runs/prune.rs"]
mod prune;
#[path = "runs/report.rs"]
mod report;
