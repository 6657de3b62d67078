//! `suil infra`, and what it has below it.

mod decrypt;
mod diff;
mod encrypt;
mod genkey;
mod keys;
mod lint;
mod options;
mod rekey;
mod render;
mod select;

use super::{Context, Outcome};

/// Render Terraform layers, and keep their secrets
#[derive(clap::Args, Debug)]
#[command(disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    Render(render::Args),
    Diff(diff::Args),
    Lint(lint::Args),
    Encrypt(encrypt::Args),
    Decrypt(decrypt::Args),
    Genkey(genkey::Args),
    Rekey(rekey::Args),
}

pub fn run(args: Args, context: &Context) -> Outcome {
    match args.command {
        Command::Render(args) => render::run(args, context),
        Command::Diff(args) => diff::run(args, context),
        Command::Lint(args) => lint::run(args, context),
        Command::Encrypt(args) => encrypt::run(args, context),
        Command::Decrypt(args) => decrypt::run(args, context),
        Command::Genkey(args) => genkey::run(args, context),
        Command::Rekey(args) => rekey::run(args, context),
    }
}
