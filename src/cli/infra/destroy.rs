//! `suil infra destroy`.

use super::apply::{Asks, planned_now};
use super::ground::{Choice, Ground, Speed, requested};
use super::plan::nothing;
use crate::base::problem::Kind;
use crate::base::{Problem, Problems};
use crate::cli::{Context, Outcome};
use crate::infra::engine::Work;
use crate::infra::graph;
use crate::infra::store::Mode;
use crate::ui::{self, stacks};

/// Destroy everything that stacks manage, those that depend on others first
#[derive(clap::Args, Debug)]
#[command(after_help = "A stack that others depend on is destroyed only together with them.\n\n\
                  Examples: suil infra destroy --stacks stacks/prod/apps, suil infra destroy --removed")]
pub struct Args {
    #[command(flatten)]
    pub choice: Choice,
    #[command(flatten)]
    pub speed: Speed,
    /// Destroy without asking
    #[arg(long, visible_alias = "yes")]
    pub confirm: bool,
    /// Take every stack that depends on one of these, too
    #[arg(long)]
    pub with_dependents: bool,
    /// Take the stacks and layers that the tree had and has no more, or those of them that are named; their code comes
    /// from the last commit that had it
    #[arg(long, conflicts_with_all = ["all", "base", "changed_from", "with_dependents"])]
    pub removed: bool,
    /// Print the text of every plan before it is asked about
    #[arg(long)]
    pub text: bool,
    /// Say why: it stands in the run, in its locks and in the audit
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

const QUESTION: &str = "Destroy?";

pub fn run(args: Args, context: &Context) -> Outcome {
    if args.choice.is_empty() && !args.removed {
        return Err(Problem::usage("no stack is named")
            .help("name some with `--stacks STACK`, those that a change touches with `--base REV`, or `--all`")
            .into());
    }
    if !args.confirm {
        ui::ask::possible(QUESTION, "destroy without asking with `--confirm`")?;
    }
    if args.removed {
        return removed(&args, context);
    }
    let ground = Ground::of(&args.choice, context)?;
    let mut set = ground.set(&args.choice, true)?;
    if set.is_empty() {
        return nothing(context);
    }
    let left = set.dependents(&ground.graph);
    if !left.is_empty() && args.with_dependents {
        let stacks = set.chosen.iter().map(|chosen| chosen.key.clone()).chain(left).collect();
        set = ground.named(stacks, true)?;
    } else if !left.is_empty() {
        return Err(needed(&left).help("destroy them as well with `--with-dependents`").into());
    }
    let screen = stacks::Screen::default();
    let begin = ground.begin(Mode::Destroy, args.reason.as_deref());
    let mut work =
        Work::new(&ground.site, &ground.graph, &set, ground.store.clone(), ground.pace(&args.speed), &screen, begin);
    let asks = Asks { question: QUESTION, confirm: args.confirm, text: args.text };
    planned_now(&mut work, &set, &screen, &ground, context, &asks)
}

/// Destroys stacks whose folder is gone.
fn removed(args: &Args, context: &Context) -> Outcome {
    let ground = Ground::new(&args.choice.place, context)?;
    let Some((restored, keys)) = ground.restored(&args.choice.stacks)? else {
        return nothing(context);
    };
    let mut problems: Problems = graph::left::needed(&ground.graph, &keys).into_iter().map(still).collect();
    if let [_, ..] = restored.dependents.as_slice() {
        let all = keys.iter().chain(&restored.dependents).map(String::as_str).collect::<Vec<_>>().join(",");
        problems.push(needed(&restored.dependents).help(format!("they are removed, too: `--stacks {all}`")));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let set = ground.with_restored(&restored, keys.iter().map(|key| requested(key)).collect(), true)?;
    let screen = stacks::Screen::default();
    let begin = ground.begin(Mode::Destroy, args.reason.as_deref());
    let (store, pace) = (ground.store.clone(), ground.pace(&args.speed));
    let mut work = Work::new(&ground.site, &restored.graph, &set, store, pace, &screen, begin);
    let asks = Asks { question: QUESTION, confirm: args.confirm, text: args.text };
    planned_now(&mut work, &set, &screen, &ground, context, &asks)
}

/// A stack of the tree names one that was removed.
fn still((from, to, at): (&str, &str, Option<&graph::At>)) -> Problem {
    let problem = Problem::new(format!("stack `{from}` depends on removed stack `{to}`")).kind(Kind::Refused);
    let problem = match at {
        Some(at) => problem.note(format!("at {at}")),
        None => problem,
    };
    problem.help("take that out of its code first, or put the other one back")
}

/// Others depend on what is to be destroyed.
fn needed(left: &[String]) -> Problem {
    let what = match left {
        [one] => format!("stack `{one}` depends on what is to be destroyed"),
        all => format!("{} stacks depend on what is to be destroyed", all.len()),
    };
    let problem = Problem::new(what).kind(Kind::Refused);
    match left {
        [_] => problem,
        all => all.iter().fold(problem, |problem, key| problem.note(format!("`{key}`"))),
    }
}
