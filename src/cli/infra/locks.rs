//! `suil infra locks`.

use super::root;
use super::tree::Where;
use crate::base::{Plain, clock};
use crate::cli::{Context, Outcome};
use crate::infra::store::Lock;
use crate::ui::{self, Exit, Paint};

/// List the stacks that are locked, and who holds them
#[derive(clap::Args, Debug)]
#[command(
    after_help = "A run takes the locks of all its stacks before it applies the first, and lets them go when it ends. A \
                  process that is gone has left them over: `suil infra resume` takes them up, `suil infra unlock` takes \
                  them away. Of a process on another machine nobody here can tell.\n\nExample: suil infra locks --output json"
)]
pub struct Args {
    #[command(flatten)]
    place: Where,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let mut locks = Vec::new();
    if let Some(books) = root::known(&args.place, context)? {
        locks = books.store.locks()?;
        locks.retain(|lock| books.has(&lock.repo));
    }
    let value = || Plain::from_iter([("locks", locks.iter().map(Lock::to_plain).collect())]);
    ui::show(context.output, || ui::store::locks(&locks, clock::now(), Paint::ON), value)?;
    Ok(Exit::Done)
}
