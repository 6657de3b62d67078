//! The layer files of a workspace, each read and parsed once.

use super::keys::{self, Kind};
use crate::base::{Problem, Problems, Result, file};
use crate::data::library::{Library, ModuleDir};
use crate::data::{self, Tagged};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
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

/// The files of a workspace that were read so far.
#[derive(Debug)]
pub struct Files {
    root: PathBuf,
    loaded: Mutex<HashMap<String, Loaded>>,
}

impl Files {
    pub fn new(root: &Path) -> Files {
        Files { root: root.to_owned(), loaded: Mutex::default() }
    }

    /// The layer at `shown`, a path from the workspace; `None` where there is no such file or it is empty.
    ///
    /// # Errors
    /// All that is wrong in the file.
    pub fn layer(&self, shown: &str, kind: Kind, library: &Library) -> Loaded {
        self.once(shown, |id| {
            let path = self.root.join(shown);
            match file::read(&path) {
                Ok(bytes) => parse(id, shown, &bytes, kind, library),
                Err(error) if is_absent(&error) => Ok(None),
                Err(error) => Err(Problem::io("read", Path::new(shown), &error).into()),
            }
        })
    }

    /// True where the file is there, whatever it holds.
    pub fn exists(&self, shown: &str) -> bool {
        self.root.join(shown).is_file()
    }

    /// A data file of a module.
    ///
    /// # Errors
    /// All that is wrong in the file.
    pub fn module_layer(&self, module: &ModuleDir, rel: &str, library: &Library) -> Loaded {
        let shown = module.shown(rel).display().to_string();
        self.once(&shown, |id| match module.read(rel)? {
            Some(bytes) => parse(id, &shown, &bytes, Kind::Module, library),
            None => Ok(None),
        })
    }

    fn once(&self, shown: &str, read: impl FnOnce(u32) -> Loaded) -> Loaded {
        let mut loaded = self.loaded.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(known) = loaded.get(shown) {
            return known.clone();
        }
        let id = loaded.len() as u32;
        let result = read(id);
        loaded.insert(shown.to_owned(), result.clone());
        result
    }
}

fn parse(id: u32, shown: &str, bytes: &[u8], kind: Kind, library: &Library) -> Loaded {
    let Some(whole) = data::load(Path::new(shown), bytes)? else { return Ok(None) };
    let problems = keys::check(&whole, kind, library);
    let below = match kind {
        Kind::Role | Kind::Node => whole.filtered(|key| !keys::steers(kind, key)),
        _ => whole.clone(),
    };
    Ok(Some(Arc::new(Layer { id, shown: shown.to_owned(), whole, data: below, problems })))
}

/// True where there is no file at a path, rather than one that cannot be read.
pub fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// Adds `more` to `problems`, and returns what was good.
pub fn keep<T>(result: Result<T>, problems: &mut Problems) -> Option<T> {
    result.map_err(|more| problems.extend(more)).ok()
}
