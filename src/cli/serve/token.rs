//! Who may look: a token, and the sessions of browsers that showed it.

use crate::base::clock;
use crate::base::digest::hex;
use aws_lc_rs::constant_time::verify_slices_are_equal;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The shortest token that is taken, in characters.
pub const LEAST: usize = 16;
/// So long a browser stays logged in.
const SESSION: Duration = Duration::from_secs(12 * 3600);
/// So many browsers at a time; the oldest goes.
const MOST: usize = 1000;

/// The token that is demanded. Only its digest is kept, so that comparing tells nothing of its length either.
pub struct Token {
    digest: [u8; 32],
    /// By the digest of the session's name: until when it is good.
    sessions: Mutex<HashMap<[u8; 32], Instant>>,
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

impl Token {
    /// `None` for a text that is too short.
    pub fn new(text: &str) -> Option<Token> {
        (text.chars().count() >= LEAST).then(|| Token { digest: digest(text), sessions: Mutex::default() })
    }

    /// True for the token.
    pub fn is(&self, text: &str) -> bool {
        verify_slices_are_equal(&digest(text), &self.digest).is_ok()
    }

    /// Begins a session and gives its name; `None` where the system has no random bytes.
    pub fn begin(&self) -> Option<String> {
        let mut bytes = [0; 32];
        aws_lc_rs::rand::fill(&mut bytes).ok()?;
        let name = hex(&bytes);
        let now = clock::instant();
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, until| *until > now);
        if sessions.len() >= MOST
            && let Some(oldest) = sessions.iter().min_by_key(|(_, until)| **until).map(|(name, _)| *name)
        {
            sessions.remove(&oldest);
        }
        sessions.insert(digest(&name), now + SESSION);
        Some(name)
    }

    /// True for the name of a session that is good.
    pub fn knows(&self, session: &str) -> bool {
        // Looked up by its digest: how long that takes tells nothing of the name.
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.get(&digest(session)).is_some_and(|until| *until > clock::instant())
    }

    pub fn end(&self, session: &str) {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).remove(&digest(session));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_token_is_none_and_only_the_token_itself_is_it() {
        assert!(Token::new("fifteen letters").is_none());
        let token = Token::new("sixteen letters!").expect("a token");
        assert!(token.is("sixteen letters!"));
        for other in ["", "sixteen letters", "sixteen letters!!", "Sixteen letters!"] {
            assert!(!token.is(other), "{other}");
        }
    }

    #[test]
    fn a_session_is_good_until_it_ends() {
        let token = Token::new("sixteen letters!").expect("a token");
        let session = token.begin().expect("a session");
        assert!(token.knows(&session) && !token.knows("sixteen letters!") && !token.knows(""));
        token.end(&session);
        assert!(!token.knows(&session));
    }

    #[test]
    fn sessions_do_not_pile_up() {
        let token = Token::new("sixteen letters!").expect("a token");
        for _ in 0..MOST + 5 {
            token.begin().expect("a session");
        }
        assert!(token.sessions.lock().expect("sessions").len() <= MOST);
    }
}
