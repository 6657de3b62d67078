//! `suil infra locks`.

use super::root;
use crate::base::{Plain, clock};
use crate::cli::{Context, Outcome};
use crate::infra::store::Lock;
use crate::ui::{self, Exit, Paint};
use std::path::PathBuf;

/// List the stacks that are locked, and who holds them
#[derive(clap::Args, Debug)]
#[command(
    after_help = "A run takes the locks of all its stacks before it applies the first, and lets them go when it ends. A \
                  process that is gone has left them over: `suil infra resume` takes them up, `suil infra unlock` takes \
                  them away. Of a process on another machine nobody here can tell.\n\nExample: suil infra locks --output json"
)]
pub struct Args {
    /// The root of the tree [default: found by walking up from here]
    #[arg(long, value_name = "DIR")]
    repo_root: Option<PathBuf>,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let tree = root::root(args.repo_root.as_deref(), context)?;
    let locks = root::known(&tree, context)?.map(|store| store.locks()).transpose()?.unwrap_or_default();
    let value = || Plain::from_iter([("locks", locks.iter().map(Lock::to_plain).collect())]);
    ui::show(context.output, || ui::store::locks(&locks, clock::now(), Paint::ON), value)?;
    Ok(Exit::Done)
}
