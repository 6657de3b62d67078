//! The pace of connecting: sshd refuses at random once too many log in at once (`MaxStartups`), and a jump host
//! sees all of a fleet as one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many logins may be under way at once. Each refusal makes it slower, down to a floor.
#[derive(Clone)]
pub struct Pace {
    gate: Arc<Semaphore>,
    width: Arc<AtomicUsize>,
}

const WIDTH: usize = 32;
/// Half of what a stock sshd lets in before it begins to refuse.
const FLOOR: usize = 5;
/// How often a refused login is tried again.
pub(super) const TRIES: u32 = 8;

impl Default for Pace {
    fn default() -> Pace {
        Pace::new(WIDTH)
    }
}

impl Pace {
    pub fn new(width: usize) -> Pace {
        let width = width.max(1);
        Pace { gate: Arc::new(Semaphore::new(width)), width: Arc::new(AtomicUsize::new(width)) }
    }

    /// Waits for a turn; it ends when the permit is dropped.
    pub(super) async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        self.gate.clone().acquire_owned().await.ok()
    }

    /// Notes a refusal: a quarter of the width is given up, with the permit of whoever was refused.
    pub(super) fn refused(&self, permit: Option<OwnedSemaphorePermit>) {
        let slower = self.width.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |width| {
            (width > FLOOR).then(|| (width - width.div_ceil(4)).max(FLOOR))
        });
        if let (Ok(before), Some(permit)) = (slower, permit) {
            permit.forget();
            let more = before - (before - before.div_ceil(4)).max(FLOOR) - 1;
            self.gate.forget_permits(more);
        }
    }

    /// How long to wait before try number `attempt` (from 1). Spread by `seed`, so that those who were refused
    /// together do not come back together.
    pub(super) fn pause(attempt: u32, seed: &str) -> Duration {
        let digest = crate::base::digest::sha256(format!("{seed} {attempt}").as_bytes());
        let spread = u64::from_str_radix(digest.get(..4).unwrap_or("0"), 16).unwrap_or(0);
        let base = 250_u64 << attempt.min(5);
        Duration::from_millis(base / 2 + base * spread / 0xffff)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn refusals_narrow_the_gate_down_to_a_floor() {
        let pace = Pace::new(32);
        for _ in 0..40 {
            let permit = pace.turn().await;
            pace.refused(permit);
        }
        assert_eq!(pace.width.load(Ordering::Relaxed), FLOOR);
        assert_eq!(pace.gate.available_permits(), FLOOR);
    }

    #[test]
    fn nodes_that_were_refused_together_come_back_apart() {
        assert_ne!(Pace::pause(1, "a"), Pace::pause(1, "b"));
        assert!(Pace::pause(8, "a") < Duration::from_secs(13));
    }
}
