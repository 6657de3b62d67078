//! `jsonencode` and `jsondecode` as Python's `json` has them.

use super::super::value::{Number, Value};
use super::value;
use indexmap::IndexMap;
use minijinja::{Error, ErrorKind};
use num_bigint::BigInt;

/// Deeper than this nothing is read.
const DEEPEST: usize = 200;

/// JSON on one line, in the order of the mapping.
pub fn encode(data: &minijinja::value::Value) -> Result<String, Error> {
    let data = value::plain(data)?;
    match finite(&data) {
        true => Ok(data.to_json_line()),
        false => Err(Error::new(ErrorKind::BadSerialization, "JSON has no infinity and no NaN")),
    }
}

fn finite(value: &Value) -> bool {
    match value {
        Value::Number(Number::Float(x)) => x.is_finite(),
        Value::List(items) => items.iter().all(finite),
        Value::Map(map) => map.values().all(finite),
        _ => true,
    }
}

/// Reads JSON: whole numbers exactly, of a key that stands twice the last value at the first place.
///
/// # Errors
/// What was expected, with line and column in the text; never the text.
pub fn decode(text: &str) -> Result<Value, String> {
    let mut reader = Reader { text, at: 0 };
    reader.blank();
    let value = reader.value(0)?;
    reader.blank();
    match reader.at == text.len() {
        true => Ok(value),
        false => Err(reader.wrong("the end of the text")),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn next(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn blank(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    fn wrong(&self, expected: &str) -> String {
        let before = self.text.get(..self.at).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        format!("the JSON is wrong at line {line} column {column}: expected {expected}")
    }

    fn take(&mut self, word: &str) -> bool {
        let is = self.rest().starts_with(word);
        self.at += if is { word.len() } else { 0 };
        is
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth > DEEPEST {
            return Err("the JSON is nested too deep".to_owned());
        }
        match self.next() {
            Some('"') => self.string().map(Value::Str),
            Some('[') => self.list(depth),
            Some('{') => self.map(depth),
            Some('-' | '0'..='9') => self.number(),
            _ if self.take("true") => Ok(Value::Bool(true)),
            _ if self.take("false") => Ok(Value::Bool(false)),
            _ if self.take("null") => Ok(Value::Null),
            _ => Err(self.wrong("a value")),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, String> {
        let mut items = Vec::new();
        self.at += 1;
        self.blank();
        if self.take("]") {
            return Ok(Value::List(items));
        }
        loop {
            self.blank();
            items.push(self.value(depth + 1)?);
            self.blank();
            if self.take("]") {
                return Ok(Value::List(items));
            }
            if !self.take(",") {
                return Err(self.wrong("`,` or `]`"));
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Value, String> {
        let mut map = IndexMap::new();
        self.at += 1;
        self.blank();
        if self.take("}") {
            return Ok(Value::Map(map));
        }
        loop {
            self.blank();
            if self.next() != Some('"') {
                return Err(self.wrong("a key in double quotes"));
            }
            let key = self.string()?;
            self.blank();
            if !self.take(":") {
                return Err(self.wrong("`:`"));
            }
            self.blank();
            map.insert(key, self.value(depth + 1)?);
            self.blank();
            if self.take("}") {
                return Ok(Value::Map(map));
            }
            if !self.take(",") {
                return Err(self.wrong("`,` or `}`"));
            }
        }
    }

    fn number(&mut self) -> Result<Value, String> {
        let start = self.at;
        let digits = |reader: &mut Self| {
            let rest = reader.rest();
            let count = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            reader.at += count;
            count
        };
        self.take("-");
        if !self.take("0") && digits(self) == 0 {
            return Err(self.wrong("a digit"));
        }
        let mut whole = true;
        if self.rest().strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            whole = false;
            self.at += 1;
            digits(self);
        }
        let exponent = self.rest().strip_prefix(['e', 'E']).map(|rest| rest.strip_prefix(['+', '-']).unwrap_or(rest));
        if let Some(exponent) = exponent.filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            whole = false;
            self.at = self.text.len() - exponent.len();
            digits(self);
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        if whole {
            return match BigInt::parse_bytes(text.as_bytes(), 10) {
                Some(n) => Ok(Value::Number(Number::Int(n))),
                None => Err(self.wrong("a number")),
            };
        }
        match text.parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(Value::Number(Number::Float(x))),
            _ => {
                self.at = start;
                Err(self.wrong("a number that 64 bits can hold"))
            }
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let mut out = String::new();
        self.at += 1;
        loop {
            let Some(c) = self.next() else { return Err(self.wrong("`\"` at the end of the string")) };
            match c {
                '"' => {
                    self.at += 1;
                    return Ok(out);
                }
                '\\' => {
                    self.at += 1;
                    out.push(self.escaped()?);
                }
                '\u{0}'..='\u{1f}' => return Err(self.wrong("an escape: a string holds no control character")),
                c => {
                    self.at += c.len_utf8();
                    out.push(c);
                }
            }
        }
    }

    fn escaped(&mut self) -> Result<char, String> {
        let c = match self.next() {
            Some('"') => '"',
            Some('\\') => '\\',
            Some('/') => '/',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => {
                self.at += 1;
                let first = self.unit()?;
                if !(0xd800..0xdc00).contains(&first) {
                    return char::from_u32(first).ok_or_else(|| self.wrong("a first half of the pair before this one"));
                }
                if !self.take("\\u") {
                    return Err(self.wrong("`\\u` and the second half of the pair"));
                }
                let second = self.unit()?.wrapping_sub(0xdc00);
                let code = 0x10000 + ((first - 0xd800) << 10) + (second & 0x3ff);
                return char::from_u32(code)
                    .filter(|_| second < 0x400)
                    .ok_or_else(|| self.wrong("the second half of the pair before this"));
            }
            _ => return Err(self.wrong("one of `\"\\/bfnrtu` after `\\`")),
        };
        self.at += 1;
        Ok(c)
    }

    fn unit(&mut self) -> Result<u32, String> {
        let digits = self.rest().get(..4).filter(|four| four.chars().all(|c| c.is_ascii_hexdigit()));
        let unit = digits.and_then(|four| u32::from_str_radix(four, 16).ok());
        let unit = unit.ok_or_else(|| self.wrong("four hexadecimal digits"))?;
        self.at += 4;
        Ok(unit)
    }
}
