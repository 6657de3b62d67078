//! Everything that can be known wrong before anything connects.

use super::{Options, Setup, layers};
use crate::base::{Problems, Result, problem};
use crate::catalogue::{Catalogue, Entry};
use crate::node::{Target, Transport};
use crate::plan::{Intent, Vault};
use std::num::NonZero;

/// A node that may be connected to.
pub struct Prepared {
    pub entry: Entry,
    pub target: Target,
    /// `None` where the node was never probed: its OS layer is still to come.
    pub intent: Option<Intent>,
}

/// Prepares every node of the catalogue, on all cores: module code depends on its config alone.
///
/// # Errors
/// All problems of all nodes: nobody is half applied because of a misspelt key.
pub fn prepare(setup: &Setup, catalogue: &Catalogue, options: &Options) -> Result<Vec<Prepared>> {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let share = catalogue.entries.len().div_ceil(threads).max(1);
    let work = |part: &[Entry]| part.iter().map(|entry| one(setup, entry, options)).collect::<Vec<_>>();
    let found: Vec<Result<Prepared>> = std::thread::scope(|scope| {
        let started: Vec<_> = catalogue.entries.chunks(share).map(|part| scope.spawn(move || work(part))).collect();
        started.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    });
    let mut problems = Problems::new();
    let mut prepared = Vec::with_capacity(found.len());
    for node in found {
        match node {
            Ok(node) => prepared.push(node),
            Err(found) => problems.extend(found),
        }
    }
    // One after the other: which of two nodes holds a layer must not depend on threads.
    for Prepared { entry, intent, .. } in &prepared {
        let modules = intent.iter().flat_map(|intent| layers::modules(&intent.parts));
        problems.extend(modules.flat_map(|(name, config)| layers::check(&*setup.layers, entry, &name, &config)));
    }
    problem::sort(&mut problems);
    if problems.is_empty() { Ok(prepared) } else { Err(problems) }
}

fn one(setup: &Setup, entry: &Entry, options: &Options) -> Result<Prepared> {
    let target = target(&setup.vault, entry)?;
    let intent = match entry.probe.is_known() {
        true => Some(setup.intent(entry, &target, options)?),
        false => {
            let user = target.user.clone().unwrap_or_default();
            let problems = Intent::misfits(entry, &setup.modules, &setup.vault, &user, &options.only)?;
            if !problems.is_empty() {
                return Err(problems);
            }
            None
        }
    };
    Ok(Prepared { entry: entry.clone(), target, intent })
}

/// How the node is reached, with the secrets of its `deployment` revealed.
///
/// # Errors
/// All that is wrong with it, and secrets that no key opens.
pub fn target(vault: &Vault, entry: &Entry) -> Result<Target> {
    let mut target = Target::from_plain(&entry.name, &entry.settings(vault)?)?;
    let address = match target.transport {
        Transport::Openssh | Transport::Russh => "ssh_host",
        Transport::Exec => "exec",
        Transport::Local => "transport",
    };
    target.place = entry.deployment_place(address).or(Some(entry.place));
    target.login_place = entry.deployment_place("ssh_user");
    Ok(target)
}

impl Setup {
    /// What the modules of `entry` mean the node to be.
    ///
    /// # Errors
    /// All problems of its configs and of its modules' code.
    pub fn intent(&self, entry: &Entry, target: &Target, options: &Options) -> Result<Intent> {
        let user = target.user.clone().unwrap_or_default();
        Intent::of(entry, &self.modules, &self.vault, &user, &options.only)
    }
}
