//! Reads mappings whose keys are known, and collects every mistake.

use super::super::{At, template};
use super::Text;
use crate::base::{FileId, Place, Problem, Problems, Result, nearest::nearest};
use crate::data::{Map, Resolved, Value, load};
use std::path::Path;

/// A mapping that is being read.
pub struct Reader<'a> {
    map: Option<&'a Map>,
    /// The way to it, with a dot behind; empty at the top.
    above: String,
    file: &'a str,
    pub problems: &'a mut Problems,
}

/// The mapping of a whole file; `None` for an empty one.
///
/// # Errors
/// What is no YAML, and no mapping.
pub fn whole(shown: &Path, bytes: &[u8]) -> Result<Option<Value>> {
    Ok(load(shown, bytes)?.map(|file| file.settle()).transpose()?.flatten())
}

/// The start of a file of which nothing can be shown.
pub fn start(shown: &Path, bytes: &[u8]) -> Place {
    Place::start(FileId::new(shown, String::from_utf8_lossy(bytes).into_owned()))
}

impl<'a> Reader<'a> {
    /// Reads `value`, which has these keys and no others.
    pub fn new(value: &'a Value, file: &'a str, known: &[&str], problems: &'a mut Problems) -> Reader<'a> {
        let mut reader = Reader { map: value.map(), above: String::new(), file, problems };
        reader.unknown(known);
        reader
    }

    fn unknown(&mut self, known: &[&str]) {
        for (name, entry) in self.map.into_iter().flatten().filter(|(name, _)| !known.contains(&&***name)) {
            let list = known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
            let problem = Problem::new(format!("unknown key `{}{name}` in `{}`", self.above, self.file));
            let problem = problem.at(entry.key).expected(format!("expected one of {list}"));
            self.problems.push(match nearest(name, known.iter().copied()) {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None => problem,
            });
        }
    }

    /// Reads the mapping under `key`, which has these keys and no others.
    pub fn within<T>(&mut self, key: &str, known: &[&str], read: impl FnOnce(&mut Reader) -> T) -> Option<T> {
        let value = self.value(key)?;
        if value.map().is_none() {
            self.wrong(key, value, "expected keys with values");
            return None;
        }
        let above = format!("{}{key}.", self.above);
        let mut reader = Reader { map: value.map(), above, file: self.file, problems: self.problems };
        reader.unknown(known);
        Some(read(&mut reader))
    }

    pub fn value(&self, key: &str) -> Option<&'a Value> {
        self.map?.get(key).map(|entry| &entry.value)
    }

    /// The keys of the mapping under `key`, their places and their values.
    pub fn entries(&mut self, key: &str) -> Vec<(&'a str, Place, &'a Value)> {
        let Some(value) = self.value(key) else { return Vec::new() };
        match value.map() {
            Some(map) => map.iter().map(|(name, entry)| (&**name, entry.key, &entry.value)).collect(),
            None => {
                self.wrong(key, value, "expected keys with values");
                Vec::new()
            }
        }
    }

    /// Says that the value of `key` is not what it should be.
    pub fn wrong(&mut self, key: &str, value: &Value, expected: &str) {
        let found = match value.scalar() {
            Some(scalar) => format!("`{}`", scalar.text),
            None => value.type_name().to_owned(),
        };
        self.fault(key, format!("is {found}"), value.place, expected);
    }

    /// Says what is wrong with `key`.
    pub fn fault(&mut self, key: &str, what: impl std::fmt::Display, place: Place, expected: &str) {
        let problem = Problem::new(format!("`{}{key}` {what}", self.above)).at(place);
        self.problems.push(problem.expected(expected));
    }

    /// A text. Numbers count as they are written: `tool_version: 1.10` is `1.10`.
    pub fn text(&mut self, key: &str) -> Option<Text> {
        let value = self.value(key)?;
        let text = self.text_of(key, value, "expected a text")?;
        Some(text)
    }

    /// A text that may be a template.
    pub fn template(&mut self, key: &str) -> Option<Text> {
        let text = self.text(key)?;
        self.checked(key, text)
    }

    /// The text that a value is.
    pub fn text_of(&mut self, key: &str, value: &Value, expected: &str) -> Option<Text> {
        match value.scalar().filter(|scalar| scalar.resolved != Resolved::Null) {
            Some(scalar) => Some(Text { text: scalar.text.to_string(), at: at(value.place) }),
            None => {
                self.wrong(key, value, expected);
                None
            }
        }
    }

    /// The text that a value is, which may be a template.
    pub fn template_of(&mut self, key: &str, value: &Value, expected: &str) -> Option<Text> {
        let text = self.text_of(key, value, expected)?;
        self.checked(key, text)
    }

    fn checked(&mut self, key: &str, text: Text) -> Option<Text> {
        match template::check(&text.text) {
            Ok(()) => Some(text),
            Err(words) => {
                let place = self.place_of(key, &text);
                self.fault(
                    key,
                    format!("is no template: {words}"),
                    place,
                    "expected a text with `{{ .Path }}` and the like",
                );
                None
            }
        }
    }

    /// The place of a text under `key`, or the key's own.
    fn place_of(&self, key: &str, text: &Text) -> Place {
        let entry = self.map.and_then(|map| map.get(key)).or_else(|| self.map.and_then(|map| map.values().next()));
        let file = entry.map_or_else(|| FileId::new(&text.at.file, ""), |entry| entry.key.file);
        Place { file, line: text.at.line, column: text.at.column, width: 0 }
    }

    /// A list of texts.
    pub fn texts(&mut self, key: &str) -> Option<Vec<Text>> {
        let value = self.value(key)?;
        let Some(list) = value.list() else {
            self.wrong(key, value, "expected a list of texts");
            return None;
        };
        Some(list.iter().filter_map(|item| self.text_of(key, item, "expected a text in this list")).collect())
    }

    /// A list of texts that may be templates.
    pub fn templates(&mut self, key: &str) -> Vec<Text> {
        let texts = self.texts(key).unwrap_or_default();
        texts.into_iter().filter_map(|text| self.checked(key, text)).collect()
    }

    pub fn bool(&mut self, key: &str, default: bool) -> bool {
        let Some(value) = self.value(key) else { return default };
        match value.scalar().map(|scalar| scalar.resolved) {
            Some(Resolved::Bool(b)) => b,
            _ => {
                self.wrong(key, value, "expected `true` or `false`");
                default
            }
        }
    }

    pub fn number(&mut self, key: &str, least: i64, default: usize) -> usize {
        let Some(value) = self.value(key) else { return default };
        let number = match value.scalar().map(|scalar| scalar.resolved) {
            Some(Resolved::Int(n)) if n >= least => usize::try_from(n).ok(),
            _ => None,
        };
        number.unwrap_or_else(|| {
            self.wrong(key, value, &format!("expected a whole number from {least}"));
            default
        })
    }

    /// One of a few words.
    pub fn word(&mut self, key: &str, words: &[&str]) -> Option<String> {
        let value = self.value(key)?;
        // A plain `off` is a word here, whatever YAML makes of it.
        let found = value.scalar().map(|scalar| &*scalar.text).filter(|text| words.contains(text));
        if found.is_none() {
            let list = words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ");
            self.wrong(key, value, &format!("expected {list}"));
        }
        found.map(str::to_owned)
    }
}

/// A place as it can be kept.
pub fn at(place: Place) -> At {
    At { file: place.path().display().to_string(), line: place.line, column: place.column }
}
