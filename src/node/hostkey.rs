//! Host keys.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use sha2::{Digest, Sha256};

/// The fingerprint of a key as ssh prints it: `SHA256:…`. `key` is the base64 of a known-hosts line.
pub(super) fn fingerprint(key: &str) -> Option<String> {
    let blob = STANDARD.decode(key).ok()?;
    Some(format!("SHA256:{}", STANDARD_NO_PAD.encode(Sha256::digest(&blob))))
}
