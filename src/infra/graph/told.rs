//! What git said about a tree, kept in `.suil/` below the root for the next who asks: it stays good for every file that has
//! not changed while nothing has changed that git itself goes by.

use super::cache::{kept, write};
use super::files::{Listing, Moved, is_skipped};
use super::key;
use crate::base::{Moment, Result};
use crate::data::tree::{Change, Environment, Refs, Repository, Standing, Tracked};
use crate::infra::layer::Options;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;

const NAME: &str = "changes";

/// More paths than these are not asked about one by one.
const FEW: usize = 200;

/// Files that decide what git says of others.
const DECIDING: [&str; 3] = [".gitignore", ".gitattributes", ".gitmodules"];

/// What git said.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Word {
    pub refs: Refs,
    /// The name of the repository, as its remote has it.
    pub name: Option<String>,
    /// The revision that was asked about; `None` for the main branch.
    pub asked: Option<String>,
    /// That revision, by name.
    pub base: String,
    /// The paths that differ, new ones with them; sorted.
    pub changes: Vec<Change>,
    /// The listed files that git does not track, ignored ones with them.
    untracked: BTreeSet<String>,
    /// The files that git tracks and nobody lists, because they are gone.
    missing: BTreeSet<String>,
}

/// What git said, with the tree that it said it about.
#[derive(Serialize, Deserialize)]
pub struct Told {
    /// What folders are left out.
    output: String,
    pub standing: Standing,
    pub word: Word,
    listing: Listing,
    /// That of the listing; none where something in it was too young to be kept.
    pub digest: Option<String>,
}

impl Word {
    /// Puts git's answers together; `None` where something is tracked that no listing shows, such as a submodule.
    pub fn new(
        (refs, name): (Refs, Option<String>),
        (asked, base): (Option<String>, String),
        changes: Vec<Change>,
        tracked: &Tracked,
        (listing, root, options): (&Listing, &Path, &Options),
    ) -> Option<Word> {
        let shown = |path: &str| {
            !path.contains('\u{fffd}')
                && !key::ancestors(key::folder(path)).any(|folder| is_left_out(key::name(folder), options))
        };
        let missing: BTreeSet<&String> = tracked.files.iter().filter(|path| listing.file(path).is_none()).collect();
        let is_gone = |path: &&String| shown(path) && root.join(path.as_str()).symlink_metadata().is_err();
        if !tracked.submodules.is_empty() || !missing.iter().all(is_gone) || !asked.as_deref().is_none_or(is_plain) {
            return None;
        }
        Some(Word {
            refs,
            name,
            asked,
            base,
            changes,
            untracked: listing.paths().filter(|path| !tracked.files.contains(path)).collect(),
            missing: missing.into_iter().cloned().collect(),
        })
    }
}

fn is_left_out(name: &str, options: &Options) -> bool {
    is_skipped(name) || options.output.to_str() == Some(name)
}

/// True for a revision whose meaning changes with branches and tags alone, not with the clock or what was done before.
fn is_plain(revision: &str) -> bool {
    revision.chars().all(|c| c.is_alphanumeric() || "._/~^-+".contains(c))
}

impl Told {
    /// Reads what was kept of the tree at `root`.
    pub fn read(root: &Path, options: &Options) -> Option<Told> {
        let told: Told = kept(&root.join(".suil").join(NAME))?;
        (Some(told.output.as_str()) == options.output.to_str()).then_some(told)
    }

    /// True where what git said of files that did not change still holds.
    pub fn holds(&self, environment: &Environment) -> bool {
        self.standing.holds(environment)
    }

    /// Lists the tree again, with the marks of all files where `whole`, else of those that make the graph; only of all of
    /// them is known what moved.
    ///
    /// # Errors
    /// A folder cannot be listed.
    pub fn list(&mut self, root: &Path, whole: bool) -> Result<(Listing, Moved)> {
        let (listing, output) = (std::mem::take(&mut self.listing), Some(self.output.as_str()));
        listing.again(root, output, super::scan::wants(whole))
    }

    /// Asks git about the files that moved, and puts that into its word; `None` where something moved that may change what
    /// git says of others, or too much.
    ///
    /// # Errors
    /// Git cannot compare.
    pub fn ask(&mut self, git: &Repository, root: &Path, listing: &Listing, moved: &Moved) -> Result<Option<()>> {
        if moved.is_nothing() {
            return Ok(Some(()));
        }
        let nested = |path: &String| !path.is_empty() && root.join(path).join(".git").symlink_metadata().is_ok();
        let decides = |path: &String| DECIDING.contains(&key::name(path));
        if moved.files.len() > FEW || moved.files.keys().any(decides) || moved.stirred.iter().any(nested) {
            return Ok(None);
        }
        let word = &mut self.word;
        let mut tracked = BTreeSet::new();
        for (path, before) in &moved.files {
            if word.missing.contains(path) || *before && !word.untracked.contains(path) {
                tracked.insert(path.as_str());
            }
        }
        let paths: Vec<&str> = moved.files.keys().map(String::as_str).collect();
        let there = |path: &&str| listing.file(path).is_some();
        let compared = match word.refs.head {
            _ if paths.is_empty() => Vec::new(),
            Some(_) => git.changes_among(&word.base, &paths)?,
            // Before the first commit everything is new that git tracks.
            None => tracked.iter().map(|path| Change { path: (*path).to_owned(), gone: false }).collect(),
        };
        let unknown = paths.iter().copied().filter(|path| there(path) && !tracked.contains(path));
        let new = git.unignored(unknown)?;
        word.changes.retain(|change| !moved.files.contains_key(&change.path));
        word.changes.extend(compared.into_iter().chain(new));
        word.changes.sort();
        word.changes.dedup();
        for path in paths {
            word.untracked.remove(path);
            word.missing.remove(path);
            match (tracked.contains(path), there(&path)) {
                (true, false) => word.missing.insert(path.to_owned()),
                (false, true) => word.untracked.insert(path.to_owned()),
                _ => false,
            };
        }
        Ok(Some(()))
    }
}

/// Keeps what git said of the listed tree; `moment` was before anybody looked. What cannot be kept is asked again.
pub fn keep(
    root: &Path,
    options: &Options,
    (standing, word): (Standing, Word),
    (listing, digest): (Listing, String),
    moment: Moment,
) {
    let Some(output) = options.output.to_str().filter(|_| standing.is_settled(moment)) else { return };
    let Ok(folder) = crate::base::file::own_folder(root) else { return };
    let listing = listing.settled(moment);
    let whole =
        listing.folders.values().flat_map(|folder| &folder.files).all(|entry| entry.link || entry.mark.is_some());
    let digest = whole.then_some(digest);
    write(&folder.join(NAME), &Told { output: output.to_owned(), standing, word, listing, digest });
}
