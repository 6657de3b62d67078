//! The same work on many things at once, the answers in the order of the things.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// So many things are taken at a time: fewer than this are not worth a thread.
const CHUNK: usize = 16;

/// How many threads are worth it; the kernel is asked once.
pub fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get))
}

/// Does `work` on each of `things`, on as many threads as there are cores.
pub fn each<T: Sync, R: Send>(things: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = cores().min(things.len().div_ceil(CHUNK)).max(1);
    if threads == 1 {
        return things.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Vec<R>)>> = Mutex::new(Vec::new());
    let run = || {
        loop {
            let from = next.fetch_add(CHUNK, Ordering::Relaxed);
            let Some(chunk) = things.get(from..things.len().min(from + CHUNK)).filter(|chunk| !chunk.is_empty()) else {
                return;
            };
            let results = chunk.iter().map(&work).collect();
            done.lock().unwrap_or_else(PoisonError::into_inner).push((from, results));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(run);
        }
        run();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(from, _)| *from);
    done.into_iter().flat_map(|(_, results)| results).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn answers_come_in_the_order_of_the_things() {
        let things: Vec<usize> = (0..1000).collect();
        assert_eq!(super::each(&things, |n| n * 2), things.iter().map(|n| n * 2).collect::<Vec<_>>());
    }
}
