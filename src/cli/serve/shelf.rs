//! What all requests share: the tree, the store, the hosts, and the token.

use super::answer::Fault;
use super::hosts::Hosts;
use super::lag::{Found, Lookup};
use super::token::Token;
use super::tree::{Known, Tree};
use crate::base::Problem;
use crate::infra::store::{self, Lock, Server, Store};
use axum::http::StatusCode;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

/// So many requests read files or the store at a time.
const READERS: usize = 8;

pub struct Shelf {
    pub tree: Tree,
    /// `None` where there is no workspace: stacks alone.
    pub hosts: Option<Hosts>,
    pub lag: Lookup,
    pub token: Option<Token>,
    /// The names that the server answers to beside addresses.
    pub names: Vec<String>,
    /// Where the store is; `None` for that of the tree.
    server: Option<Server>,
    store: Mutex<Option<Arc<dyn Store>>>,
    readers: Semaphore,
    answers: Mutex<BTreeMap<u16, u64>>,
}

impl Shelf {
    pub fn new(
        tree: Tree,
        hosts: Option<PathBuf>,
        server: Option<Server>,
        token: Option<Token>,
        names: Vec<String>,
        offline: bool,
    ) -> Shelf {
        Shelf {
            tree,
            hosts: hosts.map(Hosts::new),
            lag: Lookup::new(offline),
            token,
            names,
            server,
            store: Mutex::default(),
            readers: Semaphore::new(READERS),
            answers: Mutex::default(),
        }
    }

    /// Opens the store where there is one, so that a wrong address is told at the start.
    ///
    /// # Errors
    /// It cannot be reached or read.
    pub fn open(&self) -> Result<(), Problem> {
        self.store().map(|_| ())
    }

    /// The store; `None` before the first run of the tree has made it.
    ///
    /// # Errors
    /// It cannot be reached or read.
    pub fn store(&self) -> Result<Option<Arc<dyn Store>>, Problem> {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        if store.is_none() {
            *store = match store::known(self.server.as_ref(), self.tree.root())? {
                store::Known::None => None,
                store::Known::Open(found) => Some(found),
                store::Known::Closed(problem) => return Err(problem),
            };
        }
        Ok(store.clone())
    }

    /// The repository whose rows are told; `None` for all, where the store belongs to this tree alone, whatever it was
    /// called meanwhile.
    pub fn rows_of(&self, repo: &str) -> Option<String> {
        self.server.as_ref().map(|_| repo.to_owned())
    }

    /// The locks of the tree.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn locks(&self, store: &dyn Store, repo: &str) -> Result<Vec<Lock>, Problem> {
        let own = self.rows_of(repo);
        let mut locks = store.locks()?;
        locks.retain(|lock| own.as_ref().is_none_or(|own| own.eq_ignore_ascii_case(&lock.repo)));
        Ok(locks)
    }

    /// What people know the workspace by: the repository, else the folder.
    pub fn name(&self) -> String {
        let folder = self.hosts.as_ref().map_or(self.tree.root(), Hosts::root);
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        folder.file_name().map_or_else(|| "/".to_owned(), |name| name.to_string_lossy().into_owned())
    }

    /// The graph as it now is.
    ///
    /// # Errors
    /// The tree cannot be read.
    pub fn known(&self) -> Result<Arc<Known>, Fault> {
        self.tree.known().map_err(Fault::from)
    }

    /// What is known of the versions of modules. Where that is old it is looked up, and the next one who asks gets it.
    pub fn versions(self: &Arc<Shelf>, known: &Arc<Known>) -> Arc<Found> {
        let (found, due) = self.lag.known(known);
        if due {
            let (shelf, known) = (self.clone(), known.clone());
            tokio::task::spawn_blocking(move || shelf.lag.look(&shelf.tree, &known));
        }
        found
    }

    /// Does work that blocks where it holds nobody up.
    ///
    /// # Errors
    /// Those of the work; it panicked.
    pub async fn read<T: Send + 'static>(
        self: Arc<Shelf>,
        work: impl FnOnce(&Arc<Shelf>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        // The semaphore is never closed.
        let _permit = self.readers.acquire().await.map_err(|_| Fault::internal("the server ends"))?;
        let shelf = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&shelf)).await;
        done.unwrap_or_else(|_| Err(Fault::internal("the work on this request broke off")))
    }

    pub fn count(&self, status: StatusCode) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        *answers.entry(status.as_u16()).or_default() += 1;
    }

    /// How many answers had each status.
    pub fn answers(&self) -> BTreeMap<u16, u64> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
