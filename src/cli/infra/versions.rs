//! `suil infra versions`.

use super::tree;
use crate::base::{Mask, Plain};
use crate::cli::{Context, Outcome};
use crate::data::tree::tags;
use crate::infra::versions::{self, Standing};
use crate::ui::{self, Exit, Paint};

/// List the modules from elsewhere, and how far each is behind
///
/// Asks each git repository for its tags. Nothing is fetched, and no version is changed. Registries are not asked.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples: suil infra versions, suil infra versions --detailed-exitcode --output json")]
pub struct Args {
    /// Exit 2 where a module is behind
    #[arg(long)]
    detailed_exitcode: bool,
    #[command(flatten)]
    tree: tree::Where,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let (tree, _) = tree::open(&args.tree, None, context)?;
    let (lags, problems) = versions::lags(&tree.graph, |address| tags(&tree.root, address));
    let text = || ui::versions::render(&lags, ui::columns(), Paint::ON);
    let value = || Plain::from_iter([("modules", lags.iter().map(ui::versions::value).collect::<Plain>())]);
    ui::show(context.output, text, value)?;
    if !problems.is_empty() {
        return Ok(ui::fail(&problems, &Mask::new()));
    }
    let behind = lags.iter().any(|lag| lag.standing == Standing::Behind);
    Ok(if behind && args.detailed_exitcode { Exit::Differences } else { Exit::Done })
}
