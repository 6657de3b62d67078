//! `%`-formatting as Python does it, for the filter `format`.

use super::method::{Side, pad};
use super::{number, python};
use minijinja::value::{Value, ValueKind};
use minijinja::{Error, ErrorKind};

/// A width or a precision may not be larger than this.
const WIDEST: usize = 10_000;

/// Fills the `%` places of `pattern` with `args`, or by name from `names`.
pub fn format(pattern: &str, args: &[Value], names: impl Fn(&str) -> Option<Value>) -> Result<String, Error> {
    let wrong = |text: String| Error::new(ErrorKind::InvalidOperation, text);
    let mut out = String::new();
    let mut given = args.iter();
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut name = None;
        if chars.next_if_eq(&'(').is_some() {
            let mut text = String::new();
            for c in chars.by_ref().take_while(|c| *c != ')') {
                text.push(c);
            }
            name = Some(text);
        }
        let mut flags = String::new();
        while let Some(flag) = chars.next_if(|c| "-+ 0#".contains(*c)) {
            flags.push(flag);
        }
        let width = digits(&mut chars).unwrap_or(0);
        let precision = chars.next_if_eq(&'.').map(|_| digits(&mut chars).unwrap_or(0));
        if width > WIDEST || precision.is_some_and(|n| n > WIDEST) {
            return Err(wrong("the width in the format is too large".to_owned()));
        }
        let Some(kind) = chars.next() else { return Err(wrong("the format ends in the middle of a `%`".to_owned())) };
        if kind == '%' {
            out.push('%');
            continue;
        }
        let value = match &name {
            Some(name) => names(name).ok_or_else(|| wrong(format!("the format names `{name}`, which is not given")))?,
            None => given.next().cloned().ok_or_else(|| wrong("the format has more places than values".to_owned()))?,
        };
        let text = one(kind, &value, precision, &flags)?;
        let numeric = !"srac".contains(kind);
        out += &match (flags.contains('-'), flags.contains('0') && numeric) {
            (true, _) => pad(&text, width, ' ', Side::Right),
            (false, true) => {
                let sign = text.chars().take_while(|c| "+- ".contains(*c)).count();
                let (sign, rest) = text.split_at_checked(sign).unwrap_or(("", &text));
                format!("{sign}{}", pad(rest, width.saturating_sub(sign.len()), '0', Side::Left))
            }
            (false, false) => pad(&text, width, ' ', Side::Left),
        };
    }
    match given.next() {
        Some(_) => Err(wrong("the format has fewer places than values".to_owned())),
        None => Ok(out),
    }
}

fn digits(chars: &mut std::iter::Peekable<std::str::Chars>) -> Option<usize> {
    let mut text = String::new();
    while let Some(c) = chars.next_if(char::is_ascii_digit) {
        text.push(c);
    }
    if text.is_empty() { None } else { Some(text.parse().unwrap_or(usize::MAX)) }
}

fn one(kind: char, value: &Value, precision: Option<usize>, flags: &str) -> Result<String, Error> {
    let wrong = |text: String| Error::new(ErrorKind::InvalidOperation, text);
    if value.is_undefined() {
        return Err(super::filter::undefined(value));
    }
    let number = || {
        f64::try_from(value.clone())
            .ok()
            .filter(|_| matches!(value.kind(), ValueKind::Number | ValueKind::Bool))
            .ok_or_else(|| wrong(format!("`%{kind}` needs a number")))
    };
    let whole = || match i128::try_from(value.clone()) {
        Ok(n) if value.kind() != ValueKind::String => Ok(n),
        _ => number().map(|x| x.trunc() as i128),
    };
    let signed = |negative: bool, text: String| match (negative, flags.contains('+'), flags.contains(' ')) {
        (true, ..) => format!("-{text}"),
        (false, true, _) => format!("+{text}"),
        (false, false, true) => format!(" {text}"),
        _ => text,
    };
    Ok(match kind {
        's' | 'r' | 'a' => {
            let text = if kind == 's' { python::text(value)? } else { python::repr(value)? };
            match precision {
                Some(count) => text.chars().take(count).collect(),
                None => text,
            }
        }
        'd' | 'i' | 'u' if value.downcast_object_ref::<number::Huge>().is_some() => {
            let text = value.to_string();
            signed(text.starts_with('-'), text.trim_start_matches('-').to_owned())
        }
        'd' | 'i' | 'u' => whole().map(|n| signed(n < 0, n.unsigned_abs().to_string()))?,
        'x' => whole().map(|n| signed(n < 0, format!("{:x}", n.unsigned_abs())))?,
        'X' => whole().map(|n| signed(n < 0, format!("{:X}", n.unsigned_abs())))?,
        'o' => whole().map(|n| signed(n < 0, format!("{:o}", n.unsigned_abs())))?,
        'f' | 'F' => number().map(|x| signed(x < 0.0, format!("{:.*}", precision.unwrap_or(6), x.abs())))?,
        'e' => number().map(|x| signed(x < 0.0, exponent(x.abs(), precision.unwrap_or(6))))?,
        'g' => number().map(|x| signed(x < 0.0, general(x.abs(), precision.unwrap_or(6).max(1))))?,
        'c' => match value.as_str() {
            Some(text) => text.to_owned(),
            None => {
                let n = whole()?;
                u32::try_from(n)
                    .ok()
                    .and_then(char::from_u32)
                    .map(String::from)
                    .ok_or_else(|| wrong("`%c` needs a character".to_owned()))?
            }
        },
        other => return Err(wrong(format!("unknown format `%{other}`"))),
    })
}

fn exponent(x: f64, precision: usize) -> String {
    let text = format!("{x:.precision$e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let exponent: i32 = exponent.parse().unwrap_or(0);
            format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
        }
        None => text,
    }
}

fn general(x: f64, precision: usize) -> String {
    let scientific = exponent(x, precision - 1);
    let size: i32 = scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..precision as i32).contains(&size) {
        let decimals = (precision as i32 - 1 - size).max(0) as usize;
        return trimmed(&format!("{x:.decimals$}"));
    }
    match scientific.split_once('e') {
        Some((digits, exponent)) => format!("{}e{exponent}", trimmed(digits)),
        None => scientific,
    }
}
