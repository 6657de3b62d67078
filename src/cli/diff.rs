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
    /// The revision to compare with, by any name that git knows; `REV...` is where the branch of the working tree left REV
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
    let (from, to) = range(&args.revision, args.to.as_deref());
    let from = Past::open(&loaded, &repository, &from)?;
    let to = to.map(|name| Past::open(&loaded, &repository, &name)).transpose()?;
    let after = to.as_ref().map_or(loaded.version(), Past::version);
    let comparison = Comparison::new(&loaded, from.version(), after, &args.selection.of_nodes(&loaded)?)?;
    ui::warn(&comparison.both.after.warnings, &loaded.mask);
    let nodes = comparison.impacts(&|name| args.selection.has_module(name));
    let revisions = comparison.revisions();
    let text = || ui::impact::render(&nodes, comparison.both.count(), &revisions, &loaded.vault, Paint::ON);
    let value = || {
        let side = |past: Option<&Past>| {
            Plain::from_iter([
                ("revision", Plain::from(past.map(|past| past.name.clone()))),
                ("commit", Plain::from(past.map(|past| past.commit.clone()))),
            ])
        };
        Plain::from_iter([
            ("from", side(Some(&from))),
            ("to", side(to.as_ref())),
            ("nodes", nodes.iter().map(|node| loaded.mask.plain(&node.to_plain(&revisions, &loaded.vault))).collect()),
        ])
    };
    ui::show(context.output, text, value).map_err(Problems::from)?;
    let (now, then) = comparison.broken(&nodes);
    ui::warn(&then, &loaded.mask);
    if !now.is_empty() {
        return Ok(ui::fail(&now, &loaded.mask));
    }
    Ok(if args.detailed_exitcode && !nodes.is_empty() { Exit::Differences } else { Exit::Done })
}

/// The two ends, as git writes them: `A..B` compares the two, `A...B` compares `B` with where it left `A`.
fn range(revision: &str, to: Option<&str>) -> (String, Option<String>) {
    let head = |name: &str| if name.is_empty() { "HEAD".to_owned() } else { name.to_owned() };
    match (revision.split_once("...").map(|(_, to)| to), revision.split_once(".."), to) {
        (Some(end), _, None) if !end.is_empty() => (revision.to_owned(), Some(end.to_owned())),
        (None, Some((from, end)), None) => (head(from), Some(head(end))),
        _ => (revision.to_owned(), to.map(str::to_owned)),
    }
}
