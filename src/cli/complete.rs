//! Completes a command line: a shell asks on every press of its completion key, through the variable `SUIL_COMPLETE`.
//!
//! Answers from the names of files, and where a key of a node is asked for, from that node's data. Never asks, connects
//! or decrypts; what is broken gives no candidates, and nothing is ever written on stderr, where it would spoil the line
//! that is being typed.

mod offer;
mod stacks;

use super::{Cli, settings};
use crate::ui::Exit;
use clap::{Arg, Command, CommandFactory};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};
use clap_complete::env::CompleteEnv;
use offer::Offer;
use std::ffi::{OsStr, OsString};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::path::Path;
use std::sync::Arc;

/// The variable that names the shell which asks.
pub const VARIABLE: &str = "SUIL_COMPLETE";

/// Answers the shell, where one asks; `None` in every other run.
pub fn answer(args: &[OsString]) -> Option<Exit> {
    let shell = settings::variable(VARIABLE).filter(|shell| shell != "0")?;
    set_hook(Box::new(|_| {}));
    let words = args.iter().skip_while(|word| *word != "--").skip(1).cloned().collect();
    // bash shows no words beside the candidates, so that nothing need be read for them.
    let helps = Path::new(&shell).file_name() != Some(OsStr::new("bash"));
    let offer = Arc::new(Offer::new(words, helps));
    let here = std::env::current_dir().ok();
    let answer = || CompleteEnv::with_factory(|| command(&offer)).var(VARIABLE).try_complete(args, here.as_deref());
    let answered = catch_unwind(AssertUnwindSafe(answer)).is_ok_and(|result| result.is_ok());
    Some(if answered { Exit::Done } else { Exit::Failed })
}

/// The command line with candidates: what a value is called says what may stand there, in every command alike.
fn command(offer: &Arc<Offer>) -> Command {
    fill(Cli::command(), offer)
}

fn fill(command: Command, offer: &Arc<Offer>) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|c| c.get_name().to_owned()).collect();
    let command = command.mut_args(|arg| with(arg, offer));
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, |below| fill(below, offer)))
}

fn with(arg: Arg, offer: &Arc<Offer>) -> Arg {
    let name = arg.get_value_names().and_then(|names| names.first()).map(|name| name.to_string());
    let list: fn(&Offer, &str) -> Vec<CompletionCandidate> = match name.as_deref() {
        Some("NODE") => Offer::nodes,
        Some("ROLE") => Offer::roles,
        Some("MODULE") => Offer::modules,
        Some("KEY") => Offer::keys,
        Some("STACK") => Offer::stacks,
        Some("RUN" | "FIRST" | "SECOND") => Offer::runs,
        Some("REV" | "REV2") => Offer::revisions,
        Some("FILE") => return arg.add(ArgValueCompleter::new(PathCompleter::file())),
        Some("LAYER") => return arg.add(ArgValueCompleter::new(Layers(offer.clone()))),
        Some("SURGERY") => Offer::surgeries,
        Some("DIR") => return arg.add(ArgValueCompleter::new(PathCompleter::dir())),
        _ => return arg,
    };
    arg.add(ArgValueCompleter::new(Words { offer: offer.clone(), list }))
}

/// Candidates of one kind.
struct Words {
    offer: Arc<Offer>,
    list: fn(&Offer, &str) -> Vec<CompletionCandidate>,
}

impl ValueCompleter for Words {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        current.to_str().map(|current| (self.list)(&self.offer, current)).unwrap_or_default()
    }
}

/// The layers of a tree by their folders; whoever begins with another folder gets the folders there.
struct Layers(Arc<Offer>);

impl ValueCompleter for Layers {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let layers = current.to_str().map(|current| self.0.layers(current)).unwrap_or_default();
        if layers.is_empty() { PathCompleter::dir().complete(current) } else { layers }
    }
}
