//! The states of other layers, which templates ask for outputs and resources: each is read once in a run, however many
//! templates ask, on however many threads.
//!
//! Enters: a layer, and the layers that are being built on the way to it. Leaves: its outputs and resources, or what was
//! in the way. Never writes to the layer's own folders, and never says anything on stdout.

mod block;
mod chain;
mod folder;
mod found;
mod state;
#[cfg(test)]
mod tests;
pub mod words;

pub use chain::Chain;
pub use found::Found;
pub use state::State;

use super::{Layer, Run};
use folder::Folder;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

/// Why a state could not be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// Layers read each other: their labels, the first one again at the end.
    Cycle(Vec<String>),
    /// One line, and what there is to say below it.
    Said(String, Vec<String>),
}

/// What was read, or why not; shared by all who ask.
type Read = Result<Arc<State>, Failure>;

/// The states of a run.
pub struct States {
    slots: Mutex<Slots>,
    ended: Condvar,
    folder: OnceLock<Result<Folder, Failure>>,
}

#[derive(Default)]
struct Slots {
    /// By the layer's folder; `None` while a thread reads it.
    read: HashMap<PathBuf, Option<Read>>,
    /// Which layer has to be read first, for each that is being read.
    needs: HashMap<PathBuf, Layer>,
}

impl Default for States {
    fn default() -> States {
        States { slots: Mutex::default(), ended: Condvar::new(), folder: OnceLock::new() }
    }
}

impl States {
    /// The state of `layer`. `chain` are the layers that are being built by this thread, the asking one last.
    ///
    /// # Errors
    /// It cannot be read, or the layers read each other.
    pub fn get(&self, run: &Arc<Run>, layer: &Layer, chain: &Chain) -> Read {
        self.get_with(layer, chain, |chain| State::new(run, layer, chain))
    }

    fn get_with(&self, layer: &Layer, chain: &Chain, read: impl FnOnce(&Chain) -> Result<State, Failure>) -> Read {
        if let Some(cycle) = chain.closed_by(layer) {
            return Err(Failure::Cycle(cycle));
        }
        let mut slots = self.slots();
        loop {
            match slots.read.get(&layer.path) {
                Some(Some(read)) => {
                    let read = read.clone();
                    slots.settle(chain);
                    return read;
                }
                // Another thread reads it. Where that one waits for a layer of this thread, nobody would ever go on.
                Some(None) => {
                    if let Some(cycle) = slots.cycle(layer, chain) {
                        slots.settle(chain);
                        return Err(Failure::Cycle(cycle));
                    }
                    slots.need(chain, layer);
                    slots = self.ended.wait(slots).unwrap_or_else(PoisonError::into_inner);
                }
                None => break,
            }
        }
        slots.need(chain, layer);
        slots.read.insert(layer.path.clone(), None);
        drop(slots);
        let reading = Reading { states: self, chain, path: &layer.path, read: None };
        reading.end(read(&chain.with(layer)).map(Arc::new))
    }

    /// The folder that a layer's state is read in.
    fn folder(&self, layer: &Layer) -> Result<PathBuf, Failure> {
        let folder = self.folder.get_or_init(|| Folder::new(&layer.root)).as_ref().map_err(Failure::clone)?;
        folder.place(layer)
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slots {
    /// The layer that is being read for others by the thread of `chain` has to wait for another one.
    fn need(&mut self, chain: &Chain, layer: &Layer) {
        if let Some(held) = chain.held() {
            self.needs.insert(held.to_owned(), layer.clone());
        }
    }

    /// It waits no more.
    fn settle(&mut self, chain: &Chain) {
        if let Some(held) = chain.held() {
            self.needs.remove(held);
        }
    }

    /// The layers from one of `chain` over `layer` back to it, where what others wait for leads there.
    fn cycle(&self, layer: &Layer, chain: &Chain) -> Option<Vec<String>> {
        let mut way = chain.with(layer);
        let mut at = layer;
        while let Some(next) = self.needs.get(&at.path) {
            if let Some(cycle) = way.closed_by(next) {
                return Some(cycle);
            }
            way = way.with(next);
            at = next;
        }
        None
    }
}

/// A state that is being read: whatever happens, those who wait for it hear of its end.
struct Reading<'a> {
    states: &'a States,
    chain: &'a Chain,
    path: &'a Path,
    read: Option<Read>,
}

impl Reading<'_> {
    fn end(mut self, read: Read) -> Read {
        self.read = Some(read.clone());
        read
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        let lost = || Err(Failure::Said("suil lost a layer; this is a fault of suil".to_owned(), Vec::new()));
        let read = self.read.take().unwrap_or_else(lost);
        let mut slots = self.states.slots();
        slots.settle(self.chain);
        slots.read.insert(self.path.to_owned(), Some(read));
        drop(slots);
        self.states.ended.notify_all();
    }
}
