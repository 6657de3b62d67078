//! The output folder: written aside, then put in its place in one step, so that it is old or new at every moment.

mod copy;
mod keep;
mod put;

pub use keep::is_state;
pub use put::{is_input, put};

use super::pieces::{Piece, Pieces};
use crate::base::{Problem, Problems, Result};
use rustix::fs::{CWD, FlockOperation, RenameFlags, flock, renameat_with};
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind::{AlreadyExists, NotFound};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// An output folder while it is being replaced. One process has it at a time; others wait.
struct Place {
    /// Where it really is.
    folder: PathBuf,
    /// The new one.
    aside: PathBuf,
    /// The old one, where a file system cannot swap two folders in one step.
    old: PathBuf,
    _lock: Option<fs::File>,
}

/// Replaces the output folder at `path` by one that holds `pieces` and what is kept of the old one. `label` names the
/// layer. A folder that holds just that already is left alone: a shell or Terraform may be standing in it.
///
/// # Errors
/// Something cannot be read or written. The old folder is then as it was.
pub fn write(path: &Path, label: &str, pieces: Pieces) -> Result<()> {
    let place = Place::take(path).map_err(|e| Problem::io("write to", path, &e))?;
    let written = fill(&place.aside, &pieces).and_then(|()| {
        if keep::holds(&place.folder, &place.aside) {
            // What cannot be removed now is removed by the next render.
            let _ = remove(&place.aside);
            return Ok(());
        }
        keep::carry(&place.folder, &place.aside, &pieces)?;
        place.swap(&pieces).map_err(|e| Problem::io("replace", path, &e).into())
    });
    if let Err(problems) = written {
        // What cannot be removed now is removed by the next render.
        let _ = fs::remove_dir_all(&place.aside);
        let told = |problem: Problem| problem.note(format!("the output folder of `{label}` is as it was"));
        return Err(problems.into_iter().map(told).collect());
    }
    Ok(())
}

impl Place {
    /// Waits for the lock, and removes what a process that died has left.
    fn take(path: &Path) -> std::io::Result<Place> {
        // A link to a folder is followed: what it leads to is replaced.
        let folder = match path.canonicalize() {
            Ok(real) => real,
            Err(_) => path.to_owned(),
        };
        let no_name = || std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is no folder's name");
        let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else { return Err(no_name()) };
        fs::create_dir_all(parent)?;
        let lock = fs::File::open(parent)?;
        // Some network file systems lock no folders; there two renders at once are the user's affair.
        let lock = loop {
            match flock(&lock, FlockOperation::LockExclusive) {
                Ok(()) => break Some(lock),
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => break None,
            }
        };
        let beside = |end: &str| {
            let mut hidden = OsString::from(".");
            hidden.push(name);
            hidden.push(end);
            parent.join(hidden)
        };
        let place = Place { aside: beside(".suil-new"), old: beside(".suil-old"), folder, _lock: lock };
        if place.old.exists() && !place.folder.exists() {
            fs::rename(&place.old, &place.folder)?;
        }
        for left in [&place.aside, &place.old] {
            remove(left)?;
        }
        fs::DirBuilder::new().mode(0o700).create(&place.aside)?;
        Ok(place)
    }

    /// Puts the new folder in its place, with the mode of the old one.
    fn swap(&self, pieces: &Pieces) -> std::io::Result<()> {
        let mode = match fs::metadata(&self.folder) {
            Ok(old) => old.mode() & 0o7777,
            Err(e) if e.kind() == NotFound => 0o777 & !umask(&self.aside)?,
            Err(e) => return Err(e),
        };
        fs::set_permissions(&self.aside, fs::Permissions::from_mode(mode))?;
        match renameat_with(CWD, &self.aside, CWD, &self.folder, RenameFlags::EXCHANGE) {
            Ok(()) => {}
            Err(rustix::io::Errno::NOENT) => fs::rename(&self.aside, &self.folder)?,
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS | rustix::io::Errno::OPNOTSUPP) => {
                fs::rename(&self.folder, &self.old)?;
                fs::rename(&self.aside, &self.folder)?;
            }
            Err(e) => return Err(e.into()),
        }
        // The new folder stands. What Terraform has put into the old one in the meantime comes along, too.
        for old in [&self.aside, &self.old] {
            if keep::carry(old, &self.folder, pieces).is_ok() {
                // What cannot be removed now is removed by the next render.
                let _ = remove(old);
            }
        }
        Ok(())
    }
}

/// The mode bits that new files do not get, seen at a file: the process-wide mask cannot be read without setting it.
fn umask(folder: &Path) -> std::io::Result<u32> {
    let probe = folder.join(".suil-mode");
    let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o777).open(&probe)?;
    let mode = file.metadata()?.mode();
    fs::remove_file(&probe)?;
    Ok(0o777 & !mode)
}

/// Removes a folder, a file or a link; one that is not there is removed already.
fn remove(path: &Path) -> std::io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(e) => Err(e),
    };
    match removed {
        Err(e) if e.kind() == NotFound => Ok(()),
        removed => removed,
    }
}

/// Writes the pieces into a new folder.
fn fill(folder: &Path, pieces: &Pieces) -> Result<()> {
    let mut problems = Problems::new();
    for (name, piece) in pieces {
        let to = folder.join(name);
        let written = match piece {
            Piece::Text { text, mode, .. } => {
                make(&to, text.as_bytes(), *mode).map_err(|e| Problem::io("write", &to, &e).into())
            }
            // A template that neither pass takes is a file like any other.
            Piece::Template(file) => {
                make(&to, file.text().as_bytes(), 0o644).map_err(|e| Problem::io("write", &to, &e).into())
            }
            Piece::File(from) => copy::file(from, &to).map_err(Problems::from),
            Piece::Folder(from) => copy::folder(from, &to, &mut Vec::new()),
        };
        problems.extend(written.err().unwrap_or_default());
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn make(path: &Path, bytes: &[u8], mode: u32) -> std::io::Result<()> {
    let opened = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    match opened {
        Err(e) if e.kind() == AlreadyExists => Err(std::io::Error::new(AlreadyExists, "another piece has that name")),
        opened => opened?.write_all(bytes),
    }
}

#[cfg(test)]
mod tests;
