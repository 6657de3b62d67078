//! The lock of a layer while it is applied, and the run that `suil infra runs` shows of it.

use crate::base::{Problem, clock};
use crate::infra::store::{self, Life, Mode, Process, Run, RunStack, RunState, StackState, Store, Trigger};
use std::sync::Arc;

/// Why a stack is in such a run.
const REASON: &str = "role";

/// The store of a tree, and in whose name it is written.
#[derive(Clone)]
pub struct Ledger {
    pub store: Arc<dyn Store>,
    /// The name of the repository.
    pub repo: String,
    /// The login name of who runs suil, and `anna@desk`.
    pub user: String,
    pub who: String,
    /// What suil was called with.
    pub reason: String,
}

/// A lock that is held.
pub struct Held<'a> {
    ledger: &'a Ledger,
    run: Run,
    row: RunStack,
}

impl Ledger {
    /// Takes the lock of a stack away from a role's run whose process is gone, and tells whether there was one.
    ///
    /// # Errors
    /// The store cannot be read or written.
    pub fn free(&self, stack: &str) -> Result<bool, Problem> {
        let mut gone = Vec::new();
        for lock in self.store.locks()? {
            let ours = lock.stack == stack && lock.repo.eq_ignore_ascii_case(&self.repo);
            if ours && lock.process.life() == Life::Gone {
                let of_role = self.store.stacks(&lock.run)?.iter().any(|row| row.reasons == [REASON]);
                gone.extend(of_role.then_some(lock));
            }
        }
        Ok(!gone.is_empty() && !self.store.unlock(&gone, &self.who, "its process is gone")?.is_empty())
    }

    /// Takes the lock of one stack.
    ///
    /// # Errors
    /// Somebody holds it: refused, with the name of who does. The store cannot be written.
    pub fn take(&self, stack: &str) -> Result<Held<'_>, Problem> {
        let run = Run {
            change: None,
            id: store::new_id(),
            repo: self.repo.clone(),
            trigger: Trigger::Manual,
            mode: Mode::Apply,
            state: RunState::Pending,
            commit: None,
            tree: None,
            who: self.who.clone(),
            reason: self.reason.clone(),
            process: Process::this(&self.user),
            successor: None,
            started: clock::now(),
            ended: None,
        };
        let row = RunStack {
            run: run.id.clone(),
            stack: stack.to_owned(),
            wave: 0,
            reasons: vec![REASON.to_owned()],
            via: Vec::new(),
            environment: None,
            state: StackState::Pending,
            blocked_by: None,
            started: Some(clock::now()),
            ended: None,
        };
        self.store.begin(&run, std::slice::from_ref(&row))?;
        let mut held = Held { ledger: self, run, row };
        let taken = self.store.take(&held.run, &[stack.to_owned()], &self.reason).and_then(|take| take.or_refuse());
        let begun = taken.and_then(|()| held.state(RunState::Applying, StackState::Applying));
        match begun {
            Ok(()) => Ok(held),
            Err(problem) => {
                // The first problem is the one to tell.
                let _ = held.end(false);
                Err(problem)
            }
        }
    }
}

impl Held<'_> {
    fn state(&mut self, run: RunState, stack: StackState) -> Result<(), Problem> {
        self.ledger.store.advance(&self.run.id, run)?;
        self.row.state = stack;
        self.ledger.store.put_stacks(std::slice::from_ref(&self.row))
    }

    /// Writes down how it ended, and lets the lock go.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn end(mut self, well: bool) -> Result<(), Problem> {
        self.row.ended = Some(clock::now());
        let written = match well {
            true => self.state(RunState::Applied, StackState::Applied),
            false => self.state(RunState::Failed, StackState::Failed),
        };
        let Ledger { store, who, .. } = self.ledger;
        let released = store.release(&self.run.id, None, who, "the run ended");
        written.and(released.map(drop))
    }
}
