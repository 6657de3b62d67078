//! Options of commands that are described when their command is chosen: nearly every run needs those of one command, and
//! there are many.

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use std::cell::Cell;

thread_local! {
    static LAZY: Cell<bool> = const { Cell::new(false) };
}

/// Does `work`, in which commands are described as late as can be. Elsewhere they are described at once: who lists them
/// wants to see them whole.
pub fn lazily<T>(work: impl FnOnce() -> T) -> T {
    let before = LAZY.replace(true);
    let done = work();
    LAZY.set(before);
    done
}

/// The options of a command.
#[derive(Debug)]
pub struct Lazy<A>(pub A);

impl<A: Args> Args for Lazy<A> {
    fn augment_args(command: Command) -> Command {
        if LAZY.get() { command.defer(A::augment_args) } else { A::augment_args(command) }
    }

    fn augment_args_for_update(command: Command) -> Command {
        A::augment_args_for_update(command)
    }
}

impl<A: FromArgMatches> FromArgMatches for Lazy<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Lazy<A>, Error> {
        A::from_arg_matches(matches).map(Lazy)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Lazy<A>, Error> {
        A::from_arg_matches_mut(matches).map(Lazy)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }

    fn update_from_arg_matches_mut(&mut self, matches: &mut ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches_mut(matches)
    }
}
