//! `suil ssh`.

use super::settings::variable;
use super::{Context, Outcome};
use crate::base::{Problem, shell};
use crate::catalogue::{Catalogue, Selection};
use crate::node::{Hand, Transport};
use crate::run;
use crate::ui::{self, Exit};

/// Open a session with one node, reached exactly as suil reaches it
#[derive(clap::Args, Debug)]
#[command(
    after_help = "suil becomes the system's ssh, with the address, user, key, options and kept connection of the node; its \
                  exit code is that of ssh. You are the user that logs in: become root with sudo."
)]
pub struct Args {
    /// The node; a glob that matches one alone will do
    #[arg(value_name = "NODE")]
    pub node: String,
    /// Run this there instead of a shell, behind `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
    /// Print the command line and do not run it
    #[arg(long)]
    pub print: bool,
}

/// Becomes the command that reaches the node.
pub fn run(args: Args, context: &Context) -> Outcome {
    let loaded = context.load()?;
    let catalogue = Catalogue::reach(&loaded.workspace, &Selection::node(&args.node))?;
    let [entry] = catalogue.entries.as_slice() else {
        let names = ui::names::fold(catalogue.entries.iter().map(|entry| &*entry.name)).join(", ");
        let what = format!("`{}` matches {} nodes", args.node, catalogue.entries.len());
        let problem = Problem::usage(what).expected("expected one node").note(format!("they are {names}"));
        let all = format!("`suil run --node {} -- COMMAND` runs a command on all of them", shell::quote(&args.node));
        return Err(problem.help(all).into());
    };
    let target = run::target(&loaded.vault, entry)?;
    let own = variable("SHELL").unwrap_or_else(|| "/bin/sh".to_owned());
    let terminal = ui::ask::possible("", "").is_ok() && ui::columns().is_some();
    let hand = Hand::reach(&target, &args.command, &own, terminal)?;
    if args.print {
        ui::out(&format!("{}\n", loaded.mask.apply(&hand.line())))?;
        return Ok(Exit::Done);
    }
    let problem = hand.take();
    Err(match target.transport {
        Transport::Russh => problem.help("the transport `russh` is suil's own; a person needs the system's ssh").into(),
        _ => problem.into(),
    })
}
