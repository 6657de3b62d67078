//! Every envelope of a value.

use super::{Keys, is_envelope, is_marker, once};
use crate::base::{Mask, Problems, Result};
use crate::infra::Value;

impl Keys {
    /// Opens every string below `value` that is an envelope or an age marker as a whole: items of lists and values of
    /// maps at any depth, keys of maps never. What is opened is text, and is not looked at again. `tolerant` leaves
    /// those closed that no key is there for. `mask` learns every plaintext; `path` names `value` in messages.
    ///
    /// Returns the paths of what was opened: `database.passwords[0]`.
    ///
    /// # Errors
    /// Every envelope that cannot be opened; those that can are.
    pub fn open_all(&self, value: &mut Value, tolerant: bool, mask: &Mask, path: &str) -> Result<Vec<String>> {
        let mut walk = Walk { keys: self, tolerant, mask, opened: Vec::new(), problems: Problems::new() };
        walk.value(value, path);
        once(&mut walk.problems);
        if walk.problems.is_empty() { Ok(walk.opened) } else { Err(walk.problems) }
    }
}

struct Walk<'a> {
    keys: &'a Keys,
    tolerant: bool,
    mask: &'a Mask,
    opened: Vec<String>,
    problems: Problems,
}

impl Walk<'_> {
    fn value(&mut self, value: &mut Value, path: &str) {
        match value {
            Value::Str(text) if is_envelope(text) || is_marker(text) => match self.keys.open(text) {
                Ok(plain) => {
                    self.mask.add(&plain);
                    plain.as_str().clone_into(text);
                    self.opened.push(path.to_owned());
                }
                Err(refusal) if self.tolerant && refusal.tolerable() => {}
                Err(refusal) => self.problems.push(refusal.problem(&format!("the secret `{path}`"))),
            },
            Value::List(items) => {
                for (at, item) in items.iter_mut().enumerate().filter(|(_, item)| may_hold(item)) {
                    self.value(item, &format!("{path}[{at}]"));
                }
            }
            Value::Map(map) => {
                for (key, item) in map.iter_mut().filter(|(_, item)| may_hold(item)) {
                    self.value(item, &step(path, key));
                }
            }
            _ => {}
        }
    }
}

/// False for what needs no path: most values are plain, and thousands of them are looked at.
fn may_hold(value: &Value) -> bool {
    match value {
        Value::Str(text) => is_envelope(text) || is_marker(text),
        Value::List(_) | Value::Map(_) => true,
        _ => false,
    }
}

fn step(path: &str, key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    match plain {
        true if path.is_empty() => key.to_owned(),
        true => format!("{path}.{key}"),
        false => format!("{path}[{key:?}]"),
    }
}
