//! Identities and recipients, as they are written in settings and key files.

use crate::base::Problem;
use age::x25519::{Identity, Recipient};

/// The identities that secrets are opened with, tried in turn.
#[derive(Clone)]
pub struct Keys {
    identities: Vec<Identity>,
    origin: String,
}

impl Keys {
    /// Reads the text of `SUIL_AGE_KEY` or of a key file: identities, one or more, and `#` comments. `origin` is the
    /// name of the setting or file, for messages.
    ///
    /// # Errors
    /// A line that is no identity (its number, never its text), or none at all.
    pub fn parse(text: &str, origin: &str) -> Result<Keys, Problem> {
        let mut identities = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.starts_with('#') {
                continue;
            }
            for word in line.split_whitespace() {
                identities.push(word.parse().map_err(|_| no_identity(word, number, origin))?);
            }
        }
        if identities.is_empty() {
            return Err(Problem::new(format!("`{origin}` holds no age identity"))
                .expected("expected a line that starts with `AGE-SECRET-KEY-1`")
                .help("`age-keygen` makes one"));
        }
        Ok(Keys { identities, origin: origin.to_owned() })
    }

    /// Adds the identities of another source; they are tried last.
    pub fn join(mut self, other: Keys) -> Keys {
        self.origin = format!("{}, {}", self.origin, other.origin);
        self.identities.extend(other.identities);
        self
    }

    /// Where the identities come from.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The recipients of these identities: safe to show.
    pub fn recipients(&self) -> Recipients {
        Recipients(self.identities.iter().map(Identity::to_public).collect())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &dyn age::Identity> {
        self.identities.iter().map(|identity| identity as &dyn age::Identity)
    }
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Keys({})", self.origin)
    }
}

fn no_identity(word: &str, line: usize, origin: &str) -> Problem {
    let problem = Problem::new(format!("line {line} of `{origin}` is no age identity"))
        .expected("expected `AGE-SECRET-KEY-1…` or a `#` comment");
    if word.starts_with("age1") {
        return problem.help("this is the public half; the identity is the line that starts with `AGE-SECRET-KEY-1`");
    }
    if word.starts_with("age-encryption.org") || word.starts_with("-----BEGIN") {
        return problem.help("the key file is of another kind or encrypted itself; suil takes plain X25519 identities");
    }
    problem
}

/// Whom secrets are encrypted for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recipients(Vec<Recipient>);

impl Recipients {
    /// Reads recipients, separated by commas or white space. `origin` is where they stand, for messages.
    ///
    /// # Errors
    /// A word that is no X25519 recipient, or none at all.
    pub fn parse(text: &str, origin: &str) -> Result<Recipients, Problem> {
        let words = text.split([',', ' ', '\t', '\r', '\n']).filter(|word| !word.is_empty());
        let mut recipients: Vec<Recipient> = Vec::new();
        for word in words {
            let recipient = word.parse().map_err(|_| {
                // What stands here by mistake may be an identity, so it is not repeated.
                let public = word.starts_with("age1");
                let found = if public { format!("`{word}`") } else { "a word that starts otherwise".to_owned() };
                Problem::new(format!("`{origin}` holds something that is no age recipient"))
                    .expected(format!("expected `age1…`, found {found}"))
            })?;
            if !recipients.contains(&recipient) {
                recipients.push(recipient);
            }
        }
        if recipients.is_empty() {
            return Err(Problem::new(format!("`{origin}` names no age recipient")).expected("expected `age1…`"));
        }
        Ok(Recipients(recipients))
    }

    /// The recipients as text, in their order.
    pub fn names(&self) -> Vec<String> {
        self.0.iter().map(ToString::to_string).collect()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &dyn age::Recipient> {
        self.0.iter().map(|recipient| recipient as &dyn age::Recipient)
    }
}
