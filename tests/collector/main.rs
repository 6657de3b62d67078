//! Code that runs on a node, run for real under every shell.

mod actions;
mod paths;
mod resources;
mod shells;
mod system;
