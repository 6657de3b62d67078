//! Puts states back that a surgery changed, one that was cut off too.

use super::act::Change;
use super::record::{Known, Outcome, Record};
use super::site::{Pulled, Site};
use super::state::State;
use crate::base::problem::Kind;
use crate::base::{Problem, Problems, Result};

/// How the state of a layer stands to what a record says of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stand {
    /// As it was before.
    Old,
    /// As the surgery left it.
    New,
    /// Neither.
    Other,
}

/// Compares.
pub fn stand(before: Option<&Known>, after: Option<&Known>, now: &Pulled) -> Stand {
    let Some(state) = &now.state else {
        return if before.is_none() { Stand::Old } else { Stand::Other };
    };
    let digest = state.digest();
    let old = before.map_or(state.is_empty(), |before| before.digest == digest);
    let new = match (before, after) {
        (_, Some(after)) => after.digest == digest,
        // It was cut off before it could look: what is one serial further is what it did.
        (Some(before), None) => before.lineage == state.lineage() && state.serial() == before.serial + 1,
        (None, None) => state.serial() <= 1,
    };
    match (old, new) {
        (true, _) => Stand::Old,
        (_, true) => Stand::New,
        _ => Stand::Other,
    }
}

/// The changes that put back what `record` changed; what was pushed last comes first. `sites` are its layers, in its order.
///
/// # Errors
/// A state has changed since, or a backup is gone.
pub fn changes<'a>(record: &Record, sites: &'a [Site]) -> Result<Vec<Change<'a>>> {
    let (mut changes, mut problems) = (Vec::new(), Problems::new());
    if record.manifest.outcome == Outcome::Undone {
        return Err(Problem::new(format!("surgery `{}` is undone already", record.id)).kind(Kind::Refused).into());
    }
    for ((at, part), site) in record.manifest.layers.iter().enumerate().zip(sites).rev() {
        let now = site.pull()?;
        match stand(part.before.as_ref(), part.after.as_ref(), &now) {
            Stand::Old => {}
            Stand::New => match record.backup(at) {
                Ok(backup) => {
                    let empty = |state: &State| State::empty(state.lineage(), state.terraform());
                    if let Some(after) = backup.or_else(|| now.state.as_ref().map(empty)) {
                        changes.push(Change::new(site, now, after));
                    }
                }
                Err(problem) => problems.push(problem),
            },
            Stand::Other => problems.push(
                Problem::new(format!("the state of `{}` has changed since", part.layer))
                    .kind(Kind::Refused)
                    .note("putting it back would lose what came later"),
            ),
        }
    }
    if problems.is_empty() { Ok(changes) } else { Err(problems) }
}
