//! The private keys of a run, read when the first envelope needs them.

use super::refusal::Kind;
use super::{Private, Public, Refusal, fields, is_marker, lenient, seal};
use crate::base::{Problem, file};
use crate::data::secret::{self, Failure};
use crate::data::{self, Cipher};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{OnceLock, RwLock};
use zeroize::Zeroizing;

/// Answers with the passphrase of the key file that is named, or with why there is none.
pub type Passphrase = dyn Fn(&str) -> Result<Zeroizing<String>, Problem> + Send + Sync;

/// Answers with the age keys at hand, where there are any.
type AgeKeys = dyn Fn() -> Result<Option<data::Keys>, Problem> + Send + Sync;

/// The keys that envelopes are opened with, tried in their order. Shared between threads.
pub struct Keys {
    files: Vec<KeyFile>,
    passphrase: Box<Passphrase>,
    age: Box<AgeKeys>,
    age_keys: OnceLock<Result<Option<data::Keys>, Problem>>,
    /// What was opened so far: RSA is slow, and the same envelope is met on more than one way.
    opened: RwLock<HashMap<String, Zeroizing<String>>>,
}

/// A key file of the list.
struct KeyFile {
    /// As it was written.
    shown: String,
    path: PathBuf,
    key: OnceLock<Result<Private, Problem>>,
}

impl Keys {
    /// Takes a comma-separated list of key files, as `STACKS_PRIVATE_KEY_PATH` has it; relative paths start at `folder`.
    /// Blanks are part of a path. No file is read before an envelope needs it, and none behind one that fits.
    pub fn read(
        list: &str,
        folder: &Path,
        passphrase: impl Fn(&str) -> Result<Zeroizing<String>, Problem> + Send + Sync + 'static,
    ) -> Keys {
        let file = |shown: &str| KeyFile { shown: shown.to_owned(), path: folder.join(shown), key: OnceLock::new() };
        let files = if list.is_empty() { Vec::new() } else { list.split(',').map(file).collect() };
        Keys {
            files,
            passphrase: Box::new(passphrase),
            age: Box::new(|| Ok(None)),
            age_keys: OnceLock::new(),
            opened: RwLock::default(),
        }
    }

    /// No key at all.
    pub fn none() -> Keys {
        Keys::read("", Path::new(""), |_| Err(Problem::new("there is no passphrase")))
    }

    /// Opens age markers, too, with what `age` answers when the first one is met.
    pub fn with_age(self, age: impl Fn() -> Result<Option<data::Keys>, Problem> + Send + Sync + 'static) -> Keys {
        Keys { age: Box::new(age), ..self }
    }

    /// Opens an envelope, or an age marker.
    ///
    /// # Errors
    /// See [`Refusal`].
    pub fn open(&self, envelope: &str) -> Result<Zeroizing<String>, Refusal> {
        if let Some(known) = self.opened.read().unwrap_or_else(|e| e.into_inner()).get(envelope) {
            return Ok(known.clone());
        }
        let text = match is_marker(envelope) {
            true => self.open_age(envelope)?,
            false => self.open_rsa(envelope)?,
        };
        let mut opened = self.opened.write().unwrap_or_else(|e| e.into_inner());
        opened.insert(envelope.to_owned(), text.clone());
        Ok(text)
    }

    /// True where one of the keys opens what is encrypted for `public`.
    ///
    /// # Errors
    /// A key cannot be had.
    pub fn fits(&self, public: &Public) -> Result<bool, Problem> {
        match self.open_rsa(&seal::seal(public, "")?) {
            Ok(_) => Ok(true),
            Err(Refusal::Key(problem)) => Err(*problem),
            Err(_) => Ok(false),
        }
    }

    fn open_rsa(&self, envelope: &str) -> Result<Zeroizing<String>, Refusal> {
        let [wrapped, tag, iv, ciphertext] = fields(envelope)?;
        if self.files.is_empty() {
            return Err(Refusal::NoKey(Kind::Rsa));
        }
        let wrapped = lenient::decode(wrapped);
        let mut sizes = Vec::new();
        for file in &self.files {
            let key = file.key(&self.passphrase)?;
            if let Some(unwrapped) = wrapped.as_ref().ok().and_then(|wrapped| key.unwrap(wrapped)) {
                return seal::open(&unwrapped, [tag, iv, ciphertext]);
            }
            sizes.push(key.size());
        }
        let hint = match wrapped {
            Err(why) => Some(format!("its wrapped key cannot fit any key: {why}")),
            Ok(bytes) if !sizes.contains(&bytes.len()) => {
                Some(format!("it is for a key of {} bits, or was cut short", bytes.len() * 8))
            }
            Ok(_) => None,
        };
        let tried = self.files.iter().map(|file| format!("`{}`", file.shown)).collect();
        Err(Refusal::NoneFits { kind: Kind::Rsa, tried, hint })
    }

    fn open_age(&self, marker: &str) -> Result<Zeroizing<String>, Refusal> {
        let cipher = Cipher::parse(marker).map_err(|found| Refusal::Malformed(format!("found {found}")))?;
        let keys = self.age_keys.get_or_init(|| (self.age)()).as_ref().map_err(Clone::clone)?;
        let keys = keys.as_ref().ok_or(Refusal::NoKey(Kind::Age))?;
        let plaintext = secret::decrypt(&cipher, keys).map_err(|failure| match failure {
            Failure::NoMatchingKey => {
                let tried = vec![format!("the identities of {}", keys.recipients().names().join(", "))];
                Refusal::NoneFits { kind: Kind::Age, tried, hint: None }
            }
            Failure::Damaged => Refusal::Malformed("it was changed or cut short".to_owned()),
        })?;
        let text = plaintext.as_str().ok_or_else(|| Refusal::Malformed("what it holds is no UTF-8".to_owned()))?;
        Ok(Zeroizing::new(text.to_owned()))
    }
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys")
    }
}

impl KeyFile {
    fn key(&self, passphrase: &Passphrase) -> Result<&Private, Problem> {
        self.key.get_or_init(|| self.load(passphrase)).as_ref().map_err(Clone::clone)
    }

    fn load(&self, passphrase: &Passphrase) -> Result<Private, Problem> {
        if self.shown.is_empty() {
            return Err(Problem::new("the list of private keys has an empty path")
                .expected("expected paths with one comma between each two")
                .help("look at STACKS_PRIVATE_KEY_PATH"));
        }
        let bytes = file::read_handed(&self.path).map(Zeroizing::new);
        let bytes = bytes.map_err(|e| Problem::io("read the private key", Path::new(&self.shown), &e))?;
        let text = Zeroizing::new(String::from_utf8_lossy(&bytes).into_owned());
        Private::read(&text, &self.shown, || passphrase(&self.shown))
    }
}
