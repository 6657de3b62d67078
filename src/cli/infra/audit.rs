//! `suil infra audit`.

use super::tree::Where;
use super::{root, runs, unlock};
use crate::base::Plain;
use crate::cli::{Context, Outcome};
use crate::infra::store::Entry;
use crate::ui::{self, Exit, Paint};

/// List who took, moved and released the locks of stacks, who applied them, when and why
#[derive(clap::Args, Debug)]
#[command(after_help = "Example: suil infra audit --stack stacks/prod/vpc --limit 10")]
pub struct Args {
    /// Take what was done to this stack
    #[arg(long, value_name = "KEY")]
    stack: Option<String>,
    /// Take what this run did
    #[arg(long, value_name = "RUN", allow_negative_numbers = true)]
    run: Option<String>,
    /// List so many, the newest
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    #[command(flatten)]
    place: Where,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let mut entries = Vec::new();
    if let Some(books) = root::known(&args.place, context)? {
        let run = args.run.as_deref().map(|word| runs::find(&books, word)).transpose()?.map(|run| run.id);
        let stack = args.stack.as_deref().map(unlock::plain);
        entries = books.store.audit(stack.as_deref(), run.as_deref(), args.limit)?;
    }
    let value = || Plain::from_iter([("audit", entries.iter().map(Entry::to_plain).collect())]);
    ui::show(context.output, || ui::store::audit(&entries, Paint::ON), value)?;
    Ok(Exit::Done)
}
