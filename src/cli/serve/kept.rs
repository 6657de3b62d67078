//! A value that is made anew when somebody asks for it and it is old.

use crate::base::{Problems, clock};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What was made last, and when.
struct Made<T> {
    at: Instant,
    value: Result<Arc<T>, Problems>,
}

pub struct Kept<T> {
    /// So long it is good.
    fresh: Duration,
    last: Mutex<Option<Made<T>>>,
}

impl<T> Kept<T> {
    pub fn new(fresh: Duration) -> Kept<T> {
        Kept { fresh, last: Mutex::new(None) }
    }

    /// The value, or why there is none. Who comes while it is being made waits for the same one.
    ///
    /// # Errors
    /// Those of `make`; they are kept as long as a value.
    pub fn get(&self, make: impl FnOnce() -> Result<T, Problems>) -> Result<Arc<T>, Problems> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = last.as_ref().filter(|made| made.at.elapsed() < self.fresh) {
            return made.value.clone();
        }
        let value = make().map(Arc::new);
        // The time counts from the end: what takes long to make is not made again at once.
        *last = Some(Made { at: clock::instant(), value: value.clone() });
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Problem;

    #[test]
    fn it_is_made_once_while_it_is_fresh_and_again_when_it_is_not() {
        let kept = Kept::new(Duration::from_secs(3600));
        assert_eq!(kept.get(|| Ok(1)).expect("made"), Arc::new(1));
        assert_eq!(kept.get(|| Ok(2)).expect("kept"), Arc::new(1));
        let kept = Kept::new(Duration::ZERO);
        kept.get(|| Err::<i32, _>(vec![Problem::new("x")])).expect_err("a problem");
        assert_eq!(kept.get(|| Ok(2)).expect("made"), Arc::new(2));
    }
}
