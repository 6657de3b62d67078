//! The files of one module, in the tree of the workspace or in the binary.

use super::{Origin, stock};
use crate::base::{Problem, Result};
use crate::data::Tree;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// One module's folder, wherever it is.
#[derive(Clone, Debug)]
pub struct ModuleDir {
    pub name: String,
    pub origin: Origin,
    /// Where its folder is; `None` for a stock module.
    pub(super) tree: Option<Arc<dyn Tree>>,
}

impl ModuleDir {
    /// The content of a file of the module; `None` where there is none, or where `rel` leaves the module.
    ///
    /// # Errors
    /// A file that is there and cannot be read.
    pub fn read(&self, rel: &str) -> Result<Option<Arc<[u8]>>, Problem> {
        let Some(tree) = &self.tree else {
            return Ok(stock::read(&self.name, rel));
        };
        let Some(path) = self.inside(rel) else { return Ok(None) };
        match tree.read(&path) {
            Ok(bytes) => Ok(Some(bytes.into())),
            Err(error) if missing(&error) => Ok(None),
            Err(error) => Err(Problem::io("read", &self.shown(rel), &error)),
        }
    }

    /// The names of the files directly in `dir`, sorted; the module's own folder is `""`.
    ///
    /// # Errors
    /// A folder that is there and cannot be read.
    pub fn list(&self, dir: &str) -> Result<Vec<String>, Problem> {
        self.children(dir, false)
    }

    /// The names of the folders directly in `dir`, sorted.
    ///
    /// # Errors
    /// A folder that is there and cannot be read.
    pub fn folders(&self, dir: &str) -> Result<Vec<String>, Problem> {
        self.children(dir, true)
    }

    fn children(&self, dir: &str, folders: bool) -> Result<Vec<String>, Problem> {
        let Some(tree) = &self.tree else {
            return Ok(stock::children(&self.name, dir, folders));
        };
        let Some(path) = self.inside(dir) else { return Ok(Vec::new()) };
        let found = entries(&**tree, &path)?.unwrap_or_default();
        Ok(found.into_iter().filter(|(_, is_folder)| *is_folder == folders).map(|(name, _)| name).collect())
    }

    /// Every file below `dir`, as a path from the module's folder, sorted.
    ///
    /// # Errors
    /// A folder that is there and cannot be read, or that contains itself.
    pub fn walk(&self, dir: &str) -> Result<Vec<String>, Problem> {
        let mut files = Vec::new();
        self.walk_into(dir.trim_end_matches('/'), 0, &mut files)?;
        files.sort();
        Ok(files)
    }

    fn walk_into(&self, dir: &str, depth: usize, files: &mut Vec<String>) -> Result<(), Problem> {
        if depth > 64 {
            return Err(Problem::new(format!("folder `{}` is nested too deep", self.shown(dir).display()))
                .help("a symbolic link to a folder above itself is the usual cause"));
        }
        let under = |name: String| if dir.is_empty() { name } else { format!("{dir}/{name}") };
        files.extend(self.list(dir)?.into_iter().map(under));
        for folder in self.folders(dir)? {
            self.walk_into(&under(folder), depth + 1, files)?;
        }
        Ok(())
    }

    /// True where the module has a file of this path.
    pub fn has(&self, rel: &str) -> bool {
        match &self.tree {
            None => stock::has(&self.name, rel),
            Some(tree) => self.inside(rel).is_some_and(|path| tree.is_file(&path)),
        }
    }

    /// The path as a person would type it; a stock module's starts with `stock:`.
    pub fn shown(&self, rel: &str) -> PathBuf {
        match (&self.origin, &self.tree) {
            (Origin::Stock, _) | (_, None) => PathBuf::from(format!("stock:{}/{rel}", self.name)),
            (_, Some(tree)) => tree.shown(&self.path(rel)),
        }
    }

    /// The path in the workspace, which is the same in every revision; a stock module's starts with `stock:`.
    pub fn path(&self, rel: &str) -> String {
        match self.origin {
            Origin::Stock => format!("stock:{}/{rel}", self.name),
            _ => format!("modules/{}/{rel}", self.name),
        }
    }

    /// The path on this machine, for files that are too big to hold; `None` for one that is not on the disk.
    pub fn real_path(&self, rel: &str) -> Option<PathBuf> {
        self.tree.as_ref()?.real_path(&self.inside(rel)?)
    }

    /// The path in the tree, unless `rel` is absolute or climbs.
    fn inside(&self, rel: &str) -> Option<String> {
        let plain = Path::new(rel).components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
        plain.then(|| self.path(rel))
    }
}

fn missing(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | IsADirectory)
}

/// The names in a folder, sorted by bytes, and whether each is a folder; `None` where there is no such folder.
pub fn entries(tree: &dyn Tree, path: &str) -> Result<Option<Vec<(String, bool)>>, Problem> {
    match tree.entries(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if missing(&error) => Ok(None),
        Err(error) => Err(Problem::io("read the folder", &tree.shown(path), &error)),
    }
}
