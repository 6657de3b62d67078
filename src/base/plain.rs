//! Plain values: what facts, records, module configs and answers are made of. No places, no secrets, no tags.

use indexmap::IndexMap;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value as JSON knows it, mapping order kept. Used instead of `serde_json::Value`, whose numbers do not
/// survive another serializer.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Plain {
    #[default]
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    List(Vec<Plain>),
    Map(IndexMap<String, Plain>),
}

impl Plain {
    pub fn map() -> Plain {
        Plain::Map(IndexMap::new())
    }

    /// The value under `key`, where this is a mapping that has one.
    pub fn get(&self, key: &str) -> Option<&Plain> {
        match self {
            Plain::Map(map) => map.get(key),
            _ => None,
        }
    }

    /// Walks a path of keys (and of list indexes written as numbers).
    pub fn at(&self, path: &[&str]) -> Option<&Plain> {
        path.iter().try_fold(self, |value, key| match value {
            Plain::Map(map) => map.get(*key),
            Plain::List(list) => key.parse::<usize>().ok().and_then(|i| list.get(i)),
            _ => None,
        })
    }

    /// Sets `key` where this is a mapping; anything else becomes a mapping first.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<Plain>) {
        if !matches!(self, Plain::Map(_)) {
            *self = Plain::map();
        }
        if let Plain::Map(map) = self {
            map.insert(key.into(), value.into());
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Plain::Str(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Plain::Bool(b) => Some(*b),
            _ => None,
        }
    }

    pub fn as_int(&self) -> Option<i64> {
        match self {
            Plain::Int(n) => Some(*n),
            _ => None,
        }
    }

    pub fn as_list(&self) -> Option<&[Plain]> {
        match self {
            Plain::List(list) => Some(list),
            _ => None,
        }
    }

    pub fn as_map(&self) -> Option<&IndexMap<String, Plain>> {
        match self {
            Plain::Map(map) => Some(map),
            _ => None,
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(self, Plain::Null)
    }

    /// The word a person uses for the type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Plain::Null => "nothing",
            Plain::Bool(_) => "a boolean",
            Plain::Int(_) => "a whole number",
            Plain::Float(_) => "a number",
            Plain::Str(_) => "a string",
            Plain::List(_) => "a list",
            Plain::Map(_) => "a mapping",
        }
    }

    /// Reads one YAML document as a program wrote it: `true` and `false` are its only booleans, so that a key `n` of
    /// facts stays one. Data files, which people write, are read by the room `data`.
    ///
    /// # Errors
    /// The parser's words in one line, with line and column.
    pub fn from_yaml(text: &str) -> Result<Plain, String> {
        let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
        serde_saphyr::from_str_with_options(text, options).map_err(|e| {
            let words = e.to_string();
            words.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
        })
    }

    /// Writes a YAML document that YAML 1.1 and 1.2 readers read alike.
    pub fn to_yaml(&self) -> String {
        serde_saphyr::to_string(self).unwrap_or_default()
    }

    /// Reads one JSON document.
    ///
    /// # Errors
    /// The parser's words, with line and column.
    pub fn from_json(text: &str) -> Result<Plain, String> {
        serde_json::from_str(text).map_err(|e| e.to_string())
    }

    /// Writes JSON with two blanks of indent and no newline at the end.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Writes JSON on one line.
    pub fn to_json_line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

macro_rules! from {
    ($($type:ty => |$x:ident| $make:expr),* $(,)?) => {
        $(impl From<$type> for Plain {
            fn from($x: $type) -> Plain { $make }
        })*
    };
}

from! {
    bool => |x| Plain::Bool(x),
    i64 => |x| Plain::Int(x),
    i32 => |x| Plain::Int(x.into()),
    u32 => |x| Plain::Int(x.into()),
    usize => |x| Plain::Int(x as i64),
    u64 => |x| Plain::Int(x as i64),
    f64 => |x| Plain::Float(x),
    &str => |x| Plain::Str(x.to_owned()),
    &String => |x| Plain::Str(x.clone()),
    String => |x| Plain::Str(x),
    Vec<Plain> => |x| Plain::List(x),
    IndexMap<String, Plain> => |x| Plain::Map(x),
}

impl<T: Into<Plain>> From<Option<T>> for Plain {
    fn from(value: Option<T>) -> Plain {
        value.map_or(Plain::Null, Into::into)
    }
}

impl<K: Into<String>> FromIterator<(K, Plain)> for Plain {
    fn from_iter<I: IntoIterator<Item = (K, Plain)>>(pairs: I) -> Plain {
        Plain::Map(pairs.into_iter().map(|(k, v)| (k.into(), v)).collect())
    }
}

impl FromIterator<Plain> for Plain {
    fn from_iter<I: IntoIterator<Item = Plain>>(items: I) -> Plain {
        Plain::List(items.into_iter().collect())
    }
}

impl Serialize for Plain {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Plain::Null => s.serialize_unit(),
            Plain::Bool(b) => s.serialize_bool(*b),
            Plain::Int(n) => s.serialize_i64(*n),
            Plain::Float(x) => s.serialize_f64(*x),
            Plain::Str(text) => s.serialize_str(text),
            Plain::List(list) => {
                let mut seq = s.serialize_seq(Some(list.len()))?;
                for item in list {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Plain::Map(map) => {
                let mut out = s.serialize_map(Some(map.len()))?;
                for (key, value) in map {
                    out.serialize_entry(key, value)?;
                }
                out.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Plain, D::Error> {
        struct Build;
        impl<'de> Visitor<'de> for Build {
            type Value = Plain;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a value")
            }

            fn visit_unit<E>(self) -> Result<Plain, E> {
                Ok(Plain::Null)
            }

            fn visit_none<E>(self) -> Result<Plain, E> {
                Ok(Plain::Null)
            }

            fn visit_some<D: Deserializer<'de>>(self, d: D) -> Result<Plain, D::Error> {
                Plain::deserialize(d)
            }

            fn visit_bool<E>(self, b: bool) -> Result<Plain, E> {
                Ok(Plain::Bool(b))
            }

            fn visit_i64<E>(self, n: i64) -> Result<Plain, E> {
                Ok(Plain::Int(n))
            }

            fn visit_u64<E>(self, n: u64) -> Result<Plain, E> {
                Ok(i64::try_from(n).map_or(Plain::Float(n as f64), Plain::Int))
            }

            fn visit_f64<E>(self, x: f64) -> Result<Plain, E> {
                Ok(Plain::Float(x))
            }

            fn visit_str<E>(self, text: &str) -> Result<Plain, E> {
                Ok(Plain::Str(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Plain, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = seq.next_element()? {
                    list.push(item);
                }
                Ok(Plain::List(list))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Plain, A::Error> {
                let mut map = IndexMap::new();
                while let Some((key, value)) = access.next_entry::<Key, Plain>()? {
                    // serde_json writes a float of arbitrary precision as a mapping of this one key.
                    if key.0 == "$serde_json::private::Number"
                        && let Plain::Str(digits) = &value
                    {
                        return Ok(digits.parse().map_or(Plain::Null, Plain::Float));
                    }
                    map.insert(key.0, value);
                }
                Ok(Plain::Map(map))
            }
        }
        d.deserialize_any(Build)
    }
}

/// A key of a mapping: whatever it was written as, its text.
struct Key(String);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Key, D::Error> {
        let text = match Plain::deserialize(d)? {
            Plain::Str(text) => text,
            Plain::Int(n) => n.to_string(),
            Plain::Bool(b) => b.to_string(),
            Plain::Float(x) => x.to_string(),
            _ => return Err(serde::de::Error::custom("expected a plain key")),
        };
        Ok(Key(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_every_serializer() {
        {
            let text = "[1,1.5,\"x\",null,true,{\"a\":-3}]";
            let value = Plain::from_json(text).expect("json");
            assert_eq!(value.to_json_line(), text);
            assert_eq!(Plain::from_yaml(&value.to_yaml()).expect("yaml"), value);
        }
    }

    /// What a command prints on a node goes through here.
    #[test]
    fn every_text_survives_yaml() {
        let odd = [
            "\u{7f}",
            "\u{85}",
            "a\u{2028}b",
            "\u{feff}x",
            "\u{0}",
            "\u{1b}[31m",
            "\u{fffe}",
            "\r",
            "a\r\nb\n",
            " \n x\n\n",
            "\t",
            "x\t\n",
        ];
        for text in
            odd.iter().map(|text| (*text).to_owned()).chain((0..0x110).filter_map(char::from_u32).map(String::from))
        {
            for text in [
                text.clone(),
                format!("{text}\nend"),
                format!("begin\n{text}"),
                format!("{text}\n"),
                format!("a {text}"),
            ] {
                let value = Plain::from_iter([("k", Plain::List(vec![Plain::from(&text)])), (&*text, Plain::Null)]);
                let yaml = value.to_yaml();
                assert_eq!(Plain::from_yaml(&yaml).as_ref(), Ok(&value), "{text:?}\n{yaml}");
            }
        }
    }

    #[test]
    fn strings_that_yaml_1_1_would_read_as_something_else_are_quoted() {
        for word in [
            "yes",
            "no",
            "on",
            "off",
            "y",
            "n",
            "~",
            "null",
            "0644",
            "1e3",
            "2001-12-14",
            "1:30",
            "",
            "1_000",
            "0x1f",
            "0b1",
            "=",
            "<<",
            "1.5",
            ".inf",
            "2026-11-30T02:54:46Z",
        ] {
            let yaml = Plain::from_iter([("k", Plain::from(word))]).to_yaml();
            assert!(yaml.contains(['\'', '"']), "{word} is written as {yaml}");
        }
    }
}
