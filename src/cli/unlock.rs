//! `suil unlock`.

use super::start::Start;
use super::{Context, Outcome, Selection};
use crate::base::{Problem, Problems};
use crate::run::{Lock, Look};
use crate::ui::text::count;
use crate::ui::{self, Exit, Output, Paint};

/// Show who holds the locks of nodes, ask, and take them away
#[derive(clap::Args, Debug)]
#[command(
    after_help = "A run that is alive and loses its lock finishes the operation in flight and begins no other. A stale lock \
                  hinders nobody: the next run takes it by itself."
)]
pub struct Args {
    /// The nodes; a glob takes all that match
    #[arg(value_name = "NODE")]
    pub names: Vec<String>,
    #[command(flatten)]
    pub selection: Selection,
    /// Take them away without asking
    #[arg(long, conflicts_with = "dry_run")]
    pub confirm: bool,
    /// Show them and take none away
    #[arg(long, visible_alias = "list")]
    pub dry_run: bool,
    /// Say why: whoever loses the lock is told
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Work on this many nodes at once
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..))]
    pub parallel: u16,
}

const QUESTION: &str = "Take them away?";

/// Shows the locks, and removes those that are held.
pub fn run(mut args: Args, context: &Context) -> Outcome {
    args.selection.nodes.append(&mut args.names);
    if args.selection.is_empty() {
        return Err(Problem::usage("no node is selected")
            .help("name some: `suil unlock NODE`, or look at all with `suil unlock '*' --dry-run`")
            .into());
    }
    let start = Start::reach(context, &args.selection, args.parallel)?;
    let mask = start.mask();
    start.finish(|start| locks(&args, context, start)).or_else(|problems| Ok(ui::fail(&problems, &mask)))
}

fn locks(args: &Args, context: &Context, start: &Start) -> Outcome {
    let text = context.output == Output::Text;
    let looks = start.look(start.targets()?)?;
    let held = looks.iter().filter(|look| matches!(look.answer, Ok((_, Some(_))))).count();
    let mut agreed = args.confirm;
    if held > 0 && !args.confirm && !args.dry_run && !start.stop.asked() {
        let shown: Vec<ui::locks::Row> = looks.iter().map(seen).collect();
        ui::err(&ui::locks::render(&shown, None, Paint::ON));
        ui::ask::possible(QUESTION, "take them away without asking with `--confirm`")?;
        agreed = start.confirm(QUESTION)?;
    }
    let rows = start.unlock(looks, agreed && !start.stop.asked());
    match text {
        true => ui::out(&ui::locks::render(&rows, ui::columns(), Paint::ON))?,
        false => ui::show(context.output, String::new, || ui::locks::plain(&rows, &start.mask()))?,
    }
    let mut problems: Problems =
        rows.iter().filter_map(|(_, lock)| Some((*lock.as_ref().err()?.problem).clone())).collect();
    let changed = rows.iter().filter(|(_, lock)| matches!(lock, Ok(Lock::Changed(_)))).count();
    if changed > 0 {
        let what = format!("the locks of {} changed hands meanwhile, and were left", count(changed, "node"));
        problems.push(Problem::new(what).help("look again with `suil unlock --dry-run`"));
    }
    if start.stop.asked() {
        ui::fail(&problems, &start.mask());
        return Ok(Exit::Interrupted);
    }
    Ok(if problems.is_empty() { Exit::Done } else { ui::fail(&problems, &start.mask()) })
}

fn seen(look: &Look) -> ui::locks::Row {
    let lock = match &look.answer {
        Ok((_, Some(held))) => Ok(Lock::Held(held.clone())),
        Ok((_, None)) => Ok(Lock::Free),
        Err(failure) => Err(failure.clone()),
    };
    (look.node.clone(), lock)
}
