//! Errors of the interpreter become problems with the place of what the author wrote.

#![allow(unsafe_code, reason = "the interpreter's derive implements an unsafe marker trait; none is written here")]

use crate::base::{FileId, Place, Problem, Problems};
use starlark::any::ProvidesStaticType;
use starlark::codemap::FileSpan;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The texts of a module that were compiled, by the path that they are shown under.
#[derive(Default, Debug, ProvidesStaticType)]
pub struct Texts(Mutex<BTreeMap<String, FileId>>);

impl Texts {
    /// Enters a text, once.
    pub fn add(&self, shown: &str, text: &str) -> FileId {
        let mut known = self.0.lock().unwrap_or_else(|e| e.into_inner());
        *known.entry(shown.to_owned()).or_insert_with(|| FileId::new(shown, text))
    }

    /// The place of `def <function>(` in a text, for problems with what the function returns.
    pub fn definition(&self, shown: &str, function: &str) -> Option<Place> {
        let file = *self.0.lock().unwrap_or_else(|e| e.into_inner()).get(shown)?;
        let start = format!("def {function}(");
        let line = file.text().lines().position(|line| line.starts_with(&start))?;
        Some(Place { file, line: line as u32 + 1, column: 5, width: function.chars().count() as u32 })
    }

    /// The place of a stretch of source.
    pub fn place(&self, span: &FileSpan) -> Option<Place> {
        let file = *self.0.lock().unwrap_or_else(|e| e.into_inner()).get(span.filename())?;
        let at = span.resolve_span();
        let width = if at.begin.line == at.end.line { at.end.column.saturating_sub(at.begin.column) } else { 0 };
        Some(Place { file, line: at.begin.line as u32 + 1, column: at.begin.column as u32 + 1, width: width as u32 })
    }
}

/// Problems on their way through the interpreter.
#[derive(Debug)]
pub struct Carried(pub Problems);

impl std::fmt::Display for Carried {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let whats: Vec<&str> = self.0.iter().map(|p| p.what.as_str()).collect();
        f.write_str(&whats.join("; "))
    }
}

impl std::error::Error for Carried {}

/// Wraps problems so that the interpreter carries them to the caller.
pub fn carry(problems: impl Into<Problems>) -> starlark::Error {
    starlark::Error::new_other(Carried(problems.into()))
}

/// Returns the problems of an interpreter error: those that it carries, or its own words.
pub fn problems(module: &str, texts: &Texts, error: &starlark::Error) -> Problems {
    let frames = &error.call_stack().frames;
    let place = error
        .span()
        .and_then(|span| texts.place(span))
        .or_else(|| frames.iter().rev().find_map(|f| f.location.as_ref()).and_then(|span| texts.place(span)));
    let mut found = match carried(error) {
        Some(carried) => carried.0.clone(),
        None => vec![own_words(module, error)],
    };
    for problem in &mut found {
        if problem.place.is_none() {
            problem.place = place;
        }
        for frame in frames.iter().rev().skip(1) {
            if let Some(at) = frame.location.as_ref().and_then(|span| texts.place(span))
                && Some(at) != problem.place
            {
                problem
                    .notes
                    .push(crate::base::Note { text: format!("`{}` is called at", frame.name), place: Some(at) });
            }
        }
    }
    found
}

fn carried(error: &starlark::Error) -> Option<&Carried> {
    use starlark::ErrorKind as K;
    match error.kind() {
        K::Fail(e) | K::StackOverflow(e) | K::Value(e) | K::Function(e) | K::Scope(e) | K::Parser(e) | K::Freeze(e) => {
            e.downcast_ref()
        }
        K::Internal(e) | K::Native(e) | K::Other(e) => e.downcast_ref(),
        _ => None,
    }
}

fn own_words(module: &str, error: &starlark::Error) -> Problem {
    let text = error.without_diagnostic().to_string();
    let text = text.strip_prefix("fail: ").unwrap_or(&text);
    let mut help = None;
    let mut what = String::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if !what.is_empty() {
            what.push_str("; ");
        }
        what.push_str(line);
    }
    if let Some((before, after)) = what.split_once(", did you mean ") {
        help = Some(format!("did you mean {after}"));
        what = before.to_owned();
    }
    if let Some((_, name)) = what.split_once("object of type `namespace` has no attribute ") {
        what = format!("there is no {name} here");
        help.get_or_insert("docs/modules.md lists all types and functions".to_owned());
    }
    // The interpreter's own words for its limits name numbers that the author cannot change.
    if what.contains("duration limit") {
        what = "its code runs without end".to_owned();
        help = Some("look for a loop or a recursion that grows".to_owned());
    } else if what.to_lowercase().contains("heap") && what.contains("limit") {
        what = "its code uses too much memory".to_owned();
        help = Some("look for a list or a string that grows in a loop".to_owned());
    }
    let problem = Problem::new(format!("module `{module}`: {}", lower(what.trim_end_matches('.'))));
    match help {
        Some(help) => problem.help(help),
        None => problem,
    }
}

/// Lower-cases the first letter of a sentence, unless the word is an abbreviation or a name.
fn lower(text: &str) -> String {
    let mut chars = text.chars();
    match (chars.next(), text.chars().nth(1)) {
        (Some(first), Some(second)) if first.is_uppercase() && second.is_lowercase() => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}
