//! Layers with Terraform itself, and with scripts that stand for it.

#![allow(clippy::disallowed_methods)]

mod hosts;
mod layers;
mod room;
mod through;
