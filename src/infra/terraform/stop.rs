//! The wish to stop: once to finish what is in flight, twice to stop at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Shared by all threads of a run; cloning is cheap.
#[derive(Clone, Default, Debug)]
pub struct Stop(Arc<AtomicU8>);

impl Stop {
    /// Asks for a stop, or asks again.
    pub fn ask(&self) {
        let _ = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |times| Some(times.saturating_add(1)));
    }

    /// True once a stop was asked for: nothing new begins, and what runs is interrupted.
    pub fn asked(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 0
    }

    /// True once a stop was asked for twice: what runs is left to itself, or killed where nothing is lost by it.
    pub fn demanded(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 1
    }
}
