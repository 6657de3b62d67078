//! The record of a surgery: the states as they were, and how far it came. It is written before the first push and before
//! each one, so that a process that dies leaves what an undo needs.

use super::state::State;
use crate::base::problem::Kind;
use crate::base::{Problem, Result, clock, file};
use crate::infra::layer::Layer;
use chrono::{DateTime, Duration, Utc};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Records that are kept whatever their age.
const KEPT: usize = 20;
/// Older ones are removed: states hold secrets.
const DAYS: i64 = 30;

const MANIFEST: &str = "manifest.json";

/// What is known of a surgery.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Manifest {
    pub version: u32,
    /// `import`, `remove`, `rename`, `move`, `edit` or `undo`.
    pub surgery: String,
    pub started: String,
    /// Who ran what.
    pub by: String,
    pub outcome: Outcome,
    /// In the order in which they are pushed.
    pub layers: Vec<Part>,
    /// The record that this one puts back.
    #[serde(default)]
    pub undoes: Option<String>,
}

/// Where a surgery stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// At work, or cut off.
    Open,
    Done,
    /// It failed, and every state is as it was.
    TakenBack,
    Undone,
}

/// A state that a surgery changes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Part {
    /// The layer's folder, seen from the root.
    pub layer: String,
    pub step: Step,
    /// As it was; `None` where the layer had no state.
    pub before: Option<Known>,
    /// As it is to be, where that is known.
    pub after: Option<Known>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    Waiting,
    /// Begun; whether it came through is not known.
    Pushing,
    Pushed,
    /// Pushed, and the state before it pushed again.
    TakenBack,
}

impl Step {
    /// `waiting`, `pushing`, `pushed` or `taken back`.
    pub fn word(self) -> &'static str {
        match self {
            Step::Waiting => "waiting",
            Step::Pushing => "pushing",
            Step::Pushed => "pushed",
            Step::TakenBack => "taken back",
        }
    }
}

/// What tells one state from another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Known {
    pub lineage: String,
    pub serial: u64,
    pub digest: String,
}

impl Known {
    pub fn of(state: &State) -> Known {
        Known { lineage: state.lineage().to_owned(), serial: state.serial(), digest: state.digest() }
    }
}

impl Part {
    pub fn new(layer: &Layer, before: Option<&State>, after: Option<&State>) -> Part {
        let (before, after) = (before.map(Known::of), after.map(Known::of));
        Part { layer: layer.label(), step: Step::Waiting, before, after }
    }
}

/// A record on the disk.
#[derive(Debug)]
pub struct Record {
    /// When it began; the name of its folder goes on with the layers.
    pub id: String,
    pub manifest: Manifest,
    folder: PathBuf,
    /// Held for as long as the surgery is at work.
    lock: Option<fs::File>,
}

/// Where the records of the tree at `root` are.
pub fn home(root: &Path) -> PathBuf {
    root.join(".suil/surgery")
}

fn file_name(at: usize) -> String {
    format!("{}.tfstate", at + 1)
}

impl Record {
    /// Begins a record with the bytes of each state before it; none for a layer that has no state.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn begin(root: &Path, manifest: Manifest, states: &[Option<&[u8]>]) -> Result<Record, Problem> {
        let home = home(root);
        let suil = root.join(".suil");
        for folder in [&suil, &home] {
            let made = fs::DirBuilder::new().mode(0o700).create(folder);
            match made {
                Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => {
                    return Err(Problem::io("make folder", folder, &e));
                }
                _ => {}
            }
        }
        file::private_folder(&home)?;
        let ignore = home.join(".gitignore");
        if !ignore.exists() {
            file::write(&ignore, b"*\n", 0o600)?;
        }
        let (id, folder) = place(&home, &manifest)?;
        let mut record = Record { id, manifest, folder, lock: None };
        record.lock = Some(record.take_lock()?);
        for (at, bytes) in states.iter().enumerate() {
            if let Some(bytes) = bytes {
                file::write(&record.folder.join(file_name(at)), bytes, 0o600)?;
            }
        }
        record.write()?;
        Ok(record)
    }

    fn take_lock(&self) -> Result<fs::File, Problem> {
        let path = self.folder.join("lock");
        let lock = fs::OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
        let lock = lock.map_err(|e| Problem::io("open", &path, &e))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Err(rustix::io::Errno::WOULDBLOCK) => {
                Err(Problem::new(format!("surgery `{}` is at work", self.id)).kind(Kind::Refused))
            }
            // Some network file systems lock nothing; there one is taken for cut off while it is at work.
            _ => Ok(lock),
        }
    }

    /// Takes a record for oneself.
    ///
    /// # Errors
    /// It is at work.
    pub fn take(&mut self) -> Result<(), Problem> {
        if self.lock.is_none() {
            self.lock = Some(self.take_lock()?);
        }
        Ok(())
    }

    /// Writes down where it stands.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self) -> Result<(), Problem> {
        let text = serde_json::to_string_pretty(&self.manifest).unwrap_or_default() + "\n";
        file::write(&self.folder.join(MANIFEST), text.as_bytes(), 0o600)
    }

    /// Writes down how far one of its states came.
    ///
    /// # Errors
    /// As [`Record::write`].
    pub fn step(&mut self, at: usize, step: Step) -> Result<(), Problem> {
        if let Some(part) = self.manifest.layers.get_mut(at) {
            part.step = step;
        }
        self.write()
    }

    /// Writes down how it ended.
    ///
    /// # Errors
    /// As [`Record::write`].
    pub fn end(&mut self, outcome: Outcome) -> Result<(), Problem> {
        self.manifest.outcome = outcome;
        self.write()
    }

    /// The state that one of its layers had; `None` where it had none.
    ///
    /// # Errors
    /// The backup is gone, or it is not what it was.
    pub fn backup(&self, at: usize) -> Result<Option<State>, Problem> {
        let Some(part) = self.manifest.layers.get(at) else { return Ok(None) };
        let Some(known) = &part.before else { return Ok(None) };
        let path = self.folder.join(file_name(at));
        let bytes = file::read(&path).map_err(|e| Problem::io("read the backup", &path, &e))?;
        match State::parse(&bytes, &part.layer)? {
            Some(state) if state.digest() == known.digest => Ok(Some(state)),
            _ => Err(Problem::new(format!("the backup `{}` is not what was written", path.display()))),
        }
    }

    /// Removes it: nothing came of it.
    pub fn discard(self) {
        // What cannot be removed stays, and harms nobody.
        let _ = fs::remove_dir_all(&self.folder);
    }

    /// How it ended, in a word or two: `done`, `undone`, `taken back`, `at work` or `cut off`.
    pub fn outcome(&self) -> &'static str {
        match self.manifest.outcome {
            Outcome::Done => "done",
            Outcome::Undone => "undone",
            Outcome::TakenBack => "taken back",
            Outcome::Open if self.is_cut_off() => "cut off",
            Outcome::Open => "at work",
        }
    }

    /// True where there may be something to put back.
    pub fn is_open(&self) -> bool {
        matches!(self.manifest.outcome, Outcome::Open | Outcome::Done)
    }

    /// The name of its folder, which begins with the ID.
    pub fn name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Its folder, as it is typed at the root.
    pub fn shown(&self, root: &Path) -> String {
        self.folder.strip_prefix(root).unwrap_or(&self.folder).display().to_string()
    }

    /// True where it neither ended nor is at work.
    pub fn is_cut_off(&self) -> bool {
        self.manifest.outcome == Outcome::Open && self.lock.is_none() && self.take_lock().is_ok()
    }
}

/// Makes the folder of a new record, `<when>-<stack>-<layer>…`. Of several in one second the later ones are `<when>.2`.
fn place(home: &Path, manifest: &Manifest) -> Result<(String, PathBuf), Problem> {
    let failed = |e: &std::io::Error| Problem::io("make a folder in", home, e);
    let when = clock::folder(clock::now());
    let mut layers = String::new();
    for part in &manifest.layers {
        let parts: Vec<&str> = part.layer.split('/').collect();
        let (stack, layer) = (parts.len().checked_sub(3).and_then(|at| parts.get(at)), parts.last());
        for word in [stack, layer].into_iter().flatten() {
            layers.push('-');
            layers.extend(word.chars().map(|c| if c.is_alphanumeric() || "@_".contains(c) { c } else { '_' }));
        }
    }
    // A name has at most 255 bytes, a character at most four.
    let layers: String = layers.chars().take(50).collect();
    for n in 1..1000 {
        let id = if n == 1 { when.clone() } else { format!("{when}.{n}") };
        let begins = format!("{id}-");
        let mut names = fs::read_dir(home).map_err(|e| failed(&e))?.flatten().map(|entry| entry.file_name());
        if names.any(|name| name.to_str().is_some_and(|name| name.starts_with(&begins))) {
            continue;
        }
        let folder = home.join(format!("{id}{layers}"));
        match fs::DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => return Ok((id, folder)),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(failed(&e)),
        }
    }
    Err(Problem::new(format!("there is no free name for a backup in `{}`", home.display())))
}

/// All records of a tree, the oldest first. A folder without a manifest is none: its surgery had not begun.
///
/// # Errors
/// The folder cannot be listed.
pub fn all(root: &Path) -> Result<Vec<Record>, Problem> {
    let home = home(root);
    let entries = match fs::read_dir(&home) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|e| Problem::io("list", &home, &e))?,
    };
    let mut records = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|e| Problem::io("list", &home, &e))?;
        let (folder, Ok(name)) = (entry.path(), entry.file_name().into_string()) else { continue };
        let Some(end) = name.find('Z') else { continue };
        let id =
            name.get(end..).and_then(|rest| rest.split_once('-')).and_then(|(rest, _)| name.get(..end + rest.len()));
        let id = id.unwrap_or(&name).to_owned();
        let Ok(text) = file::read_text(&folder.join(MANIFEST)) else { continue };
        if let Ok(manifest) = serde_json::from_str::<Manifest>(&text) {
            records.push(Record { id, manifest, folder, lock: None });
        }
    }
    records.sort_by(|a, b| (&a.manifest.started, &a.id).cmp(&(&b.manifest.started, &b.id)));
    Ok(records)
}

/// Removes what is old and over. What cannot be removed is left for the next time.
pub fn prune(root: &Path) {
    let records = all(root).unwrap_or_default();
    let many = records.len().saturating_sub(KEPT);
    let limit = clock::now() - Duration::days(DAYS);
    unfinished(&home(root), clock::now() - Duration::days(1));
    for record in records.into_iter().take(many) {
        let started = DateTime::parse_from_rfc3339(&record.manifest.started).map(|at| at.with_timezone(&Utc));
        if record.manifest.outcome != Outcome::Open && started.is_ok_and(|at| at < limit) {
            record.discard();
        }
    }
}

/// Removes folders of before `limit` that never got a manifest: their surgery died before it did anything.
fn unfinished(home: &Path, limit: DateTime<Utc>) {
    for entry in fs::read_dir(home).into_iter().flatten().flatten() {
        let path = entry.path();
        let made = entry.metadata().and_then(|found| found.modified());
        let old = made.is_ok_and(|at| DateTime::<Utc>::from(at) < limit);
        if old && path.is_dir() && !path.join(MANIFEST).exists() {
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// Writes down that `record` is put back, and with it every undo of it that was cut off.
///
/// # Errors
/// It cannot be written.
pub fn undone(root: &Path, mut record: Record) -> Result<(), Problem> {
    for mut other in all(root)? {
        if other.manifest.undoes.as_deref() == Some(&record.id) && other.is_cut_off() {
            other.end(Outcome::Undone)?;
        }
    }
    record.end(Outcome::Undone)
}
