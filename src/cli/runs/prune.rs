//! `suil runs prune`.

use crate::base::{Plain, clock};
use crate::catalogue::Keep;
use crate::cli::{Context, Outcome};
use crate::run::prune::prune;
use crate::ui::text::count;
use crate::ui::{self, Exit};

/// Remove old records
///
/// A record stays where one of the two rules keeps it. Without either, what `runs` in data/common.yaml says counts,
/// as it does after every apply.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Keep the newest so many
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
    /// Keep those of the last so many days
    #[arg(long, value_name = "N")]
    days: Option<u32>,
    /// Show what would be removed
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let (root, keep) = match (args.keep, args.days) {
        (None, None) => {
            let workspace = context.open()?;
            (workspace.root().to_owned(), workspace.keep())
        }
        (count, days) => (context.root()?, Keep { count, days }),
    };
    let pruned = prune(&root, keep, clock::now(), args.dry_run)?;
    let text = || {
        let verb = if args.dry_run { "would remove" } else { "removed" };
        let which = match (pruned.removed.as_slice(), args.dry_run) {
            ([], _) => "nothing to remove".to_owned(),
            ([one], _) => format!("{verb} 1 run, `{one}`"),
            ([newest, .., oldest], _) => {
                format!("{verb} {} from `{oldest}` to `{newest}`", count(pruned.removed.len(), "run"))
            }
        };
        format!("{which}; {} kept\n", pruned.kept)
    };
    let value = || {
        Plain::from_iter([
            ("dry_run", Plain::from(args.dry_run)),
            ("removed", pruned.removed.iter().map(Plain::from).collect()),
            ("kept", Plain::from(pruned.kept)),
        ])
    };
    ui::show(context.output, text, value)?;
    Ok(Exit::Done)
}
