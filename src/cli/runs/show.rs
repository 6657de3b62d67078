//! `suil runs show`.

use super::{NAMES, runs, takes};
use crate::base::{Problem, clock};
use crate::cli::report::{self, Report};
use crate::cli::{Context, Outcome};
use crate::ui::plan::Details;
use crate::ui::{self, Exit, Paint};

/// Show what a run did: its plan, what became of each operation, how each node ended
#[derive(clap::Args, Debug)]
#[command(after_help = NAMES)]
pub struct Args {
    /// Which run
    #[arg(value_name = "RUN", default_value = "latest", allow_negative_numbers = true)]
    run: String,
    /// Show only this node; a glob takes all nodes that match
    #[arg(short, long = "node", value_name = "NODE", num_args = 1..)]
    nodes: Vec<String>,
    /// Write a report of the run as well: `junit=FILE` or `markdown=FILE`; may be given several times
    #[arg(long = "report", value_name = "FORM=FILE", value_parser = report::parse)]
    reports: Vec<Report>,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    report::check(&args.reports)?;
    let runs = runs(context)?;
    let run = runs.find(&args.run)?;
    let mut story = run.story()?;
    if !args.nodes.is_empty() {
        story.only(takes(&args.nodes));
        if story.nodes.is_empty() {
            let what = format!("run `{}` had no node `{}`", run.id, args.nodes.join("`, `"));
            return Err(Problem::new(what).help(format!("`suil runs show {}` lists its nodes", run.id)).into());
        }
    }
    report::write(&args.reports, &story, &Details::new())?;
    let text = || ui::runs::show(&story, clock::now() - run.started(), Paint::ON);
    ui::show(context.output, text, || story.to_plain(run))?;
    Ok(Exit::Done)
}
