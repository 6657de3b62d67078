//! `suil apply`, and `suil` alone.

use super::report::{self, Report};
use super::rolling::Rolling;
use super::start::Start;
use super::{Context, Outcome, Selection, plan};
use crate::base::{Mask, Plain, Problem, Problems, clock, problem::Kind};
use crate::run::{self, Record, saved};
use crate::ui::pick::{Item, pick as choose};
use crate::ui::text::count;
use crate::ui::{self, Ending, Exit, Output, Paint};
use std::path::PathBuf;
use std::sync::Arc;

/// Show what differs on nodes, ask, and change it
#[derive(clap::Args, Debug, Default)]
#[command(after_help = "Without --role and --node, take all nodes with --node '*'.")]
pub struct Args {
    #[command(flatten)]
    pub selection: Selection,
    #[command(flatten)]
    pub rolling: Rolling,
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
    /// Say why: it stands in the lock of each node that is changed
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// With --dry-run: exit 2 where something differs
    #[arg(long, requires = "dry_run")]
    pub detailed_exitcode: bool,
    /// With --dry-run: write the plan to this file, to be applied later with --plan
    #[arg(long, value_name = "FILE", requires = "dry_run")]
    pub out: Option<PathBuf>,
    /// Apply this saved plan and nothing else; refuse where something that matters moved since it was made
    #[arg(long, value_name = "FILE", conflicts_with_all = ["roles", "nodes", "modules", "failed", "affected", "dry_run", "force"])]
    pub plan: Option<PathBuf>,
    /// Write a report of the run: `junit=FILE` or `markdown=FILE`; may be given several times
    #[arg(long = "report", value_name = "FORM=FILE", value_parser = report::parse)]
    pub reports: Vec<Report>,
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

/// Runs the whole way from the catalogue to the check. A report that was asked for is there in the end, whatever
/// happened.
pub fn run(args: Args, context: &Context) -> Outcome {
    report::check(&args.reports)?;
    let reports = args.reports.clone();
    attempt(args, context).inspect_err(|problems| report::write_problems(&reports, problems, &Mask::new()))
}

fn attempt(args: Args, context: &Context) -> Outcome {
    if args.selection.is_empty() && args.plan.is_none() {
        return Err(Problem::usage("no node is selected")
            .help("name some with `--role ROLE` or `--node NODE`, or take all with `--node '*'`")
            .into());
    }
    if !args.confirm && !args.dry_run {
        let instead = match args.plan {
            Some(_) => "apply without asking with `--confirm`",
            None => "show the plan with `--dry-run`, or apply without asking with `--confirm`",
        };
        ui::ask::possible(QUESTION, instead)?;
    }
    args.out.as_deref().map_or(Ok(()), plan::check_out)?;
    let saved = args.plan.as_deref().map(|path| plan::open(path, context)).transpose()?;
    let args = saved.iter().fold(args, |args, saved| saved.args(args));
    if let Some(saved) = saved.as_ref().filter(|saved| saved.is_empty()) {
        let nothing = Problem::warning("nothing to apply: the plan is about no node");
        report::write_problems(&args.reports, &[nothing], &Mask::new());
        return saved.nothing(context);
    }
    let start = Start::new(context, &args.selection, args.parallel, args.force);
    let mut start = start.map_err(|problems| plan::empty(&args, problems))?;
    saved.iter().for_each(|saved| start.restrict(saved.modules()));
    let mask = start.mask();
    start.finish(|start| apply(&args, saved.as_ref(), context, start)).or_else(|problems| {
        report::write_problems(&args.reports, &problems, &mask);
        Ok(ui::fail(&problems, &mask))
    })
}

const QUESTION: &str = "Apply?";

fn apply(args: &Args, saved: Option<&plan::Applied>, context: &Context, start: &Start) -> Outcome {
    let text = context.output == Output::Text;
    let roll = start.roll(&args.rolling)?;
    let prepared = start.prepare()?;
    let connections = saved::connections(&prepared, &start.mask());
    if let Some(plan) = saved {
        plan.check_before(start, &prepared, &connections)?;
        ui::warn(&plan.left_out(), &start.mask());
    }
    let paint = Paint::ON;
    if text {
        ui::out(&ui::brief::render(&start.catalogue, &start.options.only, |node| start.facts_age(node), paint))?;
    }
    ui::warn(&start.catalogue.warnings, &start.mask());
    ui::warn(&start.shrunken(), &start.mask());
    let mut gathered = start.gather(prepared, "reading facts")?;
    gathered.plan.roll = roll;
    if let Some(plan) = saved
        && let Err(moved) = plan.check_after(start, &gathered, &connections)
    {
        start.leave(gathered);
        return Err(moved);
    }
    let failed = gathered.nodes.iter().filter(|(_, ready)| ready.is_err()).count();
    let waiting = gathered.plan.operations();
    // So many nodes are missing already that no batch will begin: there is nothing to ask about.
    let spent = gathered.plan.roll.most_failures.is_some_and(|most| failed > most);
    let mut plan = gathered.plan.to_plain(&start.mask());
    if let Some(saved) = saved {
        plan.set("saved", saved.card());
    }
    let details = report::details(&args.reports, &gathered.plan, &start.mask());
    let about = start.about(&args.selection, args.dry_run);
    let records = start.records(&gathered);
    let record = Arc::new(Record::write(start.root(), clock::now(), &about, &records, &plan, &start.mask())?);
    let warnings: Problems = gathered.plan.nodes.iter().flat_map(|node| node.warnings.clone()).collect();
    ui::warn(&warnings, &start.mask());
    if text {
        ui::out(&ui::plan::render(&gathered.plan, &start.mask(), paint))?;
    }
    let go = match () {
        () if args.dry_run || start.stop.asked() => Ok(false),
        () if waiting == 0 || spent || args.confirm => Ok(true),
        () => start.confirm(QUESTION),
    };
    if !matches!(go, Ok(true)) {
        if !text && go.is_ok() {
            ui::show(context.output, String::new, || plan)?;
        }
        let out = args.out.as_deref().filter(|_| !start.stop.asked());
        let written = out.map_or(Ok(()), |out| plan::write(out, args, start, &gathered, &connections));
        let outcomes = start.leave(gathered);
        end(args, start, &record, &outcomes, &Problems::new(), &details)?;
        go?;
        let exit = conclude(args, start, text, &outcomes, Problems::new(), paint)?;
        return plan::tell(out, written, exit, start, text);
    }
    start.record_lookups(&record)?;
    if text && waiting == 0 && failed < start.catalogue.entries.len() {
        ui::out("Nothing to apply.\n")?;
    }
    let run::Rolled { outcomes, problems } = start.perform(gathered, &record);
    end(args, start, &record, &outcomes, &problems, &details)?;
    if !text {
        ui::show(context.output, String::new, || start.mask().plain(&summary(&outcomes, saved)))?;
    }
    conclude(args, start, text, &outcomes, problems, paint)
}

/// Ends the record of the run, writes the reports of it, and takes old records away.
fn end(
    args: &Args,
    start: &Start,
    record: &Record,
    outcomes: &[(String, run::Outcome)],
    beside: &Problems,
    details: &ui::plan::Details,
) -> Result<(), Problem> {
    record.finish(outcomes, exit(args, start, outcomes, beside).code())?;
    if !args.reports.is_empty() {
        report::write(&args.reports, &record.run().story()?, details)?;
    }
    start.prune();
    Ok(())
}

/// What `--output json|yaml` prints of an apply: `{version, nodes: [{node, outcome, operations, planned, problems}]}`.
/// Of a saved plan it carries `plan`, too: `{sha256, made, by}`.
fn summary(outcomes: &[(String, run::Outcome)], saved: Option<&plan::Applied>) -> Plain {
    let nodes = outcomes.iter().map(|(node, outcome)| {
        let mut row = Plain::from_iter([("node", Plain::from(node))]);
        for (key, value) in outcome.to_plain().as_map().into_iter().flatten() {
            row.set(key, value.clone());
        }
        row
    });
    let mut summary = Plain::from_iter([("version", Plain::Int(1)), ("nodes", nodes.collect())]);
    if let Some(saved) = saved {
        summary.set("plan", saved.card());
    }
    summary
}

/// Prints the last line of each node and every problem, and says how suil exits.
fn conclude(
    args: &Args,
    start: &Start,
    text: bool,
    outcomes: &[(String, run::Outcome)],
    beside: Problems,
    paint: Paint,
) -> Result<Exit, Problems> {
    if text {
        let lines: Vec<(&str, Ending, String)> = outcomes
            .iter()
            .map(|(node, outcome)| (node.as_str(), ui::watch::ending(outcome), words(outcome)))
            .collect();
        ui::out(&ui::progress::endings(lines.iter().map(|(n, e, w)| (*n, *e, w.as_str())), paint))?;
    }
    let problems = said(outcomes, &beside);
    if start.stop.asked() && problems.is_empty() {
        let what = Problem::new("interrupted").kind(Kind::Interrupted).note(unchanged(outcomes));
        ui::fail(&[what], &start.mask());
    }
    if !problems.is_empty() {
        ui::fail(&problems, &start.mask());
    }
    Ok(exit(args, start, outcomes, &beside))
}

/// Every problem of a run, once: nodes that were not begun for one reason share it.
fn said(outcomes: &[(String, run::Outcome)], beside: &Problems) -> Problems {
    let mut problems = Problems::new();
    for problem in outcomes.iter().flat_map(|(_, outcome)| outcome.problems()).chain(beside) {
        if !problems.contains(problem) {
            problems.push(problem.clone());
        }
    }
    problems
}

/// How suil exits after a run that ended so.
fn exit(args: &Args, start: &Start, outcomes: &[(String, run::Outcome)], beside: &Problems) -> Exit {
    if start.stop.asked() {
        return Exit::Interrupted;
    }
    let problems = said(outcomes, beside);
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
