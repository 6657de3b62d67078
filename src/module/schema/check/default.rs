//! Defaults are checked by their own rule, and plain values are read as data.

use super::Check;
use crate::base::{FileId, Place, Plain, Problem};
use crate::data::{self, Cipher, Resolved, Scalar, Value};
use crate::module::config::Revealed;
use crate::module::schema::{Field, Kind};
use std::sync::{Arc, OnceLock};

/// Checks a default against its own rule.
///
/// # Errors
/// What was expected.
pub fn default(field: &Field, plain: &Plain) -> Result<Plain, String> {
    if let (Kind::Mode, Plain::Int(_)) = (&field.kind, plain) {
        // 0o644 and 420 are one number in Starlark, so a number does not say what was meant.
        return Err("a mode in quotes, such as `\"0644\"`".to_owned());
    }
    static NOWHERE: OnceLock<FileId> = OnceLock::new();
    let place = Place::start(*NOWHERE.get_or_init(|| FileId::new("default", "")));
    let mut refuse = |_: &Cipher, _: Place, _: &str| -> Result<Revealed, Problem> { Err(Problem::new("a secret")) };
    let mut check = Check::new("", &mut refuse, true);
    let both = check.value(field, &value_of(plain, place));
    match (check.problems.into_iter().next(), both) {
        (None, Some(both)) => Ok(both.plain),
        (Some(problem), _) => {
            let expected = problem.expected.unwrap_or_else(|| field.kind.words());
            let expected = expected.strip_prefix("expected ").unwrap_or(&expected);
            Err(expected.split(", found").next().unwrap_or(expected).to_owned())
        }
        (None, None) => Err(field.kind.words()),
    }
}

/// A plain value as data, as if it were written at `place`.
pub fn value_of(plain: &Plain, place: Place) -> Value {
    let scalar = |text: String, resolved: Resolved| {
        data::Kind::Scalar(Scalar { text: Arc::from(text), plain: resolved != Resolved::Str, resolved })
    };
    let kind = match plain {
        Plain::Null => scalar("null".to_owned(), Resolved::Null),
        Plain::Bool(b) => scalar(b.to_string(), Resolved::Bool(*b)),
        Plain::Int(n) => scalar(n.to_string(), Resolved::Int(*n)),
        Plain::Float(x) => scalar(x.to_string(), Resolved::Float(*x)),
        Plain::Str(text) => scalar(text.clone(), Resolved::Str),
        Plain::List(items) => data::Kind::List(Arc::new(items.iter().map(|item| value_of(item, place)).collect())),
        Plain::Map(map) => {
            let entry = |(key, value): (&String, &Plain)| {
                (Arc::from(key.as_str()), data::value::Entry { key: place, value: value_of(value, place) })
            };
            data::Kind::Map(Arc::new(map.iter().map(entry).collect()))
        }
    };
    Value { kind, place }
}
