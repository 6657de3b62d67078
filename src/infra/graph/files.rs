//! The files of a tree: a listing of its folders, made once, and the contents, read when they are asked for.

use super::each::{cores, each};
use super::key;
use crate::base::{Mark, Moment, Problem, Problems, Result, Top, file};
use crate::data::Tree;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};

const GIT: &str = ".git";

/// Folders that hold nothing of a tree.
const SKIPPED: [&str; 4] = [GIT, ".terraform", "node_modules", ".suil"];

/// How deep folders may stand in each other.
const DEPTH: usize = 64;

/// The folders of a tree by their paths; the root is the empty one.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Listing {
    pub folders: BTreeMap<String, Folder>,
}

/// What stands in a folder, sorted by name; folders that are listed themselves are left out.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Folder {
    pub files: Vec<Entry>,
    /// Where it is still the same the folder has the same names in it; `None` where nobody can tell.
    pub mark: Option<Mark>,
}

/// A file of a folder.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Entry {
    pub name: String,
    /// It is a symbolic link, to whatever.
    pub link: bool,
    /// What the disk says about it; `None` where nobody needs to know.
    pub mark: Option<Mark>,
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
    pub fn of_disk(root: &Path, output: Option<&str>, wants: Wants) -> Result<Listing> {
        walk(root, vec![String::new()], output, wants)
    }

    /// Lists the tree at `root` again: a folder with the same mark is not read again. Says what may have moved since, where
    /// all marks of both listings were wanted.
    ///
    /// # Errors
    /// Every folder that cannot be listed.
    pub fn again(mut self, root: &Path, output: Option<&str>, wants: Wants) -> Result<(Listing, Moved)> {
        let top = Top::open(root).map_err(|e| Problem::io("list", shown(""), &e))?;
        let known: Vec<(&String, &Folder)> = self.folders.iter().collect();
        let looked = each(&known, |(path, folder)| look((root, &top), path, folder, output, wants));
        let (mut moved, mut problems) = (Moved::default(), Vec::new());
        let (mut new, mut gone) = (Vec::new(), BTreeSet::new());
        let mut read = Vec::new();
        for ((path, folder), looked) in self.folders.iter_mut().zip(looked) {
            match looked {
                Ok(Looked::Same(marks)) => {
                    for (entry, mark) in folder.files.iter_mut().zip(marks) {
                        // A link leads elsewhere only where its folder has changed.
                        if entry.link {
                            moved.behind |= entry.mark != mark;
                        } else if mark.is_none() || entry.mark != mark {
                            moved.files.insert(below(path, &entry.name), true);
                        }
                        entry.mark = mark;
                    }
                }
                Ok(Looked::Read(now, below)) => {
                    moved.compare(path, folder, &now);
                    moved.stirred.push(path.clone());
                    *folder = now;
                    read.push((path.clone(), below));
                }
                Ok(Looked::Gone) => {
                    gone.insert(path.clone());
                }
                Err(e) => problems.push((path.clone(), Problem::io("list", shown(path), &e))),
            }
        }
        for (path, below) in read {
            let below: BTreeSet<String> = below.into_iter().collect();
            gone.extend(self.children(&path).filter(|child| !below.contains(*child)).map(str::to_owned));
            new.extend(below.into_iter().filter(|child| !self.folders.contains_key(child)));
        }
        if !gone.is_empty() {
            // What a link leads to now may look like what stood there before.
            let stays = |path: &str| !key::ancestors(path).any(|folder| gone.contains(folder));
            for (path, folder) in self.folders.extract_if(.., |path, _| !stays(path)) {
                moved.compare(&path, &folder, &Folder::default());
            }
            new.retain(|path| stays(path));
            problems.retain(|(path, _)| stays(path));
        }
        if !new.is_empty() {
            for (path, folder) in walk(root, new, output, wants)?.folders {
                moved.compare(&path, &Folder::default(), &folder);
                moved.stirred.push(path.clone());
                self.folders.insert(path, folder);
            }
        }
        if problems.is_empty() {
            Ok((self, moved))
        } else {
            Err(problems.into_iter().map(|(_, problem)| problem).collect())
        }
    }

    /// The same listing without the marks that were too young at `moment` to tell every later change.
    #[must_use]
    pub fn settled(mut self, moment: Moment) -> Listing {
        let old = |mark: &Mark| mark.is_settled(moment);
        for folder in self.folders.values_mut() {
            folder.mark = folder.mark.filter(old);
            folder.files.iter_mut().for_each(|entry| entry.mark = entry.mark.filter(old));
        }
        self
    }

    /// The folders right below one.
    fn children<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a str> {
        let start = if path.is_empty() { 0 } else { path.len() + 1 };
        let below = self.below(path).map(|(path, _)| path);
        below.filter(move |other| other.get(start..).is_some_and(|rest| !rest.is_empty() && !rest.contains('/')))
    }
}

/// Whose marks are needed, by their names.
pub type Wants<'a> = &'a (dyn Fn(&str) -> bool + Sync);

/// What may have moved between two listings.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Moved {
    /// The files, and whether the earlier listing had them.
    pub files: BTreeMap<String, bool>,
    /// The folders that may hold other things.
    pub stirred: Vec<String>,
    /// What a link leads to is another.
    pub behind: bool,
}

impl Moved {
    /// True where nothing moved that git looks at.
    pub fn is_nothing(&self) -> bool {
        self.files.is_empty() && self.stirred.is_empty()
    }

    /// Enters the files of a folder that was read again. What a link leads to shows in no mark.
    fn compare(&mut self, path: &str, old: &Folder, new: &Folder) {
        let names: HashMap<&str, &Entry> = old.files.iter().map(|entry| (entry.name.as_str(), entry)).collect();
        for entry in &new.files {
            let before = names.get(entry.name.as_str());
            let same = |old: &&&Entry| !entry.link && entry.mark.is_some() && entry == **old;
            if before.filter(same).is_none() {
                self.files.insert(below(path, &entry.name), before.is_some());
            }
        }
        let names: BTreeSet<&str> = new.files.iter().map(|entry| entry.name.as_str()).collect();
        let gone = old.files.iter().filter(|entry| !names.contains(entry.name.as_str()));
        self.files.extend(gone.map(|entry| (below(path, &entry.name), true)));
    }
}

/// What became of a folder.
enum Looked {
    /// The same names are in it, with these marks.
    Same(Vec<Option<Mark>>),
    /// It was read, and these folders stand in it.
    Read(Folder, Vec<String>),
    Gone,
}

fn look(
    (root, top): (&Path, &Top),
    path: &str,
    folder: &Folder,
    output: Option<&str>,
    wants: Wants,
) -> io::Result<Looked> {
    // The root may be a link.
    let mark = match top.mark(path, path.is_empty()) {
        Err(e) if e.kind() == io::ErrorKind::NotFound && !path.is_empty() => return Ok(Looked::Gone),
        Err(e) => return Err(e),
        Ok((_, false)) => return Ok(Looked::Gone),
        Ok((mark, true)) => mark,
    };
    if folder.mark != Some(mark) {
        let mut below = Vec::new();
        let folder = list(root, path, output, wants, &mut below)?;
        return Ok(Looked::Read(folder, below));
    }
    let mut place = path.to_owned();
    let mark = |entry: &Entry| {
        if !wants(&entry.name) {
            return None;
        }
        if !path.is_empty() {
            place.push('/');
        }
        place.push_str(&entry.name);
        let found = top.mark(&place, entry.link);
        place.truncate(path.len());
        found.ok().map(|(mark, _)| mark)
    };
    Ok(Looked::Same(folder.files.iter().map(mark).collect()))
}

/// Lists the folders `open` and all below them.
fn walk(root: &Path, open: Vec<String>, output: Option<&str>, wants: Wants) -> Result<Listing> {
    let threads = cores().min(8);
    let shared = Mutex::new(Shared { open, working: 0 });
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

fn full(root: &Path, path: &str) -> PathBuf {
    if path.is_empty() { root.to_owned() } else { root.join(path) }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

fn shown(path: &str) -> &Path {
    Path::new(if path.is_empty() { "." } else { path })
}

fn list(root: &Path, path: &str, output: Option<&str>, wants: Wants, open: &mut Vec<String>) -> io::Result<Folder> {
    let full = full(root, path);
    // The marks come first: what changes while it is read is found by the next listing.
    let moment = Moment::now();
    let mark = fs::metadata(&full).ok().map(|meta| Mark::of(&meta)).filter(|mark| mark.is_settled(moment));
    let mut folder = Folder { files: Vec::new(), mark };
    for entry in fs::read_dir(full)? {
        let entry = entry?;
        // A name that is no UTF-8 is in no configuration, and in no code.
        let Ok(name) = entry.file_name().into_string() else { continue };
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if !is_skipped(&name) && Some(name.as_str()) != output && path.matches('/').count() < DEPTH {
                open.push(below(path, &name));
            }
            continue;
        }
        // The file that a working tree of its own has in the place of the folder.
        if name == GIT {
            continue;
        }
        let link = kind.is_symlink();
        let meta = || if link { fs::metadata(entry.path()) } else { entry.metadata() };
        let mark = wants(&name).then(|| meta().ok().map(|meta| Mark::of(&meta))).flatten();
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
            Files::Disk(root) => Mark::at(&root.join(path)),
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
        assert!(listing.file("a/loop").is_some_and(|entry| entry.link && entry.mark.is_none()));
    }
}
