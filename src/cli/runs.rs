//! `suil runs`, and what it has below it.

mod diff;
mod prune;
mod show;

use super::{Context, Outcome};
use crate::base::{Plain, Problem, Problems, clock, problem::Kind};
use crate::catalogue::Glob;
use crate::run::{Run, Runs, past::Head};
use crate::ui::{self, Exit, Paint};

/// List the runs that are recorded, and look into them
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Take the runs that had this node; a glob takes all nodes that match
    #[arg(short, long = "node", value_name = "NODE", num_args = 1..)]
    nodes: Vec<String>,
    /// List so many, the newest
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    Show(show::Args),
    Diff(diff::Args),
    Prune(prune::Args),
}

/// What stands for a run on the command line.
const NAMES: &str = "A run is named by its id, by a beginning of it that no other has, by `latest`, or by `-1` for the \
                     one before the latest, `-2` for the one before that.";

pub fn run(args: Args, context: &Context) -> Outcome {
    match args.command {
        None => list(&args, context),
        Some(Command::Show(args)) => show::run(args, context),
        Some(Command::Diff(args)) => diff::run(args, context),
        Some(Command::Prune(args)) => prune::run(args, context),
    }
}

fn runs(context: &Context) -> Result<Runs, Problems> {
    let root = context.root()?;
    context.settings(&root)?;
    Ok(Runs::open(&root)?)
}

/// True for a node that one of the patterns takes; no pattern takes all.
fn takes(patterns: &[String]) -> impl Fn(&str) -> bool + use<> {
    let globs: Vec<Glob> = patterns.iter().map(|pattern| Glob::new(pattern)).collect();
    move |node| globs.is_empty() || globs.iter().any(|glob| glob.matches(node))
}

fn list(args: &Args, context: &Context) -> Outcome {
    let runs = runs(context)?;
    let is = takes(&args.nodes);
    let mut rows: Vec<(&Run, Result<Head, Problem>)> = Vec::new();
    for run in runs.all() {
        if rows.len() == args.limit.unwrap_or(usize::MAX) {
            break;
        }
        if args.nodes.is_empty() {
            rows.push((run, run.head()));
            continue;
        }
        match run.has_node(&is) {
            Ok(true) => rows.push((run, run.head())),
            Ok(false) => {}
            Err(problem) => rows.push((run, Err(problem))),
        }
    }
    let value = || {
        let row = |(run, head): &(&Run, Result<Head, Problem>)| {
            let mut row = match head {
                Ok(head) => head.to_plain(run),
                Err(_) => Plain::from_iter([
                    ("id", Plain::from(&run.id)),
                    ("state", Plain::from("broken")),
                    ("started", Plain::from(clock::stamp(run.started()))),
                ]),
            };
            row.set("problem", head.as_ref().err().map(|problem| Plain::from(&problem.what)));
            row
        };
        Plain::from_iter([("runs", rows.iter().map(row).collect())])
    };
    ui::show(context.output, || ui::runs::list(&rows, clock::now(), Paint::ON), value)?;
    let broken = rows.iter().filter_map(|(_, head)| head.as_ref().err().cloned());
    let broken: Problems = broken.map(|problem| problem.kind(Kind::Warning)).collect();
    ui::warn(&broken, &crate::base::Mask::new());
    Ok(Exit::Done)
}
