//! `suil apply`, and `suil` alone.

use super::start::Start;
use super::{Context, Outcome, Selection};
use crate::base::{Plain, Problem, Problems, clock, problem::Kind};
use crate::run::{self, Record};
use crate::ui::pick::{Item, pick as choose};
use crate::ui::text::count;
use crate::ui::{self, Ending, Exit, Output, Paint};
use std::sync::Arc;

/// Show what differs on nodes, ask, and change it
#[derive(clap::Args, Debug, Default)]
#[command(after_help = "Without --role and --node, take all nodes with --node '*'.")]
pub struct Args {
    #[command(flatten)]
    pub selection: Selection,
    /// Apply without asking
    #[arg(long, conflicts_with = "dry_run")]
    pub confirm: bool,
    /// Show the plan and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Assert every resource, and tell `deploy()` so, even where nothing differs
    #[arg(long)]
    pub force: bool,
    /// Work on this many nodes at once
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..))]
    pub parallel: u16,
    /// With --dry-run: exit 2 where something differs
    #[arg(long, requires = "dry_run")]
    pub detailed_exitcode: bool,
}

const INSTEAD: &str = "name them: `suil apply --role ROLE`";

/// `suil` alone: pick roles from a list, then run.
pub fn pick(context: &Context) -> Outcome {
    ui::ask::possible("Roles", INSTEAD)?;
    let workspace = context.open()?;
    let roles = workspace.roles()?;
    let item = |row: &crate::catalogue::RoleRow| Item {
        name: row.name.clone(),
        detail: format!("{}: {}", count(row.nodes.len(), "node"), row.nodes.join(", ")),
    };
    let items: Vec<Item> = roles.iter().map(item).collect();
    if items.is_empty() {
        return Err(Problem::new("the workspace has no role").help("`suil init DIR` makes one to look at").into());
    }
    let Some(picked) = choose("Roles", &items, INSTEAD)? else { return Ok(Exit::Done) };
    let picked: Vec<String> = picked.into_iter().filter_map(|i| roles.get(i)).map(|row| row.name.clone()).collect();
    run(
        Args { selection: Selection { roles: picked, ..Selection::default() }, parallel: 32, ..Args::default() },
        context,
    )
}

/// Runs the whole way from the catalogue to the check.
pub fn run(args: Args, context: &Context) -> Outcome {
    if args.selection.is_empty() {
        return Err(Problem::usage("no node is selected")
            .help("name some with `--role ROLE` or `--node NODE`, or take all with `--node '*'`")
            .into());
    }
    if !args.confirm && !args.dry_run {
        ui::ask::possible(QUESTION, "show the plan with `--dry-run`, or apply without asking with `--confirm`")?;
    }
    let start = Start::new(context, &args.selection, args.parallel, args.force)?;
    let mask = start.mask();
    start.finish(|start| apply(&args, context, start)).or_else(|problems| Ok(ui::fail(&problems, &mask)))
}

const QUESTION: &str = "Apply?";

fn apply(args: &Args, context: &Context, start: &Start) -> Outcome {
    let text = context.output == Output::Text;
    let prepared = start.prepare()?;
    let paint = Paint::ON;
    if text {
        ui::out(&ui::brief::render(&start.catalogue, &start.options.only, |node| start.facts_age(node), paint))?;
    }
    ui::warn(&start.catalogue.warnings, &start.mask());
    ui::warn(&start.shrunken(), &start.mask());
    let gathered = start.gather(prepared, "reading facts")?;
    let failed = gathered.nodes.iter().filter(|(_, ready)| ready.is_err()).count();
    let waiting = gathered.plan.operations();
    let plan = gathered.plan.to_plain(&start.mask());
    let about = start.about(&args.selection, args.dry_run);
    let records = start.records(&gathered);
    let record = Arc::new(Record::write(start.root(), clock::now(), &about, &records, &plan, &start.mask())?);
    let warnings: Problems = gathered.plan.nodes.iter().flat_map(|node| node.warnings.clone()).collect();
    ui::warn(&warnings, &start.mask());
    if text {
        ui::out(&ui::plan::render(&gathered.plan, &start.mask(), paint))?;
    }
    if args.dry_run || start.stop.asked() || (waiting > 0 && !args.confirm && !start.confirm(QUESTION)?) {
        if !text {
            ui::show(context.output, String::new, || plan)?;
        }
        let outcomes = start.leave(gathered);
        end(args, start, &record, &outcomes)?;
        return conclude(args, start, text, &outcomes, paint);
    }
    start.record_lookups(&record)?;
    if text && waiting == 0 && failed < start.catalogue.entries.len() {
        ui::out("Nothing to apply.\n")?;
    }
    let outcomes = start.perform(gathered, &record);
    end(args, start, &record, &outcomes)?;
    if !text {
        ui::show(context.output, String::new, || start.mask().plain(&summary(&outcomes)))?;
    }
    conclude(args, start, text, &outcomes, paint)
}

/// Ends the record of the run, and takes old ones away.
fn end(args: &Args, start: &Start, record: &Record, outcomes: &[(String, run::Outcome)]) -> Result<(), Problem> {
    record.finish(outcomes, exit(args, start, outcomes) as u8)?;
    start.prune();
    Ok(())
}

/// What `--output json|yaml` prints of an apply: `{version, nodes: [{node, outcome, operations, planned, problems}]}`.
fn summary(outcomes: &[(String, run::Outcome)]) -> Plain {
    let nodes = outcomes.iter().map(|(node, outcome)| {
        let mut row = Plain::from_iter([("node", Plain::from(node))]);
        for (key, value) in outcome.to_plain().as_map().into_iter().flatten() {
            row.set(key, value.clone());
        }
        row
    });
    Plain::from_iter([("version", Plain::Int(1)), ("nodes", nodes.collect())])
}

/// Prints the last line of each node and every problem, and says how suil exits.
fn conclude(
    args: &Args,
    start: &Start,
    text: bool,
    outcomes: &[(String, run::Outcome)],
    paint: Paint,
) -> Result<Exit, Problems> {
    if text {
        let lines: Vec<(&str, Ending, String)> = outcomes
            .iter()
            .map(|(node, outcome)| (node.as_str(), ui::watch::ending(outcome), words(outcome)))
            .collect();
        ui::out(&ui::progress::endings(lines.iter().map(|(n, e, w)| (*n, *e, w.as_str())), paint))?;
    }
    let mut problems: Problems = outcomes.iter().flat_map(|(_, outcome)| outcome.problems()).cloned().collect();
    if start.stop.asked() && problems.is_empty() {
        problems.push(Problem::new("interrupted").kind(Kind::Interrupted).note(unchanged(outcomes)));
    }
    if !problems.is_empty() {
        ui::fail(&problems, &start.mask());
    }
    Ok(exit(args, start, outcomes))
}

/// How suil exits after a run that ended so.
fn exit(args: &Args, start: &Start, outcomes: &[(String, run::Outcome)]) -> Exit {
    if start.stop.asked() {
        return Exit::Interrupted;
    }
    let problems: Problems = outcomes.iter().flat_map(|(_, outcome)| outcome.problems()).cloned().collect();
    if !problems.is_empty() {
        return ui::problem::exit(&problems);
    }
    let waits = outcomes.iter().any(|(_, o)| matches!(o, run::Outcome::Planned { operations } if *operations > 0));
    if waits && args.detailed_exitcode { Exit::Differences } else { Exit::Done }
}

/// What is to be said of an interrupted run in which nothing went wrong.
fn unchanged(outcomes: &[(String, run::Outcome)]) -> &'static str {
    match outcomes.iter().any(|(_, outcome)| matches!(outcome, run::Outcome::Done { .. })) {
        true => "what had begun was finished",
        false => "nothing was changed",
    }
}

/// What stands behind the ending of a node.
fn words(outcome: &run::Outcome) -> String {
    match outcome {
        run::Outcome::Done { operations } | run::Outcome::Planned { operations } => count(*operations, "operation"),
        run::Outcome::Failed { performed, planned, .. } => format!("{performed} of {}", count(*planned, "operation")),
        run::Outcome::InDoubt { performed, planned, .. } => {
            format!("in operation {} of {planned}", performed + 1)
        }
        run::Outcome::Nothing | run::Outcome::NotReached { .. } => String::new(),
    }
}
