//! Who reacts to this run and has no part in it: with `--module` the others of a node are left alone, but what they
//! owe must not be lost.

use super::facts::Folder;
use super::{Options, Setup};
use crate::base::Problem;
use crate::catalogue::Entry;
use crate::plan::{Intent, Only, Operation};
use std::collections::BTreeSet;

/// A resource of a module that was not selected, and whose changes it reacts to.
pub struct Bystander {
    module: String,
    id: String,
    on: BTreeSet<String>,
}

/// The bystanders of a node. A module whose data or code is wrong is not this run's business and has none.
pub fn all(setup: &Setup, entry: &Entry, user: &str, options: &Options) -> Vec<Bystander> {
    if options.only.is_empty() {
        return Vec::new();
    }
    let others = entry.modules.iter().filter(|module| !options.only.contains(*module));
    let intents = others.filter_map(|module| {
        Intent::of(entry, &setup.modules, &setup.vault, user, &Only::from([module.to_string()])).ok()
    });
    let mut found = Vec::new();
    for part in intents.flat_map(|intent| intent.parts) {
        for resource in &part.resources {
            let on: BTreeSet<String> = resource.triggers().into_iter().map(|trigger| trigger.on.0).collect();
            if !on.is_empty() {
                found.push(Bystander { module: part.name.clone(), id: resource.id().0, on });
            }
        }
    }
    found
}

/// What a bystander was told.
pub struct Told {
    pub module: String,
    pub id: String,
    pub why: String,
}

/// Writes down what `operation` asks of bystanders, before it is performed. Each is told once.
///
/// # Errors
/// Their facts cannot be read or written.
pub fn tell(
    setup: &Setup,
    node: &str,
    bystanders: &mut Vec<Bystander>,
    changes: &BTreeSet<&str>,
    operation: &Operation,
) -> Result<Vec<Told>, Problem> {
    let folder = Folder::of(setup.workspace.root(), node);
    let asked = |bystander: &Bystander| bystander.on.iter().any(|on| changes.contains(on.as_str()));
    let mut told = Vec::new();
    for bystander in bystanders.iter().filter(|bystander| asked(bystander)) {
        let why = format!("`{}` was performed by a run that left module `{}` out", operation.title, bystander.module);
        folder.owe(&bystander.module, &bystander.id, &why, setup.vault.mask())?;
        told.push(Told { module: bystander.module.clone(), id: bystander.id.clone(), why });
    }
    bystanders.retain(|bystander| !asked(bystander));
    Ok(told)
}
