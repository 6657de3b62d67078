//! SHA-256, as lower-case hexadecimal.

use sha2::{Digest, Sha256};
use std::io::Read;

/// Returns the 64 hexadecimal digits of the SHA-256 of `bytes`.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Returns the size in bytes and the SHA-256 of what `reader` yields, without holding it in memory.
pub fn sha256_of(mut reader: impl Read) -> std::io::Result<(u64, String)> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    let mut size = 0;
    loop {
        let n = reader.read(&mut buffer)?;
        if n == 0 {
            return Ok((size, hex(&hash.finalize())));
        }
        hash.update(&buffer[..n]);
        size += n as u64;
    }
}

/// Returns `bytes` as lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        out.push(DIGITS[(byte >> 4) as usize] as char);
        out.push(DIGITS[(byte & 15) as usize] as char);
    }
    out
}
