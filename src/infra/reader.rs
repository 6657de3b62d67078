//! Reads small files of settings: mappings whose keys are known; every mistake is collected.

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
        let mut reader = Reader::over(value, file, problems);
        reader.unknown(known);
        reader
    }

    /// Reads some keys of `value`, whatever others it has.
    pub fn over(value: &'a Value, file: &'a str, problems: &'a mut Problems) -> Reader<'a> {
        Reader { map: value.map(), above: String::new(), file, problems }
    }

    /// The mapping, where it is one.
    pub fn map(&self) -> Option<&'a Map> {
        self.map
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
