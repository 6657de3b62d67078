//! Text of a value as Python's `str` and `repr` give it.

use super::number;
use minijinja::value::{Value, ValueKind};
use minijinja::{Error, ErrorKind};

/// Deeper than this a value is not printed.
const DEEPEST: usize = 200;

/// What `str(value)` gives.
///
/// # Errors
/// The value is undefined, or something in it is.
pub fn text(value: &Value) -> Result<String, Error> {
    if let Some(text) = value.as_str() {
        return Ok(text.to_owned());
    }
    repr(value)
}

/// What `repr(value)` gives.
///
/// # Errors
/// The value is undefined, or something in it is.
pub fn repr(value: &Value) -> Result<String, Error> {
    let mut out = String::new();
    write(&mut out, value, 0)?;
    Ok(out)
}

fn write(out: &mut String, value: &Value, depth: usize) -> Result<(), Error> {
    if depth > DEEPEST {
        return Err(Error::new(ErrorKind::InvalidOperation, "the value is nested too deep"));
    }
    match value.kind() {
        ValueKind::Undefined => return Err(super::filter::undefined(value)),
        ValueKind::String => quote(out, value.as_str().unwrap_or_default()),
        ValueKind::Number => match number::fraction(value) {
            Some(x) => out.push_str(&number::repr(x)),
            None => out.push_str(&value.to_string()),
        },
        ValueKind::Map => {
            out.push('{');
            for (at, key) in value.try_iter()?.enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                write(out, &key, depth + 1)?;
                out.push_str(": ");
                write(out, &value.get_item(&key)?, depth + 1)?;
            }
            out.push('}');
        }
        ValueKind::Seq | ValueKind::Iterable if value.len().is_some() => {
            // A group of `groupby` is a tuple with names.
            let tuple = value.is_tuple() || value.get_attr("grouper").is_ok_and(|name| !name.is_undefined());
            out.push(if tuple { '(' } else { '[' });
            for (at, item) in value.try_iter()?.enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                write(out, &item, depth + 1)?;
            }
            out.push_str(match (tuple, value.len()) {
                (true, Some(1)) => ",)",
                (true, _) => ")",
                (false, _) => "]",
            });
        }
        _ => {
            super::method::printable(value)?;
            out.push_str(&value.to_string());
        }
    }
    Ok(())
}

fn quote(out: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if printable(c) => out.push(c),
            c => out.push_str(&match c as u32 {
                code @ ..=0xff => format!("\\x{code:02x}"),
                code @ ..=0xffff => format!("\\u{code:04x}"),
                code => format!("\\U{code:08x}"),
            }),
        }
    }
    out.push(quote);
}

/// Not a control or format character, a blank other than the space, nor one for private use.
fn printable(c: char) -> bool {
    let format = matches!(c,
        '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}'
        | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..);
    !(format || c.is_control() || (c.is_whitespace() && c != ' '))
}
