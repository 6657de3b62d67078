//! `suil infra preinit`: what the original calls a render without `terraform init`. Scripts written for it use it.

use super::terraform::render_here;
use crate::base::Problems;
use crate::base::problem::Kind;
use crate::cli::{Context, Outcome};
use crate::ui::{self, Exit};

/// Render the layer here, and run no `terraform init`
#[derive(clap::Args, Debug)]
pub struct Args {}

pub fn run(_: Args, context: &Context) -> Outcome {
    match render_here(false, context)? {
        Ok((rendered, _, mask)) => {
            let refused: Problems = rendered.refused.into_iter().map(|problem| problem.kind(Kind::Warning)).collect();
            ui::warn(&refused, &mask);
            Ok(Exit::Done)
        }
        Err(exit) => Ok(exit),
    }
}
