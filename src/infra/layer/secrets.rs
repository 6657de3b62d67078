//! Opens the envelopes of variables.

use super::variables::Variables;
use crate::base::{Mask, Problems, Result};
use crate::infra::Value;
use crate::infra::envelope::{Keys, once};
use std::sync::Arc;

/// The private keys of a run, and the mask that learns what they open.
#[derive(Clone)]
pub struct Secrets {
    keys: Arc<Keys>,
    mask: Mask,
}

impl Secrets {
    pub fn new(keys: Keys, mask: Mask) -> Secrets {
        Secrets { keys: Arc::new(keys), mask }
    }

    /// Lets the mask learn the texts of values that are secret, and numbers that nothing else is likely to be.
    pub fn learn<'a>(&self, values: impl IntoIterator<Item = &'a Value>) {
        for value in values {
            match value {
                Value::Null | Value::Bool(_) => {}
                Value::Str(text) => self.mask.add(text),
                Value::Number(number) => {
                    let text = number.to_string();
                    if text.len() >= 6 {
                        self.mask.add(&text);
                    }
                }
                Value::List(items) => self.learn(items),
                Value::Map(map) => self.learn(map.values()),
            }
        }
    }

    /// Opens every envelope of `variables` in its place, and tells whether there was one.
    ///
    /// # Errors
    /// One cannot be opened. Where that is tolerated, one that no key opens stays as it is; one that is malformed is a
    /// problem all the same.
    pub fn open(&self, variables: &mut Variables, tolerant: bool) -> Result<bool> {
        let (mut any, mut problems) = (false, Problems::new());
        for (name, variable) in &mut variables.0 {
            match self.keys.open_all(&mut variable.value, tolerant, &self.mask, name) {
                Ok(opened) => any |= !opened.is_empty(),
                Err(found) => problems.extend(found.into_iter().map(|mut problem| {
                    problem.place = problem.place.or(variable.place);
                    problem
                })),
            }
        }
        once(&mut problems);
        if problems.is_empty() { Ok(any) } else { Err(problems) }
    }
}
