//! Host keys that are not known yet: learned one node after the other, listed together, added only when a person or
//! a setting says so.

use super::login::transport;
use super::{Access, Target};
use crate::base::Problem;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use sha2::{Digest, Sha256};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A key that a host shows and that no known-hosts file has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostKey {
    pub node: String,
    /// `host:port`.
    pub address: String,
    /// `ED25519`, `ECDSA`, …
    pub kind: String,
    /// `SHA256:…`, as ssh prints it.
    pub fingerprint: String,
    /// The line for the known-hosts file.
    pub line: String,
    /// The known-hosts file that the person's configuration names.
    pub file: PathBuf,
}

/// Learns the host keys of nodes whose session failed with [`super::Reason::UnknownHost`], in the order given.
/// Nothing is written and nobody is logged in.
pub async fn learn(targets: &[&Target], access: &Access) -> Vec<Result<HostKey, Problem>> {
    let mut keys = Vec::new();
    for target in targets {
        let _turn = access.pace.turn().await;
        keys.push(transport(target.transport).host_key(target, access).await);
    }
    keys
}

/// Adds keys to their known-hosts files.
///
/// # Errors
/// A file that cannot be written.
pub fn accept(keys: &[HostKey]) -> Result<(), Problem> {
    for key in keys {
        append(&key.file, &key.line).map_err(|error| Problem::io("add a host key to", &key.file, &error))?;
    }
    Ok(())
}

pub(super) fn append(file: &Path, line: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let unfinished = std::fs::read(file).is_ok_and(|bytes| bytes.last().is_some_and(|b| *b != b'\n'));
    let mut out = std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(file)?;
    let text = format!("{}{}\n", if unfinished { "\n" } else { "" }, line.trim_end());
    // One write: ssh may append to the same file meanwhile.
    out.write_all(text.as_bytes())
}

/// The key of a line `hosts type base64 …` of a known-hosts file: its kind and fingerprint.
pub(super) fn described(line: &str) -> Option<(String, String)> {
    let mut fields = line.split_whitespace().skip_while(|field| field.starts_with('@')).skip(1);
    let (kind, key) = (fields.next()?, fields.next()?);
    let kind = kind.split("-nistp").next().unwrap_or(kind);
    let kind = kind.trim_start_matches("ssh-").trim_start_matches("ecdsa-sha2").trim_start_matches("sk-");
    let kind = if kind.is_empty() { "ECDSA".to_owned() } else { kind.to_uppercase() };
    Some((kind, fingerprint(key)?))
}

/// The fingerprint of a key as ssh prints it: `SHA256:…`. `key` is the base64 of a known-hosts line.
pub(super) fn fingerprint(key: &str) -> Option<String> {
    let blob = STANDARD.decode(key).ok()?;
    Some(format!("SHA256:{}", STANDARD_NO_PAD.encode(Sha256::digest(&blob))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "host ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ";

    #[test]
    fn a_key_is_described_as_ssh_does_it() {
        let (kind, print) = described(LINE).expect("a key");
        assert_eq!(kind, "ED25519");
        assert!(print.starts_with("SHA256:") && print.len() == 50, "{print}");
        assert_eq!(described(&format!("@revoked {LINE}")), described(LINE));
        let ecdsa = LINE.replace("ssh-ed25519", "ecdsa-sha2-nistp256");
        assert_eq!(described(&ecdsa).expect("a key").0, "ECDSA");
    }

    #[test]
    fn keys_are_added_on_lines_of_their_own() {
        let folder = tempfile::tempdir().expect("folder");
        let file = folder.path().join("new/known_hosts");
        append(&file, "a b c").expect("added");
        std::fs::write(&file, "x y z").expect("written");
        append(&file, "a b c").expect("added");
        assert_eq!(std::fs::read_to_string(&file).expect("file"), "x y z\na b c\n");
    }
}
