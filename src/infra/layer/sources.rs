//! The files of a tree: each is read once and parsed once in a run, however many layers share it.

use super::site::shown;
use crate::base::{FileId, Problem, Problems, Result, file};
use crate::infra::hcl::{self, Attribute};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind::NotFound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What was found for a path, once it was looked for; threads that ask at the same time wait for the first.
type Slot<T> = Arc<OnceLock<Result<T>>>;

struct Once<T>(Mutex<HashMap<PathBuf, Slot<T>>>);

impl<T: Clone> Once<T> {
    fn new() -> Once<T> {
        Once(Mutex::new(HashMap::new()))
    }

    fn get(&self, path: &Path, find: impl FnOnce() -> Result<T>) -> Result<T> {
        let slot = {
            let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match slots.get(path) {
                Some(slot) => Arc::clone(slot),
                None => Arc::clone(slots.entry(path.to_owned()).or_default()),
            }
        };
        slot.get_or_init(find).clone()
    }
}

/// A name in a folder, and what stands there once links are followed.
#[derive(Clone, Debug)]
pub struct Item {
    pub name: OsString,
    pub kind: Kind,
}

/// What stands under a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    File,
    Folder,
    /// A link to nothing.
    Dangling,
    /// A pipe, a device.
    Other,
}

impl Item {
    /// The name as text; one that is no UTF-8 matches no pattern.
    pub fn text(&self) -> &str {
        self.name.to_str().unwrap_or_default()
    }
}

/// The files below one root.
pub struct Sources {
    root: PathBuf,
    texts: Once<FileId>,
    variables: Once<Arc<Vec<Attribute>>>,
    folders: Once<Arc<Vec<Item>>>,
}

impl Sources {
    pub fn new(root: &Path) -> Sources {
        Sources { root: root.to_owned(), texts: Once::new(), variables: Once::new(), folders: Once::new() }
    }

    /// The text of a file, without a byte-order mark.
    ///
    /// # Errors
    /// It cannot be read, or is not UTF-8.
    pub fn text(&self, path: &Path) -> Result<FileId> {
        self.texts.get(path, || {
            let shown = shown(&self.root, path);
            let text = file::read_text(path).map_err(|e| Problem::io("read", shown, &e))?;
            let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
            Ok(FileId::new(shown, text))
        })
    }

    /// The variables that a file sets.
    ///
    /// # Errors
    /// It cannot be read, or is not HCL.
    pub fn variables(&self, path: &Path) -> Result<Arc<Vec<Attribute>>> {
        self.variables.get(path, || Ok(Arc::new(hcl::variables(self.text(path)?)?)))
    }

    /// What a folder holds, in the order of code points; nothing where it is not there.
    ///
    /// # Errors
    /// It cannot be listed.
    pub fn folder(&self, path: &Path) -> Result<Arc<Vec<Item>>> {
        self.folders.get(path, || Ok(Arc::new(list(path).map_err(|e| self.failed("list", path, &e))?)))
    }

    /// A problem with a path below the root.
    pub fn failed(&self, doing: &str, path: &Path, error: &std::io::Error) -> Problems {
        Problem::io(doing, shown(&self.root, path), error).into()
    }
}

fn list(path: &Path) -> std::io::Result<Vec<Item>> {
    let entries = match fs::read_dir(path) {
        Err(e) if e.kind() == NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut items = Vec::new();
    for entry in entries {
        let entry = entry?;
        let mut kind = entry.file_type()?;
        let mut dangling = false;
        if kind.is_symlink() {
            match fs::metadata(entry.path()) {
                Ok(found) => kind = found.file_type(),
                Err(_) => dangling = true,
            }
        }
        let kind = match kind {
            _ if dangling => Kind::Dangling,
            kind if kind.is_dir() => Kind::Folder,
            kind if kind.is_file() => Kind::File,
            _ => Kind::Other,
        };
        items.push(Item { name: entry.file_name(), kind });
    }
    items.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(items)
}
