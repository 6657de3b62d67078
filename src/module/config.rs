//! What a module is told: its validated slice of the data.

use crate::base::{Mask, Place, Plain, Problem};
use crate::data::Cipher;
use zeroize::{Zeroize, Zeroizing};

/// A module's config on one node.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Secrets revealed. For module code alone: never printed, never recorded.
    pub plain: Private,
    /// The same with every secret as its digest; what is printed, recorded and given to collectors.
    pub public: Plain,
    /// False where a secret was covered by a marker because no key was there: then the module's code cannot run.
    pub revealed: bool,
    /// The plaintexts inside `plain`, so that no message of the module's code shows one.
    pub(super) mask: Mask,
}

/// A value that may hold plaintexts: it is wiped before its memory is given back.
#[derive(Clone, Default)]
pub struct Private(pub(super) Plain);

impl std::ops::Deref for Private {
    type Target = Plain;

    fn deref(&self) -> &Plain {
        &self.0
    }
}

impl std::fmt::Debug for Private {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Private")
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

fn wipe(value: &mut Plain) {
    match value {
        Plain::Str(text) => text.zeroize(),
        Plain::List(items) => items.iter_mut().for_each(wipe),
        Plain::Map(map) => map.values_mut().for_each(wipe),
        _ => {}
    }
}

impl Config {
    /// True where the value at `path` is a secret whose plaintext is known: the public config says something else.
    pub fn is_secret(&self, path: &[&str]) -> bool {
        self.plain.at(path) != self.public.at(path)
    }

    /// The node that the config is for, as the header says.
    pub fn node(&self) -> &str {
        self.public.at(&["suil", "node"]).and_then(Plain::as_str).unwrap_or_default()
    }
}

/// The facts about the node that every config carries under `suil`.
#[derive(Clone, Debug, Default)]
pub struct Header {
    pub node: String,
    pub role: String,
    /// `None` while the node was never probed.
    pub family: Option<String>,
    /// A number (`12`), a word (`rolling`), or nothing while the node was never probed.
    pub release: Plain,
    pub ssh_user: String,
}

impl Header {
    pub(super) fn to_plain(&self) -> Plain {
        Plain::from_iter([
            ("node", Plain::from(&self.node)),
            ("role", Plain::from(&self.role)),
            ("family", Plain::from(self.family.as_deref())),
            ("release", self.release.clone()),
            ("ssh_user", Plain::from(&self.ssh_user)),
        ])
    }
}

/// What the caller makes of a ciphertext.
pub enum Revealed {
    Plaintext(Zeroizing<String>),
    /// No key is there: this text stands in the public config, and the module's code cannot run.
    Marker(String),
}

/// Decrypts one secret. It is given the ciphertext, its place, and the dotted path of the key.
///
/// It is called only for the secrets that the config holds, while the config is built.
pub type Reveal<'a> = dyn FnMut(&Cipher, Place, &str) -> Result<Revealed, Problem> + 'a;
