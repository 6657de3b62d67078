//! `!ENC[…]` in YAML. The brackets end a tag, so no YAML parser takes the inline form: a pass of the same length
//! turns it into a tag that every parser takes, and the marker itself is read from the source.

use super::super::Cipher;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use granit_parser::{Event, Parser};
use std::borrow::Cow;
use std::ops::Range;

const OPEN: &str = "!ENC[";

/// Returns `text` with every inline `!ENC[…]` replaced by a tag of the same length. Text that only looks like one,
/// in quotes, blocks and plain text, stays as it is.
pub fn mask(text: &str) -> Cow<'_, str> {
    let hits = hits(text);
    if hits.is_empty() {
        return Cow::Borrowed(text);
    }
    let first = replaced(text, &hits);
    let inside = inside_scalars(&first, &hits);
    if inside.iter().any(|inside| *inside) {
        let tags: Vec<Range<usize>> = hits.into_iter().zip(inside).filter(|(_, i)| !i).map(|(hit, _)| hit).collect();
        return Cow::Owned(replaced(text, &tags));
    }
    Cow::Owned(first)
}

/// The byte ranges of what may be an inline marker: where a tag may start, up to the `]` on the same line.
fn hits(text: &str) -> Vec<Range<usize>> {
    let starts = |at: usize| {
        let before = at.checked_sub(1).and_then(|i| text.as_bytes().get(i));
        before.is_none_or(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r' | b'[' | b'{' | b','))
    };
    let mut hits: Vec<Range<usize>> = Vec::new();
    // Nothing before this offset needs another look: a marker ends there, or a line with no `]`.
    let mut done = 0;
    for (at, _) in text.match_indices(OPEN) {
        if at < done || !starts(at) {
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
        let end = rest.find([']', '\n', '\r']).unwrap_or(rest.len());
        done = at + end;
        if rest.as_bytes().get(end) == Some(&b']') {
            done += 1;
            hits.push(at..done);
        }
    }
    hits
}

fn replaced(text: &str, hits: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for hit in hits {
        out.push_str(text.get(done..hit.start).unwrap_or_default());
        let marker = text.get(hit.clone()).unwrap_or_default();
        out.push_str("!ENC(");
        let inner = marker.get(OPEN.len()..marker.len().saturating_sub(1)).unwrap_or_default();
        out.extend(inner.bytes().map(|b| if in_base64(b) { b as char } else { '~' }));
        out.push(')');
        done = hit.end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

/// Which of the hits stand in a scalar and not in a tag. A hit behind a syntax error is taken for a tag.
fn inside_scalars(masked: &str, hits: &[Range<usize>]) -> Vec<bool> {
    let mut inside = vec![false; hits.len()];
    let mut options = granit_parser::Options::default();
    options.set_emit_comments(false);
    options.emit_unresolved_aliases = true;
    for event in Parser::new_from_str_with_options(masked, options) {
        let Ok((event, span)) = event else {
            break;
        };
        let (Event::Scalar(..), Some(range)) = (&event, span.byte_range()) else {
            continue;
        };
        let from = hits.partition_point(|hit| hit.start < range.start);
        for (hit, inside) in hits.iter().zip(inside.iter_mut()).skip(from) {
            if hit.start >= range.end {
                break;
            }
            *inside = true;
        }
    }
    inside
}

fn in_base64(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=')
}

/// True where text, in quotes or a block, is meant as a secret.
pub fn is_marker(text: &str) -> bool {
    text.trim_start().starts_with(OPEN)
}

/// Reads `!ENC[<base64>]`; white space around and inside is of no account.
///
/// # Errors
/// What was found instead, to be put behind "found".
pub fn cipher(text: &str) -> Result<Cipher, String> {
    let inner = text.trim().strip_prefix(OPEN).ok_or_else(|| "no `!ENC[` at the start".to_owned())?;
    let (inner, rest) = inner.split_once(']').ok_or_else(|| "no closing `]`".to_owned())?;
    if !rest.is_empty() {
        return Err("text behind the closing `]`".to_owned());
    }
    let base64: String = inner.chars().filter(|c| !c.is_whitespace()).collect();
    if base64.is_empty() {
        return Err("nothing between the brackets".to_owned());
    }
    if let Some(c) = base64.chars().find(|c| !u8::try_from(*c).is_ok_and(in_base64)) {
        return Err(format!("`{c}`, which is not base64"));
    }
    match STANDARD.decode(&base64) {
        Ok(_) => Ok(Cipher { base64 }),
        Err(_) => Err("damaged ciphertext: its base64 is cut short or has letters too many".to_owned()),
    }
}
