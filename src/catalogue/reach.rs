//! How nodes are reached, and nothing else of them: for what is done on a node whatever its modules say.

use super::build::{Catalogue, entry};
use super::card::Card;
use super::entry::Entry;
use super::files::keep;
use super::lookup::Answers;
use super::select::{Selection, select};
use super::stack::Shape;
use super::workspace::Workspace;
use crate::base::{Place, Problems, Result, problem};
use crate::data::secret::Vault;
use crate::data::{Map, Value, value};
use std::sync::Arc;

const KEY: &str = "deployment";

impl Catalogue {
    /// Builds entries of the selected nodes that have their `deployment` alone. A node that was never probed, a module
    /// that is broken or missing, and data of modules that is wrong are no hindrance.
    ///
    /// # Errors
    /// A selection that matches nothing, and all problems of the layers that say how the nodes are reached.
    pub fn reach(workspace: &Workspace, selection: &Selection) -> Result<Catalogue> {
        let mut problems = Problems::new();
        let mut warnings = Problems::new();
        let mut answers = Answers::default();
        let mut entries = Vec::new();
        for (_, card) in select(workspace, selection, &mut warnings)? {
            let Some(card) = keep(card, &mut problems) else { continue };
            entries.extend(keep(one(workspace, &card, &mut answers), &mut problems));
        }
        let reads = answers.reads();
        problems.append(&mut answers.problems);
        problem::sort(&mut problems);
        if problems.is_empty() { Ok(Catalogue { entries, warnings, reads }) } else { Err(problems) }
    }

    /// Opens all secrets of the selected nodes that the keys of `vault` open, so that its mask knows them. Data that is
    /// wrong, and secrets for other keys, are passed over.
    pub fn open_secrets(workspace: &Workspace, selection: &Selection, vault: &Vault) {
        if !vault.has_keys() {
            return;
        }
        let Ok((catalogue, _)) = Catalogue::sound(workspace, selection) else { return };
        for entry in catalogue.entries.iter().filter(|entry| entry.has_secrets()) {
            entry.merged.iter().for_each(|data| open(data, vault));
        }
    }
}

fn open(value: &Value, vault: &Vault) {
    match &value.kind {
        value::Kind::Secret(cipher) => {
            let _ = vault.reveal(cipher, "", value.place);
        }
        value::Kind::List(list) => list.iter().for_each(|item| open(item, vault)),
        value::Kind::Map(map) => map.values().for_each(|slot| open(&slot.value, vault)),
        value::Kind::Scalar(_) | value::Kind::Lookup(_) => {}
    }
}

fn one(workspace: &Workspace, card: &Card, answers: &mut Answers) -> Result<Entry> {
    let probe = workspace.probe(&card.name).unwrap_or_default();
    let slice = |shape: &Shape| workspace.stacks().get(workspace, shape).slice(workspace, &card.name, KEY);
    let whole = card.shape(workspace, &probe).and_then(|shape| slice(&shape));
    // What is wrong may be a module's; without modules the layers of role and node are left.
    let bare = || slice(&Shape::new(card.role.clone(), Arc::from([]), &probe));
    let deployment = whole.or_else(|problems| bare().map_err(|_| problems))?;
    let merged = deployment.map(|value| alone(value, card.role_place));
    entry(workspace, card, probe, Arc::from([]), merged, answers)
}

fn alone(value: Value, place: Place) -> Value {
    let entry = crate::data::Entry { key: value.place, value };
    Value { kind: value::Kind::Map(Arc::new(Map::from_iter([(Arc::from(KEY), entry)]))), place }
}
