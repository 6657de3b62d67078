//! The envelopes of a file, opened, and the same file with envelopes for another key: no other byte changes.

use super::{Keys, Public, fields, is_envelope, line, seal};
use crate::base::{FileId, Place, Problem, Problems, Result};
use crate::infra::hcl;
use std::ops::Range;
use std::path::Path;
use zeroize::Zeroizing;

/// A file of variables, or a template of one, whose envelopes are open.
pub struct Opened {
    text: String,
    template: bool,
    secrets: Vec<Secret>,
}

/// An envelope of the file.
struct Secret {
    /// Its bytes, from `ENC[` to `]`.
    range: Range<usize>,
    plain: Zeroizing<String>,
}

/// Where an envelope stands.
struct Spot {
    range: Range<usize>,
    place: Place,
    /// The variable it belongs to, where that can be told.
    variable: Option<String>,
}

impl Opened {
    /// Opens the envelopes of a file. In a template (`*.jinja`), these are what stands between
    /// quotes or alone on a line.
    ///
    /// # Errors
    /// The file is no HCL, or an envelope cannot be opened: all of them.
    pub fn read(shown: &Path, text: String, keys: &Keys) -> Result<Opened> {
        let template = shown.extension().is_some_and(|extension| extension == "jinja");
        let mut secrets = Vec::new();
        let mut problems = Problems::new();
        for spot in spots(shown, &text, template)? {
            let envelope = text.get(spot.range.clone()).unwrap_or_default();
            match keys.open(envelope) {
                Ok(plain) => secrets.push(Secret { range: spot.range, plain }),
                Err(refusal) => {
                    let subject = match &spot.variable {
                        Some(variable) => format!("a secret of `{variable}`"),
                        None => "a secret".to_owned(),
                    };
                    problems.push(refusal.problem(&subject).at(spot.place));
                }
            }
        }
        if problems.is_empty() { Ok(Opened { text, template, secrets }) } else { Err(problems) }
    }

    /// How many envelopes there are.
    pub fn count(&self) -> usize {
        self.secrets.len()
    }

    /// The text with every envelope made anew for `public`.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn seal(&self, shown: &Path, public: &Public) -> Result<String, Problem> {
        let mut out = String::with_capacity(self.text.len());
        let mut done = 0;
        let mut sealed = Vec::new();
        for secret in &self.secrets {
            out.push_str(self.text.get(done..secret.range.start).unwrap_or_default());
            let envelope = seal(public, &secret.plain)?;
            out.push_str(&envelope);
            sealed.push(envelope);
            done = secret.range.end;
        }
        out.push_str(self.text.get(done..).unwrap_or_default());
        // What was written is read again, before anything rests on it.
        let found = spots(shown, &out, self.template).unwrap_or_default();
        let found: Vec<&str> = found.into_iter().filter_map(|spot| out.get(spot.range)).collect();
        match found == sealed {
            true => Ok(out),
            false => Err(Problem::new(format!("cannot write the secrets of `{}` in place", shown.display()))
                .note("this is a fault of suil, not of your data; nothing was changed")),
        }
    }
}

/// The envelopes of a text, in its order.
fn spots(shown: &Path, text: &str, template: bool) -> Result<Vec<Spot>> {
    let file = FileId::new(shown, text);
    if template {
        return Ok(quoted(file, text));
    }
    let mut problems = Problems::new();
    let mut spots = Vec::new();
    for found in hcl::texts(file)?.into_iter().filter(|found| is_envelope(&found.value)) {
        let whole = text.get(found.range.clone()).unwrap_or_default();
        let envelope = line(&found.value);
        match whole.find(envelope) {
            Some(at) => {
                let start = found.range.start + at;
                spots.push(Spot {
                    range: start..start + envelope.len(),
                    place: found.place,
                    variable: Some(found.variable),
                });
            }
            None => problems.push(
                Problem::new(format!("a secret of `{}` is not written as one stretch", found.variable))
                    .at(found.place)
                    .expected("expected `ENC[…]` without escapes, on one line")
                    .help("write it so, then rekey"),
            ),
        }
    }
    if problems.is_empty() { Ok(spots) } else { Err(problems) }
}

/// The envelopes of a template: between quotes, or alone on a line. What Jinja puts together is no envelope before it is
/// rendered.
fn quoted(file: FileId, text: &str) -> Vec<Spot> {
    let mut spots = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find("ENC[")) {
        let start = from + at;
        from = start + 4;
        let (Some(before), Some(rest)) = (text.get(..start), text.get(start..)) else { break };
        let Some(length) = rest.find(']').map(|at| at + 1) else { break };
        let after = rest.get(length..).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let whole = match line.chars().next_back() {
            Some(quote @ ('"' | '\'')) => after.starts_with(quote),
            _ => line.trim().is_empty() && after.lines().next().is_none_or(|rest| rest.trim().is_empty()),
        };
        if whole && rest.get(..length).is_some_and(|envelope| fields(envelope).is_ok()) {
            let number = before.matches('\n').count() as u32 + 1;
            let place = Place { file, line: number, column: line.chars().count() as u32 + 1, width: 0 };
            spots.push(Spot { range: start..start + length, place, variable: None });
        }
    }
    spots
}
