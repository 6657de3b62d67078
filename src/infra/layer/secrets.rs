//! Opens the envelopes of variables.

use super::variables::Variables;
use crate::base::{Mask, Problems, Result};
use crate::infra::Value;
use crate::infra::envelope::{Keys, is_envelope, is_marker, once};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The private keys of a run, and the mask that learns what they open.
pub struct Secrets {
    keys: Arc<Keys>,
    mask: Mask,
    /// The envelopes that stayed closed, where a run goes on without their keys.
    closed: Option<Mutex<HashSet<String>>>,
}

impl Secrets {
    pub fn new(keys: impl Into<Arc<Keys>>, mask: Mask) -> Secrets {
        Secrets { keys: keys.into(), mask, closed: None }
    }

    /// The same keys, open as far as they were opened, for another run.
    #[must_use]
    pub fn again(&self) -> Secrets {
        Secrets { keys: Arc::clone(&self.keys), mask: self.mask.clone(), closed: None }
    }

    /// The same keys for a run that goes on where none of them opens an envelope: it stays closed, and is covered by the
    /// mask as a secret is.
    pub fn lenient(&self) -> Secrets {
        Secrets { keys: Arc::clone(&self.keys), mask: self.mask.clone(), closed: Some(Mutex::default()) }
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
            let open = self.keys.open_all(&mut variable.value, tolerant || self.closed.is_some(), &self.mask, name);
            match open {
                Ok(opened) => {
                    variable.secret |= !opened.is_empty();
                    any |= !opened.is_empty();
                }
                Err(found) => problems.extend(found.into_iter().map(|mut problem| {
                    problem.place = problem.place.or(variable.place);
                    problem
                })),
            }
            if let Some(closed) = &self.closed {
                let mut left = Vec::new();
                envelopes(&variable.value, &mut left);
                left.iter().for_each(|envelope| self.mask.add(envelope));
                if !tolerant {
                    closed.lock().unwrap_or_else(PoisonError::into_inner).extend(left.into_iter().map(str::to_owned));
                }
            }
        }
        once(&mut problems);
        if problems.is_empty() { Ok(any) } else { Err(problems) }
    }

    /// How many envelopes stayed closed, of those that a render needs open.
    pub fn closed(&self) -> usize {
        self.closed.as_ref().map_or(0, |closed| closed.lock().unwrap_or_else(PoisonError::into_inner).len())
    }
}

/// Collects the strings below `value` that are envelopes.
fn envelopes<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Str(text) if is_envelope(text) || is_marker(text) => found.push(text.trim_end()),
        Value::List(items) => items.iter().for_each(|item| envelopes(item, found)),
        Value::Map(map) => map.values().for_each(|item| envelopes(item, found)),
        _ => {}
    }
}
