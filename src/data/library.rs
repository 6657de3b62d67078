//! Where modules come from: the workspace's `modules/`, else the stock modules in the binary.

mod manifest;
mod stock;

use crate::base::{Problem, Problems, Result};
use manifest::{Declared, Manifest};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The modules of a workspace, by name.
#[derive(Clone, Debug)]
pub struct Library {
    modules: BTreeMap<String, ModuleDir>,
    absent: BTreeMap<String, Problem>,
    declares: bool,
}

/// One module's folder, wherever it is.
#[derive(Clone, Debug)]
pub struct ModuleDir {
    pub name: String,
    pub origin: Origin,
    /// The real folder; `None` for a stock module.
    folder: Option<PathBuf>,
}

/// Where a module comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    Workspace,
    Stock,
    /// Declared in `modules.yaml` from elsewhere, and laid out under `modules/`.
    Remote {
        repo: String,
        version: String,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Workspace => f.write_str("workspace"),
            Origin::Stock => f.write_str("stock"),
            Origin::Remote { repo, version } => write!(f, "{repo} {version}"),
        }
    }
}

/// The stock modules of the binary, also those that a workspace overrides.
pub fn stock_modules() -> impl Iterator<Item = ModuleDir> {
    stock::names().into_iter().map(|name| ModuleDir { name, origin: Origin::Stock, folder: None })
}

impl Library {
    /// Finds the modules of the workspace at `root`, and reads its `modules.yaml` where there is one.
    ///
    /// # Errors
    /// A broken `modules.yaml`, and a folder under `modules/` that it does not declare.
    pub fn open(root: &Path) -> Result<Library> {
        let mut modules = BTreeMap::new();
        for name in stock::names() {
            modules.insert(name.clone(), ModuleDir { name, origin: Origin::Stock, folder: None });
        }
        let folder = root.join("modules");
        let mut folders: Vec<String> = Vec::new();
        for (name, is_folder) in entries(&folder)?.unwrap_or_default() {
            folders.extend((is_folder && !name.starts_with('.')).then_some(name));
        }
        let Some(manifest) = Manifest::read(root)? else {
            for name in folders {
                let module =
                    ModuleDir { origin: Origin::Workspace, folder: Some(folder.join(&name)), name: name.clone() };
                modules.insert(name, module);
            }
            return Ok(Library { modules, absent: BTreeMap::new(), declares: false });
        };
        let mut problems = Problems::new();
        for name in &folders {
            if !manifest.declares(name) {
                let what = format!("folder `modules/{name}` is not declared in `modules.yaml`");
                let help = format!("add `{name}` to the `modules` of `repo: local`, or remove the folder");
                problems.push(Problem::new(what).at(manifest.place).help(help));
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut absent = BTreeMap::new();
        for (name, declared) in manifest.modules {
            if folders.contains(&name) {
                let origin = match &declared.version {
                    None => Origin::Workspace,
                    Some(version) => Origin::Remote { repo: declared.repo.clone(), version: version.clone() },
                };
                let module = ModuleDir { origin, folder: Some(folder.join(&name)), name: name.clone() };
                modules.insert(name, module);
            } else {
                modules.remove(&name);
                absent.insert(name.clone(), not_there(&name, &declared));
            }
        }
        Ok(Library { modules, absent, declares: true })
    }

    pub fn get(&self, name: &str) -> Option<&ModuleDir> {
        self.modules.get(name)
    }

    /// All modules, by name.
    pub fn iter(&self) -> impl Iterator<Item = &ModuleDir> {
        self.modules.values()
    }

    /// Why a module that `modules.yaml` declares is not there.
    pub fn absent(&self, name: &str) -> Option<&Problem> {
        self.absent.get(name)
    }

    /// The names that `modules.yaml` declares and that are not there.
    pub fn absent_names(&self) -> impl Iterator<Item = &str> {
        self.absent.keys().map(String::as_str)
    }

    /// What a module name may be, for the words of an error.
    pub fn expected(&self) -> &'static str {
        match self.declares {
            true => "expected a module that `modules.yaml` declares, or a stock module",
            false => "expected a folder under `modules/`, or a stock module",
        }
    }
}

fn not_there(name: &str, declared: &Declared) -> Problem {
    let problem = Problem::new(format!("module `{name}` is declared, but `modules/{name}` does not exist"));
    let problem = problem.at(declared.place);
    match &declared.version {
        None => problem.help(format!("make the folder `modules/{name}`, or remove the entry")),
        Some(_) => problem
            .note(format!("it comes from `{}`, and fetching modules is not supported yet", declared.repo))
            .help(format!("put the module under `modules/{name}` yourself")),
    }
}

impl ModuleDir {
    /// The content of a file of the module; `None` where there is none, or where `rel` leaves the module.
    ///
    /// # Errors
    /// A file that is there and cannot be read.
    pub fn read(&self, rel: &str) -> Result<Option<Arc<[u8]>>, Problem> {
        let Some(folder) = &self.folder else {
            return Ok(stock::read(&self.name, rel));
        };
        let Some(path) = inside(folder, rel) else { return Ok(None) };
        match fs::read(&path) {
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
        let Some(folder) = &self.folder else {
            return Ok(stock::children(&self.name, dir, folders));
        };
        let Some(path) = inside(folder, dir) else { return Ok(Vec::new()) };
        let found = entries(&path)?.unwrap_or_default();
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
        match &self.folder {
            None => stock::has(&self.name, rel),
            Some(folder) => inside(folder, rel).is_some_and(|path| path.is_file()),
        }
    }

    /// The path as a person would type it; a stock module's starts with `stock:`.
    pub fn shown(&self, rel: &str) -> PathBuf {
        match self.origin {
            Origin::Stock => PathBuf::from(format!("stock:{}/{rel}", self.name)),
            _ => Path::new("modules").join(&self.name).join(rel),
        }
    }

    /// The path on this machine, for files that are too big to hold; `None` for a stock module.
    pub fn real_path(&self, rel: &str) -> Option<PathBuf> {
        self.folder.as_deref().and_then(|folder| inside(folder, rel))
    }
}

/// Joins, unless `rel` is absolute or climbs.
fn inside(folder: &Path, rel: &str) -> Option<PathBuf> {
    let plain = Path::new(rel).components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
    plain.then(|| folder.join(rel))
}

fn missing(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | IsADirectory)
}

/// The names in a folder, sorted by bytes, and whether each is a folder; `None` where there is no such folder.
/// A name that is no UTF-8 is left out: no data file can name it.
fn entries(path: &Path) -> Result<Option<Vec<(String, bool)>>, Problem> {
    let read = match fs::read_dir(path) {
        Ok(read) => read,
        Err(error) if missing(&error) => return Ok(None),
        Err(error) => return Err(Problem::io("read the folder", path, &error)),
    };
    let mut found = Vec::new();
    for entry in read {
        let entry = entry.map_err(|error| Problem::io("read the folder", path, &error))?;
        if let Ok(name) = entry.file_name().into_string() {
            found.push((name, entry.path().is_dir()));
        }
    }
    found.sort();
    Ok(Some(found))
}
