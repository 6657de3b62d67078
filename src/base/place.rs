//! Places: file, line and column of what a person wrote.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
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

#[derive(Default)]
struct Table {
    entries: Vec<Entry>,
    /// By the hash of path and text the numbers of entries, once equal ones are shared.
    same: Option<HashMap<u64, Vec<u32>>>,
}

fn table() -> &'static RwLock<Table> {
    static TABLE: OnceLock<RwLock<Table>> = OnceLock::new();
    TABLE.get_or_init(|| RwLock::new(Table::default()))
}

fn hash(path: &Path, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (path, text).hash(&mut hasher);
    hasher.finish()
}

/// From now on a file that is entered again with the same text has the number that it had. For a process that reads the
/// same files for days; one that reads them once saves the look.
pub fn share() {
    let mut table = table().write().unwrap_or_else(|e| e.into_inner());
    let mut same: HashMap<u64, Vec<u32>> = HashMap::new();
    for (number, entry) in (0..).zip(&table.entries) {
        same.entry(hash(&entry.path, &entry.text)).or_default().push(number);
    }
    table.same = Some(same);
}

impl FileId {
    /// Enters `text` under `path`, the path as a person would type it (relative to the workspace where it can be).
    pub fn new(path: impl Into<PathBuf>, text: impl Into<Arc<str>>) -> FileId {
        let (path, text) = (path.into(), text.into());
        let mut table = table().write().unwrap_or_else(|e| e.into_inner());
        let Table { entries, same } = &mut *table;
        let number = entries.len() as u32;
        if let Some(same) = same {
            let numbers = same.entry(hash(&path, &text)).or_default();
            let known =
                numbers.iter().find(|n| entries.get(**n as usize).is_some_and(|e| e.path == path && e.text == text));
            if let Some(known) = known {
                return FileId(*known);
            }
            numbers.push(number);
        }
        entries.push(Entry { path, text });
        FileId(number)
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
        table.entries.get(self.0 as usize).map(f)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_shared_a_file_with_the_same_text_keeps_its_number() {
        let before = FileId::new("shared.yaml", "a: 1\n");
        share();
        assert_eq!(FileId::new("shared.yaml", "a: 1\n"), before);
        let other = FileId::new("shared.yaml", "a: 2\n");
        assert_ne!(other, before);
        assert_ne!(FileId::new("other.yaml", "a: 1\n"), before);
        assert_eq!(FileId::new("shared.yaml", "a: 2\n"), other);
    }
}
