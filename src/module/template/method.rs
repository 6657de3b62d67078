//! Methods of Python's types that templates use.

use minijinja::value::{Tuple, Value, ValueKind};
use minijinja::{Error, ErrorKind, State};

/// A result of `ljust` and its like may not be longer than this.
const WIDEST: usize = 1 << 20;

/// Called for a method that a value does not have by itself.
pub fn call(state: &mut State, value: &Value, method: &str, args: &[Value]) -> Result<Value, Error> {
    if value.kind() == ValueKind::String
        && let Some(text) = value.as_str()
        && let Some(result) = string(text, method, args)
    {
        return result;
    }
    minijinja_contrib::pycompat::unknown_method_callback(state, value, method, args)
}

fn string(text: &str, method: &str, args: &[Value]) -> Option<Result<Value, Error>> {
    let result = match method {
        "ljust" => padded(text, args, Side::Right),
        "rjust" => padded(text, args, Side::Left),
        "center" => padded(text, args, Side::Both),
        "zfill" => zfill(text, args),
        "swapcase" => Ok(text.chars().flat_map(swapped).collect::<String>().into()),
        "removeprefix" => word(args).map(|w| text.strip_prefix(&w).unwrap_or(text).into()),
        "removesuffix" => word(args).map(|w| text.strip_suffix(&w).unwrap_or(text).into()),
        "partition" => word(args).map(|w| match text.split_once(&w) {
            Some((before, after)) => three(before, &w, after),
            None => three(text, "", ""),
        }),
        "rpartition" => word(args).map(|w| match text.rsplit_once(&w) {
            Some((before, after)) => three(before, &w, after),
            None => three("", "", text),
        }),
        "rsplit" => rsplit(text, args),
        _ => return None,
    };
    Some(result)
}

/// A list of texts.
fn words<'a>(parts: impl IntoIterator<Item = &'a str>) -> Value {
    Value::from(parts.into_iter().map(Value::from).collect::<Vec<Value>>())
}

/// A tuple of three texts.
fn three(a: &str, b: &str, c: &str) -> Value {
    Value::from(Tuple::from([a, b, c].map(Value::from)))
}

fn wrong(text: &'static str) -> Error {
    Error::new(ErrorKind::InvalidOperation, text)
}

fn swapped(c: char) -> Vec<char> {
    if c.is_uppercase() { c.to_lowercase().collect() } else { c.to_uppercase().collect() }
}

fn word(args: &[Value]) -> Result<String, Error> {
    match args.first().and_then(Value::as_str) {
        Some(text) if !text.is_empty() => Ok(text.to_owned()),
        _ => Err(wrong("expected a text that is not empty")),
    }
}

fn width(args: &[Value]) -> Result<usize, Error> {
    let width = args.first().and_then(|v| i64::try_from(v.clone()).ok()).ok_or_else(|| wrong("expected a width"))?;
    match usize::try_from(width.max(0)) {
        Ok(width) if width <= WIDEST => Ok(width),
        _ => Err(wrong("the width is too large")),
    }
}

#[derive(Clone, Copy)]
pub enum Side {
    Left,
    Right,
    Both,
}

fn padded(text: &str, args: &[Value], side: Side) -> Result<Value, Error> {
    let fill = match args.get(1) {
        None => ' ',
        Some(value) => {
            let mut chars = value.as_str().unwrap_or_default().chars();
            chars
                .next()
                .filter(|_| chars.next().is_none())
                .ok_or_else(|| wrong("expected one character to fill with"))?
        }
    };
    Ok(pad(text, width(args)?, fill, side).into())
}

/// Fills `text` up to `width`. An odd rest goes where Python puts it.
pub fn pad(text: &str, width: usize, fill: char, side: Side) -> String {
    let missing = width.saturating_sub(text.chars().count());
    let left = match side {
        Side::Left => missing,
        Side::Right => 0,
        Side::Both => missing / 2 + (missing & width & 1),
    };
    let fill = |count: usize| std::iter::repeat_n(fill, count);
    fill(left).chain(text.chars()).chain(fill(missing - left)).collect()
}

fn zfill(text: &str, args: &[Value]) -> Result<Value, Error> {
    let width = width(args)?;
    let (sign, digits) = match text.chars().next() {
        Some(sign @ ('+' | '-')) => (Some(sign), text.get(1..).unwrap_or_default()),
        _ => (None, text),
    };
    let digits = pad(digits, width.saturating_sub(usize::from(sign.is_some())), '0', Side::Left);
    Ok(sign.into_iter().chain(digits.chars()).collect::<String>().into())
}

fn rsplit(text: &str, args: &[Value]) -> Result<Value, Error> {
    let limit = args.get(1).and_then(|v| i64::try_from(v.clone()).ok()).and_then(|n| usize::try_from(n).ok());
    let separator = args.first().filter(|v| !v.is_none()).map(|_| word(args)).transpose()?;
    let mut parts: Vec<&str> = match (&separator, limit) {
        (Some(separator), Some(limit)) => text.rsplitn(limit + 1, separator.as_str()).collect(),
        (Some(separator), None) => text.rsplit(separator.as_str()).collect(),
        (None, None) => text.split_whitespace().rev().collect(),
        (None, Some(limit)) => {
            let mut parts = Vec::new();
            let mut rest = text.trim_end();
            while parts.len() < limit
                && let Some((before, after)) = rest.rsplit_once(char::is_whitespace)
            {
                parts.push(after);
                rest = before.trim_end();
            }
            if !rest.trim_start().is_empty() {
                parts.push(rest.trim_start());
            }
            parts
        }
    };
    parts.reverse();
    Ok(words(parts))
}
