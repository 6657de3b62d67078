//! The vault of a run: opens each ciphertext once, and tells the mask what it opened.

use super::{Failure, Keys, Plaintext, decrypt};
use crate::base::{Mask, Place, Problem};
use crate::data::Cipher;
use std::collections::HashMap;
use std::sync::{Arc, RwLock};

/// What the public config shows for a secret where no key is set.
pub const NO_KEY: &str = "secret (no key)";

/// The keys of a run and the secrets that they opened so far. Shared between threads.
#[derive(Default)]
pub struct Vault {
    keys: Option<Keys>,
    mask: Mask,
    open: RwLock<HashMap<String, Arc<Plaintext>>>,
}

impl Vault {
    /// `mask` learns every plaintext before anyone else sees it.
    pub fn new(keys: Option<Keys>, mask: Mask) -> Vault {
        Vault { keys, mask, open: RwLock::default() }
    }

    pub fn has_keys(&self) -> bool {
        self.keys.is_some()
    }

    pub fn mask(&self) -> &Mask {
        &self.mask
    }

    /// Returns the plaintext of the secret `key`, written at `place`.
    ///
    /// # Errors
    /// No key is set, none fits, or the ciphertext is damaged: with the field, its place and the keys that were tried.
    pub fn reveal(&self, cipher: &Cipher, key: &str, place: Place) -> Result<Arc<Plaintext>, Problem> {
        if let Some(plaintext) = self.known(cipher) {
            return Ok(plaintext);
        }
        let Some(keys) = &self.keys else {
            return Err(Problem::new(format!("the secret `{key}` needs a key, and none is set"))
                .at(place)
                .help("set SUIL_AGE_KEY or SUIL_AGE_KEY_FILE"));
        };
        let plaintext = Arc::new(decrypt(cipher, keys).map_err(|failure| problem(failure, keys, key, place))?);
        self.mask.add(&String::from_utf8_lossy(plaintext.as_bytes()));
        let mut open = self.open.write().unwrap_or_else(|e| e.into_inner());
        Ok(open.entry(cipher.base64.clone()).or_insert(plaintext).clone())
    }

    /// What stands for the secret in the public config: its digest, or [`NO_KEY`] where no key is set at all.
    ///
    /// # Errors
    /// As for [`Vault::reveal`], where a key is set.
    pub fn public(&self, cipher: &Cipher, key: &str, place: Place) -> Result<String, Problem> {
        if self.keys.is_none() {
            return Ok(NO_KEY.to_owned());
        }
        self.reveal(cipher, key, place).map(|plaintext| plaintext.digest())
    }

    fn known(&self, cipher: &Cipher) -> Option<Arc<Plaintext>> {
        self.open.read().unwrap_or_else(|e| e.into_inner()).get(&cipher.base64).cloned()
    }
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Vault")
    }
}

fn problem(failure: Failure, keys: &Keys, key: &str, place: Place) -> Problem {
    match failure {
        Failure::NoMatchingKey => Problem::new(format!("the secret `{key}` is encrypted for another key"))
            .at(place)
            .expected(format!("expected one of the identities from `{}` to open it", keys.origin()))
            .note(format!("tried the identities of {}", keys.recipients().names().join(", ")))
            .help("ask for the key it was encrypted for, or encrypt the secret again for this one"),
        Failure::Damaged => Problem::new(format!("the secret `{key}` is a damaged ciphertext"))
            .at(place)
            .expected("expected a whole age file in base64: it was cut short or changed")
            .help("encrypt it again with `suil encrypt`"),
    }
}
