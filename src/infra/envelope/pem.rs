//! PEM: what stands between `-----BEGIN <label>-----` and its end. Line lengths and text around it are of no account.

use super::lenient;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

/// A block of a PEM file.
pub struct Block<'a> {
    pub label: &'a str,
    /// The header lines of old: `Proc-Type: 4,ENCRYPTED`.
    pub encrypted: bool,
    pub der: Zeroizing<Vec<u8>>,
}

/// The blocks of a file, in order; a block that is cut short ends them.
pub fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("-----BEGIN ") {
        let Some((label, after)) = after.split_once("-----") else { break };
        let Some((body, after)) = after.split_once(&format!("-----END {label}-----")) else { break };
        rest = after;
        let (headers, digits): (Vec<&str>, Vec<&str>) = body.lines().partition(|line| line.contains(':'));
        let encrypted = headers.iter().any(|line| line.starts_with("Proc-Type:") && line.contains("ENCRYPTED"));
        let digits = Zeroizing::new(digits.concat());
        let Ok(der) = lenient::decode(&digits) else { break };
        blocks.push(Block { label, encrypted, der });
    }
    blocks
}

/// Writes one block, 64 characters a line.
pub fn write(label: &str, der: &[u8]) -> Zeroizing<String> {
    let digits = Zeroizing::new(STANDARD.encode(der));
    let mut out = Zeroizing::new(String::with_capacity(digits.len() + digits.len() / 64 + 2 * label.len() + 64));
    out.push_str(&format!("-----BEGIN {label}-----\n"));
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && at % 64 == 0 {
            out.push('\n');
        }
        out.push(digit);
    }
    out.push_str(&format!("\n-----END {label}-----\n"));
    out
}
