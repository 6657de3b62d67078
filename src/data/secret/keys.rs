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
        Recipients(self.identities.iter().map(|identity| (identity.to_public(), None)).collect())
    }

    /// Each identity alone.
    pub(super) fn each(&self) -> impl Iterator<Item = (String, Keys)> {
        self.identities.iter().map(|identity| {
            let alone = Keys { identities: vec![identity.clone()], origin: self.origin.clone() };
            (identity.to_public().to_string(), alone)
        })
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

/// Whom secrets are encrypted for: public keys, each once, some with the name of whose it is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recipients(Vec<(Recipient, Option<String>)>);

impl Recipients {
    /// Reads recipients, separated by commas or white space. `origin` is where they stand, for messages.
    ///
    /// # Errors
    /// A word that is no X25519 recipient, or none at all.
    pub fn parse(text: &str, origin: &str) -> Result<Recipients, Problem> {
        let mut recipients = Recipients::default();
        recipients.add(text, None, origin)?;
        recipients.some(origin)
    }

    /// Adds what stands in `text`; `name` says whose key it is.
    ///
    /// # Errors
    /// A word that is no X25519 recipient.
    pub fn add(&mut self, text: &str, name: Option<&str>, origin: &str) -> Result<(), Problem> {
        let words = text.split([',', ' ', '\t', '\r', '\n']).filter(|word| !word.is_empty());
        for word in words {
            let recipient: Recipient = word.parse().map_err(|_| {
                // What stands here by mistake may be an identity, so it is not repeated.
                let public = word.starts_with("age1");
                let found = if public { format!("`{word}`") } else { "a word that starts otherwise".to_owned() };
                Problem::new(format!("`{origin}` holds something that is no age recipient"))
                    .expected(format!("expected `age1…`, found {found}"))
            })?;
            if !self.0.iter().any(|(known, _)| *known == recipient) {
                self.0.push((recipient, name.map(str::to_owned)));
            }
        }
        Ok(())
    }

    /// The same, where there is at least one.
    ///
    /// # Errors
    /// There is none.
    pub fn some(self, origin: &str) -> Result<Recipients, Problem> {
        match self.0.is_empty() {
            true => Err(Problem::new(format!("`{origin}` names no age recipient")).expected("expected `age1…`")),
            false => Ok(self),
        }
    }

    /// The recipients as text, in their order.
    pub fn names(&self) -> Vec<String> {
        self.0.iter().map(|(recipient, _)| recipient.to_string()).collect()
    }

    /// The name that goes with a recipient.
    pub fn name_of(&self, recipient: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known.to_string() == recipient)?.1.as_deref()
    }

    /// How many they are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &dyn age::Recipient> {
        self.0.iter().map(|(recipient, _)| recipient as &dyn age::Recipient)
    }
}
