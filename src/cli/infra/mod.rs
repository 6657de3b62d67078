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

use super::lazy::Lazy;
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
    Render(Lazy<render::Args>),
    #[command(hide = true)]
    Preinit(Lazy<preinit::Args>),
    Terraform(Lazy<terraform::Args>),
    Diff(Lazy<diff::Args>),
    Lint(Lazy<lint::Args>),
    Plan(Lazy<plan::Args>),
    Apply(Lazy<apply::Args>),
    Destroy(Lazy<destroy::Args>),
    Resume(Lazy<resume::Args>),
    Check(Lazy<check::Args>),
    Drift(Lazy<drift::Args>),
    Versions(Lazy<versions::Args>),
    Encrypt(Lazy<encrypt::Args>),
    Decrypt(Lazy<decrypt::Args>),
    Genkey(Lazy<genkey::Args>),
    Rekey(Lazy<rekey::Args>),
    Runs(Lazy<runs::Args>),
    Locks(Lazy<locks::Args>),
    Unlock(Lazy<unlock::Args>),
    Audit(Lazy<audit::Args>),
    Surgery(Lazy<surgery::Args>),
    Graph(Lazy<graph::Args>),
    Affected(Lazy<affected::Args>),
    Why(Lazy<why::Args>),
    Validate(Lazy<validate::Args>),
}

pub fn run(args: Args, context: &Context) -> Outcome {
    match args.command {
        Command::Render(Lazy(args)) => render::run(args, context),
        Command::Preinit(Lazy(args)) => preinit::run(args, context),
        Command::Terraform(Lazy(args)) => terraform::run(args, context),
        Command::Diff(Lazy(args)) => diff::run(args, context),
        Command::Lint(Lazy(args)) => lint::run(args, context),
        Command::Plan(Lazy(args)) => plan::run(args, context),
        Command::Apply(Lazy(args)) => apply::run(args, context),
        Command::Destroy(Lazy(args)) => destroy::run(args, context),
        Command::Resume(Lazy(args)) => resume::run(args, context),
        Command::Check(Lazy(args)) => check::run(args, context),
        Command::Drift(Lazy(args)) => drift::run(args, context),
        Command::Versions(Lazy(args)) => versions::run(args, context),
        Command::Encrypt(Lazy(args)) => encrypt::run(args, context),
        Command::Decrypt(Lazy(args)) => decrypt::run(args, context),
        Command::Genkey(Lazy(args)) => genkey::run(args, context),
        Command::Rekey(Lazy(args)) => rekey::run(args, context),
        Command::Runs(Lazy(args)) => runs::run(args, context),
        Command::Locks(Lazy(args)) => locks::run(args, context),
        Command::Unlock(Lazy(args)) => unlock::run(args, context),
        Command::Audit(Lazy(args)) => audit::run(args, context),
        Command::Surgery(Lazy(args)) => surgery::run(args, context),
        Command::Graph(Lazy(args)) => graph::run(args, context),
        Command::Affected(Lazy(args)) => affected::run(args, context),
        Command::Why(Lazy(args)) => why::run(args, context),
        Command::Validate(Lazy(args)) => validate::run(args, context),
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
