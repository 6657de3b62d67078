//! The files in which a workspace keeps its data, whether a node reads them today or not.

use super::pattern::Pattern;
use super::validate::names;
use super::workspace::Workspace;
use crate::base::{Problem, Problems, Result, file};
use crate::data::library::Origin;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// How deep folders may lie in each other.
const DEEPEST: usize = 64;

/// A data file of the workspace.
#[derive(Clone, Debug)]
pub struct Source {
    /// The path as a person would type it.
    pub shown: PathBuf,
    /// Where it really is, symbolic links followed.
    pub path: PathBuf,
    /// True where a layer of the hierarchy, or a module, reads it.
    pub read: bool,
}

impl Source {
    /// True where there may be secrets in it: a file that nothing reads may be of any kind, unless it mentions one.
    fn may_hold_secrets(&self, bytes: &[u8]) -> bool {
        self.read || bytes.windows(5).any(|five| five == b"!ENC[")
    }
}

impl Workspace {
    /// The data files that may hold secrets, each with its bytes. A file that cannot be read goes to `problems`.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn secret_sources(&self, problems: &mut Problems) -> Result<Vec<(Source, Vec<u8>)>> {
        let mut found = Vec::new();
        for source in self.sources()? {
            match file::read(&source.path) {
                Ok(bytes) if source.may_hold_secrets(&bytes) => found.push((source, bytes)),
                Ok(_) => {}
                Err(error) => problems.push(Problem::io("read", &source.shown, &error)),
            }
        }
        Ok(found)
    }

    /// Every data file, once, by the path that is shown: what lies below `data/`, what the hierarchy can read, and the
    /// data of the modules of the workspace. Stock modules are in the binary and modules from elsewhere are pinned, so
    /// neither is here.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn sources(&self) -> Result<Vec<Source>> {
        let data = self.root().join("data");
        let patterns = &self.hierarchy().patterns;
        let mut walk = Walk { found: Vec::new(), seen: BTreeSet::new() };
        for base in std::iter::once(String::new()).chain(patterns.iter().filter_map(outside)) {
            walk.below(&data.join(&base), &base, 0)?;
        }
        let mut sources = Vec::new();
        for (path, real) in walk.found {
            let read = path == "common.yaml" || patterns.iter().any(|pattern| names(pattern, &path).is_some());
            let below = !path.starts_with("../") && (path.ends_with(".yaml") || path.ends_with(".yml"));
            if read || below {
                sources.push(Source { read, shown: shown(&path), path: real });
            }
        }
        for module in self.library().iter().filter(|module| module.origin == Origin::Workspace) {
            for rel in module.walk("data")?.iter().filter(|rel| rel.ends_with(".yaml")) {
                if let Some(path) = module.real_path(rel).and_then(|path| path.canonicalize().ok()) {
                    sources.push(Source { shown: module.shown(rel), path, read: true });
                }
            }
        }
        sources.sort_by(|a, b| a.shown.cmp(&b.shown));
        let mut seen = BTreeSet::new();
        sources.retain(|source| seen.insert(source.path.clone()));
        Ok(sources)
    }
}

/// The folder of a layer that does not lie below `data/`: `../` and what has no variable behind it.
fn outside(pattern: &Pattern) -> Option<String> {
    let fixed = pattern.text.split('{').next().unwrap_or_default();
    let (folder, _) = fixed.rsplit_once('/')?;
    pattern.text.starts_with("../").then(|| folder.to_owned())
}

/// A path below `data/` as a person would type it, from the workspace.
fn shown(path: &str) -> PathBuf {
    path.strip_prefix("../").map_or_else(|| Path::new("data").join(path), PathBuf::from)
}

/// The files below a folder; what a link leads to is there once.
struct Walk {
    /// The path from `data/`, and where it really is.
    found: Vec<(String, PathBuf)>,
    /// The folders that were read.
    seen: BTreeSet<PathBuf>,
}

impl Walk {
    fn below(&mut self, folder: &Path, base: &str, depth: usize) -> Result<(), Problem> {
        // A layer that is not there is empty, and so is one behind a link that leads nowhere.
        let Ok(real) = folder.canonicalize() else { return Ok(()) };
        if !self.seen.insert(real) {
            return Ok(());
        }
        let failed = |error: &std::io::Error| Problem::io("read the folder", &shown(base), error);
        if depth > DEEPEST {
            return Err(Problem::new(format!("folder `{}` is nested too deep", shown(base).display())));
        }
        let mut entries = Vec::new();
        for entry in fs::read_dir(folder).map_err(|error| failed(&error))? {
            let entry = entry.map_err(|error| failed(&error))?;
            entries.extend(entry.file_name().into_string().ok().filter(|name| !name.starts_with('.')));
        }
        entries.sort();
        for name in entries {
            let path = folder.join(&name);
            let rel = if base.is_empty() { name } else { format!("{base}/{name}") };
            if path.is_dir() {
                self.below(&path, &rel, depth + 1)?;
            } else if let Ok(real) = path.canonicalize() {
                self.found.push((rel, real));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_that_can_be_a_layer_is_there_once() {
        let root = tempfile::tempdir().expect("a folder");
        let hierarchy = "hierarchy: [all.yml, 'roles/{role}', '../hosts/{node}.yaml', '../top.yaml']\n";
        for (path, text) in [
            ("data/common.yaml", hierarchy),
            ("data/all.yml", "{}"),
            ("data/roles/web", "{}"),
            ("data/roles/.hidden.yaml", "{}"),
            ("data/notes.txt", ""),
            ("data/old/unread.yaml", "{}"),
            ("hosts/n1.yaml", "role: web\n"),
            ("top.yaml", "{}"),
            ("facts/x.yaml", "{}"),
            ("modules/app/requires.yaml", ""),
            ("modules/app/data/a.yaml", "{}"),
            ("modules/app/code/main.star", ""),
        ] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            fs::write(path, text).expect("a file");
        }
        std::os::unix::fs::symlink(".", root.path().join("data/loop")).expect("a link");
        std::os::unix::fs::symlink("all.yml", root.path().join("data/same.yaml")).expect("a link");
        std::os::unix::fs::symlink("nowhere", root.path().join("data/dangling.yaml")).expect("a link");
        let workspace = Workspace::open(root.path()).expect("a workspace");
        let sources = workspace.sources().expect("sources");
        let found: Vec<(String, bool)> =
            sources.iter().map(|source| (source.shown.display().to_string(), source.read)).collect();
        let want = [
            ("data/all.yml", true),
            ("data/common.yaml", true),
            ("data/old/unread.yaml", false),
            ("data/roles/web", true),
            ("hosts/n1.yaml", true),
            ("modules/app/data/a.yaml", true),
            ("top.yaml", true),
        ];
        assert_eq!(found, want.map(|(path, read)| (path.to_owned(), read)));
    }
}
