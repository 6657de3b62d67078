//! Work in an order: each piece as soon as those before it are done, so many at a time. A failure stops exactly what
//! comes after it. Pure of what the work is.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How work goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    /// So many pieces at once, at least one.
    pub parallel: usize,
    /// A wave begins when the one before it is over, and only if nothing in it failed.
    pub barrier: bool,
}

/// How a piece ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    Done,
    /// What comes after it is not begun.
    Failed,
    /// It was not begun after all, and neither is what comes after it.
    Left,
}

/// What became of a piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Done,
    Failed,
    /// This piece before it failed: of several the first in the order of the pieces.
    Blocked(usize),
    /// Not begun: a stop was asked for, or a wave before it had a failure.
    Waiting,
}

/// The order of the pieces, which are numbered from 0.
#[derive(Clone, Debug, Default)]
pub struct Order {
    before: Vec<Vec<usize>>,
    after: Vec<Vec<usize>>,
    waves: Vec<usize>,
    /// How many pieces follow on the longest way: those are begun first.
    heights: Vec<usize>,
}

impl Order {
    /// `before` names for each piece those that come first. There is no circle among them: who asks has looked.
    pub fn new(before: Vec<Vec<usize>>) -> Order {
        let count = before.len();
        let before: Vec<Vec<usize>> =
            before.into_iter().map(|list| list.into_iter().filter(|at| *at < count).collect()).collect();
        let mut after = vec![Vec::new(); count];
        for (at, list) in before.iter().enumerate() {
            for first in list {
                if let Some(after) = after.get_mut(*first) {
                    after.push(at);
                }
            }
        }
        let waves = levels(&before, &after);
        let heights = levels(&after, &before);
        Order { before, after, waves, heights }
    }

    /// The same order backwards.
    pub fn reversed(self) -> Order {
        Order::new(self.after)
    }

    /// How many pieces there are.
    pub fn len(&self) -> usize {
        self.before.len()
    }

    pub fn is_empty(&self) -> bool {
        self.before.is_empty()
    }

    /// The pieces that come directly before one.
    pub fn before(&self, at: usize) -> &[usize] {
        self.before.get(at).map_or(&[], Vec::as_slice)
    }

    /// The wave of a piece, from 0.
    pub fn wave(&self, at: usize) -> usize {
        self.waves.get(at).copied().unwrap_or(0)
    }

    /// Everything that comes after a piece, on any way.
    fn below(&self, at: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut open = vec![at];
        while let Some(at) = open.pop() {
            open.extend(self.after.get(at).into_iter().flatten().filter(|next| found.insert(**next)));
        }
        found
    }
}

/// The longest way to each piece.
fn levels(before: &[Vec<usize>], after: &[Vec<usize>]) -> Vec<usize> {
    let mut missing: Vec<usize> = before.iter().map(Vec::len).collect();
    let mut levels = vec![0; before.len()];
    let mut open: Vec<usize> = (0..before.len()).filter(|at| missing.get(*at) == Some(&0)).collect();
    while let Some(at) = open.pop() {
        let level = levels.get(at).copied().unwrap_or(0);
        for next in after.get(at).into_iter().flatten() {
            if let Some(slot) = levels.get_mut(*next) {
                *slot = (*slot).max(level + 1);
            }
            if let Some(count) = missing.get_mut(*next) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    open.push(*next);
                }
            }
        }
    }
    levels
}

struct State {
    fates: Vec<Option<Fate>>,
    missing: Vec<usize>,
    /// Longest way ahead first, then by number.
    ready: BTreeSet<(Reverse<usize>, usize)>,
    running: usize,
    /// How many pieces of each wave are not over, and whether one of them failed.
    waves: Vec<(usize, bool)>,
}

/// Does `work` for every piece but those that are `settled` (done before), and begins none once `stop` says so. `blocked` is told of a piece that is not
/// begun, and of the one that failed before it, as soon as that is known.
pub fn run(
    order: &Order,
    settled: &BTreeSet<usize>,
    pace: Pace,
    stop: &(dyn Fn() -> bool + Sync),
    work: &(dyn Fn(usize) -> Verdict + Sync),
    blocked: &(dyn Fn(usize, usize) + Sync),
) -> Vec<Fate> {
    let shared = (Mutex::new(State::new(order, settled)), Condvar::new());
    let threads = pace.parallel.max(1).min(order.len().max(1));
    std::thread::scope(|scope| {
        let worker = || worker(order, pace, stop, work, blocked, &shared);
        for _ in 1..threads {
            scope.spawn(worker);
        }
        worker();
    });
    let state = shared.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut fates: Vec<Fate> = state.fates.into_iter().map(|fate| fate.unwrap_or(Fate::Waiting)).collect();
    // Whichever failed first in time, the one that is named is the first in the order.
    let failed: Vec<usize> = (0..fates.len()).filter(|at| fates.get(*at) == Some(&Fate::Failed)).collect();
    for by in failed.into_iter().rev() {
        for at in order.below(by) {
            if let Some(fate @ Fate::Blocked(_)) = fates.get_mut(at) {
                *fate = Fate::Blocked(by);
            }
        }
    }
    fates
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn worker(
    order: &Order,
    pace: Pace,
    stop: &(dyn Fn() -> bool + Sync),
    work: &(dyn Fn(usize) -> Verdict + Sync),
    blocked: &(dyn Fn(usize, usize) + Sync),
    shared: &(Mutex<State>, Condvar),
) {
    let mut state = lock(&shared.0);
    loop {
        match state.next(order, pace, stop) {
            Some(at) => {
                state.running += 1;
                drop(state);
                let verdict = work(at);
                state = lock(&shared.0);
                state.running -= 1;
                let news = state.end(order, at, verdict);
                shared.1.notify_all();
                if !news.is_empty() {
                    drop(state);
                    news.into_iter().for_each(|after| blocked(after, at));
                    state = lock(&shared.0);
                }
            }
            None if state.running == 0 => {
                shared.1.notify_all();
                return;
            }
            None => state = shared.1.wait(state).unwrap_or_else(PoisonError::into_inner),
        }
    }
}

impl State {
    fn new(order: &Order, settled: &BTreeSet<usize>) -> State {
        let mut state = State {
            fates: vec![None; order.len()],
            missing: order.before.iter().map(Vec::len).collect(),
            ready: BTreeSet::new(),
            running: 0,
            waves: vec![(0, false); order.waves.iter().max().map_or(0, |last| last + 1)],
        };
        for wave in &order.waves {
            if let Some((open, _)) = state.waves.get_mut(*wave) {
                *open += 1;
            }
        }
        let first: Vec<usize> = (0..order.len()).filter(|at| state.missing.get(*at) == Some(&0)).collect();
        for at in first {
            state.offer(order, at);
        }
        for at in settled {
            state.end(order, *at, Verdict::Done);
        }
        state
    }

    fn offer(&mut self, order: &Order, at: usize) {
        self.ready.insert((Reverse(order.heights.get(at).copied().unwrap_or(0)), at));
    }

    fn next(&mut self, order: &Order, pace: Pace, stop: &(dyn Fn() -> bool + Sync)) -> Option<usize> {
        if stop() {
            return None;
        }
        let may = |at: usize| {
            let before = self.waves.get(..order.wave(at)).unwrap_or_default();
            !pace.barrier || before.iter().all(|(open, failed)| *open == 0 && !failed)
        };
        let found = self.ready.iter().copied().find(|(_, at)| may(*at))?;
        self.ready.remove(&found);
        Some(found.1)
    }

    /// Ends a piece; gives those that are blocked by it and were not before.
    fn end(&mut self, order: &Order, at: usize, verdict: Verdict) -> Vec<usize> {
        let mut news = Vec::new();
        match verdict {
            Verdict::Done => {
                self.set(order, at, Fate::Done);
                for next in order.after.get(at).into_iter().flatten() {
                    let Some(missing) = self.missing.get_mut(*next) else { continue };
                    *missing = missing.saturating_sub(1);
                    if *missing == 0 && self.fates.get(*next) == Some(&None) {
                        self.offer(order, *next);
                    }
                }
            }
            Verdict::Left => {}
            Verdict::Failed => {
                self.set(order, at, Fate::Failed);
                for after in order.below(at) {
                    if self.fates.get(after) == Some(&None) {
                        self.set(order, after, Fate::Blocked(at));
                        news.push(after);
                    }
                }
            }
        }
        news
    }

    fn set(&mut self, order: &Order, at: usize, fate: Fate) {
        self.ready.remove(&(Reverse(order.heights.get(at).copied().unwrap_or(0)), at));
        if let Some(slot) = self.fates.get_mut(at) {
            *slot = Some(fate);
        }
        if let Some((open, failed)) = self.waves.get_mut(order.wave(at)) {
            *open = open.saturating_sub(1);
            *failed |= matches!(fate, Fate::Failed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::time::Duration;

    /// 0 and 1 first; 2 after 0; 3 after 0 and 1; 4 after 3; 5 alone.
    fn order() -> Order {
        Order::new(vec![vec![], vec![], vec![0], vec![0, 1], vec![3], vec![]])
    }

    fn done(pace: Pace, fails: &[usize]) -> (Vec<Fate>, Vec<usize>) {
        let begun = Mutex::new(Vec::new());
        let work = |at| {
            begun.lock().expect("no panic").push(at);
            if fails.contains(&at) { Verdict::Failed } else { Verdict::Done }
        };
        let fates = run(&order(), &BTreeSet::new(), pace, &|| false, &work, &|_, _| {});
        (fates, begun.into_inner().expect("no panic"))
    }

    const ONE: Pace = Pace { parallel: 1, barrier: false };

    #[test]
    fn the_longest_way_goes_first_and_names_break_ties() {
        let (fates, begun) = done(ONE, &[]);
        assert_eq!((fates, begun), (vec![Fate::Done; 6], vec![0, 1, 3, 2, 4, 5]));
        let (_, begun) = done(Pace { barrier: true, ..ONE }, &[]);
        assert_eq!(begun, [0, 1, 5, 3, 2, 4]);
    }

    #[test]
    fn a_failure_blocks_exactly_what_comes_after_it() {
        for parallel in [1, 4] {
            let (fates, begun) = done(Pace { parallel, barrier: false }, &[1]);
            let want = [Fate::Done, Fate::Failed, Fate::Done, Fate::Blocked(1), Fate::Blocked(1), Fate::Done];
            assert_eq!((fates.as_slice(), begun.len()), (&want[..], 4));
        }
        let (fates, _) = done(Pace { parallel: 2, barrier: false }, &[0, 1]);
        assert_eq!(fates.get(2..5), Some(&[Fate::Blocked(0); 3][..]));
        let (fates, _) = done(Pace { barrier: true, ..ONE }, &[1]);
        assert_eq!(fates.get(2), Some(&Fate::Waiting), "a wave with a failure is the last one");
    }

    #[test]
    fn nothing_waits_for_what_it_does_not_need() {
        // 1 and 2 meet while 0 is still at work: without a barrier 2, which comes after 1 alone, need not wait for 0.
        let order = Order::new(vec![vec![], vec![], vec![1]]);
        let over = AtomicUsize::new(0);
        let work = |at| {
            let begun = crate::base::clock::instant();
            while at == 0 && over.load(Ordering::SeqCst) < 2 && begun.elapsed() < Duration::from_secs(10) {
                std::thread::sleep(Duration::from_millis(1));
            }
            let before = over.fetch_add(1, Ordering::SeqCst);
            if at == 0 && before < 2 { Verdict::Failed } else { Verdict::Done }
        };
        let pace = Pace { parallel: 2, barrier: false };
        assert_eq!(run(&order, &BTreeSet::new(), pace, &|| false, &work, &|_, _| {}), [Fate::Done; 3]);
    }

    #[test]
    fn what_is_settled_is_not_done_again_and_a_stop_begins_nothing() {
        let begun = Mutex::new(Vec::new());
        let stop = AtomicBool::new(false);
        let work = |at| {
            begun.lock().expect("no panic").push(at);
            if at == 3 {
                stop.store(true, Ordering::SeqCst);
            }
            Verdict::Done
        };
        let fates = run(&order(), &[0, 1].into(), ONE, &|| stop.load(Ordering::SeqCst), &work, &|_, _| {});
        assert_eq!(begun.into_inner().expect("no panic"), [3]);
        assert_eq!(fates, [Fate::Done, Fate::Done, Fate::Waiting, Fate::Done, Fate::Waiting, Fate::Waiting]);
    }

    #[test]
    fn what_is_left_is_not_failed_and_nothing_after_it_begins() {
        let work = |at| if at == 1 { Verdict::Left } else { Verdict::Done };
        for pace in [ONE, Pace { parallel: 3, barrier: false }] {
            let fates = run(&order(), &BTreeSet::new(), pace, &|| false, &work, &|_, _| {});
            let want = [Fate::Done, Fate::Waiting, Fate::Done, Fate::Waiting, Fate::Waiting, Fate::Done];
            assert_eq!(fates, want);
        }
    }

    #[test]
    fn backwards_the_last_goes_first() {
        let order = order().reversed();
        let begun = Mutex::new(Vec::new());
        let work = |at| {
            begun.lock().expect("no panic").push(at);
            Verdict::Done
        };
        run(&order, &BTreeSet::new(), ONE, &|| false, &work, &|_, _| {});
        assert_eq!(begun.into_inner().expect("no panic"), [4, 2, 3, 0, 1, 5]);
    }

    #[test]
    fn ten_thousand_pieces_in_a_row_are_no_trouble() {
        let order = Order::new((0..10_000_usize).map(|at| at.checked_sub(1).into_iter().collect()).collect());
        let fates = run(
            &order,
            &BTreeSet::new(),
            Pace { parallel: 2, barrier: false },
            &|| false,
            &|_| Verdict::Done,
            &|_, _| {},
        );
        assert!(fates.iter().all(|fate| *fate == Fate::Done));
    }
}
