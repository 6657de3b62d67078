//! Reads one data file: every value with its place, every problem of the file in one report.
//!
//! Enters: bytes and the path they came from. Leaves: a [`Tagged`] tree, or nothing for an empty file. Bounded in
//! size, depth and alias expansion; anchors never cross files.

mod anchor;
mod build;
mod lookup;
mod secret;
pub mod spot;
mod syntax;
mod text;

use super::Tagged;
use crate::base::{FileId, Problem, Problems, Result, problem};
use spot::{Reading, Spot};
use std::path::Path;
use std::sync::Arc;
use zeroize::Zeroizing;

pub use lookup::OPTIONS as LOOKUP_OPTIONS;
pub use secret::cipher;

/// The largest data file, in bytes.
pub const MAX_BYTES: usize = 8 * 1024 * 1024;
/// How deep lists and mappings may nest, aliases expanded.
pub const MAX_DEPTH: usize = 128;
/// How many values all the aliases of a file may stand for.
pub const MAX_ALIASED: usize = 100_000;
/// Problems reported for one file; the rest would repeat the first ones.
const MAX_PROBLEMS: usize = 50;

/// Loads the data file `bytes`, shown to people as `path`. An empty file (nothing, comments, `---` or `~`) is `None`.
///
/// # Errors
/// Everything that is wrong with the file, sorted by place.
pub fn load(path: &Path, bytes: &[u8]) -> Result<Option<Tagged>> {
    load_any(path, bytes).and_then(|root| match root {
        Some(root) if !root.is_map() || root.tag.is_some() => Err(not_a_mapping(path, &root).into()),
        root => Ok(root),
    })
}

/// Loads a file whose outermost value may be anything.
///
/// # Errors
/// As for [`load`].
pub fn load_any(path: &Path, bytes: &[u8]) -> Result<Option<Tagged>> {
    let (file, text) = read(path, bytes)?;
    let masked = secret::mask(&text);
    let (root, problems) = build::Builder::new(file, &text, &masked).document();
    done(root, problems)
}

/// Finds the secrets of a data file, in the order in which they stand.
///
/// # Errors
/// As for [`load`]: in a file that is broken nobody can say what is a secret.
pub fn spots(path: &Path, bytes: &[u8]) -> Result<Vec<Spot>> {
    let (file, text) = read(path, bytes)?;
    let masked = secret::mask(&text);
    let (spots, problems) = build::Builder::new(file, &text, &masked).spots(Reading::Data);
    done(spots, problems)
}

/// Finds the secrets of a view, those in plain text too. No problem shows a line of it: the text is kept nowhere.
///
/// # Errors
/// As for [`load`].
pub fn view_spots(path: &Path, text: &str) -> Result<Vec<Spot>> {
    limit(path, text.len())?;
    let file = FileId::new(path, "");
    done((), text::control_characters(file, text))?;
    let masked = Zeroizing::new(secret::mask(text).into_owned());
    let (spots, problems) = build::Builder::new(file, text, &masked).spots(Reading::View);
    done(spots, problems)
}

/// The text of a file, entered in the table of places.
fn read(path: &Path, bytes: &[u8]) -> Result<(FileId, Arc<str>)> {
    limit(path, bytes.len())?;
    let (text, mut problems) = text::decode(path, bytes)?;
    let file = FileId::new(path, text.clone());
    problems.extend(text::control_characters(file, &text));
    if problems.is_empty() { Ok((file, text)) } else { Err(problems) }
}

fn limit(path: &Path, size: usize) -> Result<(), Problem> {
    if size <= MAX_BYTES {
        return Ok(());
    }
    let limit = MAX_BYTES / (1024 * 1024);
    let what = format!("`{}` is too large: {size} bytes", path.display());
    Err(Problem::new(what).help(format!("a data file may have {limit} MiB")))
}

fn done<T>(read: T, mut problems: Problems) -> Result<T> {
    if problems.is_empty() {
        return Ok(read);
    }
    problem::sort(&mut problems);
    problems.truncate(MAX_PROBLEMS);
    Err(problems)
}

fn not_a_mapping(path: &Path, root: &Tagged) -> Problem {
    let (place, found) = match &root.tag {
        Some(tag) => (tag.place, "a tag before all of it"),
        None if root.is_list() => (root.place, "a list"),
        None => (root.place, root.plain().map_or("something else", super::Value::type_name)),
    };
    Problem::new(format!("`{}` is not a mapping", path.display()))
        .at(place)
        .expected(format!("expected keys with values, found {found}"))
}
