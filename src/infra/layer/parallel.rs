//! Work on many things at once.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Does `work` on every item, on as many threads as there are cores; the results in the order of `items`. A result is
/// missing where its thread died.
pub fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<Option<R>> {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(items.len());
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(items.len()));
    std::thread::scope(|scope| {
        let work = || {
            while let Some((at, item)) = {
                let at = next.fetch_add(1, Ordering::Relaxed);
                items.get(at).map(|item| (at, item))
            } {
                let result = work(item);
                done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
            }
        };
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let mut results: Vec<Option<R>> = Vec::new();
    results.resize_with(items.len(), || None);
    for (at, result) in done.into_inner().unwrap_or_else(PoisonError::into_inner) {
        if let Some(slot) = results.get_mut(at) {
            *slot = Some(result);
        }
    }
    results
}
