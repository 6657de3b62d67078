//! A data file as its editor sees it: secrets in plain text, all else as it is.

use super::super::secret::{self, Failure, Keys, Plaintext};
use super::super::yaml::spot::{OPEN, Secret, Spot, Style};
use super::super::yaml::{spots, view_spots};
use super::{column, plain, replaced};
use crate::base::problem::Kind as Severity;
use crate::base::{Problem, Problems, Result};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// A file and its view.
#[derive(Debug)]
pub struct View {
    pub(super) path: PathBuf,
    pub(super) source: String,
    /// The secrets that the view shows.
    pub(super) open: Vec<(Spot, Plaintext)>,
    text: Zeroizing<String>,
    closed: Problems,
}

impl View {
    /// Makes the view of the data file `bytes`, shown to people as `path`. A secret that cannot be shown stands in it as
    /// it stands in the file.
    ///
    /// # Errors
    /// What is wrong with the file; or there are secrets, and none of them can be opened.
    pub fn of(path: &Path, bytes: &[u8], keys: Option<&Keys>) -> Result<View> {
        let found = spots(path, bytes)?;
        let source = String::from_utf8_lossy(bytes).into_owned();
        let (mut open, mut closed) = (Vec::new(), Problems::new());
        for spot in found {
            match opened(&source, &spot, keys) {
                Ok(plaintext) => open.push((spot, plaintext)),
                Err(problem) => closed.push(problem.at(spot.place)),
            }
        }
        if open.is_empty() && closed.iter().any(|problem| problem.kind != Severity::Warning) {
            return Err(closed);
        }
        let line_end = if source.contains("\r\n") { "\r\n" } else { "\n" };
        let shown = |(spot, plaintext): &(Spot, Plaintext)| {
            let text = plaintext.as_str().unwrap_or_default();
            // Where no line end follows, a block would lose its own.
            let block = !spot.flow && source.get(spot.value.end..).is_some_and(|rest| rest.contains('\n'));
            let indent = block.then(|| column(&source, spot) + 2);
            let value = if spot.tagged { plain::as_text(text) } else { plain::tagged(text, indent, line_end) };
            (spot.value.clone(), value)
        };
        let text = Zeroizing::new(replaced(&source, open.iter().map(shown)));
        let view = View { path: path.to_owned(), text, open, closed, source };
        view.check()?;
        Ok(view)
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Why some secrets stand in the view as they stand in the file.
    pub fn closed(&self) -> &[Problem] {
        &self.closed
    }

    /// The plaintexts that the view shows.
    pub fn plaintexts(&self) -> impl Iterator<Item = &str> {
        self.open.iter().filter_map(|(_, plaintext)| plaintext.as_str())
    }

    /// The view is read as it will be when it comes back: with the same secrets, and with the same text in them.
    fn check(&self) -> Result<(), Problem> {
        let found = view_spots(&self.path, &self.text).unwrap_or_default();
        let shown: Vec<(&str, &[u8])> = found
            .iter()
            .filter_map(|spot| match &spot.secret {
                Secret::Open(plaintext) => Some((&*spot.key, plaintext.as_bytes())),
                Secret::Sealed(_) => None,
            })
            .collect();
        let same = found.len() == self.open.len() + self.closed.len()
            && shown.len() == self.open.len()
            && shown
                .iter()
                .zip(&self.open)
                .all(|(shown, (spot, plaintext))| *shown == (&spot.key, plaintext.as_bytes()));
        match same {
            true => Ok(()),
            false => Err(Problem::new(format!("cannot show the secrets of `{}` in plain text", self.path.display()))
                .note(format!("text in it starts with `{OPEN}`, or a secret is written in a way that no view has"))
                .help("`suil decrypt` and `suil encrypt` do for one value")),
        }
    }
}

/// The plaintext of a secret that the view can show.
fn opened(source: &str, spot: &Spot, keys: Option<&Keys>) -> Result<Plaintext, Problem> {
    let Secret::Sealed(cipher) = &spot.secret else { return Err(Problem::new("no secret")) };
    let key = &spot.key;
    let Some(keys) = keys else {
        return Err(Problem::new(format!("the secret `{key}` needs a key, and none is set"))
            .help("set SUIL_AGE_KEY or SUIL_AGE_KEY_FILE"));
    };
    let plaintext = secret::decrypt(cipher, keys).map_err(|failure| match failure {
        Failure::NoMatchingKey => Problem::new(format!("the secret `{key}` is encrypted for another key"))
            .expected(format!("expected one of the identities from `{}` to open it", keys.origin())),
        Failure::Damaged => Problem::new(format!("the secret `{key}` is a damaged ciphertext"))
            .expected("expected a whole age file in base64: it was cut short or changed"),
    })?;
    // An anchor behind the marker would end up behind the plaintext.
    let behind = source.get(spot.value.end..).unwrap_or_default().trim_start_matches([' ', '\t']);
    if plaintext.as_str().is_none() || spot.style == Style::Inline && behind.starts_with('&') {
        let why = if plaintext.as_str().is_none() { "is no text" } else { "has an anchor behind it" };
        return Err(Problem::warning(format!("the secret `{key}` {why}")));
    }
    Ok(plaintext)
}
