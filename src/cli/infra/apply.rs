//! `suil infra apply`.

use super::ground::{Choice, Ground, Speed, interrupted};
use super::plan::{nothing, show};
use crate::base::problem::Kind;
use crate::base::{Problem, Problems};
use crate::cli::{Context, Outcome};
use crate::infra::engine::{Bases, Set, Stand, Summary, Work};
use crate::infra::store::{Mode, RunState, StackState};
use crate::infra::terraform::Stop;
use crate::ui::{self, Exit, Output, stacks};
use std::collections::BTreeSet;
use std::sync::mpsc;
use std::time::Duration;

/// Apply the plans of stacks, each as soon as those it depends on are done
#[derive(clap::Args, Debug)]
#[command(
    after_help = "A stack whose dependency changes in the same run is planned anew after it, and is applied only where \
                  that plan does not do more than the one that was shown.\n\nExample: suil infra apply --base main"
)]
pub struct Args {
    #[command(flatten)]
    pub choice: Choice,
    #[command(flatten)]
    pub speed: Speed,
    /// Apply without asking
    #[arg(long, visible_alias = "yes")]
    pub confirm: bool,
    /// Plan now, show that, and apply it, whatever was planned before
    #[arg(long, visible_alias = "local")]
    pub fresh: bool,
    /// Print the text of every plan before it is asked about
    #[arg(long)]
    pub text: bool,
    /// Say why: it stands in the run, in its locks and in the audit
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

const QUESTION: &str = "Apply?";

pub fn run(args: Args, context: &Context) -> Outcome {
    if !args.confirm {
        ui::ask::possible(QUESTION, "apply without asking with `--confirm`")?;
    }
    let ground = Ground::of(&args.choice, context)?;
    let set = ground.set(&args.choice, false)?;
    if set.is_empty() {
        return nothing(context);
    }
    let screen = stacks::Screen::default();
    let begin = ground.begin(Mode::Apply, args.reason.as_deref());
    let mut work =
        Work::new(&ground.site, &ground.graph, &set, ground.store.clone(), ground.pace(&args.speed), &screen, begin);
    let asks = Asks { question: QUESTION, confirm: args.confirm, text: args.text };
    if args.fresh {
        return planned_now(&mut work, &set, &screen, &ground, context, &asks);
    }
    let bases = work.gate(ground.graph.policy.from_plan)?;
    if context.output == Output::Text {
        show(&work, &work.stands(), args.text, context, &ground)?;
    }
    if !asks.agreed(&work)? {
        return Ok(Exit::Done);
    }
    work.enroll()?;
    perform(&mut work, &bases, &BTreeSet::new(), true, &screen, &ground, context)
}

/// How a run asks before it changes anything.
pub struct Asks<'a> {
    pub question: &'a str,
    pub confirm: bool,
    pub text: bool,
}

impl Asks<'_> {
    /// True where the plans may be applied; where none of them changes anything nobody is asked.
    fn agreed(&self, work: &Work<'_>) -> Result<bool, Problem> {
        let empty = |stand: &Stand| {
            stand.state() == StackState::Skipped || stand.summary.as_ref().is_some_and(Summary::is_empty)
        };
        let nothing = work.stands().iter().all(empty);
        if self.confirm || nothing {
            Ok(true)
        } else {
            let question = self.question.to_owned();
            let ask = move || ui::ask::confirm(&question, "apply without asking with `--confirm`");
            answered(ask, &work.site.stop)
        }
    }
}

/// Between two looks whether Ctrl-C was the answer.
const PAUSE: Duration = Duration::from_millis(50);

/// Asks a question that Ctrl-C may answer, too: whoever listens for signals does not end by them.
///
/// # Errors
/// There is no terminal, or the answer was Ctrl-C.
fn answered(ask: impl FnOnce() -> Result<bool, Problem> + Send + 'static, stop: &Stop) -> Result<bool, Problem> {
    let (answer, told) = mpsc::channel();
    // Where Ctrl-C comes first it waits on until suil ends.
    std::thread::spawn(move || answer.send(ask()));
    loop {
        match told.recv_timeout(PAUSE) {
            Ok(answer) => return answer,
            Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(false),
            Err(mpsc::RecvTimeoutError::Timeout) if stop.asked() => {
                // The terminal shows `^C` behind the question.
                ui::err("\n");
                return Err(Problem::new("interrupted, nothing was changed").kind(Kind::Interrupted));
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Plans, shows, asks and applies in one run.
pub fn planned_now(
    work: &mut Work<'_>,
    set: &Set,
    screen: &stacks::Screen,
    ground: &Ground,
    context: &Context,
    asks: &Asks<'_>,
) -> Outcome {
    let locked = work.locked();
    if !locked.is_empty() {
        return Err(locked);
    }
    work.enroll()?;
    screen.begin("planning", set.len());
    let ended = work.plan();
    screen.end();
    ended?;
    let stands = work.stands();
    let well = stands.iter().all(Stand::is_planned);
    if !well || ground.site.stop.asked() {
        work.advance(RunState::Failed)?;
        show(work, &stands, asks.text, context, ground)?;
        return Ok(conclude(work, ground, "nothing was applied"));
    }
    if context.output == Output::Text {
        show(work, &stands, asks.text, context, ground)?;
    }
    match asks.agreed(work) {
        Ok(true) => {}
        answer => {
            // One that failed would be resumed.
            work.advance(RunState::Superseded)?;
            return answer.map(|_| Exit::Done).map_err(Into::into);
        }
    }
    let bases = match work.gate(true) {
        Ok(bases) => bases,
        Err(problems) => {
            work.advance(RunState::Failed)?;
            return Err(problems);
        }
    };
    perform(work, &bases, &BTreeSet::new(), true, screen, ground, context)
}

/// Applies, and says how it ended; `below` the plans, where they were shown.
pub fn perform(
    work: &mut Work<'_>,
    bases: &Bases,
    again: &BTreeSet<String>,
    below: bool,
    screen: &stacks::Screen,
    ground: &Ground,
    context: &Context,
) -> Outcome {
    let title = if work.run.mode == Mode::Destroy { "destroying" } else { "applying" };
    screen.begin(title, work.set.len());
    let ended = work.apply(bases, again);
    screen.end();
    ended?;
    if below && context.output == Output::Text {
        ui::out("\n")?;
    }
    show(work, &work.stands(), false, context, ground)?;
    Ok(conclude(work, ground, "what ran was ended; the table says where each stack stands"))
}

/// Tells what went wrong, and how suil exits.
pub fn conclude(work: &Work<'_>, ground: &Ground, note: &str) -> Exit {
    let problems = work.problems();
    let stopped = ground.site.stop.asked();
    if !problems.is_empty() {
        let problems: Problems = problems.into_iter().collect();
        let exit = ui::fail(&problems, &ground.mask);
        return match (stopped, problems.iter().all(|problem| problem.kind == Kind::Warning)) {
            (true, _) => Exit::Interrupted,
            (false, true) => Exit::Done,
            (false, false) => exit,
        };
    }
    match stopped {
        true => ui::fail(&[interrupted(note)], &ground.mask),
        false if work.stands().iter().any(|stand| stand.state() == StackState::Pending) => Exit::Failed,
        false => Exit::Done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_answered_by_a_word_or_by_ctrl_c() {
        let stop = Stop::default();
        assert_eq!(answered(|| Ok(true), &stop).ok(), Some(true));
        let asked = stop.clone();
        let never = move || {
            asked.ask();
            std::thread::sleep(Duration::from_secs(60));
            Ok(true)
        };
        let problem = answered(never, &stop).expect_err("interrupted");
        assert_eq!(problem.kind, Kind::Interrupted);
    }
}
