//! Changes states, with a record of what they were: one by a command of Terraform, or several by pushing them.

use super::record::{self, Manifest, Outcome, Part, Record, Step};
use super::site::{Pulled, Site};
use super::state::State;
use crate::base::problem::Kind;
use crate::base::{Problem, Result, clock};
use crate::infra::terraform::{Shield, Stop};
use std::path::Path;

/// Who does what to the tree at `root`.
#[derive(Clone, Copy, Debug)]
pub struct Work<'a> {
    pub root: &'a Path,
    /// `import`, `remove`, `rename`, `move`, `edit` or `undo`.
    pub surgery: &'a str,
    /// Who ran what.
    pub by: &'a str,
    /// The record that is put back.
    pub undoes: Option<&'a str>,
}

/// A state that is to be replaced.
#[derive(Debug)]
pub struct Change<'a> {
    pub site: &'a Site,
    pub before: Pulled,
    /// As it is pushed: its serial is one behind the present one.
    pub after: State,
}

impl<'a> Change<'a> {
    pub fn new(site: &'a Site, before: Pulled, mut after: State) -> Change<'a> {
        after.follow(before.serial());
        Change { site, before, after }
    }
}

/// A surgery that is over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Done {
    /// The record of it; `None` where nothing changed.
    pub id: Option<String>,
    /// The serials that the states have now, in the order of the changes.
    pub serials: Vec<u64>,
    /// Suil was told to end meanwhile.
    pub interrupted: bool,
}

impl Work<'_> {
    fn manifest(&self, layers: Vec<Part>) -> Manifest {
        Manifest {
            version: 1,
            surgery: self.surgery.to_owned(),
            started: clock::now().to_rfc3339_opts(chrono::SecondsFormat::Micros, true),
            by: self.by.to_owned(),
            outcome: Outcome::Open,
            layers,
            undoes: self.undoes.map(str::to_owned),
        }
    }

    /// Runs a command of Terraform that changes the state of a layer.
    ///
    /// # Errors
    /// Terraform refuses; what became of the state is told.
    pub fn by_terraform(&self, site: &Site, before: &Pulled, arguments: &[&str]) -> Result<Done, Problem> {
        let part = Part::new(&site.layer, before.state.as_ref(), None);
        let shield = Shield::raise()?;
        let mut record = Record::begin(self.root, self.manifest(vec![part]), &[before.backup()])?;
        record.step(0, Step::Pushing)?;
        let ran = site.tool.change(&site.layer.output, arguments, shield.stop(), &site.label());
        let after = match (site.pull(), ran) {
            (Ok(after), Err(problem)) if after.digest() == before.digest() => {
                record.discard();
                return Err(problem.note(format!("the state of `{}` is as it was", site.label())));
            }
            (_, Err(problem)) => return Err(in_doubt(problem, &record)),
            (Err(problem), _) => return Err(in_doubt(problem, &record)),
            (Ok(after), Ok(_)) => after,
        };
        if after.digest() == before.digest() {
            record.discard();
            return Ok(Done { id: None, serials: vec![after.serial()], interrupted: shield.struck() });
        }
        if let Some(part) = record.manifest.layers.first_mut() {
            part.step = Step::Pushed;
            part.after = after.state.as_ref().map(record::Known::of);
        }
        self.close(record, vec![after.serial()], &shield)
    }

    /// Pushes states in this order. Where one cannot be pushed, those before it get their old state back.
    ///
    /// # Errors
    /// Terraform refuses, or a state has changed in the meantime; what became of the states is told.
    pub fn push(&self, changes: &[Change]) -> Result<Done, Problem> {
        let part = |change: &Change| Part::new(&change.site.layer, change.before.state.as_ref(), Some(&change.after));
        let backups: Vec<Option<&[u8]>> = changes.iter().map(|change| change.before.backup()).collect();
        let manifest = self.manifest(changes.iter().map(part).collect());
        let shield = Shield::raise()?;
        let mut record = Record::begin(self.root, manifest, &backups)?;
        let mut serials = Vec::new();
        for (at, change) in changes.iter().enumerate() {
            if at == 0 && shield.struck() {
                record.discard();
                return Err(Problem::new("interrupted, nothing was changed").kind(Kind::Interrupted));
            }
            match push(&mut record, at, change, shield.stop()) {
                Ok(serial) => serials.push(serial),
                Err(problem) => return Err(take_back(record, changes, problem, shield.stop())),
            }
        }
        self.close(record, serials, &shield)
    }

    fn close(&self, mut record: Record, serials: Vec<u64>, shield: &Shield) -> Result<Done, Problem> {
        record.end(Outcome::Done).map_err(|problem| problem.note("the states were changed all the same"))?;
        record::prune(self.root);
        Ok(Done { id: Some(record.id), serials, interrupted: shield.struck() })
    }
}

/// Pushes one state, and reads it back.
fn push(record: &mut Record, at: usize, change: &Change, stop: &Stop) -> Result<u64, Problem> {
    record.step(at, Step::Pushing)?;
    change.site.push(&change.after, stop)?;
    record.step(at, Step::Pushed)?;
    let now = change.site.pull()?;
    if now.digest() != Some(change.after.digest()) {
        let what = format!("the state of `{}` is not what was pushed", change.site.label());
        return Err(
            Problem::new(what).note("somebody else changes it at the same time, or Terraform dropped a part of it")
        );
    }
    Ok(now.serial())
}

/// Gives every state that was pushed the one before it, the last first: what was moved is never in none.
fn take_back(mut record: Record, changes: &[Change], problem: Problem, stop: &Stop) -> Problem {
    if stop.demanded() {
        return in_doubt(problem.note("suil was told twice to end: nothing was put back"), &record);
    }
    let (mut problem, mut whole) = (problem, true);
    let parts: Vec<Step> = record.manifest.layers.iter().map(|part| part.step).collect();
    for (at, change) in changes.iter().enumerate().rev() {
        let label = change.site.label();
        if !matches!(parts.get(at), Some(Step::Pushing | Step::Pushed)) {
            continue;
        }
        let now = match change.site.pull() {
            Ok(now) => now,
            Err(failed) => {
                problem = problem.note(format!("what the state of `{label}` is now is not known: {}", failed.what));
                whole = false;
                continue;
            }
        };
        let digest = now.digest();
        if digest == change.before.digest() {
            continue;
        }
        if digest != Some(change.after.digest()) {
            let what = format!("the state of `{label}` was changed by somebody else in the meantime");
            if parts.get(at) == Some(&Step::Pushing) {
                // Terraform refused the push for that: nothing of this surgery is in it.
                problem = Problem::new(what).kind(Kind::Refused).help("run the same again");
            } else {
                problem = problem.note(what);
                whole = false;
            }
            continue;
        }
        let mut old = match &change.before.state {
            Some(state) => state.clone(),
            None => State::empty(change.after.lineage(), change.after.terraform()),
        };
        old.follow(now.serial());
        let back = change.site.push(&old, stop).and_then(|()| record.step(at, Step::TakenBack));
        match back {
            Ok(()) => problem = problem.note(format!("the state of `{label}` was put back")),
            Err(failed) => {
                problem = problem.note(format!("the state of `{label}` could not be put back: {}", failed.what));
                whole = false;
            }
        }
    }
    if whole && record.end(Outcome::TakenBack).is_ok() {
        return problem.note("every state holds what it held");
    }
    in_doubt(problem, &record)
}

fn in_doubt(problem: Problem, record: &Record) -> Problem {
    let names: Vec<String> = record.manifest.layers.iter().map(|part| format!("`{}`", part.layer)).collect();
    problem
        .note(format!("the backup of {} is `{}`", names.join(" and "), record.id))
        .help(format!("`suil infra surgery undo {}` puts back what was changed", record.id))
}
