//! The files of a tree: a listing of its folders, made once, and the contents, read when they are asked for.

use super::key;
use crate::base::{Problem, Problems, Result, file};
use crate::data::Tree;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};

/// Folders that hold nothing of a tree.
const SKIPPED: [&str; 4] = [".git", ".terraform", "node_modules", ".suil"];

/// How deep folders may stand in each other.
const DEPTH: usize = 64;

/// The folders of a tree by their paths; the root is the empty one.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Listing {
    pub folders: BTreeMap<String, Folder>,
}

/// What stands in a folder, sorted by name; folders that are listed themselves are left out.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Folder {
    pub files: Vec<Entry>,
}

/// A file of a folder.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    pub name: String,
    /// It is a symbolic link, to whatever.
    pub link: bool,
    /// What the disk says about it; `None` where nobody needs to know.
    pub mark: Option<Mark>,
}

/// What tells a file from the one that was there before: nobody changes a file and leaves all of these.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Mark {
    pub size: u64,
    pub inode: u64,
    /// In nanoseconds.
    pub modified: i64,
    /// In nanoseconds; nothing but the clock sets it.
    pub changed: i64,
}

impl Mark {
    fn of(meta: &Metadata) -> Mark {
        let nanos = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
        Mark {
            size: meta.len(),
            inode: meta.ino(),
            modified: nanos(meta.mtime(), meta.mtime_nsec()),
            changed: nanos(meta.ctime(), meta.ctime_nsec()),
        }
    }
}

/// True for a folder that holds nothing of a tree.
pub fn is_skipped(name: &str) -> bool {
    SKIPPED.contains(&name)
}

impl Listing {
    /// The paths of all files.
    pub fn paths(&self) -> impl Iterator<Item = String> {
        let below = |(path, folder): (&String, &Folder)| {
            let path = path.clone();
            folder.files.iter().map(move |entry| super::tree::below(&path, &entry.name)).collect::<Vec<_>>()
        };
        self.folders.iter().flat_map(below)
    }

    pub fn folder(&self, path: &str) -> Option<&Folder> {
        self.folders.get(path)
    }

    pub fn is_folder(&self, path: &str) -> bool {
        self.folders.contains_key(path)
    }

    /// The entry of a file.
    pub fn file(&self, path: &str) -> Option<&Entry> {
        let files = &self.folders.get(key::folder(path))?.files;
        let at = files.binary_search_by(|entry| entry.name.as_str().cmp(key::name(path))).ok()?;
        files.get(at)
    }

    /// The folders at and below a path.
    pub fn below<'a>(&'a self, path: &'a str) -> impl Iterator<Item = (&'a str, &'a Folder)> {
        let own = self.folders.get_key_value(path);
        let from = if path.is_empty() { String::new() } else { format!("{path}/") };
        let below = self.folders.range(from.clone()..).take_while(move |(other, _)| other.starts_with(&from));
        own.into_iter()
            .chain(below.filter(move |(other, _)| *other != path))
            .map(|(path, folder)| (path.as_str(), folder))
    }

    /// Lists a tree that may lie in a revision.
    ///
    /// # Errors
    /// A folder cannot be listed.
    pub fn of_tree(tree: &dyn Tree) -> Result<Listing> {
        let mut listing = Listing::default();
        let mut open = VecDeque::from([String::new()]);
        while let Some(path) = open.pop_front() {
            let entries = tree.entries(&path).map_err(|e| Problem::io("list", &tree.shown(&path), &e))?;
            let mut folder = Folder::default();
            for (name, is_folder) in entries {
                if !is_folder {
                    folder.files.push(Entry { name, link: false, mark: None });
                } else if !is_skipped(&name) && path.matches('/').count() < DEPTH {
                    open.push_back(below(&path, &name));
                }
            }
            listing.folders.insert(path, folder);
        }
        Ok(listing)
    }

    /// Lists the tree at `root`, on as many threads as there are cores. Links are not followed; a folder named `output`
    /// is left out, and `wants` says whose marks are needed.
    ///
    /// # Errors
    /// Every folder that cannot be listed.
    pub fn of_disk(root: &Path, output: Option<&str>, wants: &(dyn Fn(&str) -> bool + Sync)) -> Result<Listing> {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(8);
        let shared = Mutex::new(Shared { open: vec![String::new()], working: 0 });
        let more = Condvar::new();
        let work = || {
            let (mut found, mut problems) = (Vec::new(), Problems::new());
            while let Some(path) = next(&shared, &more) {
                let mut below = Vec::new();
                match list(root, &path, output, wants, &mut below) {
                    Ok(folder) => found.push((path, folder)),
                    Err(e) => problems.push(Problem::io("list", shown(&path), &e)),
                }
                let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
                shared.open.append(&mut below);
                shared.working -= 1;
                drop(shared);
                more.notify_all();
            }
            (found, problems)
        };
        let parts = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let own = work();
            others.into_iter().filter_map(|other| other.join().ok()).chain([own]).collect::<Vec<_>>()
        });
        let (mut listing, mut problems) = (Listing::default(), Problems::new());
        for (found, more) in parts {
            listing.folders.extend(found);
            problems.extend(more);
        }
        crate::base::problem::sort(&mut problems);
        if problems.is_empty() { Ok(listing) } else { Err(problems) }
    }
}

struct Shared {
    open: Vec<String>,
    working: usize,
}

/// The next folder to list; `None` once there is none and nobody can find another.
fn next(shared: &Mutex<Shared>, more: &Condvar) -> Option<String> {
    let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if let Some(path) = shared.open.pop() {
            shared.working += 1;
            return Some(path);
        }
        if shared.working == 0 {
            more.notify_all();
            return None;
        }
        shared = more.wait(shared).unwrap_or_else(PoisonError::into_inner);
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

fn shown(path: &str) -> &Path {
    Path::new(if path.is_empty() { "." } else { path })
}

fn list(
    root: &Path,
    path: &str,
    output: Option<&str>,
    wants: &(dyn Fn(&str) -> bool + Sync),
    open: &mut Vec<String>,
) -> io::Result<Folder> {
    let mut folder = Folder::default();
    let full = if path.is_empty() { root.to_owned() } else { root.join(path) };
    for entry in fs::read_dir(full)? {
        let entry = entry?;
        // A name that is no UTF-8 is in no configuration, and in no code; a file `.git` says where that folder is.
        let Some(name) = entry.file_name().into_string().ok().filter(|name| name != ".git") else { continue };
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if !is_skipped(&name) && Some(name.as_str()) != output && path.matches('/').count() < DEPTH {
                open.push(below(path, &name));
            }
            continue;
        }
        let link = kind.is_symlink();
        let meta = || if link { fs::metadata(entry.path()) } else { entry.metadata() };
        // Where a link leads is told by nothing but the file behind it.
        let mark = (link || wants(&name)).then(|| meta().ok().map(|meta| Mark::of(&meta))).flatten();
        folder.files.push(Entry { name, link, mark });
    }
    folder.files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(folder)
}

/// Where the contents of files come from.
#[derive(Clone, Copy, Debug)]
pub enum Files<'a> {
    /// The tree at this root, on the disk.
    Disk(&'a Path),
    Tree(&'a dyn Tree),
}

impl Files<'_> {
    /// The content of a file.
    ///
    /// # Errors
    /// It is not there, or cannot be read.
    pub fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        match self {
            Files::Disk(root) => file::read(&root.join(path)),
            Files::Tree(tree) => tree.read(path),
        }
    }

    /// The path as a person types it at the root.
    pub fn shown(&self, path: &str) -> PathBuf {
        match self {
            Files::Disk(_) => PathBuf::from(path),
            Files::Tree(tree) => tree.shown(path),
        }
    }

    /// Where a link leads, below the root; `None` where it leads elsewhere or nowhere.
    pub fn inside(&self, path: &str) -> Option<PathBuf> {
        match self {
            Files::Disk(root) => {
                let real = root.join(path).canonicalize().ok()?;
                real.strip_prefix(root.canonicalize().ok()?).ok().map(Path::to_owned)
            }
            Files::Tree(_) => Some(PathBuf::from(path)),
        }
    }

    /// What the disk says about a file; `None` for one that is not there, and for every one of a revision.
    pub fn mark(&self, path: &str) -> Option<Mark> {
        match self {
            Files::Disk(root) => fs::metadata(root.join(path)).ok().map(|meta| Mark::of(&meta)),
            Files::Tree(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_disk_is_listed_without_what_holds_nothing_of_it() {
        let room = tempfile::tempdir().expect("a folder");
        for path in ["a/main.tf", "a/b/x.tf", "a.b/y.tf", ".git/config", "a/.terraform/m.tf", "a/out/z.tf", "top.tf"] {
            let path = room.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, "").expect("written");
        }
        std::os::unix::fs::symlink("..", room.path().join("a/loop")).expect("a link");
        let listing = Listing::of_disk(room.path(), Some("out"), &|name| name.ends_with(".tf")).expect("listed");
        let names: Vec<&str> = listing.folders.keys().map(String::as_str).collect();
        assert_eq!(names, ["", "a", "a.b", "a/b"]);
        let below: Vec<&str> = listing.below("a").map(|(path, _)| path).collect();
        assert_eq!(below, ["a", "a/b"]);
        assert_eq!(listing.below("").count(), 4);
        assert!(listing.file("a/main.tf").is_some_and(|entry| entry.mark.is_some()));
        assert!(listing.file("a/loop").is_some_and(|entry| entry.link && entry.mark.is_some()));
    }
}
