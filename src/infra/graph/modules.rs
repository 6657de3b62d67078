//! Modules, and who uses them.

use super::code::{Code, Said, shown};
use super::each::each;
use super::source::{self, Remote, Source};
use super::tree::{Found, Tree};
use super::{At, Code as Word, Edge, Kind, Module, Need, Node, Origin, key};
use crate::infra::hcl::{Called, Literal};
use std::collections::{BTreeMap, BTreeSet};

/// A use of a module, from a folder.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Use {
    pub to: String,
    /// As the code writes it.
    pub source: String,
    pub pin: String,
    pub at: At,
}

/// The modules of a tree, and the uses by folder.
#[derive(Debug, Default)]
pub struct Modules {
    pub modules: BTreeMap<String, Module>,
    pub uses: BTreeMap<String, Vec<Use>>,
    /// The sources that have a password in them, by the keys of their modules.
    pub closed: BTreeMap<String, String>,
}

/// Follows every source from the code of stacks, by folder, and from the folders of modules.
pub fn modules(tree: &Tree, stacks: &BTreeMap<&str, &Code>, found: &mut Found) -> Modules {
    let mut all = Modules::default();
    let declared = tree.listing.folders.iter().filter(|(path, _)| {
        !path.is_empty() && tree.root.modules.iter().any(|glob| glob.matches(path)) && tree.holds_code(path)
    });
    let mut open: BTreeSet<String> = declared.map(|(path, _)| path.clone()).collect();
    for path in &open {
        all.add_local(tree, path);
    }
    for (path, code) in stacks {
        open.extend(all.follow(tree, path, code, found));
    }
    // The code of a stack that is used as a module is read already.
    let mut seen: BTreeSet<String> = stacks.keys().map(|path| (*path).to_owned()).collect();
    open.retain(|path| !seen.contains(path));
    while !open.is_empty() {
        let folders: Vec<String> = std::mem::take(&mut open).into_iter().collect();
        seen.extend(folders.iter().cloned());
        let codes = each(&folders, |path| tree.code(path, None));
        for (path, code) in folders.iter().zip(codes) {
            found.warnings.extend(code.warnings.iter().cloned());
            open.extend(all.follow(tree, path, &code, found));
        }
        open.retain(|path| !seen.contains(path));
    }
    all
}

impl Modules {
    fn add_local(&mut self, tree: &Tree, path: &str) -> String {
        let key = format!("{}//{}", tree.repo, shown(path));
        let module = Module {
            key: key.clone(),
            kind: Origin::Local,
            path: path.to_owned(),
            source: String::new(),
            pin: String::new(),
        };
        self.modules.entry(key.clone()).or_insert(module);
        key
    }

    /// Enters what the code of a folder uses, and returns the folders of local modules among it.
    pub fn follow(&mut self, tree: &Tree, folder: &str, code: &Code, found: &mut Found) -> Vec<String> {
        let mut locals = Vec::new();
        let mut uses: BTreeMap<String, Use> = BTreeMap::new();
        for called in &code.modules {
            let at = called.at(called.what.at);
            let Some((written, version)) = literal(folder, called, found) else { continue };
            let source = source::shown(&written);
            let (to, pin) = match source::read(&written, &version) {
                Source::Local(path) => match self.local(tree, folder, &path, &at, found) {
                    Some(path) => {
                        let key = self.add_local(tree, &path);
                        locals.push(path);
                        (key, String::new())
                    }
                    None => continue,
                },
                Source::Remote(remote) => match own(tree, &remote) {
                    Some(path) => {
                        let key = self.add_local(tree, &path);
                        let message =
                            format!("`{source}` names this repository without a version; it is taken as `{path}`");
                        found.warn(Word::GitModuleIsLocal, &key, message, Some(at.clone()));
                        locals.push(path);
                        (key, String::new())
                    }
                    None => {
                        let key = self.add_remote(&remote, &source);
                        if written != source {
                            self.closed.entry(key.clone()).or_insert(written);
                        }
                        (key, remote.pin)
                    }
                },
                Source::Unsupported => {
                    let message = format!("`{}` uses `{source}`, a kind of source that has no key", shown(folder));
                    found.warn(Word::ModuleUnsupported, subject(folder, &source), message, Some(at));
                    continue;
                }
            };
            let new = Use { to: to.clone(), source, pin, at };
            // Of several that mean the same, the one with the smallest words.
            match uses.get(&to).filter(|known| **known <= new) {
                Some(_) => {}
                None => {
                    uses.insert(to, new);
                }
            }
        }
        self.uses.entry(folder.to_owned()).or_default().extend(uses.into_values());
        locals
    }

    /// The folder of a local source.
    fn local(&self, tree: &Tree, folder: &str, source: &str, at: &At, found: &mut Found) -> Option<String> {
        let mut warn = |code, words: &str| {
            let message = format!("`{}` uses `{source}`, {words}", shown(folder));
            found.warn(code, subject(folder, source), message, Some(at.clone()));
            None
        };
        let target = key::beside(folder, source);
        match target.map(|path| super::layers::origin(tree.options, &path).unwrap_or(path)) {
            None => warn(Word::ModuleOutsideRepo, "which is outside the tree"),
            Some(path) if path == folder => warn(Word::ModuleSelf, "which is its own folder"),
            Some(path) if tree.listing.is_folder(&path) => Some(path),
            Some(path) => match super::links::real(&tree.links, &path).filter(|path| tree.listing.is_folder(path)) {
                Some(path) if path == folder => warn(Word::ModuleSelf, "which is its own folder"),
                Some(path) => Some(path),
                None => warn(Word::ModuleMissing, "and there is no such folder"),
            },
        }
    }

    fn add_remote(&mut self, remote: &Remote, source: &str) -> String {
        let key = remote.key();
        let module = Module {
            key: key.clone(),
            kind: remote.kind,
            path: remote.path.clone(),
            source: source.to_owned(),
            pin: remote.pin.clone(),
        };
        let known = self.modules.entry(key.clone()).or_insert_with(|| module.clone());
        if module.source < known.source {
            *known = module;
        }
        key
    }

    /// The edges from a node whose code stands in `folder`.
    pub fn edges(&self, from: &Node, folder: &str) -> Vec<Edge> {
        let edge = |used: &Use| Edge {
            from: from.clone(),
            to: Node { kind: Kind::Module, key: used.to.clone() },
            kind: Need::UsesModule,
            inferred: false,
            meta: [("ref", &used.pin), ("source", &used.source)]
                .map(|(name, value)| (name.to_owned(), value.clone()))
                .into(),
            at: Some(used.at.clone()),
        };
        self.uses.get(folder).into_iter().flatten().map(edge).collect()
    }
}

fn subject(folder: &str, source: &str) -> String {
    format!("{}: {source}", shown(folder))
}

/// The source and the version of a block, where both stand in the code.
fn literal(folder: &str, called: &Said<Called>, found: &mut Found) -> Option<(String, String)> {
    let source = match &called.what.source {
        Some(Literal::Text(text)) => text.clone(),
        none => {
            let words = if none.is_some() { "a source that is computed" } else { "no source" };
            let message = format!("module `{}` of `{}` has {words}", called.what.name, shown(folder));
            let subject = format!("{}: {}", shown(folder), called.what.name);
            found.warn(Word::ModuleDynamic, subject, message, Some(called.at(called.what.at)));
            return None;
        }
    };
    let version = match &called.what.version {
        Some(Literal::Text(text)) => text.clone(),
        _ => String::new(),
    };
    Some((source, version))
}

/// The folder of this tree that a source without a version means; it must hold code.
fn own(tree: &Tree, remote: &Remote) -> Option<String> {
    let (repo, path) = remote.path.split_once("//")?;
    let here = remote.kind == Origin::Git && remote.pin.is_empty() && key::same_repo(repo, tree.repo);
    (here && tree.holds_code(path)).then(|| path.to_owned())
}
