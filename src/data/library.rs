//! Where modules come from: the workspace's `modules/`, else the stock modules in the binary.

mod folder;
mod manifest;
mod stock;

pub use folder::ModuleDir;

use super::tree::{Disk, Tree};
use crate::base::{Problem, Problems, Result};
use folder::entries;
use manifest::{Declared, Manifest};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The modules of a workspace, by name.
#[derive(Clone, Debug)]
pub struct Library {
    modules: BTreeMap<String, ModuleDir>,
    /// Modules from elsewhere that are not laid out here.
    absent: BTreeMap<String, (Origin, Problem)>,
    declares: bool,
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
    stock::names().into_iter().map(|name| ModuleDir { name, origin: Origin::Stock, tree: None })
}

impl Library {
    /// Finds the modules of the workspace at `root`, as [`Library::read`] does.
    ///
    /// # Errors
    /// As there.
    pub fn open(root: &Path) -> Result<Library> {
        Library::read(&(Arc::new(Disk::new(root)) as Arc<dyn Tree>))
    }

    /// Finds the modules of a workspace, and reads its `modules.yaml` where there is one.
    ///
    /// # Errors
    /// A broken `modules.yaml`, and a folder under `modules/` that it does not declare.
    pub fn read(tree: &Arc<dyn Tree>) -> Result<Library> {
        let mut modules = BTreeMap::new();
        for name in stock::names() {
            modules.insert(name.clone(), ModuleDir { name, origin: Origin::Stock, tree: None });
        }
        let mut folders: Vec<String> = Vec::new();
        for (name, is_folder) in entries(&**tree, "modules")?.unwrap_or_default() {
            folders.extend((is_folder && !name.starts_with('.')).then_some(name));
        }
        let Some(manifest) = Manifest::read(&**tree)? else {
            for name in folders {
                let module = ModuleDir { origin: Origin::Workspace, tree: Some(tree.clone()), name: name.clone() };
                modules.insert(name, module);
            }
            return Ok(Library { modules, absent: BTreeMap::new(), declares: false });
        };
        let mut problems = Problems::new();
        for name in &folders {
            if !manifest.modules.contains_key(name) {
                let what = format!("folder `modules/{name}` is not declared in `modules.yaml`");
                let help = format!("add `{name}` to the `modules` of `repo: local`, or remove the folder");
                problems.push(Problem::new(what).at(manifest.place).help(help));
            }
        }
        for (name, declared) in manifest.modules.iter().filter(|(name, _)| !folders.contains(name)) {
            if declared.version.is_none() {
                let what = format!("module `{name}` is declared, but `modules/{name}` does not exist");
                let help = format!("make the folder `modules/{name}`, or remove the entry");
                problems.push(Problem::new(what).at(declared.place).help(help));
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
                let module = ModuleDir { origin, tree: Some(tree.clone()), name: name.clone() };
                modules.insert(name, module);
            } else {
                modules.remove(&name);
                let problem = not_fetched(&name, &declared);
                let version = declared.version.unwrap_or_default();
                absent.insert(name, (Origin::Remote { repo: declared.repo, version }, problem));
            }
        }
        Ok(Library { modules, absent, declares: true })
    }

    /// Takes the modules from elsewhere that are not laid out here from `other`, another revision of the workspace: what is
    /// fetched is rarely committed. Their origin stays the one that is declared here.
    pub fn borrow(&mut self, other: &Library) {
        for (name, module) in &other.modules {
            if let (Origin::Remote { .. }, Some((origin, _))) = (&module.origin, self.absent.get(name)) {
                let module = ModuleDir { origin: origin.clone(), ..module.clone() };
                self.modules.insert(name.clone(), module);
                self.absent.remove(name);
            }
        }
    }

    pub fn get(&self, name: &str) -> Option<&ModuleDir> {
        self.modules.get(name)
    }

    /// All modules, by name.
    pub fn iter(&self) -> impl Iterator<Item = &ModuleDir> {
        self.modules.values()
    }

    /// Why a module that `modules.yaml` takes from elsewhere is not there.
    pub fn absent(&self, name: &str) -> Option<&Problem> {
        self.absent.get(name).map(|(_, problem)| problem)
    }

    /// The names of those modules.
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

fn not_fetched(name: &str, declared: &Declared) -> Problem {
    Problem::new(format!("module `{name}` comes from `{}`, and `modules/{name}` does not exist", declared.repo))
        .at(declared.place)
        .note("fetching modules is not supported yet")
        .help(format!("put the module under `modules/{name}` yourself"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn workspace(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("folder");
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("folder")).expect("folder");
            fs::write(path, text).expect("file");
        }
        root
    }

    #[test]
    fn a_module_shows_its_files_and_nothing_outside() {
        let root = workspace(&[
            ("modules/a/data/z.yaml", ""),
            ("modules/a/data/10.yaml", ""),
            ("modules/a/data/os/debian/12.yaml", "x"),
            ("modules/README.md", ""),
            ("modules/.git/config", ""),
            ("secret", "s"),
        ]);
        let library = Library::open(root.path()).expect("library");
        let own: Vec<&str> =
            library.iter().filter(|m| m.origin == Origin::Workspace).map(|m| m.name.as_str()).collect();
        assert_eq!(own, ["a"]);
        let module = library.get("a").expect("module");
        assert_eq!(module.list("data").expect("list"), ["10.yaml", "z.yaml"]);
        assert_eq!(module.folders("data").expect("list"), ["os"]);
        assert_eq!(module.walk("").expect("walk"), ["data/10.yaml", "data/os/debian/12.yaml", "data/z.yaml"]);
        assert_eq!(module.read("data/os/debian/12.yaml").expect("read").as_deref(), Some(b"x".as_slice()));
        assert_eq!(module.shown("data/z.yaml"), Path::new("modules/a/data/z.yaml"));
        for outside in ["../../secret", "/etc/passwd", "data", "data/z.yaml/x", "nothing"] {
            assert_eq!(module.read(outside).expect("read"), None, "{outside}");
        }
        assert_eq!(module.real_path("../../secret"), None);
    }

    #[test]
    fn a_folder_that_contains_itself_is_a_problem_and_no_hang() {
        let root = workspace(&[("modules/a/files/x", "")]);
        std::os::unix::fs::symlink("..", root.path().join("modules/a/files/loop")).expect("link");
        let library = Library::open(root.path()).expect("library");
        assert!(library.get("a").expect("module").walk("").is_err());
    }

    #[test]
    fn stock_modules_show_where_they_come_from() {
        for module in Library::open(workspace(&[]).path()).expect("library").iter() {
            assert_eq!(module.origin, Origin::Stock);
            assert!(module.shown("requires.yaml").starts_with(format!("stock:{}", module.name)));
            for file in module.walk("").expect("walk") {
                assert!(module.has(&file) && module.read(&file).expect("read").is_some(), "{file}");
            }
        }
    }

    #[test]
    fn a_manifest_is_read_strictly() {
        let table = [
            ("repos: [{repo: local, modules: {a: 1}}]\n", "expected a list of module names"),
            ("repos: [{repo: 'https://x.invalid', modules: [a]}]\n", "expected a version for each name"),
            ("repos: [{repo: locl, modules: [a]}]\n", "did you mean `repo: local`?"),
            ("repos: [{repo: 5, modules: [a]}]\n", "expected `local`"),
            ("repos: [{repo: local, modules: [a]}]\n", "`modules/a` does not exist"),
            ("repos: [{modules: [a]}]\n", "has no `repo`"),
            ("repos: {}\n", "`repos` of `modules.yaml` is a mapping"),
            ("reops: []\n", "did you mean `repos`?"),
            ("repos: [{repo: local, modules: [../a]}]\n", "is no name of a module"),
        ];
        for (text, want) in table {
            let root = workspace(&[("modules.yaml", text)]);
            let problems = Library::open(root.path()).err().unwrap_or_default();
            let found = format!("{problems:?}");
            assert!(found.contains(want), "{text}{found}");
        }
    }
}
