//! Secrets in their files: found, opened, and written anew while every other byte stays as it was.
//!
//! Enters: the bytes of data files, keys, recipients. Leaves: bytes. Never reads or writes a file itself.

mod layout;
mod plain;
mod rekey;
mod save;
mod view;

pub use rekey::Opened;
pub use save::Saved;
pub use view::View;

use super::yaml::spot::Spot;
use std::ops::Range;

/// `text` with the values of the spots replaced, in their order.
fn replaced(text: &str, values: impl IntoIterator<Item = (Range<usize>, impl AsRef<str>)>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (range, value) in values {
        out.push_str(text.get(done..range.start).unwrap_or_default());
        out.push_str(value.as_ref());
        done = range.end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

/// The column, from 0, in which the innermost key or item stands that a value belongs to: what is in its line before
/// it, blanks and dashes left out.
fn column(text: &str, spot: &Spot) -> usize {
    let before = text.get(..spot.value.start).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(start..).unwrap_or_default();
    let mut at = 0;
    loop {
        let rest = line.get(at..).unwrap_or_default();
        match rest.strip_prefix("- ").or_else(|| rest.strip_prefix(' ')) {
            Some(behind) => at += rest.len() - behind.len(),
            None => return at,
        }
    }
}

#[cfg(test)]
mod tests;
