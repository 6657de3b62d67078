//! The paths of a revision, as `git ls-tree -r -z` lists them, with its links resolved.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Error, ErrorKind, Result};

/// A link to a link to a link …: the kernel stops at as many.
const LINKS: usize = 40;

/// What stands at a path.
#[derive(Debug)]
pub enum Thing {
    /// A file, by the id of its content.
    File(String),
    /// A folder, by the names in it.
    Folder(BTreeSet<String>),
    /// A link, by its target.
    Link(String),
    /// A repository of its own, by the commit of it.
    Submodule(String),
}

/// Where a path leads to.
pub struct Way<'a> {
    pub thing: &'a Thing,
    /// The path of that thing, with no link in it.
    pub path: String,
    /// What is left of the path below a submodule.
    pub rest: String,
}

/// Everything in the tree of a revision, by its path.
#[derive(Debug)]
pub struct Paths {
    things: BTreeMap<String, Thing>,
    /// The files that may be run as programs.
    executable: BTreeSet<String>,
}

impl Paths {
    /// Reads `<mode> <type> <id>\t<path>\0…`. `content` gives the content of an object, for the targets of links.
    pub fn read(listed: &[u8], content: &mut dyn FnMut(&str) -> Result<Vec<u8>>) -> Result<Paths> {
        let top = BTreeMap::from([(String::new(), Thing::Folder(BTreeSet::new()))]);
        let mut paths = Paths { things: top, executable: BTreeSet::new() };
        for line in listed.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
            // A path that is no UTF-8 cannot be named by any data file.
            let Ok(line) = std::str::from_utf8(line) else { continue };
            let odd = || Error::other(format!("git lists `{line}`"));
            let (head, path) = line.split_once('\t').ok_or_else(odd)?;
            let words: Vec<&str> = head.split_whitespace().collect();
            let thing = match words.as_slice() {
                ["120000", _, id] => match String::from_utf8(content(id)?) {
                    Ok(target) => Thing::Link(target),
                    Err(_) => continue,
                },
                [mode, "blob", id] => {
                    if *mode == "100755" {
                        paths.executable.insert(path.to_owned());
                    }
                    Thing::File((*id).to_owned())
                }
                [_, "commit", id] => Thing::Submodule((*id).to_owned()),
                _ => return Err(odd()),
            };
            paths.add(path, thing);
        }
        Ok(paths)
    }

    fn add(&mut self, path: &str, thing: Thing) {
        let mut below = path;
        self.things.insert(path.to_owned(), thing);
        loop {
            let (folder, name) = below.rsplit_once('/').unwrap_or(("", below));
            let known = self.things.entry(folder.to_owned()).or_insert_with(|| Thing::Folder(BTreeSet::new()));
            let Thing::Folder(names) = known else { return };
            if !names.insert(name.to_owned()) || folder.is_empty() {
                return;
            }
            below = folder;
        }
    }

    /// True where the file at `path`, which has no link in it, may be run as a program.
    pub fn is_executable(&self, path: &str) -> bool {
        self.executable.contains(path)
    }

    /// The submodules, and the commit of each.
    pub fn submodules(&self) -> impl Iterator<Item = (&str, &str)> {
        self.things.iter().filter_map(|(path, thing)| match thing {
            Thing::Submodule(id) => Some((path.as_str(), id.as_str())),
            _ => None,
        })
    }

    /// The files, and the id of the content of each.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.things.iter().filter_map(|(path, thing)| match thing {
            Thing::File(id) => Some((path.as_str(), id.as_str())),
            _ => None,
        })
    }

    /// What is at `path`, links followed.
    ///
    /// # Errors
    /// Nothing is there, or a link leads out of the workspace.
    pub fn get(&self, path: &str) -> Result<Way<'_>> {
        let mut links = 0;
        let mut here: Vec<String> = Vec::new();
        let mut ahead: Vec<String> = parts(path).rev().collect();
        while let Some(part) = ahead.pop() {
            if part == ".." {
                if here.pop().is_none() {
                    return Err(Error::other("a link leads out of the workspace, and a revision has nothing there"));
                }
                continue;
            }
            here.push(part);
            match self.things.get(&here.join("/")) {
                Some(Thing::Link(target)) => {
                    links += 1;
                    if links > LINKS {
                        return Err(Error::other("links lead in a circle"));
                    }
                    if target.starts_with('/') {
                        return Err(Error::other(
                            "a link leads out of the workspace, and a revision has nothing there",
                        ));
                    }
                    here.pop();
                    ahead.extend(parts(target).rev());
                }
                Some(Thing::Folder(_)) => {}
                Some(thing @ Thing::Submodule(_)) => {
                    let rest: Vec<String> = ahead.into_iter().rev().collect();
                    return Ok(Way { thing, path: here.join("/"), rest: rest.join("/") });
                }
                Some(Thing::File(_)) if ahead.is_empty() => {}
                Some(Thing::File(_)) => return Err(Error::new(ErrorKind::NotADirectory, "no such file or directory")),
                None => return Err(absent()),
            }
        }
        let path = here.join("/");
        let thing = self.things.get(&path).ok_or_else(absent)?;
        Ok(Way { thing, path, rest: String::new() })
    }

    /// True where there is a folder, or a submodule: who asks for its files is told where they are not at hand.
    pub fn is_folder(&self, path: &str) -> bool {
        self.get(path).is_ok_and(|way| matches!(way.thing, Thing::Folder(_) | Thing::Submodule(_)))
    }
}

fn absent() -> Error {
    Error::new(ErrorKind::NotFound, "no such file or directory")
}

fn parts(path: &str) -> impl DoubleEndedIterator<Item = String> + '_ {
    path.split('/').filter(|part| !part.is_empty() && *part != ".").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(list: &[(&str, &str)]) -> Paths {
        let line = |(path, target): &(&str, &str)| match target.strip_prefix("-> ") {
            Some(target) => format!("120000 blob {target}\t{path}\0"),
            None => format!("100644 blob {target}\t{path}\0"),
        };
        let text: String = list.iter().map(line).collect();
        Paths::read(text.as_bytes(), &mut |id| Ok(id.as_bytes().to_vec())).expect("paths")
    }

    #[test]
    fn links_are_followed_inside_the_workspace_and_nowhere_else() {
        let paths = paths(&[
            ("modules/a/data/x.yaml", "1"),
            ("modules/b", "-> a"),
            ("modules/c/data", "-> ../a/./data"),
            ("data/out.yaml", "-> ../../etc/passwd"),
            ("data/absolute.yaml", "-> /etc/passwd"),
            ("data/round.yaml", "-> round.yaml"),
            ("data/gone.yaml", "-> none.yaml"),
        ]);
        for path in
            ["modules/a/data/x.yaml", "modules/b/data/x.yaml", "modules/c/data/x.yaml", "./modules//b/data/x.yaml"]
        {
            assert!(matches!(paths.get(path), Ok(Way { thing: Thing::File(id), .. }) if id == "1"), "{path}");
        }
        for (path, words) in [
            ("data/out.yaml", "out of the workspace"),
            ("data/absolute.yaml", "out of the workspace"),
            ("data/round.yaml", "circle"),
        ] {
            let error = paths.get(path).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(words), "{path}: {error}");
        }
        let kind = |path: &str| paths.get(path).err().map(|error| error.kind());
        assert_eq!(kind("data/gone.yaml"), Some(ErrorKind::NotFound));
        assert_eq!(kind("modules/a/data/x.yaml/y"), Some(ErrorKind::NotADirectory));
        for (path, is) in [("modules/b", true), ("modules/c/data", true), ("", true), ("data/out.yaml", false)] {
            assert_eq!(paths.is_folder(path), is, "{path}");
        }
    }
}
