//! The layer files of a workspace, each read and parsed once.

use super::keys::{self, Kind};
use crate::base::{Problem, Problems, Result};
use crate::data::library::{Library, ModuleDir};
use crate::data::{self, Tagged, Tree};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// One layer: what a file contributes.
#[derive(Debug)]
pub struct Layer {
    /// Its number in the order of reading.
    pub id: u32,
    /// The path as a person would type it.
    pub shown: String,
    /// All that the file says.
    pub whole: Tagged,
    /// The same without the keys that steer the run (`role`, `modules`, `after`, hooks).
    pub data: Tagged,
    /// Keys that mean nothing here. The rest of the layer is good, so that what else is wrong is found as well.
    pub problems: Problems,
}

type Loaded = Result<Option<Arc<Layer>>>;

/// What was read of each file, by its path from the workspace.
type Shelf = Arc<Mutex<HashMap<String, Loaded>>>;

/// The files of a workspace that were read so far.
#[derive(Debug)]
pub struct Files {
    tree: Arc<dyn Tree>,
    loaded: Shelf,
    /// Those of another revision: what is the same there need not be parsed again.
    beside: Option<Shelf>,
}

impl Files {
    pub fn new(tree: Arc<dyn Tree>, beside: Option<&Files>) -> Files {
        Files { tree, loaded: Shelf::default(), beside: beside.map(|files| files.loaded.clone()) }
    }

    /// The layer at `path`, from the workspace; `None` where there is no such file or it is empty.
    ///
    /// # Errors
    /// All that is wrong in the file.
    pub fn layer(&self, path: &str, kind: Kind, library: &Library) -> Loaded {
        self.once(path, |id| match self.tree.read(path) {
            Ok(bytes) => self.parse(id, path, &self.tree.shown(path), &bytes, kind, library),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(Problem::io("read", &self.tree.shown(path), &error).into()),
        })
    }

    /// True where the file is there, whatever it holds.
    pub fn exists(&self, path: &str) -> bool {
        self.tree.is_file(path)
    }

    /// A data file of a module.
    ///
    /// # Errors
    /// All that is wrong in the file.
    pub fn module_layer(&self, module: &ModuleDir, rel: &str, library: &Library) -> Loaded {
        let path = module.path(rel);
        self.once(&path, |id| match module.read(rel)? {
            Some(bytes) => self.parse(id, &path, &module.shown(rel), &bytes, Kind::Module, library),
            None => Ok(None),
        })
    }

    fn once(&self, path: &str, read: impl FnOnce(u32) -> Loaded) -> Loaded {
        let mut loaded = self.loaded.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(known) = loaded.get(path) {
            return known.clone();
        }
        let id = loaded.len() as u32;
        let result = read(id);
        loaded.insert(path.to_owned(), result.clone());
        result
    }

    fn parse(&self, id: u32, path: &str, shown: &Path, bytes: &[u8], kind: Kind, library: &Library) -> Loaded {
        let whole = match self.known(path, bytes) {
            Some(whole) => whole,
            None => match data::load(shown, bytes)? {
                Some(whole) => whole,
                None => return Ok(None),
            },
        };
        let problems = keys::check(&whole, kind, library);
        let below = match kind {
            Kind::Role | Kind::Node => whole.filtered(|key| !keys::steers(kind, key)),
            _ => whole.clone(),
        };
        Ok(Some(Arc::new(Layer { id, shown: shown.display().to_string(), whole, data: below, problems })))
    }

    /// What the other revision read from the same text at the same path.
    fn known(&self, path: &str, bytes: &[u8]) -> Option<Tagged> {
        let beside = self.beside.as_ref()?.lock().unwrap_or_else(|e| e.into_inner());
        let Ok(Some(layer)) = beside.get(path)? else { return None };
        let same = layer.whole.place.file.text().as_bytes() == bytes;
        same.then(|| layer.whole.clone())
    }
}

/// True where there is no file at a path, rather than one that cannot be read.
pub fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// Adds `more` to `problems`, and returns what was good.
pub fn keep<T>(result: Result<T>, problems: &mut Problems) -> Option<T> {
    result.map_err(|more| problems.extend(more)).ok()
}
