//! The values of variables: what HCL and JSON can say, whole numbers of any size.

use crate::base::json;
use indexmap::IndexMap;
use num_bigint::BigInt;

/// A value of a variable. The order of a mapping is that of first appearance.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Value {
    #[default]
    Null,
    Bool(bool),
    Number(Number),
    Str(String),
    List(Vec<Value>),
    Map(IndexMap<String, Value>),
}

/// A number: whole ones are exact, whatever their size; the others have 64 bits, as Terraform's JSON has them.
#[derive(Clone, PartialEq, Debug)]
pub enum Number {
    Int(BigInt),
    Float(f64),
}

impl Value {
    /// The value under `key`, where this is a mapping that has one.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Map(map) => map.get(key),
            _ => None,
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The word a person uses for the type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::Str(_) => "a string",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }

    /// JSON as Python's `json.dump(indent=2)` writes it: ASCII, `": "`, empty collections on one line, no final
    /// newline.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, Some(2), 0);
        out
    }

    /// JSON on one line as Python's `json.dumps` writes it, with `", "` and `": "`.
    pub fn to_json_line(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, None, 0);
        out
    }

    fn write(&self, out: &mut String, indent: Option<usize>, depth: usize) {
        match self {
            Value::Null => out.push_str("null"),
            Value::Bool(true) => out.push_str("true"),
            Value::Bool(false) => out.push_str("false"),
            Value::Number(number) => out.push_str(&number.to_string()),
            Value::Str(text) => json::string(out, text, ""),
            Value::List(items) => frame(out, ['[', ']'], items.iter(), indent, depth, |out, item| {
                item.write(out, indent, depth + 1);
            }),
            Value::Map(map) => frame(out, ['{', '}'], map.iter(), indent, depth, |out, (key, item)| {
                json::string(out, key, "");
                out.push_str(": ");
                item.write(out, indent, depth + 1);
            }),
        }
    }
}

fn frame<T>(
    out: &mut String,
    [open, close]: [char; 2],
    items: impl ExactSizeIterator<Item = T>,
    indent: Option<usize>,
    depth: usize,
    mut write: impl FnMut(&mut String, T),
) {
    let line = |out: &mut String, depth: usize| {
        if let Some(indent) = indent {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent * depth));
        }
    };
    let empty = items.len() == 0;
    out.push(open);
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.push_str(if indent.is_some() { "," } else { ", " });
        }
        line(out, depth + 1);
        write(out, item);
    }
    if !empty {
        line(out, depth);
    }
    out.push(close);
}

impl std::fmt::Display for Number {
    /// As Python and JSON write it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Number::Int(n) => write!(f, "{n}"),
            Number::Float(x) => f.write_str(&crate::base::number::repr(*x)),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Str(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Str(text)
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Value {
        Value::Bool(b)
    }
}

impl From<i64> for Value {
    fn from(n: i64) -> Value {
        Value::Number(Number::Int(n.into()))
    }
}

impl FromIterator<(String, Value)> for Value {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(pairs: I) -> Value {
        Value::Map(pairs.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_written_as_python_writes_it() {
        let value: Value = [
            ("a".to_owned(), Value::List(vec![1.into(), Value::Number(Number::Float(2.0)), Value::Null])),
            ("é🏺".to_owned(), Value::from("\u{7f}\n\"<&>")),
            ("empty".to_owned(), Value::List(vec![])),
            ("none".to_owned(), Value::Map(IndexMap::new())),
        ]
        .into_iter()
        .collect();
        let want = "{\n  \"a\": [\n    1,\n    2.0,\n    null\n  ],\n  \"\\u00e9\\ud83c\\udffa\": \"\\u007f\\n\\\"<&>\",\n  \
                    \"empty\": [],\n  \"none\": {}\n}";
        assert_eq!(value.to_json(), want);
        let line = r#"{"a": [1, 2.0, null], "\u00e9\ud83c\udffa": "\u007f\n\"<&>", "empty": [], "none": {}}"#;
        assert_eq!(value.to_json_line(), line);
    }
}
