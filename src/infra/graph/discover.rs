//! Which folders are stacks.

use super::code::{self, Code};
use super::config::Own;
use super::each::each;
use super::tree::{Found, Tree};
use super::{Code as Word, key};
use crate::base::Result;
use std::collections::{BTreeMap, BTreeSet};

/// A folder that is a stack, or several of them.
#[derive(Debug)]
pub struct Place {
    pub path: String,
    pub code: Code,
    pub own: Own,
}

/// Finds the stacks of a tree, by their folders. `taken` are folders that belong to somebody else, with all that is
/// below them.
pub fn places(tree: &Tree, taken: &BTreeSet<String>, found: &mut Found) -> BTreeMap<String, Place> {
    let included: BTreeSet<&str> = tree.root.include.iter().map(|text| text.text.as_str()).collect();
    let mut candidates = candidates(tree, taken);
    candidates.retain(|path| !included.contains(path.as_str()));
    let read = each(&candidates, |path| read(tree, path));
    let mut places = BTreeMap::new();
    for (path, (own, code)) in candidates.iter().zip(read) {
        let Some(backend) = &code.backend else {
            // What could not be read may have said that this is a stack.
            found.warnings.extend(code.warnings);
            continue;
        };
        let at = Some(backend.at(backend.what.at));
        let kind = backend.what.kind.as_str();
        if path.is_empty() {
            found.warn(Word::RootStack, ".", "the root of the tree is never a stack", at);
        } else if kind != "s3" && !tree.root.every_backend {
            let message = format!(
                "`{path}` keeps its state in `{kind}`, so it is no stack; `stacks.backends: all` takes every backend"
            );
            found.warn(Word::BackendNotS3, path, message, at);
        } else {
            add(&mut places, path, own, code, found);
        }
    }
    for text in &tree.root.include {
        let path = text.text.as_str();
        let at = Some(text.at.clone());
        if path.is_empty() {
            found.warn(Word::RootStack, ".", "the root of the tree is never a stack", at);
        } else if !tree.listing.is_folder(path) {
            let message = format!("`stacks.include` names `{path}`, and there is no such folder");
            found.warn(Word::IncludeMissing, path, message, at);
        } else if tree.root.exclude.iter().any(|glob| glob.matches(path)) {
            let message = format!("`{path}` stands in `stacks.include` and in `stacks.exclude`; it is no stack");
            found.warn(Word::IncludeExcluded, path, message, at);
        } else {
            let (own, mut code) = self::read(tree, path);
            let usable = |kind: &str| kind == "s3" || tree.root.every_backend;
            if !code.backend.as_ref().is_some_and(|backend| usable(&backend.what.kind)) {
                let wanted = if tree.root.every_backend { "backend" } else { "backend `s3`" };
                let message = format!("`{path}` has no {wanted}, so nobody can read its state");
                found.warn(Word::IncludeNoBackend, path, message, at);
                code.backend = None;
            }
            add(&mut places, path, own, code, found);
        }
    }
    places
}

fn read(tree: &Tree, path: &str) -> (Result<Own>, Code) {
    let own = tree.own(path);
    let tool = own.as_ref().ok().and_then(|own| own.tool.as_deref());
    let code = tree.code(path, tool);
    (own, code)
}

fn add(places: &mut BTreeMap<String, Place>, path: &str, own: Result<Own>, code: Code, found: &mut Found) {
    match own {
        Ok(own) => {
            places.insert(path.to_owned(), Place { path: path.to_owned(), code, own });
        }
        Err(problems) => found.problems.extend(problems),
    }
}

/// The folders with code that a glob wants and none refuses.
fn candidates(tree: &Tree, taken: &BTreeSet<String>) -> Vec<String> {
    let mut found = BTreeSet::new();
    for glob in &tree.root.discover {
        let fixed = glob.fixed();
        let wanted = tree.listing.below(&fixed).filter(|(path, folder)| code::holds_code(folder) && glob.matches(path));
        found.extend(wanted.map(|(path, _)| path.to_owned()));
    }
    let module = |path: &str| tree.root.modules.iter().any(|glob| glob.matches(path));
    // In a tree of layers that folder has the code that all of them share.
    let common = tree.options.stacks.to_str().filter(|_| !taken.is_empty());
    found.retain(|path| {
        Some(path.as_str()) != common
            && !key::ancestors(path).any(|above| taken.contains(above) || module(above))
            && !tree.root.exclude.iter().any(|glob| glob.matches(path))
    });
    found.into_iter().collect()
}
