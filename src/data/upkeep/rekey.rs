//! All secrets of a file for other recipients.

use super::super::secret::{self, Keys, Plaintext, Recipients, Vault};
use super::super::yaml::spot::{Secret, Spot};
use super::super::yaml::spots;
use super::layout::refill;
use crate::base::{Mask, Problem, Problems, Result};
use std::path::Path;
use std::sync::Arc;

/// A file whose secrets are open.
#[derive(Debug)]
pub struct Opened {
    text: String,
    secrets: Vec<(Spot, Arc<Plaintext>)>,
}

impl Opened {
    /// Finds and opens every secret of the data file `bytes`, shown to people as `path`.
    ///
    /// # Errors
    /// What is wrong with the file, or every secret that the keys do not open.
    pub fn read(path: &Path, bytes: &[u8], keys: &Keys) -> Result<Opened> {
        let vault = Vault::new(Some(keys.clone()), Mask::new());
        let mut secrets = Vec::new();
        let mut problems = Problems::new();
        for spot in spots(path, bytes)? {
            let Secret::Sealed(cipher) = &spot.secret else { continue };
            match vault.reveal(cipher, &spot.key, spot.place) {
                Ok(plaintext) => secrets.push((spot, plaintext)),
                Err(problem) => problems.push(problem),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        // The finder took it for text, so it is.
        Ok(Opened { text: String::from_utf8_lossy(bytes).into_owned(), secrets })
    }

    /// How many secrets the file has.
    pub fn count(&self) -> usize {
        self.secrets.len()
    }

    /// The file with every secret encrypted for `recipients`.
    ///
    /// # Errors
    /// Encryption failed.
    pub fn seal(&self, path: &Path, recipients: &Recipients) -> Result<Vec<u8>, Problem> {
        let mut out = String::with_capacity(self.text.len());
        let mut done = 0;
        let mut sealed = Vec::with_capacity(self.secrets.len());
        for (spot, plaintext) in &self.secrets {
            let cipher = secret::encrypt(plaintext.as_bytes(), recipients).map_err(|p| p.at(spot.place))?;
            let (range, text) = match &spot.inside {
                Some(inside) => {
                    let old = self.text.get(inside.clone()).unwrap_or_default();
                    (inside, refill(old, &cipher.base64))
                }
                // Escapes hide the marker, so it is spelt anew.
                None => (&spot.value, format!("\"{}\"", cipher.marker())),
            };
            out.push_str(self.text.get(done..range.start).unwrap_or_default());
            out.push_str(&text);
            done = range.end;
            sealed.push(cipher);
        }
        out.push_str(self.text.get(done..).unwrap_or_default());
        // What was written is read again, before anything rests on it.
        let found = spots(path, out.as_bytes()).unwrap_or_default();
        let same = found.len() == sealed.len()
            && found.iter().zip(&sealed).zip(&self.secrets).all(|((found, sealed), (old, _))| {
                found.key == old.key && matches!(&found.secret, Secret::Sealed(cipher) if cipher == sealed)
            });
        match same {
            true => Ok(out.into_bytes()),
            false => Err(Problem::new(format!("cannot write the secrets of `{}` in place", path.display()))
                .note("this is a fault of suil, not of your data; nothing was changed")),
        }
    }
}
