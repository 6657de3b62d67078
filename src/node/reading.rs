//! An answer, put together from the pieces of a channel.

use super::answer::Raw;
use super::scan::{Mark, Piece};

/// An answer while it is read.
pub(super) struct Reading<'a> {
    token: &'a str,
    pub whole: Raw,
    pub inner: Vec<Raw>,
    /// The inner answer that is being given.
    pub current: Option<usize>,
    begun: bool,
    errors: bool,
    pub size: usize,
}

impl<'a> Reading<'a> {
    pub fn new(token: &'a str, steps: usize) -> Reading<'a> {
        Reading {
            token,
            whole: Raw::default(),
            inner: vec![Raw::default(); steps],
            current: None,
            begun: false,
            errors: false,
            size: 0,
        }
    }

    /// Takes a piece; returns the words of a session that cannot go on.
    pub fn take(&mut self, piece: Piece) -> Option<String> {
        match piece {
            Piece::Text(text) if self.begun => {
                self.size += text.len();
                let raw = self.current.and_then(|i| self.inner.get_mut(i)).unwrap_or(&mut self.whole);
                if self.errors { raw.stderr.extend(text) } else { raw.stdout.extend(text) }
            }
            Piece::Mark(Mark::Fatal(words)) => return Some(words),
            Piece::Mark(Mark::Begin(token)) => match self.step(&token) {
                Some(step) => {
                    self.current = Some(step);
                    self.errors = false;
                }
                None if token == self.token => (self.begun, self.errors) = (true, false),
                None => {}
            },
            Piece::Mark(Mark::Errors(token)) if token == self.token || self.step(&token).is_some() => {
                if token == self.token {
                    self.current = None;
                }
                self.errors = true;
            }
            Piece::Mark(Mark::End(token, status)) => match self.step(&token) {
                Some(step) => {
                    if let Some(raw) = self.inner.get_mut(step) {
                        (raw.status, raw.ended) = (status, true);
                    }
                    self.current = None;
                    self.errors = false;
                }
                None if token == self.token && self.begun => (self.whole.status, self.whole.ended) = (status, true),
                None => {}
            },
            _ => {}
        }
        None
    }

    fn step(&self, token: &str) -> Option<usize> {
        let step = token.strip_prefix(self.token)?.strip_prefix('.')?.parse().ok()?;
        (step < self.inner.len()).then_some(step)
    }
}
