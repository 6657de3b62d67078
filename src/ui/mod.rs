//! The only room that prints.
//!
//! Enters: problems, plans, lists, events. Leaves: text on stdout (what was asked for) and on stderr (all else).
//! Decides nothing, and never asks anything where there is no terminal to ask on.

pub mod ask;
pub mod brief;
pub mod drift;
pub mod graph;
pub mod hosts;
pub mod impact;
pub mod layers;
pub mod lint;
pub mod locks;
pub mod names;
pub mod origin;
pub mod output;
pub mod page;
pub mod paint;
pub mod pick;
pub mod plan;
pub mod problem;
pub mod progress;
pub mod replies;
pub mod report;
pub mod runs;
pub mod stacks;
pub mod store;
pub mod table;
pub mod text;
pub mod versions;
pub mod watch;

pub use output::{Listing, Output, document, show};
pub use paint::Paint;
pub use problem::{Exit, fail, warn};
pub use progress::{Ending, Progress};
pub use table::Table;

use crate::base::Problem;
use std::io::{ErrorKind, Write};

/// When output is coloured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Colour {
    /// On a terminal that knows colours, unless `NO_COLOR` is set.
    #[default]
    Auto,
    Always,
    Never,
}

/// Sets when output is coloured, for the rest of the process.
pub fn set_colour(colour: Colour) {
    let choice = match colour {
        Colour::Auto => anstream::ColorChoice::Auto,
        Colour::Always => anstream::ColorChoice::Always,
        Colour::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
}

/// Writes `text` to stdout. A reader that went away (`suil nodes | head`) is no problem.
///
/// # Errors
/// The disk behind stdout is full, or the like: an answer that was cut short is a failure.
pub fn out(text: &str) -> Result<(), Problem> {
    write_out(anstream::stdout().lock(), text.as_bytes())
}

/// The same for what is no text of suil: a plaintext, a document for programs. Nothing of it is looked at or changed.
///
/// # Errors
/// As [`out`].
pub fn out_bytes(bytes: &[u8]) -> Result<(), Problem> {
    write_out(std::io::stdout().lock(), bytes)
}

fn write_out(mut stdout: impl Write, bytes: &[u8]) -> Result<(), Problem> {
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(Problem::io("write to", std::path::Path::new("stdout"), &e)),
        _ => Ok(()),
    }
}

/// Writes `text` to stderr; where that fails there is nobody left to tell.
pub fn err(text: &str) {
    let mut stderr = anstream::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// The columns of the terminal behind stdout; `None` where it is a pipe or a file.
pub fn columns() -> Option<usize> {
    let stdout = console::Term::stdout();
    stdout.is_term().then(|| stdout.size_checked().map_or(80, |(_, columns)| usize::from(columns).max(40)))
}
