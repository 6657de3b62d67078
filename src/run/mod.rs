//! Performs a plan, looks again, writes down what happened.
//!
//! Enters: a catalogue, its modules, a plan. Leaves: changed nodes, facts, records, outcomes. Never prints.

pub mod adhoc;
mod bystander;
mod commit;
mod debt;
mod each;
pub mod facts;
pub mod gather;
mod guard;
mod hook;
pub mod layers;
mod link;
mod lock;
pub mod outcome;
pub mod past;
pub mod perform;
pub mod pool;
pub mod prepare;
pub mod prune;
pub mod record;
pub mod roll;
pub mod saved;
pub mod stop;
mod turn;
pub mod unlock;
pub mod watch;

pub use adhoc::{Errand, Reply, adhoc, targets};
pub use gather::{Gathered, gather, rest};
pub use layers::Layers;
pub use outcome::Outcome;
pub use past::{Run, Runs};
pub use perform::leave;
pub use prepare::{Prepared, prepare, target};
pub use record::{About, NodeRecord, Record};
pub use roll::{Rolled, perform};
pub use stop::Stop;
pub use unlock::{Lock, Look};
pub use watch::{Both, Event, Watch};

use crate::base::Plain;
use crate::catalogue::{Entry, Workspace};

use crate::node::Access;
use crate::plan::{Modules, Only, Vault};
use std::sync::Arc;
use std::time::Duration;

/// What a run works with.
pub struct Setup {
    pub workspace: Workspace,
    pub modules: Modules,
    pub vault: Vault,
    pub access: Access,
    pub layers: Arc<dyn Layers>,
}

/// What the command line asks of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Only these modules of each node; empty: all.
    pub only: Only,
    /// Every resource is asserted, whether it differs or not.
    pub force: bool,
    /// So many nodes are worked on at once.
    pub parallel: usize,
    /// Who runs this, from where and what for: stands in the lock of each node that is changed.
    pub purpose: String,
    /// One operation may take so long.
    pub step_limit: Duration,
}

impl Gathered {
    /// What was read of each node that was reached: the probe, and the facts of each module.
    pub fn facts(&self) -> impl Iterator<Item = (String, Plain)> {
        let reached = self.nodes.iter().filter_map(|(node, ready)| Some((node, ready.as_ref().ok()?)));
        reached.map(|(node, ready)| {
            let mut all = Plain::from_iter([("suil", ready.probe.clone())]);
            for (part, report) in ready.intent.reports(&ready.facts, &ready.collected) {
                all.set(&part.name, report);
            }
            (node.clone(), all)
        })
    }

    /// What `.runs/<timestamp>/` keeps of each node that was reached.
    pub fn records(&self, vault: &Vault) -> Vec<NodeRecord> {
        let reached = self.nodes.iter().filter_map(|(node, ready)| Some((node, ready.as_ref().ok()?)));
        reached
            .map(|(node, ready)| NodeRecord {
                node: node.clone(),
                entry: describe(ready, vault),
                configs: ready.intent.parts.iter().map(|p| (p.name.clone(), p.config.public.clone())).collect(),
            })
            .collect()
    }
}

/// `node.yaml`: role, family, release, deployment, modules, in the order of the Python suil's records.
fn describe(ready: &gather::Ready, vault: &Vault) -> Plain {
    let entry = &ready.entry;
    Plain::from_iter([
        ("role", Plain::Str(entry.role.to_string())),
        ("family", Plain::from(entry.family().map(Plain::from))),
        ("release", entry.probe.release.clone().unwrap_or_default()),
        ("deployment", deployment(entry, vault)),
        ("modules", entry.modules.iter().map(|module| Plain::from(&**module)).collect()),
    ])
}

/// The connection settings, secrets as digests.
fn deployment(entry: &Entry, vault: &Vault) -> Plain {
    let Some(value) = entry.deployment() else { return Plain::map() };
    value.to_plain(&mut |cipher, place| {
        Plain::Str(vault.public(cipher, "deployment", place).unwrap_or_else(|problem| problem.what))
    })
}
