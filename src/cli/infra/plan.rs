//! `suil infra plan`.

use super::apply::conclude;
use super::ground::{Choice, Ground, Speed};
use crate::base::{Plain, Problems};
use crate::cli::{Context, Outcome};
use crate::infra::engine::{Stand, Work};
use crate::infra::store::{Mode, StackState};
use crate::ui::{self, Exit, Output, Paint, stacks};

/// Plan stacks, each after those it depends on, and keep the plan files
#[derive(clap::Args, Debug)]
#[command(after_help = "Example: suil infra plan --base main")]
pub struct Args {
    #[command(flatten)]
    pub choice: Choice,
    #[command(flatten)]
    pub speed: Speed,
    /// Print the text of every plan
    #[arg(long)]
    pub text: bool,
    /// Exit 2 where something would change
    #[arg(long)]
    pub detailed_exitcode: bool,
    /// Say why: it stands in the run
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let ground = Ground::of(&args.choice, context)?;
    let set = ground.set(&args.choice, false)?;
    if set.is_empty() {
        return nothing(context);
    }
    let screen = stacks::Screen::default();
    let begin = ground.begin(Mode::Plan, args.reason.as_deref());
    let mut work =
        Work::new(&ground.site, &ground.graph, &set, ground.store.clone(), ground.pace(&args.speed), &screen, begin);
    work.enroll()?;
    ui::warn(
        &work.locked().into_iter().map(|p| p.kind(crate::base::problem::Kind::Warning)).collect::<Problems>(),
        &ground.mask,
    );
    screen.begin("planning", set.len());
    let ended = work.plan();
    screen.end();
    ended?;
    let stands = work.stands();
    show(&work, &stands, args.text, context, &ground)?;
    let exit = conclude(&work, &ground, "what ran was ended; nothing was applied");
    let differs = stands.iter().any(|stand| stand.summary.as_ref().is_none_or(|summary| !summary.is_empty()));
    Ok(if exit == Exit::Done && differs && args.detailed_exitcode { Exit::Differences } else { exit })
}

/// There is no stack to work on: no run is begun.
pub fn nothing(context: &Context) -> Outcome {
    let value = || {
        let empty = [("run", Plain::Null), ("mode", Plain::Null), ("state", Plain::Null), ("commit", Plain::Null)];
        Plain::from_iter(empty.into_iter().chain([("stacks", Plain::List(Vec::new()))]))
    };
    ui::show(context.output, || "no stacks affected\n".to_owned(), value)?;
    Ok(Exit::Done)
}

/// Prints where the stacks of a run stand.
pub fn show(work: &Work<'_>, stands: &[Stand], text: bool, context: &Context, ground: &Ground) -> Result<(), Problems> {
    if context.output == Output::Text {
        if text {
            ui::out(&stacks::texts(stands, &ground.mask, Paint::ON))?;
        }
        ui::out(&stacks::table(stands, ui::columns(), &ground.mask, Paint::ON))?;
        let saved =
            stands.iter().filter(|stand| stand.state() == StackState::Planned && !stand.is_provisional()).count();
        if work.run.mode == Mode::Plan && saved > 0 {
            ui::out(&format!("\nplan files are in {}\n", ground.site.shown(&ground.site.plans)))?;
        }
        return Ok(());
    }
    ui::show(context.output, String::new, || stacks::run(&work.run, stands, text, &ground.mask))?;
    Ok(())
}
