//! `suil infra`: the Terraform side.

mod options;
mod render;
mod select;

use super::{Context, Outcome};
use clap::Subcommand;

/// Render Terraform layers from variables and templates
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Render(render::Args),
}

pub fn run(args: Args, context: &Context) -> Outcome {
    match args.command {
        Command::Render(args) => render::run(args, context),
    }
}
