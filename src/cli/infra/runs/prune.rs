//! `suil infra runs prune`.

use crate::base::{Plain, clock};
use crate::cli::infra::root;
use crate::cli::infra::tree::Where;
use crate::cli::{Context, Outcome};
use crate::infra::store::Pruned;
use crate::ui::text::count;
use crate::ui::{self, Exit};

/// Remove texts of plans after 30 days, and looks for drift after 90
///
/// Runs, what became of their stacks, and the audit stay. The latest look for drift at a stack stays, too.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Show what would be removed
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    place: Where,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let pruned = match root::known(&args.place, context)? {
        Some(books) => books.store.prune(clock::now(), args.dry_run)?,
        None => Pruned::default(),
    };
    let text = || {
        let verb = if args.dry_run { "would remove" } else { "removed" };
        let (texts, drifts) = (pruned.plan_texts as usize, pruned.drifts as usize);
        match texts + drifts {
            0 => "nothing to remove\n".to_owned(),
            _ => format!("{verb} {} of plans and {} for drift\n", count(texts, "text"), count(drifts, "look")),
        }
    };
    let value = || {
        Plain::from_iter([
            ("dry_run", Plain::from(args.dry_run)),
            ("plan_texts", Plain::from(pruned.plan_texts)),
            ("drifts", Plain::from(pruned.drifts)),
        ])
    };
    ui::show(context.output, text, value)?;
    Ok(Exit::Done)
}
