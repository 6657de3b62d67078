//! `suil infra surgery remove`.

use super::report::{Report, Told, command};
use super::{Bench, Change, addresses};
use crate::base::Problems;
use crate::cli::{Context, Outcome};
use crate::infra::surgery::{Address, absent};
use crate::ui::Exit;

/// Remove resources, instances or modules from a state, and destroy nothing
///
/// Terraform forgets them. What is still in the code is created anew by the next apply.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example: suil infra surgery remove aws_instance.a 'module.shop[\"eu\"]'")]
pub struct Args {
    /// What to remove; a module or a resource without a key stands for all its instances
    #[arg(value_name = "ADDRESS", required = true)]
    addresses: Vec<String>,
    #[command(flatten)]
    change: Change,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let picks = addresses(&args.addresses)?;
    let bench = Bench::new(&args.change.common, context)?;
    let site = bench.open(&bench.layer)?;
    let before = site.pull()?;
    let state = bench.state(&site, &before)?;
    let problems: Problems =
        picks.iter().filter(|pick| state.covered(pick).is_empty()).map(|pick| absent(state, pick)).collect();
    if !problems.is_empty() {
        return Err(problems);
    }
    let gone = state.addresses().into_iter().filter(|at| picks.iter().any(|pick| pick.covers(at)));
    let resources = gone.map(|address| (Some(address), None)).collect();
    let names: Vec<String> = picks.iter().map(Address::to_string).collect();
    let arguments: Vec<&str> = ["state", "rm"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let dry_run = args.change.dry_run;
    let mut report = Report { dry_run, did: "removed", resources, ..Report::default() };
    if dry_run {
        report.commands.push(command(&site, &arguments));
        report.layers.push(Told::new(&site, Some(before.serial())));
    } else {
        let done = bench.work("remove", None).by_terraform(&site, &before, &arguments)?;
        report.layers.push(Told::new(&site, done.serials.first().copied()));
        report.undo = done.id;
    }
    report.show(context)?;
    Ok(Exit::Done)
}
