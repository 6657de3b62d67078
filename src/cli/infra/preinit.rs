//! `suil infra preinit`: what the original calls a render without `terraform init`. Scripts written for it use it.

use super::render;
use crate::cli::{Context, Outcome};

/// Render the layer here, and run no `terraform init`
#[derive(clap::Args, Debug)]
pub struct Args {}

pub fn run(_: Args, context: &Context) -> Outcome {
    render::run(render::Args::here(), context)
}
