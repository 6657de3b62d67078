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

#[cfg(test)]
mod tests {
    use super::super::state::tests::{KILN, read};
    use super::*;

    fn pulled(text: &str) -> Pulled {
        Pulled { bytes: Vec::new(), state: Some(read(text)) }
    }

    #[test]
    fn a_state_is_as_it_was_as_it_was_left_or_neither() {
        let (old, new) = (pulled(KILN), pulled(&KILN.replace("p0", "p9").replace(": 7", ": 8")));
        let far = pulled(&KILN.replace("p0", "px").replace(": 7", ": 9"));
        let known = |pulled: &Pulled| pulled.state.as_ref().map(Known::of);
        let (before, after) = (known(&old), known(&new));
        let stand = |after: Option<&Known>, now: &Pulled| stand(before.as_ref(), after, now);
        assert_eq!([&old, &new, &far].map(|now| stand(after.as_ref(), now)), [Stand::Old, Stand::New, Stand::Other]);
        assert_eq!([&old, &new, &far].map(|now| stand(None, now)), [Stand::Old, Stand::New, Stand::Other], "cut off");
    }

    #[test]
    fn a_layer_that_had_no_state_is_told_apart_too() {
        let none = Pulled { bytes: Vec::new(), state: None };
        let empty = Pulled { bytes: Vec::new(), state: Some(State::empty("l", "")) };
        let full = pulled(KILN);
        let after = full.state.as_ref().map(Known::of);
        let stands = [&none, &empty, &full].map(|now| stand(None, after.as_ref(), now));
        assert_eq!(stands, [Stand::Old, Stand::Old, Stand::New]);
        assert_eq!(stand(after.as_ref(), None, &none), Stand::Other);
    }
}
