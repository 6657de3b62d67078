//! `suil diff` and `--affected`, on git repositories that each test makes: what a change does to every node, with no
//! node at hand and without a trace in the repository.

#![allow(clippy::disallowed_methods)]

#[path = "impact/room.rs"]
mod room;

#[path = "impact/affected.rs"]
mod affected;
#[path = "impact/code.rs"]
mod code;
#[path = "impact/data.rs"]
mod data;
#[path = "impact/layers.rs"]
mod layers;
#[path = "impact/page.rs"]
mod page;
#[path = "impact/repository.rs"]
mod repository;
#[path = "impact/secret.rs"]
mod secret;
