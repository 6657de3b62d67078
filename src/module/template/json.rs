//! `tojson` as Jinja2 writes it: keys sorted, ASCII only, safe inside HTML.

use super::number;
use crate::base::json;
use minijinja::value::{Value, ValueKind};
use minijinja::{Error, ErrorKind};

/// Escaped beside what JSON wants escaped.
const HTML: &str = "<>&'";

/// Writes `value` on one line, or with `indent` blanks a level.
pub fn text(value: &Value, indent: Option<usize>) -> Result<String, Error> {
    let mut out = String::new();
    write(&mut out, value, indent, 0)?;
    Ok(out)
}

fn write(out: &mut String, value: &Value, indent: Option<usize>, depth: usize) -> Result<(), Error> {
    if depth > 100 {
        return Err(Error::new(ErrorKind::BadSerialization, "the value is nested too deep"));
    }
    match value.kind() {
        ValueKind::None => out.push_str("null"),
        ValueKind::Bool => out.push_str(if value.is_true() { "true" } else { "false" }),
        ValueKind::Number => match f64::try_from(value.clone()) {
            Ok(x) if !value.is_integer() => match () {
                () if x.is_nan() => out.push_str("NaN"),
                () if x.is_infinite() => out.push_str(if x < 0.0 { "-Infinity" } else { "Infinity" }),
                () => out.push_str(&number::repr(x)),
            },
            _ => out.push_str(&value.to_string()),
        },
        ValueKind::String => json::string(out, &value.to_string(), HTML),
        ValueKind::Map => {
            let mut pairs: Vec<(String, Value)> = Vec::new();
            for key in value.try_iter()? {
                pairs.push((key.to_string(), value.get_item(&key)?));
            }
            pairs.sort_by(|a, b| a.0.cmp(&b.0));
            list(out, ['{', '}'], pairs.len(), indent, depth, |out, at| {
                let Some((key, item)) = pairs.get(at) else { return Ok(()) };
                json::string(out, key, HTML);
                out.push_str(": ");
                write(out, item, indent, depth + 1)
            })?;
        }
        ValueKind::Seq | ValueKind::Iterable => {
            let items: Vec<Value> = value.try_iter()?.collect();
            list(out, ['[', ']'], items.len(), indent, depth, |out, at| match items.get(at) {
                Some(item) => write(out, item, indent, depth + 1),
                None => Ok(()),
            })?;
        }
        ValueKind::Undefined => return Err(super::filter::undefined(value)),
        other => match value.downcast_object_ref::<number::Huge>() {
            Some(number::Huge(n)) => out.push_str(&n.to_string()),
            None => {
                super::method::printable(value)?;
                return Err(Error::new(ErrorKind::BadSerialization, format!("a {other} has no JSON")));
            }
        },
    }
    Ok(())
}

fn list(
    out: &mut String,
    [open, close]: [char; 2],
    count: usize,
    indent: Option<usize>,
    depth: usize,
    mut item: impl FnMut(&mut String, usize) -> Result<(), Error>,
) -> Result<(), Error> {
    let line = |out: &mut String, depth: usize| {
        if let Some(indent) = indent {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent * depth));
        }
    };
    out.push(open);
    for at in 0..count {
        if at > 0 {
            out.push_str(if indent.is_some() { "," } else { ", " });
        }
        line(out, depth + 1);
        item(out, at)?;
    }
    if count > 0 {
        line(out, depth);
    }
    out.push(close);
    Ok(())
}
