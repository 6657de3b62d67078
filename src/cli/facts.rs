//! `suil facts`.

use super::start::Start;
use super::{Context, Outcome, Selection};
use crate::base::{Plain, Problems};
use crate::ui::{self, Exit};

/// Collect the facts of nodes, and change nothing
#[derive(clap::Args, Debug, Default)]
pub struct Args {
    #[command(flatten)]
    pub selection: Selection,
    /// Work on this many nodes at once
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..))]
    pub parallel: u16,
}

/// Prints `NODE: {suil: {…}, MODULE: {…}}`, and exits 1 where a node was not reached.
pub fn run(args: Args, context: &Context) -> Outcome {
    let start = Start::new(context, &args.selection, args.parallel, false)?;
    let mask = start.mask();
    start.finish(|start| facts(context, start)).or_else(|problems| Ok(ui::fail(&problems, &mask)))
}

fn facts(context: &Context, start: &mut Start) -> Outcome {
    ui::warn(&start.catalogue.warnings, &start.mask());
    let mut gathered = start.gather(start.prepare()?, "reading facts")?;
    start.follow(&mut gathered, |_, _, _| Ok(()))?;
    let facts = start.mask().plain(&gathered.facts().collect());
    ui::show(context.output, || facts.to_yaml(), || Plain::from_iter([("facts", facts.clone())]))?;
    let warnings: Problems = gathered.plan.nodes.iter().flat_map(|node| node.warnings.clone()).collect();
    ui::warn(&warnings, &start.mask());
    let outcomes = start.leave(gathered);
    let problems: Problems = outcomes.iter().flat_map(|(_, outcome)| outcome.problems()).cloned().collect();
    Ok(if problems.is_empty() { Exit::Done } else { ui::fail(&problems, &start.mask()) })
}
