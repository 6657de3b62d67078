//! Limits on module code, and the wall that a panic of the interpreter stops at.

use crate::base::Problem;
use starlark::codemap::FileSpanRef;
use starlark::eval::{BeforeStmtFunc, BeforeStmtFuncDyn, Evaluator};
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

/// Function calls and loop turns of one evaluation. A module with a thousand resources needs some ten thousand.
const STEPS: u64 = 1_000_000;
/// Memory of one evaluation.
const HEAP: usize = 256 << 20;
/// Calls inside calls.
const DEPTH: usize = 200;

/// Sets the limits of one evaluation.
pub fn limit(eval: &mut Evaluator) {
    // Each setter refuses only a zero and a second call.
    let _ = eval.set_max_tick_count(STEPS);
    let _ = eval.set_max_heap_size(HEAP);
    let _ = eval.set_max_callstack_size(DEPTH);
    // The interpreter looks at the heap every thousand steps, and a list that doubles needs thirty for all of memory.
    eval.before_stmt_for_dap(BeforeStmtFunc::from_dyn(Box::new(Watch)));
}

/// Looks at the heap before every statement.
struct Watch;

impl<'e> BeforeStmtFuncDyn<'e> for Watch {
    fn call<'v>(
        &mut self,
        _span: FileSpanRef,
        _continued: bool,
        eval: &mut Evaluator<'v, '_, 'e>,
    ) -> starlark::Result<()> {
        match eval.heap().allocated_bytes() > HEAP {
            true => Err(starlark::Error::new_other(TooLarge)),
            false => Ok(()),
        }
    }
}

/// The words are those of the interpreter's own limit, so that both read alike to the author.
#[derive(Debug)]
struct TooLarge;

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("heap limit exceeded")
    }
}

impl std::error::Error for TooLarge {}

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `f`; a panic inside becomes a problem, and the standard message of a panic is not printed for it.
///
/// The interpreter panics where a list or a string outgrows 4 GiB, before it looks at the heap limit.
pub fn caught<T>(module: &str, f: impl FnOnce() -> T) -> Result<T, Problem> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !INSIDE.get() {
                before(info);
            }
        }));
    });
    let outer = INSIDE.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(f));
    INSIDE.set(outer);
    result.map_err(|_| {
        Problem::new(format!("module `{module}`: its code made a value that is too large to hold"))
            .help("look for a list or a string that doubles in a loop")
    })
}
