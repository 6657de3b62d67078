//! Envelopes: secrets in variables, `ENC[key;tag;iv;ciphertext]`, each field in base64.
//!
//! Enters: key files and values. Leaves: plaintexts, and envelopes made for a public key. The key is 32 bytes wrapped by
//! RSA-OAEP (SHA-256 for both, no label); it opens AES-256-GCM (16-byte tag, 12-byte iv, nothing beside it) over
//! PKCS#7-padded UTF-8. age markers, `!ENC[…]`, are opened too, where suil has an age key.
//! No message ever carries a plaintext, a passphrase or a private key.

mod all;
mod key;
mod keys;
mod lenient;
mod pem;
mod refusal;
mod rekey;
mod seal;

pub use key::{Pair, Private, Public, SIZES, generate};
pub use keys::{Keys, Passphrase};
pub use refusal::{Kind, Refusal, once};
pub use rekey::Opened;
pub use seal::seal;

/// True for a string that is an RSA envelope as a whole. One line end may follow: a here document has it.
pub fn is_envelope(text: &str) -> bool {
    let text = line(text);
    text.starts_with("ENC[") && text.ends_with(']')
}

/// True for a string that is an age marker as a whole, `!ENC[…]`, in the same way.
pub fn is_marker(text: &str) -> bool {
    let text = line(text);
    text.starts_with("!ENC[") && text.ends_with(']')
}

/// The text without the line end of a here document.
fn line(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}

/// The four fields of an envelope, still in base64.
fn fields(envelope: &str) -> Result<[&str; 4], Refusal> {
    let inner = line(envelope).strip_prefix("ENC[").and_then(|rest| rest.strip_suffix(']'));
    let inner = inner.ok_or_else(|| Refusal::Malformed("it does not read `ENC[…]`".to_owned()))?;
    let fields: Vec<&str> = inner.split(';').collect();
    <[&str; 4]>::try_from(fields).map_err(|fields| {
        let found = if inner.is_empty() { "nothing".to_owned() } else { format!("{}", fields.len()) };
        Refusal::Malformed(format!("expected 4 fields between the brackets, found {found}"))
    })
}
