//! Places: file, line and column of what a person wrote.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, RwLock};

/// A file whose text suil has read, by its number in the process-wide table.
///
/// The table only grows, so a number stays good for the life of the process. It is kept global so that a
/// [`Place`] is 16 bytes and can be copied into every value of a thousand nodes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FileId(u32);

struct Entry {
    path: PathBuf,
    text: Arc<str>,
}

fn table() -> &'static RwLock<Vec<Entry>> {
    static TABLE: OnceLock<RwLock<Vec<Entry>>> = OnceLock::new();
    TABLE.get_or_init(|| RwLock::new(Vec::new()))
}

impl FileId {
    /// Enters `text` under `path`, the path as a person would type it (relative to the workspace where it can be).
    pub fn new(path: impl Into<PathBuf>, text: impl Into<Arc<str>>) -> FileId {
        let mut table = table().write().unwrap_or_else(|e| e.into_inner());
        table.push(Entry { path: path.into(), text: text.into() });
        FileId((table.len() - 1) as u32)
    }

    /// Returns the path that the file was entered under.
    pub fn path(self) -> PathBuf {
        self.with(|entry| entry.path.clone()).unwrap_or_default()
    }

    /// Returns the text of the file.
    pub fn text(self) -> Arc<str> {
        self.with(|entry| entry.text.clone()).unwrap_or_else(|| Arc::from(""))
    }

    fn with<T>(self, f: impl FnOnce(&Entry) -> T) -> Option<T> {
        let table = table().read().unwrap_or_else(|e| e.into_inner());
        table.get(self.0 as usize).map(f)
    }
}

/// A stretch of one line of a file. Line and column count from 1, in characters; `width` 0 means unknown.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    pub file: FileId,
    pub line: u32,
    pub column: u32,
    pub width: u32,
}

impl Place {
    /// Returns the place of the start of `file`.
    pub fn start(file: FileId) -> Place {
        Place { file, line: 1, column: 1, width: 0 }
    }

    /// Returns the text of the line.
    pub fn source_line(&self) -> Option<String> {
        let index = self.line.checked_sub(1)? as usize;
        self.file.text().lines().nth(index).map(str::to_owned)
    }

    /// Returns the path of the file.
    pub fn path(&self) -> PathBuf {
        self.file.path()
    }

    /// True where the place is in the file of this path.
    pub fn is_in(&self, path: &Path) -> bool {
        self.path() == path
    }
}

impl std::fmt::Display for Place {
    /// `path:line:column`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.path().display(), self.line, self.column)
    }
}
