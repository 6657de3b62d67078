//! `suil infra`, and what it has below it.

mod audit;
pub(super) mod begin;
mod affected;
mod decrypt;
mod diff;
mod encrypt;
mod genkey;
mod hosts;
pub mod graph;
pub(super) mod keys;
mod lint;
mod locks;
pub(super) mod options;
mod preinit;
mod rekey;
mod render;
pub(super) mod select;
mod surgery;
pub mod terraform;
pub(super) mod tree;
mod validate;
mod why;
pub(super) mod root;
mod runs;
pub(super) mod root;
mod select;
mod surgery;
pub mod terraform;
mod unlock;

use super::{Context, Outcome};

/// Render Terraform layers, order stacks, and keep their secrets and states
#[derive(clap::Args, Debug)]
#[command(disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    Render(render::Args),
    #[command(hide = true)]
    Preinit(preinit::Args),
    Terraform(terraform::Args),
    Diff(diff::Args),
    Lint(lint::Args),
    Encrypt(encrypt::Args),
    Decrypt(decrypt::Args),
    Genkey(genkey::Args),
    Rekey(rekey::Args),
    Runs(runs::Args),
    Locks(locks::Args),
    Unlock(unlock::Args),
    Audit(audit::Args),
    Surgery(surgery::Args),
    Graph(graph::Args),
    Affected(affected::Args),
    Why(why::Args),
    Validate(validate::Args),
}

pub fn run(args: Args, context: &Context) -> Outcome {
    match args.command {
        Command::Render(args) => render::run(args, context),
        Command::Preinit(args) => preinit::run(args, context),
        Command::Terraform(args) => terraform::run(args, context),
        Command::Diff(args) => diff::run(args, context),
        Command::Lint(args) => lint::run(args, context),
        Command::Encrypt(args) => encrypt::run(args, context),
        Command::Decrypt(args) => decrypt::run(args, context),
        Command::Genkey(args) => genkey::run(args, context),
        Command::Rekey(args) => rekey::run(args, context),
        Command::Runs(args) => runs::run(args, context),
        Command::Locks(args) => locks::run(args, context),
        Command::Unlock(args) => unlock::run(args, context),
        Command::Audit(args) => audit::run(args, context),
        Command::Surgery(args) => surgery::run(args, context),
        Command::Graph(args) => graph::run(args, context),
        Command::Affected(args) => affected::run(args, context),
        Command::Why(args) => why::run(args, context),
        Command::Validate(args) => validate::run(args, context),
    }
}
