//! Stacks whose folder is gone and whose state is left: their code comes back from the last commit that had it, into a
//! private folder, so that they can be destroyed.

use super::{Site, Unit};
use crate::base::problem::Kind;
use crate::base::{Problem, Problems, Result, digest, file};
use crate::data::Tree;
use crate::data::tree::{Repository, Revision};
use crate::infra::graph::{self, Graph, Kind as NodeKind, Stack};
use crate::infra::store::{Phase, Seen, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

/// Removed stacks, ready to be destroyed. What was restored of them is gone when this is dropped.
pub struct Restored {
    /// The graph of the tree and, with them, that of the removed stacks.
    pub graph: Graph,
    units: BTreeMap<String, Unit>,
    folders: Vec<PathBuf>,
}

impl Restored {
    /// What a removed stack is run with; `None` for one that the tree has.
    pub fn unit(&self, key: &str) -> Option<&Unit> {
        self.units.get(key)
    }
}

impl Drop for Restored {
    fn drop(&mut self) {
        for folder in &self.folders {
            // Links are removed, not followed.
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// The stacks that the tree had and has no more, but for those that were destroyed since they were applied last.
///
/// # Errors
/// The store cannot be read.
pub fn removed(store: &dyn Store, repo: &str) -> Result<Vec<Seen>, Problem> {
    let mut found = Vec::new();
    for seen in store.seen(repo)?.into_iter().filter(|seen| seen.removed.is_some()) {
        let last = |phase| store.last(repo, &seen.key, phase);
        let destroyed = last(Phase::Destroy)?.filter(|outcome| outcome.error.is_none()).map(|outcome| outcome.ended);
        let applied = last(Phase::Apply)?.map(|outcome| outcome.ended);
        if destroyed.is_none_or(|destroyed| applied.is_some_and(|applied| applied > destroyed)) {
            found.push(seen);
        }
    }
    Ok(found)
}

/// Restores the code of removed stacks.
///
/// # Errors
/// The tree is in no git repository, or no commit has the code of one; all of them together.
pub fn restore(site: &Site, graph: &Graph, keys: &[String]) -> Result<Restored> {
    let git = Repository::find(&site.root)
        .map_err(|problem| problem.note("the code of a removed stack is restored from a commit"))?;
    let (mut commits, mut problems) = (BTreeMap::<String, Vec<&String>>::new(), Problems::new());
    for key in keys {
        let path = graph::key::split(key).0;
        match git.last_with(path)? {
            Some(commit) => commits.entry(commit).or_default().push(key),
            None => problems.push(
                Problem::new(format!("no commit has the code of removed stack `{key}`")).kind(Kind::Refused).help(
                    "fetch the history that had it (`git fetch --unshallow`), or put the code back and destroy it there",
                ),
            ),
        }
    }
    let mut restored = Restored { graph: graph.clone(), units: BTreeMap::new(), folders: Vec::new() };
    for (commit, keys) in commits {
        if let Err(more) = restored.add(site, &git, &commit, &keys) {
            problems.extend(more);
        }
    }
    if problems.is_empty() { Ok(restored) } else { Err(problems) }
}

impl Restored {
    /// Restores what one commit has.
    fn add(&mut self, site: &Site, git: &Repository, commit: &str, keys: &[&String]) -> Result<()> {
        let old = git.revision(commit)?;
        let before = graph::of_revision(&old, &site.repo)?;
        let stacks: Vec<&Stack> = before.stacks.iter().filter(|stack| keys.contains(&&stack.key)).collect();
        let absent = keys.iter().filter(|key| !stacks.iter().any(|stack| stack.key == ***key));
        let problems: Problems = absent
            .map(|key| {
                let short = commit.get(..12).unwrap_or(commit);
                Problem::new(format!("the code of removed stack `{key}` cannot be restored"))
                    .note(format!("it was looked for in commit {short}, the last one that has its folder"))
                    .help("put the code back, and destroy it there")
                    .kind(Kind::Refused)
            })
            .collect();
        if !problems.is_empty() {
            return Err(problems);
        }
        let name = digest::sha256(format!("{commit}\0{keys:?}").as_bytes());
        let top = site.work().join("removed").join(name.get(..16).unwrap_or(&name));
        let _ = fs::remove_dir_all(&top);
        file::private_folder(&top)?;
        self.folders.push(top.clone());
        let there = Site { root: top.clone(), ..site.clone() };
        let mut wanted = BTreeSet::new();
        let mut units = Vec::new();
        for stack in &stacks {
            let unit = Unit::new(&there, &before, stack)?;
            let parts = unit.parts.iter().filter_map(|part| part.strip_prefix(&top).ok());
            wanted.extend(parts.filter_map(|part| part.to_str()).map(str::to_owned));
            units.push(unit);
        }
        Export { old: &old, root: &site.root, top: &top, wanted: &wanted }.folder("", false)?;
        for unit in units {
            self.graph.stacks.push(unit.stack.clone());
            self.units.insert(unit.key().to_owned(), unit);
        }
        self.graph.stacks.sort_by(|a, b| a.key.cmp(&b.key));
        let ours = |kind, key: &str| kind == NodeKind::Stack && keys.iter().any(|own| *own == key);
        let edges = before.edges.iter().filter(|edge| ours(edge.from.kind, &edge.from.key));
        self.graph.edges.extend(edges.cloned());
        Ok(())
    }
}

/// Puts what is wanted of a revision beside links to everything else that is there.
struct Export<'a> {
    old: &'a Revision,
    root: &'a Path,
    top: &'a Path,
    /// Folders and files of the revision, seen from the root.
    wanted: &'a BTreeSet<String>,
}

impl Export<'_> {
    /// Fills one folder; `all` of the revision where it is below one that is wanted.
    fn folder(&self, path: &str, all: bool) -> Result<(), Problem> {
        let mut names: BTreeMap<String, Option<bool>> = BTreeMap::new();
        if let Ok(entries) = fs::read_dir(self.root.join(path)) {
            names.extend(entries.flatten().filter_map(|entry| Some((entry.file_name().into_string().ok()?, None))));
        }
        for (name, is_folder) in self.old.entries(path).unwrap_or_default() {
            names.insert(name, Some(is_folder));
        }
        for (name, old) in names {
            if [".git", ".suil", ".terraform"].contains(&name.as_str()) {
                continue;
            }
            let child = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
            self.entry(&child, old, all)?;
        }
        Ok(())
    }

    fn entry(&self, path: &str, old: Option<bool>, all: bool) -> Result<(), Problem> {
        let (here, there) = (self.root.join(path), self.top.join(path));
        let is_here = here.symlink_metadata().is_ok();
        let wanted = all || self.wanted.contains(path);
        let below = format!("{path}/");
        let above = self.wanted.range(below.clone()..).next().is_some_and(|next| next.starts_with(&below));
        // A state that a commit has is an old one: only the one on the disk counts.
        let is_state = path.ends_with(".tfstate") || path.contains(".tfstate.");
        match old {
            Some(true) if wanted || above || !is_here => {
                fs::create_dir_all(&there).map_err(|e| Problem::io("make folder", &there, &e))?;
                self.folder(path, wanted || !is_here && !above)
            }
            Some(false) if (wanted || !is_here) && !is_state => self.write(path, &there),
            None if above && here.is_dir() => {
                fs::create_dir_all(&there).map_err(|e| Problem::io("make folder", &there, &e))?;
                self.folder(path, false)
            }
            _ if is_here => symlink(&here, &there).map_err(|e| Problem::io("link", &there, &e)),
            _ => Ok(()),
        }
    }

    fn write(&self, path: &str, to: &Path) -> Result<(), Problem> {
        let failed = |e: std::io::Error| Problem::io("restore", to, &e);
        let bytes = self.old.read(path).map_err(failed)?;
        let mode = if bytes.starts_with(b"#!") { 0o700 } else { 0o600 };
        let file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(to);
        file.and_then(|mut file| file.write_all(&bytes)).map_err(failed)
    }
}
