//! `suil infra`, and what it has below it.

mod affected;
mod apply;
mod asking;
mod audit;
pub(super) mod begin;
mod check;
mod decrypt;
mod destroy;
mod diff;
mod drift;
mod encrypt;
mod genkey;
pub mod graph;
mod ground;
pub(super) mod hosts;
pub(super) mod keys;
mod left;
mod lint;
mod locks;
pub(super) mod nodes;
pub(super) mod options;
mod plan;
mod preinit;
mod rekey;
mod render;
mod resume;
pub(super) mod root;
mod runs;
pub(super) mod select;
mod surgery;
pub mod terraform;
pub(super) mod tree;
mod unlock;
mod validate;
pub(super) mod versions;
mod why;

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
    Plan(plan::Args),
    Apply(apply::Args),
    Destroy(destroy::Args),
    Resume(resume::Args),
    Check(check::Args),
    Drift(drift::Args),
    Versions(versions::Args),
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
        Command::Plan(args) => plan::run(args, context),
        Command::Apply(args) => apply::run(args, context),
        Command::Destroy(args) => destroy::run(args, context),
        Command::Resume(args) => resume::run(args, context),
        Command::Check(args) => check::run(args, context),
        Command::Drift(args) => drift::run(args, context),
        Command::Versions(args) => versions::run(args, context),
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

/// The graph of the tree that a command line which is being typed is about; `None` where there is a mistake in it.
pub fn keys_of(
    root: Option<std::path::PathBuf>,
    workspace: Option<std::path::PathBuf>,
) -> Option<crate::infra::graph::Graph> {
    let context = Context { workspace, output: crate::ui::Output::Text };
    let place = tree::Where { repo_root: root, repo: None };
    tree::open(&place, None, &context).ok().map(|(tree, _)| tree.graph)
}
