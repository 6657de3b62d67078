//! How far modules from elsewhere are behind: looked up in the background, at most once an hour.

use super::tree::{Known, Tree};
use crate::base::{Problem, clock};
use crate::cli::infra::versions::Asked;
use crate::infra::versions::{Lag, lags};
use chrono::{DateTime, Utc};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So long what was found is good, as long as the tree is the same.
const FRESH: Duration = Duration::from_secs(3600);

/// What a look-up found.
#[derive(Default)]
pub struct Found {
    /// When it ended.
    pub at: Option<DateTime<Utc>>,
    /// By key without the version, and the version.
    lags: HashMap<(String, String), Lag>,
    /// What could not be listed.
    pub problems: Vec<Problem>,
}

impl Found {
    pub fn of(&self, module: &str, pin: &str) -> Option<&Lag> {
        self.lags.get(&(module.to_owned(), pin.to_owned()))
    }
}

#[derive(Default)]
struct State {
    found: Arc<Found>,
    /// When the last look-up began, and for which tree.
    begun: Option<(Instant, String)>,
    busy: bool,
}

#[derive(Default)]
pub struct Lookup {
    /// No repository is asked.
    offline: bool,
    state: Mutex<State>,
}

impl Lookup {
    pub fn new(offline: bool) -> Lookup {
        Lookup { offline, state: Mutex::default() }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known; and true where the caller is to call [`Lookup::look`], whose time it is.
    pub fn known(&self, known: &Known) -> (Arc<Found>, bool) {
        let mut state = self.state();
        let fresh =
            state.begun.as_ref().is_some_and(|(at, tree)| at.elapsed() < FRESH && *tree == known.graph.tree_hash);
        let due = !self.offline && !state.busy && !fresh;
        if due {
            state.busy = true;
            state.begun = Some((clock::instant(), known.graph.tree_hash.clone()));
        }
        (state.found.clone(), due)
    }

    /// Asks every repository for its tags, and keeps what they say.
    pub fn look(&self, tree: &Tree, known: &Known) {
        let (lags, problems) = lags(&known.graph, &Asked::new(tree.root(), true));
        let lags = lags.into_iter().map(|lag| ((lag.module.clone(), lag.pin.clone()), lag)).collect();
        let mut state = self.state();
        state.found = Arc::new(Found { at: Some(clock::now()), lags, problems });
        state.busy = false;
    }
}
