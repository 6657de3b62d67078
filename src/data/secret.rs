//! Secrets: age X25519 ciphertexts, opened only when someone needs the plaintext.
//!
//! Enters: keys as text, ciphertexts from data files. Leaves: plaintexts that are zeroed when dropped, and digests.
//! No message of this room ever carries a plaintext or an identity.

mod keys;
mod vault;

pub use keys::{Keys, Recipients};
pub use vault::{NO_KEY, Vault};

use super::Cipher;
use crate::base::{Problem, digest};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::io::{Read, Write};
use zeroize::Zeroizing;

/// The bytes of a revealed secret. They are zeroed when dropped and never shown.
pub struct Plaintext(Zeroizing<Vec<u8>>);

impl Plaintext {
    pub fn new(bytes: Vec<u8>) -> Plaintext {
        Plaintext(Zeroizing::new(bytes))
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text, where the bytes are UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// What stands for the secret wherever people look: `sha256:<hex of the plaintext>`.
    pub fn digest(&self) -> String {
        format!("sha256:{}", digest::sha256(&self.0))
    }
}

impl std::fmt::Debug for Plaintext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Plaintext")
    }
}

impl Cipher {
    /// The marker as it stands in a data file.
    pub fn marker(&self) -> String {
        format!("!ENC[{}]", self.base64)
    }

    /// Reads a marker: `!ENC[<base64>]`, white space of no account.
    ///
    /// # Errors
    /// What was found instead, to be put behind "found".
    pub fn parse(marker: &str) -> Result<Cipher, String> {
        super::yaml::cipher(marker)
    }
}

/// Why a ciphertext cannot be opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// None of the identities is one of its recipients.
    NoMatchingKey,
    /// It was cut short or changed.
    Damaged,
}

/// Encrypts `plaintext` for every recipient.
///
/// # Errors
/// There is nothing to encrypt: most empty secrets are a pipe that failed.
pub fn encrypt(plaintext: &[u8], recipients: &Recipients) -> Result<Cipher, Problem> {
    if plaintext.is_empty() {
        return Err(Problem::new("nothing to encrypt: the secret is empty"));
    }
    let failed = |error: String| Problem::new(format!("cannot encrypt: {error}"));
    let encryptor = age::Encryptor::with_recipients(recipients.iter()).map_err(|e| failed(e.to_string()))?;
    let mut sealed = Vec::new();
    let write = |sealed: &mut Vec<u8>| -> std::io::Result<()> {
        let mut writer = encryptor.wrap_output(sealed)?;
        writer.write_all(plaintext)?;
        writer.finish().map(drop)
    };
    write(&mut sealed).map_err(|e| failed(e.to_string()))?;
    Ok(Cipher { base64: STANDARD.encode(sealed) })
}

/// Opens a ciphertext with the first identity that fits.
///
/// # Errors
/// No identity fits, or the ciphertext is damaged.
pub fn decrypt(cipher: &Cipher, keys: &Keys) -> Result<Plaintext, Failure> {
    let sealed = STANDARD.decode(&cipher.base64).map_err(|_| Failure::Damaged)?;
    let decryptor = age::Decryptor::new(&*sealed).map_err(|_| Failure::Damaged)?;
    let mut reader = decryptor.decrypt(keys.iter()).map_err(|error| match error {
        age::DecryptError::NoMatchingKeys => Failure::NoMatchingKey,
        _ => Failure::Damaged,
    })?;
    // A plaintext is shorter than its ciphertext: the buffer never moves, so no copy of it stays behind.
    let mut plaintext = Zeroizing::new(Vec::with_capacity(sealed.len()));
    reader.read_to_end(&mut plaintext).map_err(|_| Failure::Damaged)?;
    Ok(Plaintext(plaintext))
}

/// The public halves of those keys that open a ciphertext.
///
/// # Errors
/// It is damaged.
pub fn readers(cipher: &Cipher, keys: &Keys) -> Result<Vec<String>, Failure> {
    let mut readers = Vec::new();
    for (name, key) in keys.each() {
        match decrypt(cipher, &key) {
            Ok(_) => readers.push(name),
            Err(Failure::NoMatchingKey) => {}
            Err(Failure::Damaged) => return Err(Failure::Damaged),
        }
    }
    readers.dedup();
    Ok(readers)
}

/// For how many recipients a ciphertext is. Their names are not in it: that is a property of age. `None` where it has
/// no header.
pub fn audience(cipher: &Cipher) -> Option<usize> {
    let sealed = STANDARD.decode(&cipher.base64).ok()?;
    let header = sealed.strip_prefix(b"age-encryption.org/v1\n")?;
    let mut count = 0;
    for line in header.split(|byte| *byte == b'\n') {
        if line.starts_with(b"---") {
            return Some(count);
        }
        let kind = line.strip_prefix(b"-> ").and_then(|rest| rest.split(|byte| *byte == b' ').next());
        count += usize::from(kind.is_some_and(|kind| !kind.ends_with(b"-grease")));
    }
    None
}

#[cfg(test)]
mod tests;
