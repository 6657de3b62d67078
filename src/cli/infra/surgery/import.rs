//! `suil infra surgery import`.

use super::report::{Report, Told, command};
use super::{Bench, Change, addresses};
use crate::base::Problem;
use crate::cli::{Context, Outcome};
use crate::infra::surgery::{Pulled, State};
use crate::ui::Exit;

/// Take something that exists into a state
///
/// The code of the layer must have the resource already.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example: suil infra surgery import aws_instance.a i-0a1b2c3d")]
pub struct Args {
    /// Where it is in the code
    #[arg(value_name = "ADDRESS")]
    address: String,
    /// What its provider calls it
    #[arg(value_name = "ID", allow_hyphen_values = true)]
    id: String,
    #[command(flatten)]
    change: Change,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let names = addresses(std::slice::from_ref(&args.address))?;
    let Some(address) = names.into_iter().next().filter(|address| address.resource.is_some()) else {
        let problem = Problem::usage(format!("`{}` is a module", args.address));
        return Err(problem.expected("expected a resource or an instance of one").into());
    };
    let bench = Bench::new(&args.change.common, context)?;
    let site = bench.open(&bench.layer)?;
    let before = site.pull()?;
    let known = |pulled: &Pulled| pulled.state.as_ref().map(State::addresses).unwrap_or_default();
    if known(&before).contains(&address) {
        return Err(Problem::new(format!("`{address}` is in the state already"))
            .help("remove it from the state first, or import to another address")
            .into());
    }
    let name = address.to_string();
    let arguments = ["import", "-input=false", "-no-color", &name, &args.id];
    let dry_run = args.change.dry_run;
    let resources = vec![(None, Some(address))];
    let mut report = Report { dry_run, did: "imported", resources, ..Report::default() };
    if dry_run {
        report.commands.push(command(&site, &arguments));
        report.layers.push(Told::new(&site, before.state.as_ref().map(State::serial)));
    } else {
        let done = bench.work("import", None).by_terraform(&site, &before, &arguments)?;
        report.layers.push(Told::new(&site, done.serials.first().copied()));
        report.undo = done.id;
    }
    report.show(context)?;
    Ok(Exit::Done)
}
