//! Several files written at once: all of them, or none.
//!
//! The new content is staged beside every file, the old one is kept beside it, and a journal says so before the first
//! rename. A process that dies leaves each file old or new, and [`Swap::begin`] finishes what it left, or takes it
//! back where no rename had begun.

mod attributes;
mod journal;

use super::problem::Kind;
use super::{Problem, Problems, Result, digest, file};
use journal::{Entry, Journal, State};
use rustix::fs::{FlockOperation, flock};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A file that gets new bytes.
#[derive(Debug)]
pub struct Change {
    /// The path as a person would type it.
    pub shown: PathBuf,
    /// Where it really is, symbolic links followed.
    pub path: PathBuf,
    /// The bytes that the new ones were made from.
    pub old: Vec<u8>,
    pub new: Vec<u8>,
}

/// What an earlier process left, and what became of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Left {
    Nothing,
    /// So many files were still old and are new now.
    Finished(usize),
    /// No rename had begun, or the process was taking them back: every file is old.
    TakenBack,
}

/// The right to swap files of a workspace; one process has it at a time.
#[derive(Debug)]
pub struct Swap {
    journal: Journal,
    /// Holds the lock for as long as it is open.
    _lock: fs::File,
}

impl Swap {
    /// Takes the lock in `folder`, which is made where it is missing, and settles what an earlier process left.
    ///
    /// # Errors
    /// Another process is at it, or what is left cannot be settled.
    pub fn begin(folder: &Path) -> Result<(Swap, Left), Problem> {
        let failed = |e: &std::io::Error| Problem::io("make folder", folder, e);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|e| failed(&e))?;
        let path = folder.join("swap.lock");
        let lock = fs::OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
        let lock = lock.map_err(|e| Problem::io("open", &path, &e))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|e| match e {
            rustix::io::Errno::WOULDBLOCK => Problem::new("another suil is just writing secrets of this workspace")
                .kind(Kind::Refused)
                .help("wait for it, then try again"),
            e => Problem::io("lock", &path, &e.into()),
        })?;
        let journal = Journal::new(folder);
        let left = settle(&journal)?;
        Ok((Swap { journal, _lock: lock }, left))
    }

    /// Writes every file, or none.
    ///
    /// # Errors
    /// Every file that cannot be written or changed since it was read. Then all files are as they were.
    pub fn write(&self, changes: &[Change]) -> Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let staged = self.stage(changes)?;
        staged.renamed(changes.len()).map_err(|problem| match staged.back() {
            Ok(()) => vec![problem],
            Err(worse) => vec![problem, worse],
        })?;
        staged.end()?;
        Ok(())
    }

    /// Everything before the first rename.
    fn stage<'a>(&'a self, changes: &'a [Change]) -> Result<Staged<'a>> {
        let entry = |change: &Change| Entry {
            path: change.path.clone(),
            old: digest::sha256(&change.old),
            new: digest::sha256(&change.new),
        };
        let staged = Staged { journal: &self.journal, changes, entries: changes.iter().map(entry).collect() };
        let all = changes.iter().zip(&staged.entries);
        let problems: Problems = all.filter_map(|(change, entry)| ready(change, entry).err()).collect();
        if !problems.is_empty() {
            return Err(problems);
        }
        self.journal.write(State::Staging, &staged.entries)?;
        let mut problems = Problems::new();
        for (change, entry) in changes.iter().zip(&staged.entries) {
            let done = aside(change, &entry.aside()).and_then(|()| keep(change, &entry.kept()));
            problems.extend(done.err());
        }
        // All are written before the first is waited for: the disk takes them in one go.
        if problems.is_empty() {
            problems.extend(staged.entries.iter().filter_map(|entry| flush(&entry.aside()).err()));
        }
        if problems.is_empty() {
            problems.extend(self.journal.write(State::Renaming, &staged.entries).err());
        }
        if problems.is_empty() {
            return Ok(staged);
        }
        problems.extend(staged.clean().err());
        Err(problems)
    }
}

/// Files whose new content lies beside them.
struct Staged<'a> {
    journal: &'a Journal,
    changes: &'a [Change],
    entries: Vec<Entry>,
}

impl Staged<'_> {
    /// Renames the first `count` files into place.
    fn renamed(&self, count: usize) -> Result<(), Problem> {
        for (change, entry) in self.changes.iter().zip(&self.entries).take(count) {
            unchanged(change)?;
            fs::rename(entry.aside(), &entry.path).map_err(|e| Problem::io("write", &change.shown, &e))?;
        }
        Ok(())
    }

    /// Takes back what was renamed.
    fn back(&self) -> Result<(), Problem> {
        self.journal.write(State::Back, &self.entries)?;
        for entry in &self.entries {
            entry.take_back()?;
        }
        self.journal.remove()
    }

    fn end(self) -> Result<(), Problem> {
        sync(&self.entries)?;
        for entry in &self.entries {
            journal::remove(&entry.kept())?;
        }
        self.journal.remove()
    }

    /// Removes what was staged; nothing was renamed.
    fn clean(&self) -> Result<(), Problem> {
        for path in self.entries.iter().flat_map(|entry| [entry.aside(), entry.kept()]) {
            journal::remove(&path)?;
        }
        self.journal.remove()
    }
}

/// Finishes, or takes back, what the journal tells.
fn settle(journal: &Journal) -> Result<Left, Problem> {
    let Some((state, entries)) = journal.read()? else { return Ok(Left::Nothing) };
    let mut finished = 0;
    for entry in &entries {
        match state {
            State::Renaming => finished += usize::from(entry.finish()?),
            State::Staging | State::Back => entry.take_back()?,
        }
    }
    sync(&entries)?;
    for entry in &entries {
        journal::remove(&entry.kept())?;
    }
    journal.remove()?;
    Ok(if state == State::Renaming { Left::Finished(finished) } else { Left::TakenBack })
}

/// Waits until the disk has the renames.
fn sync(entries: &[Entry]) -> Result<(), Problem> {
    let mut folders: Vec<&Path> = entries.iter().filter_map(|entry| entry.path.parent()).collect();
    folders.sort();
    folders.dedup();
    for folder in folders.into_iter().filter(|folder| folder.is_dir()) {
        flush(folder)?;
    }
    Ok(())
}

/// Nothing speaks against writing the file.
fn ready(change: &Change, entry: &Entry) -> Result<(), Problem> {
    let found = fs::metadata(&change.path).map_err(|e| Problem::io("read", &change.shown, &e))?;
    if found.mode() & 0o222 == 0 {
        let problem = Problem::new(format!("`{}` is read-only", change.shown.display()));
        return Err(problem.expected("expected a file that somebody may write").help("`chmod u+w` it first"));
    }
    for path in [entry.aside(), entry.kept()] {
        if path.symlink_metadata().is_ok() {
            return Err(Problem::new(format!("`{}` is in the way", path.display())).help("move it away"));
        }
    }
    unchanged(change)
}

fn unchanged(change: &Change) -> Result<(), Problem> {
    let now = file::read(&change.path).map_err(|e| Problem::io("read", &change.shown, &e))?;
    match now == change.old {
        true => Ok(()),
        false => Err(Problem::new(format!("`{}` changed in the meantime", change.shown.display()))
            .kind(Kind::Refused)
            .note("nothing was written")
            .help("run the same again")),
    }
}

/// Writes the new content beside the file, with its mode, owner and attributes.
fn aside(change: &Change, aside: &Path) -> Result<(), Problem> {
    let failed = |e: std::io::Error| Problem::io("write", aside, &e);
    let old = fs::File::open(&change.path).map_err(failed)?;
    let found = old.metadata().map_err(failed)?;
    let mut new = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(aside).map_err(failed)?;
    new.write_all(&change.new).map_err(failed)?;
    let made = new.metadata().map_err(failed)?;
    if (made.uid(), made.gid()) != (found.uid(), found.gid()) {
        std::os::unix::fs::fchown(&new, Some(found.uid()), Some(found.gid())).map_err(|e| {
            Problem::io("give its owner to the new", &change.shown, &e)
                .help("run suil as the owner of the file, or make the file your own")
        })?;
    }
    new.set_permissions(fs::Permissions::from_mode(found.mode() & 0o7777)).map_err(failed)?;
    attributes::copy(&old, &new).map_err(failed)
}

fn flush(path: &Path) -> Result<(), Problem> {
    fs::File::open(path).and_then(|file| file.sync_all()).map_err(|e| Problem::io("write", path, &e))
}

/// Gives the old content a second name.
fn keep(change: &Change, kept: &Path) -> Result<(), Problem> {
    // Some file systems know no second name; a copy does as well.
    let linked = fs::hard_link(&change.path, kept).or_else(|_| fs::copy(&change.path, kept).map(drop));
    linked.map_err(|e| Problem::io("keep the old", &change.shown, &e))
}

#[cfg(test)]
mod tests;
