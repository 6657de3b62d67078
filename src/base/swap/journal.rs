//! What a swap is about to do, written down before it does it.

use crate::base::{Plain, Problem, digest, file};
use std::fs;
use std::io::ErrorKind::NotFound;
use std::path::{Path, PathBuf};

/// How far a swap came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Staging,
    Renaming,
    /// A rename failed, and those done are taken back.
    Back,
}

const STATES: [(&str, State); 3] = [("staging", State::Staging), ("renaming", State::Renaming), ("back", State::Back)];

/// One file of a swap, with the digests of its contents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    pub path: PathBuf,
    pub old: String,
    pub new: String,
}

impl Entry {
    /// Where the new content is staged.
    pub fn aside(&self) -> PathBuf {
        self.beside("new")
    }

    /// Where the old content is kept.
    pub fn kept(&self) -> PathBuf {
        self.beside("old")
    }

    fn beside(&self, what: &str) -> PathBuf {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        self.path.with_file_name(format!(".{name}.suil-{what}"))
    }

    /// Puts the new content in place, where the file is as old as it was; true where that was still to be done.
    pub fn finish(&self) -> Result<bool, Problem> {
        let aside = self.aside();
        let due = is(&self.path, &self.old) && is(&aside, &self.new);
        match due {
            true => fs::rename(&aside, &self.path).map_err(|e| Problem::io("write", &self.path, &e))?,
            // Somebody wrote the file since: what they wrote counts.
            false => remove(&aside)?,
        }
        Ok(due)
    }

    /// Puts the old content back, where the file has the new one.
    pub fn take_back(&self) -> Result<(), Problem> {
        let kept = self.kept();
        match is(&kept, &self.old) && is(&self.path, &self.new) {
            true => fs::rename(&kept, &self.path).map_err(|e| {
                let problem = Problem::io("take back", &self.path, &e);
                problem.help(format!("its old content is in `{}`", kept.display()))
            })?,
            false => remove(&kept)?,
        }
        remove(&self.aside())
    }
}

fn is(path: &Path, digest: &str) -> bool {
    file::read(path).is_ok_and(|bytes| digest::sha256(&bytes) == digest)
}

/// Removes a file that may be gone.
pub fn remove(path: &Path) -> Result<(), Problem> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != NotFound => Err(Problem::io("remove", path, &e)),
        _ => Ok(()),
    }
}

/// The journal of a workspace.
#[derive(Debug)]
pub struct Journal(PathBuf);

impl Journal {
    pub fn new(folder: &Path) -> Journal {
        Journal(folder.join("swap.json"))
    }

    pub fn write(&self, state: State, entries: &[Entry]) -> Result<(), Problem> {
        let word = STATES.iter().find(|(_, known)| *known == state).map_or("", |(word, _)| word);
        let entry = |entry: &Entry| {
            Plain::from_iter([
                ("path", Plain::from(entry.path.to_string_lossy().into_owned())),
                ("old", Plain::from(&entry.old)),
                ("new", Plain::from(&entry.new)),
            ])
        };
        let value =
            Plain::from_iter([("state", Plain::from(word)), ("files", entries.iter().map(entry).collect::<Plain>())]);
        file::write(&self.0, value.to_json().as_bytes(), 0o600)
    }

    /// What an earlier process left; `None` where it left nothing.
    pub fn read(&self) -> Result<Option<(State, Vec<Entry>)>, Problem> {
        let text = match file::read_text(&self.0) {
            Ok(text) => text,
            Err(e) if e.kind() == NotFound => return Ok(None),
            Err(e) => return Err(Problem::io("read", &self.0, &e)),
        };
        let read = || {
            let value = Plain::from_json(&text).ok()?;
            let word = value.get("state")?.as_str()?;
            let state = STATES.iter().find(|(known, _)| *known == word)?.1;
            let entry = |file: &Plain| {
                let text = |key| file.get(key).and_then(Plain::as_str).map(str::to_owned);
                Some(Entry { path: text("path")?.into(), old: text("old")?, new: text("new")? })
            };
            Some((state, value.get("files")?.as_list()?.iter().map(entry).collect::<Option<_>>()?))
        };
        read().map(Some).ok_or_else(|| {
            Problem::new(format!("`{}` is no journal of suil", self.0.display()))
                .help("look for `.*.suil-new` and `.*.suil-old` in data/ and modules/, then remove it")
        })
    }

    pub fn remove(&self) -> Result<(), Problem> {
        remove(&self.0)
    }
}
