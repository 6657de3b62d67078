//! Runs over stacks and locked stacks, for a command line that is being typed. Only a store in the tree is asked.

use crate::cli::Context;
use crate::cli::infra::root;
use crate::infra::store::{self, Filter, Known, Store};
use crate::ui::Output;
use clap_complete::engine::CompletionCandidate;
use std::sync::Arc;

/// So many runs are offered, the newest.
const RUNS: u32 = 100;

fn store() -> Option<Arc<dyn Store>> {
    let tree = root::root(None, &Context { workspace: None, output: Output::Text }).ok()?;
    match store::known(None, &tree) {
        Ok(Known::Open(store)) => Some(store),
        _ => None,
    }
}

/// The runs that begin so, and how each went.
pub fn runs(start: &str) -> Vec<CompletionCandidate> {
    let filter = Filter { prefix: Some(start.to_owned()), limit: Some(RUNS), ..Filter::default() };
    let found = store().and_then(|store| store.runs(&filter).ok()).unwrap_or_default();
    let candidate = |run: &store::Run| {
        let help = format!("{}, {}, {}", run.mode, run.state, run.who);
        CompletionCandidate::new(&run.id).help(Some(help.into()))
    };
    found.iter().map(candidate).collect()
}

/// The locked stacks that begin so, and who holds each.
pub fn keys(start: &str) -> Vec<CompletionCandidate> {
    let found = store().and_then(|store| store.locks().ok()).unwrap_or_default();
    let locks = found.iter().filter(|lock| lock.stack.starts_with(start));
    locks.map(|lock| CompletionCandidate::new(&lock.stack).help(Some(lock.who.clone().into()))).collect()
}
