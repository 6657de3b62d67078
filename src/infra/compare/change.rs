//! What differs between two sets of files.

use crate::base::Mask;
use crate::infra::layer::files::{File, Files};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A file that differs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// Its path in the output folder.
    pub path: PathBuf,
    /// `None` where that side has no such file.
    pub before: Option<Side>,
    pub after: Option<Side>,
    /// True where a secret in it came, went or changed.
    pub secret: bool,
}

/// A file as one side has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Side {
    /// The text with every secret covered, and a line end behind it where no side has one; `None` where it is no text.
    pub text: Option<String>,
    pub executable: bool,
}

impl Change {
    /// `added`, `removed`, or `changed`.
    pub fn word(&self) -> &'static str {
        match (&self.before, &self.after) {
            (None, _) => "added",
            (_, None) => "removed",
            _ => "changed",
        }
    }

    /// The texts of both sides, an empty one for a side that has no such file; `None` where one is no text.
    pub fn texts(&self) -> Option<(&str, &str)> {
        fn text(side: Option<&Side>) -> Option<&str> {
            side.map_or(Some(""), |side| side.text.as_deref())
        }
        Some((text(self.before.as_ref())?, text(self.after.as_ref())?))
    }

    /// The difference as a unified diff; `None` where a side is no text.
    pub fn unified(&self) -> Option<String> {
        let (before, after) = self.texts()?;
        Some(similar::TextDiff::from_lines(before, after).unified_diff().to_string())
    }
}

/// Lists the files that differ, by name.
pub fn between(before: &Files, after: &Files, mask: &Mask) -> Vec<Change> {
    let names: BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
    let differs = |name: &&PathBuf| before.get(*name) != after.get(*name);
    names.into_iter().filter(differs).map(|name| change(name, before.get(name), after.get(name), mask)).collect()
}

fn change(path: &Path, before: Option<&File>, after: Option<&File>, mask: &Mask) -> Change {
    let side = |file: &File| {
        let text = std::str::from_utf8(&file.bytes).ok().filter(|text| !text.contains('\0'));
        Side { text: text.map(|text| mask.apply(text)), executable: file.executable }
    };
    let (mut before, mut after) = (before.map(side), after.map(side));
    // Rendering drops the last line end of every file: that is only worth a word where one side has it.
    let mut texts: Vec<&mut String> =
        [&mut before, &mut after].into_iter().flatten().flat_map(|s| &mut s.text).collect();
    if texts.iter().all(|text| !text.is_empty() && !text.ends_with('\n')) {
        texts.iter_mut().for_each(|text| text.push('\n'));
    }
    let covers = |side: &Option<Side>| {
        let text = side.as_ref().and_then(|side| side.text.as_deref()).unwrap_or_default();
        let mut covers: Vec<String> = Mask::covers(text).map(str::to_owned).collect();
        covers.sort();
        covers
    };
    let secret = covers(&before) != covers(&after);
    Change { path: path.to_owned(), before, after, secret }
}
