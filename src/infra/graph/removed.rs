//! Stacks that a revision had and the tree has no more.

use super::files::{Files, Folder, Listing};
use super::layers::Layers;
use super::memo::Memo;
use super::{At, Graph, Kind, Need, Removed, code, config, key, links, scan, tree};
use crate::data::Tree;
use crate::data::tree::Change;
use crate::infra::layer::Run;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// True where stacks may have gone with these changes: a file is gone, or the configuration is another one.
pub fn may_be(changes: &[Change]) -> bool {
    changes.iter().any(|change| change.gone || is_config(&change.path))
}

fn is_config(path: &str) -> bool {
    matches!(key::name(path), config::OWN) || path == config::ROOT
}

/// The stacks of the tree `run` reads, which is `old`, that `graph` does not have; a stack comes after those that need it, as it is destroyed. Only
/// the folders that `changes` name are looked at, unless the root configuration is among them. What of the old tree cannot
/// be read is none.
pub fn removed(old: &dyn Tree, run: &Arc<Run>, root: &Path, graph: &Graph, changes: &[Change]) -> Vec<Removed> {
    let layered = run.sources.is_folder(&root.join(&run.options.environments));
    let Some(listing) = listing(old, changes, layered) else { return Vec::new() };
    let memo = Memo::default();
    let layers = Layers { run, root };
    let files = Files::Tree(old);
    let before = scan::scan(files, &listing, &memo, &graph.repo, &layers, links::of(&files, &listing));
    let Ok(before) = before else { return Vec::new() };
    let known: BTreeSet<&str> = graph.stacks.iter().map(|stack| stack.key.as_str()).collect();
    let gone: BTreeSet<String> = before
        .stacks
        .iter()
        .filter(|stack| !stack.external && !known.contains(stack.key.as_str()))
        .map(|stack| stack.key.clone())
        .collect();
    let order = super::Order::new(&before);
    let waves = order.waves(&gone).unwrap_or_else(|_| vec![gone.iter().cloned().collect()]);
    let stacks: BTreeMap<&str, &super::Stack> = before.stacks.iter().map(|stack| (stack.key.as_str(), stack)).collect();
    let needs = |key: &str| {
        let own = before.edges.iter().filter(|edge| edge.from.kind == Kind::Stack && edge.from.key == key);
        own.filter(|edge| edge.kind != Need::UsesModule).map(|edge| edge.to.key.clone()).collect()
    };
    let told = waves.iter().rev().flatten().filter_map(|key| stacks.get(key.as_str()));
    told.map(|stack| Removed {
        key: stack.key.clone(),
        path: stack.path.clone(),
        instance: stack.instance.clone(),
        state: stack.state.clone(),
        needs: needs(&stack.key),
        at: match &stack.layer {
            Some(folder) => super::layers::backend(&layers, folder),
            None => backend(old, &listing, &stack.path),
        },
    })
    .collect()
}

/// Where the backend of a folder of the old tree is written.
fn backend(old: &dyn Tree, listing: &Listing, path: &str) -> Option<At> {
    let memo = Memo::default();
    let code = code::Code::read(&Files::Tree(old), listing, &memo, path, true);
    code.backend.as_ref().map(|kept| {
        let at = kept.at(kept.what.at);
        At { file: old.shown(&at.file).display().to_string(), ..at }
    })
}

/// The part of the old tree that matters; `None` where it cannot be listed.
fn listing(old: &dyn Tree, changes: &[Change], whole: bool) -> Option<Listing> {
    if whole || changes.iter().any(|change| change.path == config::ROOT) {
        return Listing::of_tree(old).ok();
    }
    let mut listing = Listing::default();
    let changed = changes.iter().filter(|change| change.gone || is_config(&change.path));
    let folders: BTreeSet<&str> = changed.flat_map(|change| key::ancestors(key::folder(&change.path))).collect();
    add(old, "", false, &mut listing)?;
    for folder in folders {
        // All that is below a folder with code may make an instance of it.
        if let Some(deep) = add(old, folder, false, &mut listing).filter(|deep| *deep) {
            add(old, folder, deep, &mut listing);
        }
    }
    Some(listing)
}

/// Lists a folder, with all below it or without; tells whether it holds code.
fn add(old: &dyn Tree, path: &str, deep: bool, listing: &mut Listing) -> Option<bool> {
    let entries = old.entries(path).ok()?;
    let mut folder = Folder::default();
    for (name, is_folder) in entries {
        if !is_folder {
            folder.files.push(super::files::Entry { name, link: false, mark: None });
        } else if deep && !super::files::is_skipped(&name) {
            add(old, &tree::below(path, &name), deep, listing);
        }
    }
    let code = code::holds_code(&folder);
    listing.folders.insert(path.to_owned(), folder);
    Some(code)
}
