//! `suil apply`, and `suil` alone.

use super::later::{self, Blocked, Next, Waiting};
use super::report::{self, Report};
use super::rolling::Rolling;
use super::start::Start;
use super::{Context, Outcome, Selection, plan};
use crate::base::{Mask, Plain, Problem, Problems, clock, problem::Kind};
use crate::catalogue::{self, Catalogue};
use crate::run::past::Story;
use crate::run::{self, Record, layers, saved};
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
    rounds(args, saved.as_ref(), context)
}

/// Goes over the nodes, and then over those that had to wait for what the layers of the first were to bring, each time
/// with a plan of its own: what that is made from was not there before.
fn rounds(mut args: Args, saved: Option<&plan::Applied>, context: &Context) -> Outcome {
    let mut before = Before::default();
    let mut exit = Exit::Done;
    loop {
        let start = match saved {
            // It is about nodes that need nothing any more which is about to change.
            Some(_) => Start::new(context, &args.selection, args.parallel, args.force),
            None => Start::parted(context, &args.selection, args.parallel, args.force, &before.blocked),
        };
        let mut start = start.map_err(|problems| plan::empty(&args, problems))?;
        saved.iter().for_each(|saved| start.restrict(saved.modules()));
        let mask = start.mask();
        let round = start.finish(|start| apply(&args, saved, context, start, &mut before));
        let Round { exit: ended, next } = round.unwrap_or_else(|problems| {
            report::write_problems(&args.reports, &problems, &mask);
            Round { exit: ui::fail(&problems, &mask), next: Vec::new() }
        });
        exit = if exit == Exit::Done { ended } else { exit };
        if next.is_empty() {
            if before.applied && context.output != Output::Text {
                ui::show(context.output, String::new, || mask.plain(&summary(&before.outcomes, saved)))?;
            }
            return Ok(exit);
        }
        let nodes = catalogue::Selection::names(next.iter().map(String::as_str)).nodes;
        args.selection = Selection { nodes, modules: args.selection.modules, ..Selection::default() };
    }
}

/// What came of the rounds before.
#[derive(Default)]
struct Before {
    /// How each node ended that came to its end, in the order of the catalogue.
    outcomes: Vec<(String, run::Outcome)>,
    story: Option<Story>,
    /// The layers that are not come to any more.
    blocked: Vec<Blocked>,
    /// Something was to be applied, and the answer was yes.
    applied: bool,
}

/// How a round ended, and who comes next.
struct Round {
    exit: Exit,
    next: Vec<String>,
}

const QUESTION: &str = "Apply?";

fn apply(
    args: &Args,
    saved: Option<&plan::Applied>,
    context: &Context,
    start: &mut Start,
    before: &mut Before,
) -> Result<Round, Problems> {
    let text = context.output == Output::Text;
    // What is wrong with it is told before anything connects.
    start.roll(&args.rolling)?;
    let prepared = start.prepare()?;
    let mut connections = saved::connections(&prepared, &start.mask());
    if let Some(plan) = saved {
        plan.check_before(start, &prepared, &connections)?;
        ui::warn(&plan.left_out(), &start.mask());
    }
    let paint = Paint::ON;
    let brief = |start: &Start, catalogue: &Catalogue| match text {
        true => ui::out(&ui::brief::render(catalogue, &start.options.only, |node| start.facts_age(node), paint)),
        false => Ok(()),
    };
    brief(start, &start.catalogue)?;
    ui::warn(&start.catalogue.warnings, &start.mask());
    ui::warn(&start.shrunken(), &start.mask());
    let mut gathered = start.gather(prepared, "reading facts")?;
    let followed = start.follow(&mut gathered, |start, more, prepared| {
        connections.extend(saved::connections(prepared, &start.mask()));
        brief(start, more)
    });
    let waiting = match followed {
        Ok(waiting) => waiting,
        Err(problems) => {
            start.leave(gathered);
            return Err(problems);
        }
    };
    gathered.plan.roll = start.roll(&args.rolling)?;
    if let Some(plan) = saved
        && let Err(moved) = plan.check_after(start, &gathered, &connections)
    {
        start.leave(gathered);
        return Err(moved);
    }
    let failed = gathered.nodes.iter().filter(|(_, ready)| ready.is_err()).count();
    let operations = gathered.plan.operations();
    // So many nodes are missing already that no batch will begin: there is nothing to ask about.
    let spent = gathered.plan.roll.most_failures.is_some_and(|most| failed > most);
    let mut plan = gathered.plan.to_plain(&start.mask());
    if let Some(saved) = saved {
        plan.set("saved", saved.card());
    }
    if !waiting.is_empty() {
        plan.set("waiting", waiting.iter().map(Waiting::to_plain).collect::<Plain>());
    }
    let details = report::details(&args.reports, &gathered.plan, &start.mask());
    let about = start.about(&args.selection, args.dry_run);
    let records = start.records(&gathered);
    let record = Arc::new(Record::write(start.root(), clock::now(), &about, &records, &plan, &start.mask())?);
    let warnings: Problems = gathered.plan.nodes.iter().flat_map(|node| node.warnings.clone()).collect();
    ui::warn(&warnings, &start.mask());
    if text {
        ui::out(&ui::plan::render(&gathered.plan, &start.mask(), paint))?;
        ui::out(&ui::plan::waiting(waiting.iter().map(|one| (one.node.as_str(), one.why())), paint))?;
    }
    let go = match () {
        () if args.dry_run || start.stop.asked() => Ok(false),
        () if operations == 0 || spent || args.confirm => Ok(true),
        () => start.confirm(QUESTION),
    };
    if !matches!(go, Ok(true)) {
        if !text && go.is_ok() && !before.applied {
            ui::show(context.output, String::new, || plan)?;
        }
        let out = args.out.as_deref().filter(|_| !start.stop.asked());
        let written = out.map_or(Ok(()), |out| plan::write(out, args, start, &gathered, &connections, &waiting));
        let outcomes = start.leave(gathered);
        end(args, start, &record, &outcomes, &Problems::new(), &details, before)?;
        go?;
        let exit = conclude(args, start, text, &outcomes, Problems::new(), paint)?;
        let exit = plan::tell(out, written, exit, start, text)?;
        before.take(outcomes);
        return Ok(Round { exit, next: Vec::new() });
    }
    start.record_lookups(&record)?;
    if text && operations == 0 && failed < start.catalogue.entries.len() {
        ui::out("Nothing to apply.\n")?;
    }
    let most = gathered.plan.roll.most_failures;
    let layered = layers::working(&gathered.plan);
    let run::Rolled { mut outcomes, problems } = start.perform(gathered, &record);
    let failures = outcomes.iter().filter(|(_, outcome)| outcome.is_failure()).count();
    let halted = start.stop.asked() || most.is_some_and(|most| failures > most);
    let Next { nodes: mut next, left, blocked } = later::next(waiting, start.holds(), &outcomes, halted);
    before.blocked.extend(blocked);
    if !halted {
        next.extend(start.unfinished(&layered, &outcomes, &before.blocked));
        next.sort();
        next.dedup();
    }
    outcomes.extend(left);
    outcomes.sort_by(|(a, _), (b, _)| a.cmp(b));
    if saved.is_some() {
        // Its plan is made of what was there when it was saved.
        let unfinished: Problems = next.drain(..).map(|node| later::unfinished(&node)).collect();
        ui::warn(&unfinished, &start.mask());
    } else {
        before.block(&next, &mut outcomes);
    }
    end(args, start, &record, &outcomes, &problems, &details, before)?;
    let exit = conclude(args, start, text, &outcomes, problems, paint)?;
    before.applied = true;
    before.take(outcomes);
    if text && !next.is_empty() {
        ui::out(&format!(
            "\n{} to come: what {} for is there now.\n\n",
            count(next.len(), "node"),
            if next.len() == 1 { "it waited" } else { "they waited" }
        ))?;
    }
    Ok(Round { exit, next })
}

impl Before {
    /// Lets the nodes fail that do not come again, and have layers that are not come to.
    fn block(&self, next: &[String], outcomes: &mut [(String, run::Outcome)]) {
        for Blocked { layer, problem, .. } in &self.blocked {
            let ended = outcomes.iter_mut().find(|(node, _)| *node == layer.node && !next.contains(node));
            if let Some((_, outcome)) = ended {
                *outcome = std::mem::replace(outcome, run::Outcome::Nothing).but(problem.clone());
            }
        }
    }

    fn take(&mut self, outcomes: Vec<(String, run::Outcome)>) {
        for (node, outcome) in outcomes {
            match self.outcomes.iter_mut().find(|(known, _)| *known == node) {
                Some((_, earlier)) => *earlier = outcome.after(earlier),
                None => self.outcomes.push((node, outcome)),
            }
        }
        self.outcomes.sort_by(|(a, _), (b, _)| a.cmp(b));
    }
}

/// Ends the record of the run, writes the reports of it, and takes old records away.
fn end(
    args: &Args,
    start: &Start,
    record: &Record,
    outcomes: &[(String, run::Outcome)],
    beside: &Problems,
    details: &ui::plan::Details,
    before: &mut Before,
) -> Result<(), Problem> {
    let code = exit(args, start, outcomes, beside).code();
    // Those that an earlier round left behind are left behind by the run: `--failed` finds them here.
    let left = before.outcomes.iter().filter(|(_, outcome)| outcome.is_failure());
    let all: Vec<(String, run::Outcome)> = left.chain(outcomes).cloned().collect();
    record.finish(&all, code)?;
    if !args.reports.is_empty() {
        let story = record.run().story()?;
        let story = before.story.take().map_or(story.clone(), |earlier| earlier.and(story));
        report::write(&args.reports, &story, details)?;
        before.story = Some(story);
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
