//! `suil infra why`.

use super::nodes::Around;
use super::tree;
use crate::base::problem::Kind;
use crate::base::{Mask, Problems};
use crate::cli::{Context, Outcome};
use crate::infra::graph;
use crate::ui::{self, Exit, Paint};

/// Show why a stack is affected, what it needs, and what needs it
#[derive(clap::Args, Debug)]
#[command(after_help = "Example: suil infra why stacks/eks")]
pub struct Args {
    /// The stack: its key, or the folder of one
    #[arg(value_name = "STACK")]
    stack: String,
    #[command(flatten)]
    tree: tree::Where,
    #[command(flatten)]
    since: tree::Since,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let explicit = args.since.base.is_some() || args.since.changed_from.is_some();
    let (tree, changes) = match tree::open(&args.tree, Some(&args.since), context) {
        Err(_) if !explicit => tree::open(&args.tree, None, context)?,
        opened => opened?,
    };
    let changed = changes.as_ref().map(tree::Changes::paths);
    let around = Around::open(&tree, context);
    let told =
        around.as_ref().zip(changes.as_ref()).map(|(around, changes)| around.told(&tree, changes)).transpose()?;
    let drawn = around.map(|around| around.drawn(tree.graph.clone())).transpose().unwrap_or_else(|problems| {
        // What is wrong with the workspace matters to nodes alone.
        let warnings: Problems = problems.into_iter().map(|problem| problem.kind(Kind::Warning)).collect();
        ui::warn(&warnings, &Mask::new());
        None
    });
    let graph = drawn.as_ref().unwrap_or(&tree.graph);
    let why = graph::why(graph, &tree.named(&args.stack), changed.as_deref(), &told.unwrap_or_default())?;
    let text = || ui::graph::why(&why, changed.is_some(), ui::columns(), Paint::ON);
    ui::show(context.output, text, || ui::graph::plain(&why))?;
    Ok(Exit::Done)
}
