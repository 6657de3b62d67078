//! `suil infra surgery rename`.

use super::report::{Report, Told, command};
use super::{Bench, Change, addresses};
use crate::base::{Problem, Problems, Result};
use crate::cli::{Context, Outcome};
use crate::infra::surgery::{Address, State, transfer};
use crate::ui::Exit;

/// Give a resource, an instance or a module another address in its state
///
/// The code of the layer is not changed: rename it there, too.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example: suil infra surgery rename aws_instance.a 'aws_instance.b[\"blue\"]'")]
pub struct Args {
    /// What it is called
    #[arg(value_name = "FROM")]
    from: String,
    /// What it is to be called
    #[arg(value_name = "TO")]
    to: String,
    #[command(flatten)]
    change: Change,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let names = addresses(&[args.from, args.to])?;
    let [from, to] = names.as_slice() else { return Err(Problem::new("two addresses are needed").into()) };
    let bench = Bench::new(&args.change.common, context)?;
    rename(&bench, from, to, args.change.dry_run, context)
}

/// Renames in the state of the bench's layer.
pub fn rename(bench: &Bench, from: &Address, to: &Address, dry_run: bool, context: &Context) -> Outcome {
    let site = bench.open(&bench.layer)?;
    let before = site.pull()?;
    let state = bench.state(&site, &before)?;
    let pairs = renamed(state, from, to)?;
    let (old, new) = (from.to_string(), to.to_string());
    let arguments = ["state", "mv", &old, &new];
    let resources = pairs.into_iter().map(|(from, to)| (Some(from), Some(to))).collect();
    let mut report = Report { dry_run, did: "renamed", resources, ..Report::default() };
    if dry_run {
        report.commands.push(command(&site, &arguments));
        report.layers.push(Told::new(&site, Some(before.serial())));
    } else {
        let done = bench.work("rename", None).by_terraform(&site, &before, &arguments)?;
        report.layers.push(Told::new(&site, done.serials.first().copied()));
        report.undo = done.id;
    }
    report.show(context)?;
    Ok(Exit::Done)
}

fn renamed(state: &State, from: &Address, to: &Address) -> Result<Vec<(Address, Address)>> {
    if from == to {
        return Err(Problem::usage(format!("`{from}` is called so already")).into());
    }
    let nowhere = State::empty(state.lineage(), state.terraform());
    let pairs = transfer(state, &nowhere, std::slice::from_ref(from), Some(to))?.pairs;
    let known = state.addresses();
    let taken = pairs.iter().filter(|(_, to)| known.contains(to));
    let problems: Problems = taken
        .map(|(from, to)| {
            Problem::new(format!("`{to}` is in the state already"))
                .note(format!("it would be the new address of `{from}`"))
        })
        .collect();
    if problems.is_empty() { Ok(pairs) } else { Err(problems) }
}
