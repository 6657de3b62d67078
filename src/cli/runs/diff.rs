//! `suil runs diff`.

use super::{NAMES, runs};
use crate::cli::{Context, Outcome};
use crate::run::past::diff::diff;
use crate::ui::{self, Exit, Paint};

/// Show what differs between two runs: nodes, outcomes, public configs, operations
#[derive(clap::Args, Debug)]
#[command(after_help = NAMES)]
pub struct Args {
    /// The first run
    #[arg(value_name = "RUN", default_value = "-1", allow_negative_numbers = true)]
    first: String,
    /// The second run
    #[arg(value_name = "RUN", default_value = "latest", allow_negative_numbers = true)]
    second: String,
    /// Exit 2 where they differ
    #[arg(long)]
    detailed_exitcode: bool,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let runs = runs(context)?;
    let (first, second) = (runs.find(&args.first)?, runs.find(&args.second)?);
    let found = diff(first, second)?;
    let heads = (first.head()?, second.head()?);
    let text = || ui::runs::diff(&heads.0, &heads.1, &found, Paint::ON);
    ui::show(context.output, text, || found.to_plain(first, second))?;
    Ok(if args.detailed_exitcode && !found.is_empty() { Exit::Differences } else { Exit::Done })
}
