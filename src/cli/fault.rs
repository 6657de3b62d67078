//! A fault of suil itself ends like any other error: in suil's own form, and without the values at hand, which may be
//! secrets.

use crate::base::{Mask, Problem};
use crate::ui::{self, Exit};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::{Mutex, PoisonError};

/// Where the last panic was. Its message is not kept: a slice that fails quotes the text that it failed on.
static PLACE: Mutex<String> = Mutex::new(String::new());

/// Runs `work`; a panic becomes a problem. Who works on suil wants to see all of it, and says so with `raw`.
pub fn guard(raw: bool, work: impl FnOnce() -> Exit) -> Exit {
    if raw {
        return work();
    }
    let usual = take_hook();
    set_hook(Box::new(|info| {
        let place = info.location().map(|at| format!("{}:{}", at.file(), at.line())).unwrap_or_default();
        *PLACE.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }));
    let exit = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let place = PLACE.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let problem = Problem::new(format!("suil itself failed, at {place}"))
            .note("this is a fault of suil, not of your data")
            .help("run the same again with `RUST_BACKTRACE=1`, and report what it says");
        ui::fail(&[problem], &Mask::new())
    });
    set_hook(usual);
    exit
}
