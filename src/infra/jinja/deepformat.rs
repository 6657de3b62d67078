//! `deepformat`: Python's `str.format(**params)` on every text of a value.

use super::super::value::Number;
use super::value::plain;
use crate::module::template::{filter, python};
use minijinja::value::{Value, ValueKind};
use minijinja::{Error, ErrorKind};
use num_bigint::{BigInt, Sign};

/// A width or a precision may not be larger than this.
const WIDEST: usize = 10_000;

/// Deeper than this no value is looked into.
const DEEPEST: usize = 100;

fn wrong(words: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("`deepformat`: {}", words.into()))
}

/// Fills the `{…}` of every text in `value`, its keys too, with `params`.
///
/// # Errors
/// A name is missing, a place in braces is no name, its format does not fit; attributes are refused.
pub fn deep(value: &Value, params: &Value) -> Result<Value, Error> {
    if params.is_undefined() {
        return Err(filter::undefined(params));
    }
    if params.kind() != ValueKind::Map {
        return Err(wrong(format!("`params` is a {}, expected a mapping", params.kind())));
    }
    level(value, params, 0)
}

fn level(value: &Value, params: &Value, depth: usize) -> Result<Value, Error> {
    if depth > DEEPEST {
        return Err(wrong("the value is nested too deep"));
    }
    Ok(match value.kind() {
        ValueKind::String => Value::from(fill(value.as_str().unwrap_or_default(), params, 0)?),
        ValueKind::Seq if !value.is_tuple() => {
            let items = value.try_iter()?.map(|item| level(&item, params, depth + 1));
            Value::from(items.collect::<Result<Vec<Value>, Error>>()?)
        }
        ValueKind::Map => {
            let mut pairs = Vec::new();
            for key in value.try_iter()? {
                let item = value.get_item(&key)?;
                pairs.push((level(&key, params, depth + 1)?, level(&item, params, depth + 1)?));
            }
            Value::from_pairs(pairs)
        }
        ValueKind::Undefined => return Err(filter::undefined(value)),
        _ => value.clone(),
    })
}

/// `str.format(**params)`; a format may itself hold places, once.
fn fill(pattern: &str, params: &Value, depth: usize) -> Result<String, Error> {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(at) = rest.find(['{', '}']) {
        out.push_str(rest.get(..at).unwrap_or_default());
        let here = rest.get(at..).unwrap_or_default();
        if let Some(after) = here.strip_prefix("{{") {
            out.push('{');
            rest = after;
        } else if let Some(after) = here.strip_prefix("}}") {
            out.push('}');
            rest = after;
        } else if let Some(after) = here.strip_prefix('{') {
            let end = closing(after).ok_or_else(|| wrong("a `{` is never closed; write `{{` for the character"))?;
            out.push_str(&place(after.get(..end).unwrap_or_default(), params, depth)?);
            rest = after.get(end + 1..).unwrap_or_default();
        } else {
            return Err(wrong("a `}` stands alone; write `}}` for the character"));
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// Where the `}` of a place stands; one pair of braces inside belongs to the format, and `[…]` holds any character.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut index = false;
    for (at, c) in text.char_indices() {
        match c {
            '[' if depth == 0 => index = true,
            ']' => index = false,
            _ if index => {}
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn place(field: &str, params: &Value, depth: usize) -> Result<String, Error> {
    if depth > 1 {
        return Err(wrong("a format inside a format inside a format"));
    }
    let index = field.find('[').map_or(0, |open| field.rfind(']').filter(|close| *close > open).unwrap_or(0));
    let tail = field.get(index..).unwrap_or_default();
    let end = tail.find(['!', ':']).map_or(field.len(), |at| index + at);
    let value = named(field.get(..end).unwrap_or_default(), params)?;
    let rest = field.get(end..).unwrap_or_default();
    let (conversion, spec) = match rest.strip_prefix('!') {
        Some(rest) => {
            let (conversion, spec) = rest.split_once(':').unwrap_or((rest, ""));
            (Some(conversion), spec)
        }
        None => (None, rest.strip_prefix(':').unwrap_or_default()),
    };
    let value = match conversion {
        None => value,
        Some("s") => Value::from(python::text(&value)?),
        Some("r") => Value::from(python::repr(&value)?),
        Some("a") => Value::from(ascii(&python::repr(&value)?)),
        Some(other) => return Err(wrong(format!("`!{other}` is no conversion, expected `!s`, `!r` or `!a`"))),
    };
    let spec = fill(spec, params, depth + 1)?;
    formatted(&value, &spec)
}

/// The value that `name[key][0]` names.
fn named(field: &str, params: &Value) -> Result<Value, Error> {
    let (name, mut steps) = match field.find(['[', '.']) {
        Some(at) => field.split_at(at),
        None => (field, ""),
    };
    if name.is_empty() || name.chars().all(|c| c.is_ascii_digit()) {
        return Err(wrong(format!("`{{{name}}}` is no name, expected a name of `params`")));
    }
    let known = |value: Value| if value.is_undefined() { None } else { Some(value) };
    let mut value = params
        .get_item(&Value::from(name))
        .ok()
        .and_then(known)
        .ok_or_else(|| wrong(format!("there is no `{name}` in `params`")))?;
    while !steps.is_empty() {
        let Some((key, after)) = steps.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
            return Err(wrong(format!("`{{{field}}}` asks for an attribute; only `[key]` and `[0]` are there")));
        };
        let step = match key.parse::<u64>() {
            Ok(at) => Value::from(at),
            Err(_) => Value::from(key),
        };
        value = value
            .get_item(&step)
            .ok()
            .and_then(known)
            .ok_or_else(|| wrong(format!("`{{{field}}}`: there is no `[{key}]`")))?;
        steps = after;
    }
    Ok(value)
}

fn ascii(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c as u32 {
            ..=0x7f => out.push(c),
            code @ ..=0xff => out.push_str(&format!("\\x{code:02x}")),
            code @ ..=0xffff => out.push_str(&format!("\\u{code:04x}")),
            code => out.push_str(&format!("\\U{code:08x}")),
        }
    }
    out
}

/// `[[fill]align][sign][z][#][0][width][,|_][.precision][type]`
struct Spec {
    fill: char,
    align: Option<char>,
    sign: char,
    alternate: bool,
    width: usize,
    group: Option<char>,
    precision: Option<usize>,
    kind: Option<char>,
}

impl Spec {
    fn read(text: &str) -> Result<Spec, Error> {
        let mut spec = Spec {
            fill: ' ',
            align: None,
            sign: '-',
            alternate: false,
            width: 0,
            group: None,
            precision: None,
            kind: None,
        };
        let chars: Vec<char> = text.chars().collect();
        let mut at = 0;
        let aligns = |c: Option<&char>| c.copied().filter(|c| "<>=^".contains(*c));
        if let (Some(fill), Some(align)) = (chars.first(), aligns(chars.get(1))) {
            (spec.fill, spec.align, at) = (*fill, Some(align), 2);
        } else if let Some(align) = aligns(chars.first()) {
            (spec.align, at) = (Some(align), 1);
        }
        if let Some(sign) = chars.get(at).filter(|c| "+- ".contains(**c)) {
            (spec.sign, at) = (*sign, at + 1);
        }
        if chars.get(at) == Some(&'#') {
            (spec.alternate, at) = (true, at + 1);
        }
        if chars.get(at) == Some(&'0') {
            at += 1;
            if spec.align.is_none() {
                (spec.fill, spec.align) = ('0', Some('0'));
            }
        }
        let digits = |at: &mut usize| {
            let start = *at;
            while chars.get(*at).is_some_and(char::is_ascii_digit) {
                *at += 1;
            }
            let text: String = chars.get(start..*at).unwrap_or_default().iter().collect();
            (!text.is_empty()).then(|| text.parse().unwrap_or(usize::MAX))
        };
        spec.width = digits(&mut at).unwrap_or(0);
        if let Some(group) = chars.get(at).filter(|c| ",_".contains(**c)) {
            (spec.group, at) = (Some(*group), at + 1);
        }
        if chars.get(at) == Some(&'.') {
            at += 1;
            let precision = digits(&mut at);
            spec.precision = Some(precision.ok_or_else(|| wrong("a `.` in the format without a precision"))?);
        }
        if spec.width > WIDEST || spec.precision.is_some_and(|n| n > WIDEST) {
            return Err(wrong("the width in the format is too large"));
        }
        spec.kind = chars.get(at).copied();
        match chars.get(at + 1) {
            None => Ok(spec),
            Some(_) => Err(wrong(format!("`{text}` is no format"))),
        }
    }
}

fn formatted(value: &Value, text: &str) -> Result<String, Error> {
    if text.is_empty() {
        return python::text(value);
    }
    let spec = Spec::read(text)?;
    let misfit = |type_: &str| wrong(format!("the format `{text}` does not fit {type_}"));
    if let Some(word) = value.as_str() {
        let number = spec.sign != '-' || spec.alternate || spec.group.is_some() || spec.align == Some('=');
        if number || !matches!(spec.kind, None | Some('s')) {
            return Err(misfit("a string"));
        }
        let word: String = match spec.precision {
            Some(count) => word.chars().take(count).collect(),
            None => word.to_owned(),
        };
        return Ok(padded(&word, &spec, '<', 0));
    }
    let number = match plain(value) {
        Ok(super::super::Value::Number(number)) => number,
        Ok(super::super::Value::Bool(b)) => Number::Int(i32::from(b).into()),
        _ => return Err(misfit(&format!("a {}", value.kind()))),
    };
    let (negative, prefix, digits) = match (&number, spec.kind) {
        (Number::Int(n), None | Some('d' | 'n' | 'b' | 'o' | 'x' | 'X' | 'c')) => {
            if spec.precision.is_some() {
                return Err(misfit("a whole number"));
            }
            let (radix, prefix) = match spec.kind {
                Some('b') => (2, "0b"),
                Some('o') => (8, "0o"),
                Some('x') => (16, "0x"),
                Some('X') => (16, "0X"),
                _ => (10, ""),
            };
            if spec.kind == Some('c') {
                let c = u32::try_from(n).ok().and_then(char::from_u32).ok_or_else(|| misfit("this number"))?;
                return Ok(padded(&c.to_string(), &spec, '<', 0));
            }
            let digits = n.magnitude().to_str_radix(radix);
            let digits = if spec.kind == Some('X') { digits.to_uppercase() } else { digits };
            (n.sign() == Sign::Minus, if spec.alternate { prefix } else { "" }, digits)
        }
        (_, None | Some('e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'n' | '%')) => {
            let x = match &number {
                Number::Float(x) => *x,
                Number::Int(n) => float(n).ok_or_else(|| misfit("so large a number"))?,
            };
            (x.is_sign_negative() && !x.is_nan(), "", fraction(x.abs(), &spec))
        }
        (Number::Int(_), _) => return Err(misfit("a whole number")),
        (Number::Float(_), _) => return Err(misfit("a fraction")),
    };
    let sign = match (negative, spec.sign) {
        (true, _) => "-",
        (false, '+') => "+",
        (false, ' ') => " ",
        (false, _) => "",
    };
    let head = format!("{sign}{prefix}");
    let every = if matches!(spec.kind, Some('b' | 'o' | 'x' | 'X')) { 4 } else { 3 };
    let zeros = if spec.fill == '0' && matches!(spec.align, Some('0' | '=')) { spec.width } else { 0 };
    let digits = match spec.group {
        Some(mark) => grouped(&digits, mark, every, zeros.saturating_sub(head.len())),
        None => digits,
    };
    Ok(padded(&format!("{head}{digits}"), &spec, '>', head.len()))
}

fn float(n: &BigInt) -> Option<f64> {
    n.to_string().parse::<f64>().ok().filter(|x| x.is_finite())
}

/// The digits of a fraction that is not negative.
fn fraction(x: f64, spec: &Spec) -> String {
    if !x.is_finite() {
        let word = if x.is_nan() { "nan" } else { "inf" };
        let word = if spec.kind.is_some_and(char::is_uppercase) { word.to_uppercase() } else { word.to_owned() };
        return if spec.kind == Some('%') { format!("{word}%") } else { word };
    }
    let precision = spec.precision.unwrap_or(6);
    let scientific = |precision: usize| exponent(&format!("{x:.precision$e}"));
    let text = match spec.kind {
        Some('f' | 'F') => format!("{x:.precision$}"),
        Some('%') => format!("{:.precision$}%", x * 100.0),
        Some('e' | 'E') => scientific(precision),
        None if spec.precision.is_none() => crate::base::number::repr(x),
        kind => {
            let precision = precision.max(1);
            let long = scientific(precision - 1);
            let size: i32 = long.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
            // Without a type there is always a digit behind the point, so the exponent comes one earlier.
            let limit = precision as i32 - i32::from(kind.is_none());
            if (-4..limit).contains(&size) {
                let decimals = (precision as i32 - 1 - size).max(0) as usize;
                let text = trimmed(&format!("{x:.decimals$}"), spec.alternate);
                if kind.is_none() && !text.contains('.') { format!("{text}.0") } else { text }
            } else {
                match long.split_once('e') {
                    Some((digits, exponent)) => format!("{}e{exponent}", trimmed(digits, spec.alternate)),
                    None => long,
                }
            }
        }
    };
    match spec.kind {
        Some('E' | 'G' | 'F') => text.to_uppercase(),
        _ => text,
    }
}

/// `1.5e3` as `1.5e+03`.
fn exponent(text: &str) -> String {
    let Some((digits, exponent)) = text.split_once('e') else { return text.to_owned() };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

fn trimmed(text: &str, keep: bool) -> String {
    match text.contains('.') && !keep {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    }
}

/// Puts `mark` between the digits before the point, which zeros fill up to `width`.
fn grouped(digits: &str, mark: char, every: usize, width: usize) -> String {
    let end = digits.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(digits.len());
    let (whole, rest) = digits.split_at(end);
    let mut whole = whole.to_owned();
    loop {
        let count = whole.chars().count();
        let mut out = String::new();
        for (at, c) in whole.chars().enumerate() {
            if at > 0 && (count - at).is_multiple_of(every) {
                out.push(mark);
            }
            out.push(c);
        }
        out.push_str(rest);
        if out.chars().count() >= width {
            return out;
        }
        whole.insert(0, '0');
    }
}

/// Fills up to the width; `head` bytes in front are sign and prefix.
fn padded(text: &str, spec: &Spec, usual: char, head: usize) -> String {
    let missing = spec.width.saturating_sub(text.chars().count());
    let fill = |count: usize| std::iter::repeat_n(spec.fill, count).collect::<String>();
    let align = match spec.align {
        // A `0` before the width fills texts behind, numbers behind their sign.
        Some('0') if usual == '<' => '<',
        Some('0') => '=',
        Some(align) => align,
        None => usual,
    };
    match align {
        '<' => format!("{text}{}", fill(missing)),
        '^' => format!("{}{text}{}", fill(missing / 2), fill(missing - missing / 2)),
        '=' => {
            let (head, rest) = text.split_at_checked(head).unwrap_or(("", text));
            format!("{head}{}{rest}", fill(missing))
        }
        _ => format!("{}{text}", fill(missing)),
    }
}
