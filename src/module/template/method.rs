//! Methods of Python's types that templates use.

use minijinja::value::{Kwargs, Object, ObjectRepr, Tuple, Value, ValueKind, from_args};
use minijinja::{Error, ErrorKind, State};
use std::sync::Arc;

/// A result of `ljust` and its like may not be longer than this.
const WIDEST: usize = 1 << 20;

/// The methods of a mapping, which Python finds before a key of that name.
pub const DICT: [&str; 11] =
    ["items", "keys", "values", "get", "copy", "pop", "update", "clear", "setdefault", "popitem", "fromkeys"];

/// Methods that would change a list or a mapping.
const CHANGES: [&str; 11] =
    ["append", "extend", "insert", "remove", "sort", "reverse", "pop", "popitem", "update", "clear", "setdefault"];

/// A method of `value` that is not called yet.
pub fn bound(value: Value, method: &str) -> Value {
    Value::from_object(Bound { value, method: method.to_owned() })
}

struct Bound {
    value: Value,
    method: String,
}

impl std::fmt::Debug for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<method {}>", self.method)
    }
}

impl Object for Bound {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn call(self: &Arc<Self>, state: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        self.value.call_method(state, &self.method, args)
    }
}

/// Refuses to print a method: its name is a key that the author means.
///
/// # Errors
/// `value` is one.
pub fn printable(value: &Value) -> Result<(), Error> {
    match value.downcast_object_ref::<Bound>() {
        Some(Bound { method, .. }) => {
            let words = format!("`{method}` is a method of the mapping; the key is `[\"{method}\"]`");
            Err(Error::new(ErrorKind::InvalidOperation, words))
        }
        None => Ok(()),
    }
}

/// Called for a method that a value does not have by itself.
pub fn call(state: &mut State, value: &Value, method: &str, args: &[Value]) -> Result<Value, Error> {
    let found = match value.kind() {
        ValueKind::String => value.as_str().and_then(|text| string(text, method, args)),
        ValueKind::Seq => sequence(value, method, args),
        ValueKind::Map if method == "copy" => Some(none(args).map(|()| value.clone())),
        ValueKind::Number => numeric(value, method, args),
        _ => None,
    };
    if let Some(result) = found {
        return result;
    }
    if CHANGES.contains(&method) && matches!(value.kind(), ValueKind::Seq | ValueKind::Map) {
        let words = format!("a template changes no value: {} has no method named {method}", value.kind());
        return Err(Error::new(ErrorKind::UnknownMethod, words));
    }
    minijinja_contrib::pycompat::unknown_method_callback(state, value, method, args)
}

fn none(args: &[Value]) -> Result<(), Error> {
    from_args::<()>(args)
}

fn sequence(value: &Value, method: &str, args: &[Value]) -> Option<Result<Value, Error>> {
    Some(match method {
        "copy" => none(args).map(|()| value.clone()),
        "index" => from_args::<(Value,)>(args).and_then(|(item,)| {
            let at = value.try_iter()?.position(|other| other == item);
            at.map(Value::from).ok_or_else(|| wrong("the list has no such item"))
        }),
        _ => return None,
    })
}

fn numeric(value: &Value, method: &str, args: &[Value]) -> Option<Result<Value, Error>> {
    Some(match method {
        "is_integer" => none(args).map(|()| {
            let x = super::number::fraction(value);
            Value::from(x.is_none_or(|x| x.is_finite() && x.fract() == 0.0))
        }),
        "bit_length" if value.is_integer() => none(args)
            .and_then(|()| i128::try_from(value.clone()))
            .map(|n| Value::from(128 - n.unsigned_abs().leading_zeros())),
        _ => return None,
    })
}

/// Text, then where to begin and where to end, in characters, as Python counts them.
fn part<'a>(text: &'a str, args: &[Value]) -> Result<(String, &'a str, usize), Error> {
    let (what, start, end): (String, Option<i64>, Option<i64>) = from_args(args)?;
    let count = text.chars().count();
    let clamp = |at: i64| {
        let at = if at < 0 { at.saturating_add(count as i64).max(0) } else { at };
        usize::try_from(at).unwrap_or(0).min(count)
    };
    let (start, end) = (clamp(start.unwrap_or(0)), clamp(end.unwrap_or(count as i64)));
    let byte = |at: usize| text.char_indices().nth(at).map_or(text.len(), |(byte, _)| byte);
    Ok((what, text.get(byte(start)..byte(end.max(start))).unwrap_or_default(), start))
}

/// Where a text stands in another.
fn position(text: &str, args: &[Value], last: bool) -> Result<Option<usize>, Error> {
    let (what, here, start) = part(text, args)?;
    let at = if last { here.rfind(&what) } else { here.find(&what) };
    Ok(at.and_then(|at| here.get(..at)).map(|before| start + before.chars().count()))
}

fn titled(text: &str) -> bool {
    let mut any = false;
    let mut inside = false;
    for c in text.chars() {
        if c.is_uppercase() == inside && (c.is_uppercase() || c.is_lowercase()) {
            return false;
        }
        inside = c.is_uppercase() || c.is_lowercase();
        any |= inside;
    }
    any
}

fn string(text: &str, method: &str, args: &[Value]) -> Option<Result<Value, Error>> {
    let number = |at: Option<usize>| Value::from(at.map_or(-1, |at| at as i64));
    let there = |at: Option<usize>| at.map(Value::from).ok_or_else(|| wrong("the text is not in there"));
    let many = |prefix: &Value| prefix.kind() == ValueKind::String && args.len() > 1;
    let result = match method {
        "find" => position(text, args, false).map(number),
        "rfind" => position(text, args, true).map(number),
        "index" => position(text, args, false).and_then(there),
        "rindex" => position(text, args, true).and_then(there),
        "count" => part(text, args).map(|(what, here, _)| Value::from(here.matches(what.as_str()).count())),
        "startswith" if args.first().is_some_and(many) => {
            part(text, args).map(|(what, here, _)| Value::from(here.starts_with(&what)))
        }
        "endswith" if args.first().is_some_and(many) => {
            part(text, args).map(|(what, here, _)| Value::from(here.ends_with(&what)))
        }
        "isdecimal" => none(args).map(|()| Value::from(!text.is_empty() && text.chars().all(|c| c.is_ascii_digit()))),
        "isidentifier" => none(args).map(|()| {
            let first = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
            Value::from(first && text.chars().all(|c| c.is_alphanumeric() || c == '_'))
        }),
        "istitle" => none(args).map(|()| Value::from(titled(text))),
        "casefold" => none(args).map(|()| Value::from(text.to_lowercase().replace('ß', "ss"))),
        "title" => none(args).map(|()| Value::from(title(text))),
        "expandtabs" => expandtabs(text, args),
        "join" => from_args::<(Value,)>(args).and_then(|(items,)| joined(text, &items)),
        "split" => split(text, args),
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

/// Every word begins with a capital; whatever is no letter ends one.
fn title(text: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in text.chars() {
        match inside {
            true => out.extend(c.to_lowercase()),
            false => out.extend(c.to_uppercase()),
        }
        inside = c.is_alphabetic();
    }
    out
}

fn expandtabs(text: &str, args: &[Value]) -> Result<Value, Error> {
    let (size,): (Option<usize>,) = from_args(args)?;
    let size = size.unwrap_or(8);
    if size > 1000 {
        return Err(wrong("the width is too large"));
    }
    let mut out = String::new();
    let mut column = 0;
    for c in text.chars() {
        match c {
            '\t' => {
                let count = if size == 0 { 0 } else { size - column % size };
                out.extend(std::iter::repeat_n(' ', count));
                column += count;
            }
            c => {
                out.push(c);
                column = if c == '\n' || c == '\r' { 0 } else { column + 1 };
            }
        }
    }
    Ok(out.into())
}

/// `separator.join(items)`: texts only.
fn joined(separator: &str, items: &Value) -> Result<Value, Error> {
    let mut out = String::new();
    for (at, item) in items.try_iter()?.enumerate() {
        if at > 0 {
            out.push_str(separator);
        }
        super::filter::defined(&item)?;
        let word =
            item.as_str().ok_or_else(|| wrong("`join` of a text takes texts; the filter `join` takes any value"))?;
        out.push_str(word);
    }
    Ok(out.into())
}

/// The separator and the number of splits, by place or by name.
fn cuts(args: &[Value]) -> Result<(Option<String>, Option<usize>), Error> {
    let (separator, limit, named): (Option<Value>, Option<i64>, Kwargs) = from_args(args)?;
    let separator = named.get::<Option<Value>>("sep")?.or(separator).filter(|value| !value.is_none());
    let limit = named.get::<Option<i64>>("maxsplit")?.or(limit);
    named.assert_all_used()?;
    let separator = separator.map(|value| word(&[value])).transpose()?;
    Ok((separator, limit.and_then(|n| usize::try_from(n).ok())))
}

fn split(text: &str, args: &[Value]) -> Result<Value, Error> {
    Ok(match cuts(args)? {
        (Some(separator), Some(limit)) => words(text.splitn(limit.saturating_add(1), separator.as_str())),
        (Some(separator), None) => words(text.split(separator.as_str())),
        (None, None) => words(text.split_whitespace()),
        (None, Some(limit)) => {
            let mut parts = Vec::new();
            let mut rest = text.trim_start();
            while parts.len() < limit
                && let Some((before, after)) = rest.split_once(char::is_whitespace)
            {
                parts.push(before);
                rest = after.trim_start();
            }
            if !rest.is_empty() {
                parts.push(rest);
            }
            words(parts)
        }
    })
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
    let (separator, limit) = cuts(args)?;
    let mut parts: Vec<&str> = match (&separator, limit) {
        (Some(separator), Some(limit)) => text.rsplitn(limit.saturating_add(1), separator.as_str()).collect(),
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
