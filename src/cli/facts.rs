//! `suil facts`.

use super::{Context, Outcome, Selection};
use crate::base::{Problem, Problems};

/// Collect the facts of the selected nodes, and change nothing
#[derive(clap::Args, Debug, Default)]
pub struct Args {
    #[command(flatten)]
    pub selection: Selection,
    /// Work on this many nodes at once
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..))]
    pub parallel: u16,
}

pub fn run(_args: Args, context: &Context) -> Outcome {
    let _workspace = context.open()?;
    Err(Problems::from(Problem::new("`suil facts` is not there yet")))
}
