//! Opens the envelopes of variables.

use super::variables::Variables;
use crate::base::{Mask, Problems, Result};
use crate::infra::Value;
use crate::infra::envelope::{self, Keys};

/// The private keys of a run, and the mask that learns what they open.
pub struct Secrets {
    keys: Keys,
    mask: Mask,
}

impl Secrets {
    pub fn new(keys: Keys, mask: Mask) -> Secrets {
        Secrets { keys, mask }
    }

    /// Opens every envelope of `variables` in its place, and tells whether there was one.
    ///
    /// # Errors
    /// One cannot be opened. Where that is tolerated, one that no key opens stays as it is; one that is malformed is a
    /// problem all the same.
    pub fn open(&self, variables: &mut Variables, tolerant: bool) -> Result<bool> {
        let (mut any, mut problems) = (false, Problems::new());
        for (name, variable) in &mut variables.0 {
            bare(&mut variable.value);
            match self.keys.open_all(&mut variable.value, tolerant, &self.mask, name) {
                Ok(opened) => any |= !opened.is_empty(),
                Err(found) => problems.extend(found.into_iter().map(|mut problem| {
                    problem.place = problem.place.or(variable.place);
                    problem
                })),
            }
        }
        if problems.is_empty() { Ok(any) } else { Err(problems) }
    }
}

/// Takes the last line end off an envelope that stands in a here document, where it cannot be left out.
fn bare(value: &mut Value) {
    match value {
        Value::Str(text) => {
            let length = text.trim_end_matches(['\n', '\r']).len();
            if length < text.len() && text.get(..length).is_some_and(envelope::is_envelope) {
                text.truncate(length);
            }
        }
        Value::List(items) => items.iter_mut().for_each(bare),
        Value::Map(map) => map.values_mut().for_each(bare),
        _ => {}
    }
}
