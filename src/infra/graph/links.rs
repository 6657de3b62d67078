//! Symbolic links inside a tree. git tells that what a link leads to has changed, and never that the link has: whoever
//! reads through it is touched all the same.

use super::files::{Files, Listing};
use super::tree::below;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

/// So many names of one path are looked at.
const MOST: usize = 256;

/// A link, and what it leads to in the end; both below the root.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Link {
    pub path: String,
    pub target: String,
}

/// The links of a listing, sorted. Those that lead out of the tree, to nothing, or to a folder around them are left out.
pub fn of(files: &Files, listing: &Listing) -> Vec<Link> {
    let mut all = Vec::new();
    for (folder, entries) in &listing.folders {
        for entry in entries.files.iter().filter(|entry| entry.link) {
            let path = below(folder, &entry.name);
            let target = files.inside(&path).and_then(|target| target.to_str().map(str::to_owned));
            let around = |target: &String| target.is_empty() || under(target, &path).is_some();
            all.extend(target.filter(|target| !around(target)).map(|target| Link { path, target }));
        }
    }
    all.sort();
    all
}

/// What of `path` is below `folder`; empty for the folder itself.
fn under<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    let rest = path.strip_prefix(folder)?;
    if rest.is_empty() { Some("") } else { rest.strip_prefix('/') }
}

/// The path behind a link on the way of `path`; `None` where there is none.
pub fn real(links: &[Link], path: &str) -> Option<String> {
    let found = super::key::ancestors(path).find_map(|at| {
        let link = links.binary_search_by(|link| link.path.as_str().cmp(at)).ok().and_then(|at| links.get(at))?;
        under(at, path).map(|rest| (&link.target, rest))
    });
    found.map(|(target, rest)| if rest.is_empty() { target.clone() } else { below(target, rest) })
}

/// The other names of paths.
pub struct Names<'a>(HashMap<&'a str, Vec<&'a str>>);

impl<'a> Names<'a> {
    pub fn new(links: &'a [Link]) -> Names<'a> {
        let mut names: HashMap<&str, Vec<&str>> = HashMap::new();
        for link in links {
            names.entry(&link.target).or_default().push(&link.path);
        }
        Names(names)
    }

    /// Every path that leads to `path` through links.
    pub fn of(&self, path: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut open = vec![path.to_owned()];
        while let Some(path) = open.pop().filter(|_| !self.0.is_empty() && found.len() < MOST) {
            for at in super::key::ancestors(&path) {
                for link in self.0.get(at).into_iter().flatten() {
                    let rest = under(at, &path).unwrap_or_default();
                    let name = if rest.is_empty() { (*link).to_owned() } else { below(link, rest) };
                    // A link inside what another leads to may lead back.
                    if name.len() < 4096 && found.insert(name.clone()) {
                        open.push(name);
                    }
                }
            }
        }
        found
    }
}

/// What stands below each folder, for a path that is one itself: git lists a submodule so.
pub fn inside<'a, T>(all: &'a BTreeMap<&str, T>, folder: &str) -> Vec<&'a T> {
    let from = format!("{folder}/");
    let below = all
        .range::<str, _>((Bound::Included(from.as_str()), Bound::Unbounded))
        .take_while(|(path, _)| path.starts_with(&from));
    below.map(|(_, item)| item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_the_names_that_links_give_it() {
        let link = |(path, target): &(&str, &str)| Link { path: (*path).to_owned(), target: (*target).to_owned() };
        let mut links: Vec<Link> =
            [("s/a/p.tf", "c/p.tf"), ("s/b/lib", "c"), ("m", "s/b/lib"), ("x/y", "x/z"), ("x/z/back", "x/y")]
                .iter()
                .map(link)
                .collect();
        links.sort();
        let names = |path: &str| Names::new(&links).of(path).into_iter().collect::<Vec<_>>();
        assert_eq!(names("c/p.tf"), ["m/p.tf", "s/a/p.tf", "s/b/lib/p.tf"]);
        assert!(names("d/p.tf").is_empty() && names("cc").is_empty());
        assert!(names("x/z/f").len() <= MOST + 1, "a circle ends");
        assert_eq!(real(&links, "s/b/lib/sub").as_deref(), Some("c/sub"));
        assert_eq!(real(&links, "s/b/library"), None);
    }
}
