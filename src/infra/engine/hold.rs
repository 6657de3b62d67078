//! Whether a run still holds its locks: somebody may take them away while it goes on.

use super::work::Work;
use crate::base::problem::Kind;
use crate::base::{Problem, clock};
use crate::infra::store::{self, Action, Lost, Mode, StackState};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The locks of a run.
#[derive(Default)]
pub(super) struct Hold {
    /// The stacks whose locks it took.
    taken: Vec<String>,
    /// Those that were taken away, as far as it was told.
    lost: Mutex<BTreeSet<String>>,
    over: AtomicBool,
}

impl Hold {
    pub fn new(taken: Vec<String>) -> Hold {
        Hold { taken, ..Hold::default() }
    }

    /// True once a lock is known to be gone: no stack is begun any more.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    fn known(&self) -> BTreeSet<String> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Those of `lost` that nobody was told of.
    fn news(&self, lost: Vec<Lost>) -> Vec<Lost> {
        let mut known = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        lost.into_iter().filter(|one| known.insert(one.stack.clone())).collect()
    }
}

impl Work<'_> {
    /// True while the run holds all locks that it took. Where one is gone it says so, and nothing more is begun.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) fn holds(&self) -> Result<bool, Problem> {
        if self.hold.is_over() {
            return Ok(false);
        }
        let lost = self.store.lost(&self.run, &self.hold.taken)?;
        Ok(self.goes_on(lost))
    }

    /// Writes down that the apply of a stack begins, if the run still holds its locks. The same transaction looks and writes.
    ///
    /// # Errors
    /// The store cannot be written.
    pub(super) fn start(&self, at: usize) -> Result<bool, Problem> {
        let action = if self.run.mode == Mode::Destroy { Action::Destroy } else { Action::Apply };
        let entry = store::Entry {
            id: store::new_id(),
            at: clock::now(),
            action,
            who: self.run.who.clone(),
            repo: self.run.repo.clone(),
            stack: self.set.key(at).to_owned(),
            run: Some(self.run.id.clone()),
            reason: self.run.reason.clone(),
        };
        let before = self.stand(at).row;
        let row = self.come_to(at, StackState::Applying);
        let lost = self.store.start(&self.run, &self.hold.taken, &row, &entry);
        let started = lost.map(|lost| self.goes_on(lost));
        if !matches!(started, Ok(true)) {
            self.change(at, |stand| stand.row = before);
        }
        started
    }

    fn goes_on(&self, lost: Vec<Lost>) -> bool {
        if lost.is_empty() {
            return true;
        }
        self.hold.over.store(true, Ordering::SeqCst);
        let news = self.hold.news(lost);
        if !news.is_empty() {
            let help =
                format!("`suil infra resume {}` goes on with what is left, when nobody else works on it", self.run.id);
            let problem = told(&self.run.id, &news, "; no more stacks were begun").help(help).kind(Kind::Refused);
            self.fault(problem);
        }
        false
    }

    /// The locks that were found gone when the run let all of them go: what was under way then was done without them.
    pub(super) fn mind_missing(&self, released: &[String], left: &[String]) {
        let known = self.hold.known();
        let gone = |key: &&String| !released.contains(key) && !left.contains(key) && !known.contains(*key);
        let gone: Vec<String> = self.hold.taken.iter().filter(gone).cloned().collect();
        if gone.is_empty() {
            return;
        }
        match self.store.lost(&self.run, &gone) {
            Ok(lost) if lost.is_empty() => {}
            Ok(lost) => self.fault(told(&self.run.id, &lost, " before it ended").kind(Kind::Warning)),
            Err(problem) => self.fault(problem),
        }
    }
}

/// Which locks are gone, who took them, and who holds them now.
fn told(run: &str, lost: &[Lost], then: &str) -> Problem {
    let what = match lost {
        [one] => format!("the lock of stack `{}` was taken away from run `{run}`{then}", one.stack),
        all => format!("the locks of {} stacks were taken away from run `{run}`{then}", all.len()),
    };
    lost.iter().fold(Problem::new(what), |problem, one| one.told().into_iter().fold(problem, Problem::note))
}
