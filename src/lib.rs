//! suil configures Linux hosts from layered data, over SSH, with nothing installed on them.
//!
//! The rooms, in the order in which data passes through them:
//!
//! - [`base`]: where something stands in a file, and what is wrong there;
//! - [`data`]: layer files become one tree, every value remembering its place;
//! - [`catalogue`]: trees become one entry per node;
//! - [`resource`]: what each kind of thing needs to know, how it differs, what closes the difference;
//! - [`module`]: a module's schema, code and templates;
//! - [`node`]: reaches a node and speaks with it;
//! - [`plan`]: compares wanted and found;
//! - [`run`]: performs a plan, looks again, writes down what happened;
//! - [`infra`]: the side wing, Terraform layers;
//! - [`ui`]: the only room that prints;
//! - [`cli`]: the door.
//!
//! Begin reading at `cli::main`, then `run::apply`. `tests/house.rs` keeps the rooms apart.

#![deny(unsafe_code)]

pub mod base;
pub mod catalogue;
pub mod cli;
pub mod data;
pub mod infra;
pub mod module;
pub mod node;
pub mod plan;
pub mod resource;
pub mod run;
pub mod ui;
