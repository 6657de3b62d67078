//! Applies the stacks of a run in order: what was planned, and nothing else.

use super::artifact::Card;
use super::gate::{Bases, Basis, Measure, fits, moved};
use super::hook::{self, When};
use super::plan::Made;
use super::schedule::Verdict;
use super::session::{Failure, Session};
use super::work::{Told, Work, only_follows};
use crate::base::problem::Kind;
use crate::base::{Problem, clock};
use crate::infra::store::{Mode, Phase, RunState, StackState};
use std::collections::BTreeSet;

/// How a stack is taken up.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Taken {
    /// It was not begun in this run.
    New,
    /// An apply of it was begun in this run and did not end well.
    Again,
}

/// What an apply of one stack works with.
struct Ready {
    /// What it does.
    card: Card,
    /// Nothing is left to be done: somebody did it already.
    done: bool,
}

impl Work<'_> {
    /// Applies all stacks but those that are done. The locks are taken before and let go afterwards.
    ///
    /// # Errors
    /// A lock is held, or the store cannot be written. Nothing was applied then.
    pub fn apply(&mut self, bases: &Bases, again: &BTreeSet<String>) -> Result<(), Problem> {
        let taken = self.lock().and_then(|()| self.note_shown(bases)).and_then(|()| self.advance(RunState::Applying));
        if let Err(problem) = taken {
            self.unlock();
            // A run that was superseded says so already.
            let _ = self.advance(RunState::Failed);
            return Err(problem);
        }
        let done: BTreeSet<usize> = (0..self.set.len())
            .filter(|at| {
                matches!(self.stand(*at).state(), StackState::Applied | StackState::Noop | StackState::Skipped)
            })
            .collect();
        self.each(&done, |at| {
            let taken = if again.contains(self.set.key(at)) { Taken::Again } else { Taken::New };
            self.apply_one(at, bases.get(self.set.key(at)), taken)
        });
        self.conclude()
    }

    /// Ends the run as its stacks stand, and lets the locks go.
    fn conclude(&mut self) -> Result<(), Problem> {
        let stands = self.stands();
        if stands.iter().any(|stand| stand.left) {
            // Terraform still works on one: the run stays as a crash would leave it, for `resume`.
            self.unlock();
            return Ok(());
        }
        let well = |state| matches!(state, StackState::Applied | StackState::Noop | StackState::Skipped);
        let state = if stands.iter().all(|stand| well(stand.state())) { RunState::Applied } else { RunState::Failed };
        let ended = self.advance(state);
        self.unlock();
        self.sweep();
        ended
    }

    fn phase(&self) -> Phase {
        if self.run.mode == Mode::Destroy { Phase::Destroy } else { Phase::Apply }
    }

    fn apply_one(&self, at: usize, basis: Option<&Basis>, taken: Taken) -> Verdict {
        let started = clock::now();
        match self.holds() {
            Ok(true) => {}
            Ok(false) => return Verdict::Left,
            Err(problem) => {
                self.fail(at, Phase::Plan, started, problem.into());
                return Verdict::Failed;
            }
        }
        let never = || Basis { summary: None, card: None, unknown: Vec::new(), run: self.run.id.clone() };
        let basis = basis.cloned().unwrap_or_else(never);
        let ready = self.with_session(at, |session| self.get_ready(at, session, &basis, taken)).and_then(|ready| ready);
        let ready = match ready {
            Ok(ready) => ready,
            Err(failure) => {
                // That an apply was begun must not be forgotten by the next resume.
                let phase = if taken == Taken::Again { self.phase() } else { Phase::Plan };
                self.fail(at, phase, started, failure);
                return Verdict::Failed;
            }
        };
        let empty = ready.card.summary.is_empty();
        let quiet = empty && (only_follows(&self.stand(at).row) || self.run.mode == Mode::Destroy);
        if quiet && taken == Taken::New {
            let told = Told { summary: Some(&ready.card.summary), ..Told::since(started) };
            self.put(at, self.phase(), StackState::Noop, told);
            let _ = self.discard(at, clock::now());
            return Verdict::Done;
        }
        if ready.done {
            let told = Told { summary: Some(&ready.card.summary), ..Told::since(started) };
            self.change(at, |stand| stand.changed = true);
            self.put(at, self.phase(), StackState::Applied, told);
            let _ = self.discard(at, clock::now());
            return Verdict::Done;
        }
        self.perform(at, started, &ready.card)
    }

    /// A plan that may be applied now: the saved one, or a new one that does not do more.
    fn get_ready(&self, at: usize, session: &Session<'_>, basis: &Basis, taken: Taken) -> Result<Ready, Failure> {
        let key = session.unit.key();
        let before_changed = self.run.mode != Mode::Destroy
            && self.set.order.before(at).iter().any(|before| self.stand(*before).changed);
        if let (Some(card), false, Taken::New) = (&basis.card, before_changed, taken) {
            self.follow.phase(key, "making ready");
            session.render()?;
            session.ready(super::Purpose::Plan, false)?;
            self.check(at, session, card)?;
            return Ok(Ready { card: card.clone(), done: false });
        }
        if let Some((_, card)) = self.found(at)? {
            // Planned anew, but of the files that the plan was made of which was shown.
            session.render()?;
            if session.unit.layer.is_none() && session.content()? != card.tree {
                return Err(moved(key).into());
            }
        }
        self.follow.phase(key, "planning");
        let started = clock::now();
        // That an apply was begun must not be forgotten, wherever suil is killed.
        let again = taken == Taken::Again;
        self.set_state(at, if again { StackState::Applying } else { StackState::Planning })?;
        let made = self.make(at)?;
        if let Some(problem) = made.absent {
            return Err(problem.kind(Kind::Refused).into());
        }
        let measure = match (taken, before_changed) {
            (Taken::Again, _) => Measure::Rest,
            (Taken::New, true) => Measure::Less,
            // What was unknown may have been shown as more than it is.
            (Taken::New, false) if !basis.unknown.is_empty() => Measure::Less,
            (Taken::New, false) => Measure::Same,
        };
        let held = hold(key, &made, basis, measure);
        if let Err(problem) = held {
            self.discard(at, clock::now())?;
            return Err(problem.into());
        }
        self.planned(at, started, &made, again.then_some(StackState::Applying));
        let done = again && made.card.summary.is_empty() && !made.planned.differs;
        Ok(Ready { card: made.card, done })
    }

    /// Holds a saved plan against what it was made of, once more: the files may have changed since the gate.
    fn check(&self, at: usize, session: &Session<'_>, card: &Card) -> Result<(), Problem> {
        if session.content()? != card.tree {
            return Err(moved(session.unit.key()));
        }
        self.is_whole(at, card)
    }

    /// Holds the plan file against what is known of it.
    fn is_whole(&self, at: usize, card: &Card) -> Result<(), Problem> {
        if self.own(at).is_whole(card)? {
            return Ok(());
        }
        let what = format!("the plan file of stack `{}` is not the one that was made", self.set.key(at));
        Err(Problem::new(what).help("plan the stack again").kind(Kind::Refused))
    }

    /// Writes what was shown of each stack into this run: what a stack may do is known from there, whatever becomes of its
    /// plan file.
    fn note_shown(&self, bases: &Bases) -> Result<(), Problem> {
        for at in 0..self.set.len() {
            let stand = self.stand(at);
            // What this run planned itself is there already.
            let Some(basis) = bases.get(&stand.row.stack).filter(|basis| basis.run != self.run.id) else { continue };
            let text = self.store.plan_text(&basis.run, &stand.row.stack, Phase::Plan)?;
            let file = basis.card.as_ref().map(|_| self.site.shown(&self.artifact(at).plan()));
            let told = Told {
                summary: basis.summary.as_ref(),
                unknown: &basis.unknown,
                digest: basis.card.as_ref().map(|card| card.plan.as_str()),
                file: file.as_deref(),
                text: text.as_deref(),
                ..Told::since(clock::now())
            };
            self.store.put_outcome(&stand.row, &told.outcome(&self.run.id, &stand.row.stack, Phase::Plan))?;
        }
        Ok(())
    }

    fn perform(&self, at: usize, started: chrono::DateTime<chrono::Utc>, card: &Card) -> Verdict {
        let artifact = self.own(at);
        let ready = self.with_session(at, |session| {
            hook::run(session, &self.run.id, When::PreApply, Some(&artifact))?;
            if self.site.stop.asked() {
                let key = session.unit.key();
                let problem = Problem::new(format!("stack `{key}` was not applied")).kind(Kind::Interrupted);
                return Err(Failure { interrupted: true, ..Failure::from(problem) });
            }
            // The hook, and others while it ran, may have written there.
            self.is_whole(at, card)?;
            // From here on whoever resumes the run must ask Terraform how far it got.
            Ok(self.start(at)?)
        });
        let applied = match ready.and_then(|ready| ready) {
            Ok(false) => return Verdict::Left,
            Ok(true) => self.with_session(at, |session| {
                self.follow.phase(session.unit.key(), "applying");
                session.apply(&artifact.plan())
            }),
            Err(failure) => Err(failure),
        };
        let ended = clock::now();
        match applied.and_then(|applied| applied) {
            Ok(_) => {
                let told = Told { summary: Some(&card.summary), ..Told::since(started) };
                self.change(at, |stand| stand.changed = !card.summary.is_empty());
                self.put(at, self.phase(), StackState::Applied, told);
            }
            Err(failure) => {
                self.fail(at, self.phase(), started, failure);
                return Verdict::Failed;
            }
        }
        let after = self.with_session(at, |session| hook::run(session, &self.run.id, When::PostApply, Some(&artifact)));
        if let Err(failure) = after.and_then(|after| after) {
            let problem = (*failure.problem).note("the stack was applied");
            self.change(at, |stand| stand.problems.push(problem));
        }
        if let Err(problem) = self.discard(at, ended) {
            self.fault(problem.kind(Kind::Warning));
        }
        Verdict::Done
    }
}

/// Holds a plan that was made now against the one that was shown.
fn hold(key: &str, made: &Made, basis: &Basis, measure: Measure) -> Result<(), Problem> {
    if made.card.is_provisional() {
        let problem = Problem::new(format!("stack `{key}` cannot be applied: some of its inputs are not known"));
        let problem =
            made.card.unknown.iter().fold(problem, |problem, value| problem.note(format!("not known: {value}")));
        return Err(problem.help("apply the stacks that they come from first").kind(Kind::Refused));
    }
    fits(key, &made.card.summary, basis, measure)
}
