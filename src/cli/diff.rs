//! `suil diff`.

use super::impact::{Comparison, Past};
use super::{Context, Outcome, Selection};
use crate::base::{Plain, Problems};
use crate::data::tree::Repository;
use crate::ui::{self, Exit, Paint};

/// Show what a change does to every node, without connecting
///
/// Compares the workspace as it lies here with a revision of git: nodes, roles, modules, values with both places, and
/// the resources that modules make of them. The working tree is only read.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples: suil diff HEAD, suil diff main --role web, suil diff v1.2 v1.3")]
pub struct Args {
    /// The revision to compare with, by any name that git knows
    #[arg(value_name = "REV")]
    revision: String,
    /// Compare this revision with it, instead of the working tree
    #[arg(value_name = "REV2")]
    to: Option<String>,
    #[command(flatten)]
    selection: Selection,
    /// Exit 2 where something differs
    #[arg(long)]
    detailed_exitcode: bool,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let loaded = context.load()?;
    let repository = Repository::find(loaded.workspace.root())?;
    let to = args.to.as_deref().map(|name| Past::open(&loaded, &repository, name)).transpose()?;
    let from = Past::open(&loaded, &repository, &args.revision)?;
    let after = to.as_ref().map_or(loaded.version(), Past::version);
    let comparison = Comparison::new(&loaded, from.version(), after, &args.selection.of_nodes(&loaded)?)?;
    ui::warn(&comparison.both.after.warnings, &loaded.mask);
    let nodes = comparison.impacts(&|name| args.selection.has_module(name));
    let text = || ui::impact::render(&nodes, comparison.both.count(), &loaded.vault, Paint::ON);
    let value = || {
        let side = |past: Option<&Past>| {
            Plain::from_iter([
                ("revision", Plain::from(past.map(|past| past.name.clone()))),
                ("commit", Plain::from(past.map(|past| past.commit.clone()))),
            ])
        };
        Plain::from_iter([
            ("version", Plain::Int(1)),
            ("from", side(Some(&from))),
            ("to", side(to.as_ref())),
            ("nodes", nodes.iter().map(|node| node.to_plain(&loaded.vault)).collect()),
        ])
    };
    ui::show(context.output, text, value).map_err(Problems::from)?;
    Ok(if args.detailed_exitcode && !nodes.is_empty() { Exit::Differences } else { Exit::Done })
}
