//! `suil infra surgery rename`.

use super::{Bench, Common};
use crate::base::Plain;
use crate::cli::{Context, Outcome};
use crate::ui::{self, Exit};

/// Give a resource, an instance or a module another address in its state
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
    common: Common,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let bench = Bench::new(&args.common, context)?;
    let site = bench.open(&bench.layer)?;
    site.tool.quietly(&site.layer.output, &["state", "mv", &args.from, &args.to], &site.label())?;
    let text = || format!("{} → {} in {}\n", args.from, args.to, site.label());
    let value = || Plain::from_iter([("layer", Plain::from(site.label()))]);
    ui::show(context.output, text, value)?;
    Ok(Exit::Done)
}
