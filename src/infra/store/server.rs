//! A server that several machines share, as the environment names it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use zeroize::Zeroizing;

/// The variables of libpq's environment that count where the address says nothing.
pub const VARIABLES: [&str; 14] = [
    "PGHOST",
    "PGHOSTADDR",
    "PGPORT",
    "PGDATABASE",
    "PGUSER",
    "PGPASSWORD",
    "PGPASSFILE",
    "PGSSLMODE",
    "PGSSLROOTCERT",
    "PGCONNECT_TIMEOUT",
    "PGAPPNAME",
    "PGOPTIONS",
    "PGTARGETSESSIONATTRS",
    "PGCHANNELBINDING",
];

/// Where the server is, and what else may say how it is reached.
#[derive(Clone)]
pub struct Server {
    /// `postgres://…`; it may hold a password.
    pub url: Zeroizing<String>,
    /// Those of [`VARIABLES`] that are set.
    pub variables: BTreeMap<&'static str, Zeroizing<String>>,
    /// The file of passwords that counts where none is named: `.pgpass` of the home folder.
    pub passwords: Option<PathBuf>,
}

impl Server {
    /// A server of which the address says everything.
    pub fn new(url: &str) -> Server {
        Server { url: Zeroizing::new(url.to_owned()), variables: BTreeMap::new(), passwords: None }
    }

    /// What a variable says; one that is empty says nothing.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(|value| value.as_str()).filter(|value| !value.is_empty())
    }
}

impl std::fmt::Debug for Server {
    /// Never the address nor a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Server")
    }
}
