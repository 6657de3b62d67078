//! What must hold before the first stack is applied. Everything that does not is told at once.

use super::artifact::{Artifact, Card};
use super::work::Work;
use super::{Site, Summary};
use crate::base::problem::{self, Kind};
use crate::base::{Problem, Problems};
use crate::infra::store::{Check, CheckState, Filter, Outcome, Phase, Run, StackState};
use std::collections::BTreeMap;

/// So many runs of a stack after the one that planned it are asked for checks.
const LATER: u32 = 50;

/// What was shown of a stack before it is applied: what an apply may do, and nothing else.
#[derive(Clone, PartialEq, Debug)]
pub struct Basis {
    /// The plan that was shown; `None` where it could not be made before others are applied.
    pub summary: Option<Summary>,
    /// Where its plan file can be applied as it is: what is known of it.
    pub card: Option<Card>,
    /// Inputs that were not known when it was planned.
    pub unknown: Vec<String>,
    /// The run in which it was planned.
    pub run: String,
}

/// What was shown, by stack.
pub type Bases = BTreeMap<String, Basis>;

impl Work<'_> {
    /// Looks whether everything may be applied: each stack planned for this commit and as it now is, no check failed, no
    /// lock in the way. Stacks of the run that are done are left out.
    ///
    /// # Errors
    /// All that stands in the way, refused.
    pub fn gate(&self, from_plan: bool) -> Result<Bases, Problems> {
        let (mut bases, mut problems) = (Bases::new(), Problems::new());
        for at in 0..self.set.len() {
            let stand = self.stand(at);
            if matches!(stand.state(), StackState::Applied | StackState::Skipped) {
                continue;
            }
            match self.planned_for(at, from_plan) {
                Ok(basis) => {
                    self.change(at, |stand| {
                        stand.summary = basis.summary.clone();
                        stand.unknown = basis.unknown.clone();
                        // One with nothing to do, too: what it depends on may still change it.
                        stand.row.state = StackState::Planned;
                    });
                    problems.extend(self.failed_checks(at, &basis.run));
                    bases.insert(stand.row.stack, basis);
                }
                Err(problem) => problems.push(problem),
            }
        }
        problems.extend(self.locked());
        match problems.is_empty() {
            true => Ok(bases),
            false => {
                problem::sort(&mut problems);
                Err(problems)
            }
        }
    }

    /// What was planned of a stack for the commit of the run.
    pub(super) fn planned_for(&self, at: usize, from_plan: bool) -> Result<Basis, Problem> {
        let key = self.set.key(at);
        let Some((artifact, card)) = self.found(at)? else {
            return match self.known(key)? {
                Some(outcome) => {
                    self.waits_for_known(at, &outcome.unknown)?;
                    let summary = shown(&outcome);
                    Ok(Basis { summary, card: None, unknown: outcome.unknown, run: outcome.run })
                }
                None => Err(unplanned(self.site, key)),
            };
        };
        if card.is_provisional() {
            self.waits_for_known(at, &card.unknown)?;
            let summary = card.shown().cloned();
            return Ok(Basis { summary, card: None, unknown: card.unknown, run: card.run });
        }
        let tree = self.with_session(at, |session| session.content()).map_err(|failure| *failure.problem)??;
        let layer = self.set.units.get(at).is_some_and(|unit| unit.layer.is_some());
        // The output folder of a layer is rendered anew before it is applied, and is held against the card then.
        if tree != card.tree && !layer {
            return Err(moved(key));
        }
        if artifact.has_plan() && !artifact.is_whole(&card)? {
            let problem = Problem::new(format!("the plan file of stack `{key}` is not the one that was made"));
            return Err(problem
                .note(format!("it is `{}`", self.site.shown(&artifact.plan())))
                .help("plan the stack again")
                .kind(Kind::Refused));
        }
        let usable = from_plan && artifact.has_plan();
        if usable {
            self.keep(at, &artifact, &card)?;
        }
        let summary = Some(card.summary.clone());
        let run = card.run.clone();
        Ok(Basis { summary, card: usable.then_some(card), unknown: Vec::new(), run })
    }

    /// Takes a plan that is to be applied into this run's own hands.
    fn keep(&self, at: usize, found: &Artifact, card: &Card) -> Result<(), Problem> {
        let own = self.own(at);
        if *found == own {
            return Ok(());
        }
        let kept = found.put(&own, card);
        // Whoever plans removes the card first: where it is still the same, so is what was taken.
        if found.read()?.as_ref() != Some(card) {
            own.remove()?;
            let key = self.set.key(at);
            return Err(Problem::new(format!("another run plans stack `{key}` at this moment"))
                .help("wait until it has, and look at its plan")
                .kind(Kind::Refused));
        }
        kept
    }

    /// The last plan of a stack whose files are gone, where it was made of this very tree and was not applied since.
    fn known(&self, key: &str) -> Result<Option<Outcome>, Problem> {
        let last = |phase| self.store.last(&self.run.repo, key, phase);
        let Some(outcome) = last(Phase::Plan)? else { return Ok(None) };
        let used = [last(Phase::Apply)?, last(Phase::Destroy)?];
        let used = used.iter().flatten().any(|after| after.ended >= outcome.ended);
        let same = |run: Run| run.commit.is_some() && run.commit == self.run.commit && run.tree == self.run.tree;
        let same = !used && outcome.error.is_none() && self.store.run(&outcome.run)?.is_some_and(same);
        Ok(Some(outcome).filter(|_| same))
    }

    /// A provisional plan can only be applied together with those that it waits for.
    fn waits_for_known(&self, at: usize, unknown: &[String]) -> Result<(), Problem> {
        let before: Vec<&str> = self.set.order.before(at).iter().map(|at| self.set.key(*at)).collect();
        let of = |value: &String| value.split(": ").next().unwrap_or(value).to_owned();
        let absent: Vec<String> =
            unknown.iter().filter(|value| !before.contains(&of(value).as_str())).cloned().collect();
        if absent.is_empty() {
            return Ok(());
        }
        let problem = Problem::new(format!("the plan of stack `{}` is provisional", self.set.key(at)));
        let problem = absent.iter().fold(problem, |problem, value| problem.note(format!("not known yet: {value}")));
        let mut stacks: Vec<String> = absent.iter().map(of).collect();
        stacks.dedup();
        Err(problem
            .help(format!(
                "apply {} with it, or first",
                stacks.iter().map(|s| format!("`{s}`")).collect::<Vec<_>>().join(", ")
            ))
            .kind(Kind::Refused))
    }

    /// The latest words of the named checks of a stack, from the run in which it was planned on: who tells one may take a
    /// later run of the stack for that.
    fn checks(&self, key: &str, run: &str) -> Result<BTreeMap<String, Check>, Problem> {
        let filter = Filter {
            repo: Some(self.run.repo.clone()),
            stack: Some(key.to_owned()),
            limit: Some(LATER),
            ..Filter::default()
        };
        let later = self.store.runs(&filter)?.into_iter().map(|run| run.id).filter(|id| id.as_str() > run);
        let mut latest: BTreeMap<String, Check> = BTreeMap::new();
        for id in later.chain([run.to_owned()]) {
            for check in self.store.checks(&id)?.into_iter().filter(|check| check.stack == key) {
                if latest.get(&check.name).is_none_or(|known| known.at < check.at) {
                    latest.insert(check.name.clone(), check);
                }
            }
        }
        Ok(latest)
    }

    /// Those of them that failed.
    pub(super) fn failed_checks(&self, at: usize, run: &str) -> Problems {
        let key = self.set.key(at);
        let checks = match self.checks(key, run) {
            Ok(checks) => checks,
            Err(problem) => return vec![problem],
        };
        let failed = checks.into_values().filter(|check| check.state == CheckState::Fail);
        let told = |check: Check| {
            let problem = Problem::new(format!("check `{}` of stack `{key}` failed", check.name)).kind(Kind::Refused);
            let problem = if check.summary.is_empty() { problem } else { problem.note(check.summary) };
            match check.url {
                Some(url) => problem.note(format!("see {url}")),
                None => problem,
            }
        };
        failed.map(told).collect()
    }
}

/// What the store knows of a plan that was shown; `None` where inputs kept the stack from being planned.
pub(super) fn shown(outcome: &Outcome) -> Option<Summary> {
    let never = !outcome.unknown.is_empty() && outcome.addresses == Default::default();
    (!never).then(|| Summary { addresses: outcome.addresses.clone(), ..Summary::default() })
}

fn unplanned(site: &Site, key: &str) -> Problem {
    let at = match &site.sha {
        Some(sha) => format!("for commit {}", sha.get(..12).unwrap_or(sha)),
        None => "for this tree".to_owned(),
    };
    Problem::new(format!("stack `{key}` is not planned {at}"))
        .help(format!("`suil infra plan --stacks {key}` first, or plan and apply at once with `--fresh`"))
        .kind(Kind::Refused)
}

/// The files of a stack changed after it was planned.
pub(super) fn moved(key: &str) -> Problem {
    Problem::new(format!("the files of stack `{key}` changed after it was planned"))
        .help("plan it again")
        .kind(Kind::Refused)
}

/// How a new plan is held against the one that was shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measure {
    /// It touches the same addresses.
    Same,
    /// What it depends on was applied meanwhile: it may do less.
    Less,
    /// An apply of it was begun: it may do less, and what was to be added may lie half done and be replaced.
    Rest,
}

/// Holds a new plan against the one that was shown.
///
/// # Errors
/// It does more than was shown, or with [`Measure::Same`] less: refused.
pub fn fits(key: &str, fresh: &Summary, basis: &Basis, measure: Measure) -> Result<(), Problem> {
    let refused = |what: String| Problem::new(what).kind(Kind::Refused);
    let plan =
        |problem: Problem| problem.help(format!("look at it with `suil infra plan --stacks {key}`, then apply that"));
    let Some(shown) = &basis.summary else {
        let losses = fresh.losses();
        return match losses.is_empty() {
            true => Ok(()),
            false => Err(plan(losses.iter().fold(
                refused(format!("the plan of stack `{key}` destroys, and was never shown")),
                |problem, address| problem.note(*address),
            ))),
        };
    };
    let allowed = shown.touched();
    let more: Vec<&str> = fresh.touched().into_iter().filter(|address| !allowed.contains(address)).collect();
    if !more.is_empty() {
        let problem = refused(format!("the plan of stack `{key}` does more than the one that was shown"));
        return Err(plan(more.iter().fold(problem, |problem, address| problem.note(format!("not shown: {address}")))));
    }
    let found = fresh.touched();
    let less: Vec<&str> = allowed.iter().copied().filter(|address| !found.contains(address)).collect();
    if measure == Measure::Same && !less.is_empty() {
        let problem = refused(format!("the plan of stack `{key}` does less than the one that was shown"));
        return Err(plan(less.iter().fold(problem, |problem, address| problem.note(format!("shown: {address}")))));
    }
    let mut lost = shown.losses();
    if measure == Measure::Rest {
        lost.extend(shown.addresses.adds.iter().map(String::as_str));
    }
    let worse: Vec<&str> = fresh.losses().into_iter().filter(|address| !lost.contains(address)).collect();
    if worse.is_empty() {
        return Ok(());
    }
    let problem = refused(format!("the plan of stack `{key}` destroys what the one that was shown kept"));
    Err(plan(worse.iter().fold(problem, |problem, address| problem.note(format!("destroyed: {address}")))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infra::store::Addresses;

    fn summary(adds: &[&str], changes: &[&str], replaces: &[&str]) -> Summary {
        let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let (adds, changes, replaces) = (list(adds), list(changes), list(replaces));
        Summary { addresses: Addresses { adds, changes, replaces, ..Addresses::default() }, ..Summary::default() }
    }

    #[test]
    fn a_new_plan_does_what_was_shown_or_less() {
        let basis = Basis {
            summary: Some(summary(&["a"], &["b"], &["c"])),
            card: None,
            unknown: Vec::new(),
            run: String::new(),
        };
        for (fresh, measure, well) in [
            (summary(&["a"], &["b"], &["c"]), Measure::Same, true),
            (summary(&[], &["b"], &[]), Measure::Same, false),
            (summary(&[], &["b"], &[]), Measure::Less, true),
            (summary(&["d"], &[], &[]), Measure::Less, false),
            (summary(&[], &[], &["b"]), Measure::Less, false),
            (summary(&[], &[], &["a"]), Measure::Less, false),
            (summary(&[], &[], &["a"]), Measure::Rest, true),
            (summary(&[], &[], &["b"]), Measure::Rest, false),
        ] {
            assert_eq!(fits("s", &fresh, &basis, measure).is_ok(), well, "{fresh:?} {measure:?}");
        }
        let never = Basis { summary: None, card: None, unknown: Vec::new(), run: String::new() };
        assert!(fits("s", &summary(&["a"], &["b"], &[]), &never, Measure::Same).is_ok());
        let refused = fits("s", &summary(&[], &[], &["c"]), &never, Measure::Same).expect_err("refused");
        assert_eq!(refused.kind, Kind::Refused);
    }
}
