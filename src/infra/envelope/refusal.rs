//! Why an envelope is not opened.

use crate::base::{Problem, Problems};
use std::collections::HashSet;

/// Why an envelope is not opened. Nothing in it is secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// No key of its kind is set at all.
    NoKey(Kind),
    /// None of the keys that were tried unwraps it. `hint` is what can be seen from outside.
    NoneFits { kind: Kind, tried: Vec<String>, hint: Option<String> },
    /// It is no whole envelope, or it was changed.
    Malformed(String),
    /// A key cannot be had: its file is missing, is no private key, or wants a passphrase. Boxed: it is the rare one.
    Key(Box<Problem>),
}

/// What an envelope is made with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Rsa,
    Age,
}

impl Refusal {
    /// True where a value that nobody asked for may stay closed: there is no key for it.
    pub fn tolerable(&self) -> bool {
        matches!(self, Refusal::NoKey(_) | Refusal::NoneFits { .. })
    }

    /// The problem to show; `subject` is what was to be opened: "the secret `database.passwords[0]`".
    pub fn problem(&self, subject: &str) -> Problem {
        match self {
            Refusal::NoKey(kind) => Problem::new(format!("{subject} needs a key, and none is set")).help(match kind {
                Kind::Rsa => "set STACKS_PRIVATE_KEY_PATH to the private key, or to several with commas between",
                Kind::Age => "set SUIL_AGE_KEY or SUIL_AGE_KEY_FILE",
            }),
            Refusal::NoneFits { tried, hint, .. } => {
                let problem = Problem::new(format!("{subject} is encrypted for another key"))
                    .expected(match tried.len() {
                        1 => "expected the key at hand to open it",
                        _ => "expected one of the keys at hand to open it",
                    })
                    .note(format!("tried {}", tried.join(", ")));
                let problem = hint.iter().fold(problem, |problem, hint| problem.note(hint));
                problem.help("ask for the key it was encrypted for, or encrypt the secret again for this one")
            }
            Refusal::Malformed(why) => Problem::new(format!("{subject} is no whole envelope: {why}"))
                .help("encrypt it again with `suil infra encrypt`"),
            Refusal::Key(problem) => problem.as_ref().clone().note(format!("{subject} needs it")),
        }
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Refusal {
        Refusal::Key(Box::new(problem))
    }
}

/// Keeps each problem once, whatever its place: a key that cannot be had is no news for the second secret.
pub fn once(problems: &mut Problems) {
    let mut known = HashSet::new();
    problems.retain(|problem| known.insert(problem.what.clone()));
}
