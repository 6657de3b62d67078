//! The files of a tree, on the disk or in a revision of git: each is read once and parsed once in a run, however many
//! layers share it.

use super::settings::{self, Settings};
use super::site::shown;
use crate::base::{FileId, Problem, Problems, Result, file};
use crate::data::tree::Tree;
use crate::infra::hcl::{self, Attribute};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io::Error;
use std::io::ErrorKind::{InvalidData, NotFound};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
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
    /// The revision that they are read from; the disk where there is none.
    revision: Option<Arc<dyn Tree>>,
    texts: Once<FileId>,
    variables: Once<Arc<Vec<Attribute>>>,
    folders: Once<Arc<Vec<Item>>>,
    settings: OnceLock<Result<Settings>>,
}

impl Sources {
    /// The files below `root` on the disk, or those that `revision` has there.
    pub fn new(root: &Path, revision: Option<Arc<dyn Tree>>) -> Sources {
        Sources {
            root: root.to_owned(),
            revision,
            texts: Once::new(),
            variables: Once::new(),
            folders: Once::new(),
            settings: OnceLock::new(),
        }
    }

    /// What the tree says about its own rendering.
    ///
    /// # Errors
    /// Its file cannot be read, or says what makes no sense.
    pub fn settings(&self) -> Result<Settings> {
        let read = || {
            let path = self.root.join(settings::FILE);
            match self.bytes(&path) {
                Ok(bytes) => Settings::read(&self.shown(&path), &bytes),
                Err(e) if e.kind() == NotFound => Ok(Settings::default()),
                Err(e) => Err(self.failed("read", &path, &e)),
            }
        };
        self.settings.get_or_init(read).clone()
    }

    /// The root that they are below.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What stands at a path, links followed; `None` where nothing does.
    pub fn kind(&self, path: &Path) -> Option<Kind> {
        let Some(revision) = &self.revision else {
            let found = fs::metadata(path).ok()?.file_type();
            return Some(if found.is_dir() {
                Kind::Folder
            } else if found.is_file() {
                Kind::File
            } else {
                Kind::Other
            });
        };
        let inside = self.inside(path)?;
        match revision.is_file(&inside) {
            true => Some(Kind::File),
            false => revision.entries(&inside).is_ok().then_some(Kind::Folder),
        }
    }

    /// True where a folder is.
    pub fn is_folder(&self, path: &Path) -> bool {
        self.kind(path) == Some(Kind::Folder)
    }

    /// True where a file is.
    pub fn is_file(&self, path: &Path) -> bool {
        self.kind(path) == Some(Kind::File)
    }

    /// True where a file may be run as a program.
    pub fn is_executable(&self, path: &Path) -> bool {
        match &self.revision {
            None => fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o100 != 0),
            Some(revision) => self.inside(path).is_some_and(|inside| revision.is_executable(&inside)),
        }
    }

    /// The path with nothing to follow in it, where it is below the root.
    ///
    /// # Errors
    /// Nothing is there.
    pub fn real(&self, path: &Path) -> std::io::Result<PathBuf> {
        match &self.revision {
            None => path.canonicalize(),
            Some(revision) => match self.inside(path) {
                Some(inside) => Ok(self.root.join(revision.resolved(&inside)?)),
                None => Ok(path.to_owned()),
            },
        }
    }

    /// The content of a file.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn bytes(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        match &self.revision {
            None => file::read(path),
            Some(revision) => match self.inside(path) {
                Some(inside) => revision.read(&inside),
                None => Err(std::io::Error::other("it is outside the tree, and a revision has nothing there")),
            },
        }
    }

    /// The path as a person types it, `HEAD:stacks/…` in a revision.
    pub fn shown(&self, path: &Path) -> PathBuf {
        match (&self.revision, self.inside(path)) {
            (Some(revision), Some(inside)) => revision.shown(&inside),
            _ => shown(&self.root, path).to_owned(),
        }
    }

    /// The path from the root, with `/` and without `.` and `..`, as a revision has it.
    fn inside(&self, path: &Path) -> Option<String> {
        let mut parts: Vec<&str> = Vec::new();
        for part in path.strip_prefix(&self.root).ok()?.components() {
            match part {
                Component::Normal(name) => parts.push(name.to_str()?),
                Component::CurDir => {}
                Component::ParentDir => drop(parts.pop()?),
                Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        Some(parts.join("/"))
    }

    /// The text of a file, without a byte-order mark.
    ///
    /// # Errors
    /// It cannot be read, or is not UTF-8.
    pub fn text(&self, path: &Path) -> Result<FileId> {
        self.texts.get(path, || {
            let shown = self.shown(path);
            let utf8 = |bytes| String::from_utf8(bytes).map_err(|e| Error::new(InvalidData, e.utf8_error()));
            let text = self.bytes(path).and_then(utf8).map_err(|e| Problem::io("read", &shown, &e))?;
            let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
            Ok(FileId::new(shown, text))
        })
    }

    /// The variables that a file sets.
    ///
    /// # Errors
    /// It cannot be read, or is not HCL.
    pub fn variables(&self, path: &Path) -> Result<Arc<Vec<Attribute>>> {
        self.variables.get(path, || Ok(Arc::new(hcl::variables_as(self.text(path)?, self.settings()?.reading)?)))
    }

    /// What a folder holds, in the order of code points; nothing where it is not there.
    ///
    /// # Errors
    /// It cannot be listed.
    pub fn folder(&self, path: &Path) -> Result<Arc<Vec<Item>>> {
        self.folders.get(path, || Ok(Arc::new(self.list(path).map_err(|e| self.failed("list", path, &e))?)))
    }

    /// A problem with a path below the root.
    pub fn failed(&self, doing: &str, path: &Path, error: &std::io::Error) -> Problems {
        Problem::io(doing, &self.shown(path), error).into()
    }

    fn list(&self, path: &Path) -> std::io::Result<Vec<Item>> {
        let Some(revision) = &self.revision else { return list(path) };
        let Some(inside) = self.inside(path) else { return Ok(Vec::new()) };
        let entries = match revision.entries(&inside) {
            Err(e) if e.kind() == NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let item = |(name, is_folder): (String, bool)| {
            let kind = match is_folder {
                true => Kind::Folder,
                false if revision.is_file(&format!("{inside}/{name}")) => Kind::File,
                false => Kind::Dangling,
            };
            Item { name: name.into(), kind }
        };
        Ok(entries.into_iter().map(item).collect())
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
