//! Goes on with a run that a crash, a failure or Ctrl-C ended: exactly with what is not done.

use super::artifact::Card;
use super::gate::{Bases, Basis, shown};
use super::session::log_name;
use super::work::Work;
use crate::base::problem::{self, Kind};
use crate::base::{Problem, Problems, clock};
use crate::infra::store::{Life, Outcome, Phase, Process, Run, RunState, StackState, Store};
use crate::infra::terraform::process::{forget, is_running};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Between two looks at a Terraform that still runs.
const PAUSE: Duration = Duration::from_millis(200);

/// Takes a run over from the process that began it.
///
/// # Errors
/// That process still works on it, or another one took it over meanwhile, or it has ended well: refused.
pub fn adopt(store: &dyn Store, run: &Run, now: &Process, who: &str) -> Result<Run, Problem> {
    let refused = |what: String| Problem::new(what).kind(Kind::Refused);
    let id = &run.id;
    if matches!(run.state, RunState::Applied | RunState::Superseded) {
        let what = format!("run `{id}` is {}: there is nothing to resume", run.state);
        return Err(refused(what).help("`suil infra runs` lists all runs"));
    }
    let Process { host, pid, .. } = &run.process;
    match run.process.life() {
        Life::Alive if !run.state.is_final() => {
            return Err(refused(format!("run `{id}` still goes on: {}, process {pid} on {host}", run.who)));
        }
        Life::Unknown if !run.state.is_final() => {
            return Err(refused(format!(
                "run `{id}` was begun on {host}, and nobody can see from here whether it goes on"
            ))
            .help(format!("resume it on {host}, or give its locks up with `suil infra unlock KEY --reason TEXT`")));
        }
        _ => {}
    }
    if !store.adopt(id, &run.process, now, who)? {
        return Err(refused(format!("run `{id}` was just taken up by somebody else")));
    }
    store.run(id)?.ok_or_else(|| Problem::new(format!("run `{id}` is gone from the store")))
}

impl Work<'_> {
    /// Looks what became of each stack, and waits for every Terraform of the run that still works. Gives what was shown
    /// of each stack that is not done, and those whose apply was begun.
    ///
    /// # Errors
    /// Something of the run cannot be told any more: all of it, refused. A stop was asked for.
    pub fn take_up(&mut self) -> Result<(Bases, BTreeSet<String>), Problems> {
        self.wait_for_terraform()?;
        let outcomes = self.outcomes()?;
        let (mut bases, mut again, mut problems) = (Bases::new(), BTreeSet::new(), Problems::new());
        for at in 0..self.set.len() {
            let key = self.set.key(at).to_owned();
            let state = self.stand(at).state();
            if matches!(state, StackState::Applied | StackState::Noop | StackState::Skipped) {
                // Whether it changed anything is not known any more: those after it are planned anew.
                self.change(at, |stand| stand.changed = state == StackState::Applied);
                continue;
            }
            let begun = outcomes.contains_key(&(key.clone(), Phase::Apply.word()))
                || outcomes.contains_key(&(key.clone(), Phase::Destroy.word()))
                || matches!(state, StackState::Applying | StackState::Unknown);
            match self.basis(at, outcomes.get(&(key.clone(), Phase::Plan.word())), begun) {
                Ok(basis) => {
                    self.change(at, |stand| stand.summary = basis.summary.clone());
                    bases.insert(key.clone(), basis);
                }
                Err(problem) => problems.push(problem),
            }
            if begun {
                again.insert(key);
            } else {
                let planned = self.found(at).ok().flatten().map(|(_, card)| card.run);
                problems.extend(self.failed_checks(at, planned.as_ref().unwrap_or(&self.run.id)));
            }
        }
        problem::sort(&mut problems);
        if problems.is_empty() { Ok((bases, again)) } else { Err(problems) }
    }

    /// Brings the stacks of a run that only plans to where a plan goes on.
    ///
    /// # Errors
    /// A plan that was made cannot be read.
    pub fn take_up_plan(&mut self) -> Result<(), Problem> {
        for at in 0..self.set.len() {
            let card = match self.stand(at).state() {
                StackState::Planned | StackState::Noop => self.artifact(at).read()?,
                _ => None,
            };
            self.change(at, |stand| {
                match card {
                    Some(card) => (stand.summary, stand.unknown) = (card.shown().cloned(), card.unknown),
                    None => stand.row.state = StackState::Pending,
                }
                stand.row.blocked_by = None;
            });
        }
        Ok(())
    }

    /// Leaves the run as a failure would, so that it can be taken up again.
    pub fn give_up(&mut self) {
        let _ = self.advance(RunState::Failed);
    }

    /// What was shown of a stack: its plan in this run, or the one that the run was begun with.
    fn basis(&self, at: usize, planned: Option<&Outcome>, begun: bool) -> Result<Basis, Problem> {
        let plan = planned.filter(|outcome| outcome.error.is_none() || outcome.addresses != Default::default());
        match (plan, self.planned_for(at, true)) {
            (Some(outcome), found) => {
                // Another run may have put its plan in the place of the one that was shown here.
                let same = |card: &Card| outcome.digest.as_deref() == Some(card.plan.as_str());
                let card = found.ok().and_then(|basis| basis.card).filter(|card| !begun && same(card));
                let summary = shown(outcome);
                Ok(Basis { summary, card, unknown: outcome.unknown.clone(), run: self.run.id.clone() })
            }
            (None, found) => found.map(|basis| Basis { card: basis.card.filter(|_| !begun), ..basis }),
        }
    }

    fn outcomes(&self) -> Result<BTreeMap<(String, &'static str), Outcome>, Problem> {
        let all = self.store.outcomes(&self.run.id)?;
        Ok(all.into_iter().map(|outcome| ((outcome.stack.clone(), outcome.phase.word()), outcome)).collect())
    }

    /// A Terraform that outlived its suil ends in its own time; nothing is decided before that.
    fn wait_for_terraform(&self) -> Result<(), Problem> {
        let steps = ["init", "workspace", "plan", "show", "state", "apply"];
        let all = self.set.units.iter().flat_map(|unit| steps.map(|step| (unit, log_name(unit, step))));
        for (unit, name) in all {
            let since = clock::instant();
            let mut told = false;
            while is_running(&self.logs, &name) {
                if !told {
                    told = true;
                    self.follow.begun(unit.key());
                    self.follow.phase(unit.key(), "waiting for the Terraform that a killed suil left");
                }
                if self.site.stop.asked() {
                    let what = format!("Terraform still works on stack `{}`", unit.key());
                    let waited = format!("it was waited for {} s", since.elapsed().as_secs());
                    return Err(Problem::new(what).note(waited).kind(Kind::Interrupted));
                }
                std::thread::sleep(PAUSE);
            }
            forget(&self.logs, &name);
        }
        Ok(())
    }
}
