//! The tree that a graph is made of: where it is, what it is called, and what changed in it.

use super::asking::{Asking, Parts, joined};
use super::{left, options};
use crate::base::problem::Kind;
use crate::base::{Mask, Moment, Problem, Problems};
use crate::cli::{Context, settings};
use crate::data::tree::{Change, Refs, Repository};
use crate::infra::graph::{self, Graph, Listing};
use crate::infra::layer::Options;
use crate::ui;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the tree is, and what it is called.
#[derive(clap::Args, Debug, Default)]
pub struct Where {
    /// Use the tree in this folder [default: the nearest above with stackorder.yaml, layers or .git]
    #[arg(long, value_name = "DIR")]
    pub repo_root: Option<PathBuf>,
    /// Call the repository so [default: as its remote `origin`, else as its folder]
    #[arg(long, value_name = "OWNER/NAME")]
    pub repo: Option<String>,
}

/// A tree and its graph.
pub struct Tree {
    pub root: PathBuf,
    pub graph: Graph,
    pub cached: bool,
    /// `None` outside git.
    refs: Option<Refs>,
    options: Options,
}

/// What changed, and what the tree was compared with.
pub struct Changes {
    pub changes: Vec<Change>,
    /// The revision; `None` where the paths come from elsewhere.
    pub base: Option<String>,
}

impl Changes {
    pub fn paths(&self) -> Vec<String> {
        self.changes.iter().map(|change| change.path.clone()).collect()
    }
}

/// What is changed, as the command line says it.
#[derive(clap::Args, Debug, Default)]
pub struct Since {
    /// Compare with where this revision and HEAD part [default: the main branch]
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// Take the changed paths from a file, one a line, or from stdin (`-`)
    #[arg(long, value_name = "FILE", conflicts_with = "base")]
    pub changed_from: Option<PathBuf>,
}

/// Opens the tree, and finds out what changed where `since` is given.
///
/// # Errors
/// There is no such folder, git cannot compare, or everything that is wrong in the configuration.
pub fn open(args: &Where, since: Option<&Since>, context: &Context) -> Result<(Tree, Option<Changes>), Problems> {
    let moment = Moment::now();
    let options = options::read(false)?;
    let root = super::root::root(args.repo_root.as_deref(), context)?;
    let environment = settings::git();
    let asking = Asking { root: &root, options: &options, since, environment: &environment };
    let (parts, before) = std::thread::scope(|scope| {
        let before = scope.spawn(|| graph::before(&root));
        (asking.parts(), joined(before))
    });
    let Parts { listing, digest, refs, name, mut changes, told } = parts?;
    let begun = graph::Begun { moment, before: before?, digest };
    let opened = graph::open(&root, &called(args, &root, name), &options, &listing, begun)?;
    let mut graph = opened.graph;
    graph.sha = refs.as_ref().and_then(|refs| refs.head.clone());
    if let Some(changes) = changes.as_mut().filter(|changes| changes.base.is_none()) {
        for change in &mut changes.changes {
            change.path = within(&root, &change.path).to_owned();
        }
    }
    let gone = gone(&root, &graph, &listing)?;
    if !gone.is_empty() {
        graph::left::without(&mut graph, &gone);
    }
    if let Some(told) = told {
        graph::keep_told(&root, &options, told, (listing, opened.digest), moment);
    }
    Ok((Tree { root, graph, cached: opened.cached, refs, options }, changes))
}

/// The layers of which nothing is left but an output folder, and which the history had.
fn gone(root: &Path, graph: &Graph, listing: &Listing) -> Result<BTreeSet<String>, Problem> {
    let bare = graph::left::bare(graph, listing);
    let folders: Vec<String> = bare.iter().map(|(_, folder)| folder.clone()).collect();
    let gone = left::gone(root, &folders)?;
    Ok(bare.into_iter().filter(|(_, folder)| gone.contains(folder)).map(|(key, _)| key).collect())
}

/// The folder of the tree and the name of the repository, without a scan.
///
/// # Errors
/// There is no tree.
pub fn named(args: &Where, context: &Context) -> Result<(PathBuf, String), Problems> {
    let root = super::root::root(args.repo_root.as_deref(), context)?;
    let name = repo(args, &root, &Repository::around(&root));
    Ok((root, name))
}

/// A listed path as the tree has it: git tells paths from the top of its repository, and the tree may be a folder of that.
fn within<'a>(root: &Path, path: &'a str) -> &'a str {
    let first = path.split('/').next().unwrap_or(path);
    if root.join(first).exists() {
        return path;
    }
    let mut folders = path.match_indices('/').filter_map(|(at, _)| Some((path.get(..at)?, path.get(at + 1..)?)));
    folders.find(|(above, _)| root.ends_with(above)).map_or(path, |(_, below)| below)
}

/// What the repository is called.
pub fn repo(args: &Where, root: &Path, git: &Repository) -> String {
    let remote = || git.remote().and_then(|address| graph::key::repo_of(&address));
    called(args, root, if args.repo.is_some() { None } else { remote() })
}

/// The same, where the name that the remote has is known.
fn called(args: &Where, root: &Path, remote: Option<String>) -> String {
    let folder = || {
        let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        real.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_else(|| "local".to_owned())
    };
    args.repo.clone().or(remote).unwrap_or_else(folder)
}

/// The stack that a word of the command line names: a folder is seen from here first, then from the root.
pub fn stack_of(root: &Path, graph: &Graph, word: &str) -> String {
    let (path, instance) = graph::key::split(word);
    let seen = || {
        let here = options::here().ok()?.join(path).canonicalize().ok()?;
        let below = here.strip_prefix(root.canonicalize().ok()?).ok()?.to_str()?.to_owned();
        Some(graph::key::key(&below, instance)).filter(|_| !below.is_empty())
    };
    let known = |name: &str| graph::find(graph, name).is_ok();
    if word.is_empty() {
        return String::new();
    }
    seen().filter(|name| known(name) || !known(word)).unwrap_or_else(|| word.to_owned())
}

impl Tree {
    /// Who holds the locks of stacks of this tree, by key. Where there is no store nobody does; where this user may not
    /// read it suil says so.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn holders(&self, context: &Context) -> Result<HashMap<String, graph::Holder>, Problems> {
        let place = Where { repo_root: Some(self.root.clone()), repo: Some(self.graph.repo.clone()) };
        let books = match super::root::readable(&place, context)? {
            Ok(None) => return Ok(HashMap::new()),
            Ok(Some(books)) => books,
            Err(closed) => {
                let warning = closed.note("who holds locks is not known here").kind(Kind::Warning);
                ui::warn(&[warning], &Mask::new());
                return Ok(HashMap::new());
            }
        };
        let locks = books.store.locks()?.into_iter().filter(|lock| graph::key::same_repo(&lock.repo, &self.graph.repo));
        Ok(locks.map(|lock| (lock.stack, graph::Holder { run: lock.run, pr: 0, who: lock.who })).collect())
    }

    /// As [`stack_of`].
    pub fn named(&self, word: &str) -> String {
        stack_of(&self.root, &self.graph, word)
    }

    /// The folder that a removed stack had, as far as its key tells.
    pub fn folder(&self, removed: &graph::Removed) -> String {
        let layers = format!("{}/{}/{}", removed.path, self.options.layers.display(), removed.instance);
        let of_layers = self.graph.stacks.iter().any(|stack| stack.layer.is_some() && stack.path == removed.path);
        if of_layers { layers } else { removed.path.clone() }
    }

    /// The stacks that the old revision had and this tree has no more.
    pub fn removed(&self, changes: &Changes) -> Vec<graph::Removed> {
        let Some(base) = &changes.base else { return Vec::new() };
        if !graph::may_be_removed(&changes.changes) || self.refs.as_ref().is_none_or(|refs| refs.head.is_none()) {
            return Vec::new();
        }
        let revision = Repository::find(&self.root).and_then(|git| git.revision(&format!("{base}...HEAD")));
        let Ok(old) = revision.map(Arc::new) else { return Vec::new() };
        let run = Arc::new(graph::lenient(&self.root, &self.options).of_revision(old.clone()));
        graph::removed(&*old, &run, &self.root, &self.graph, &changes.changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_from_the_top_of_the_repository_is_one_of_the_tree() {
        let room = tempfile::tempdir().expect("a folder");
        let root = room.path().join("deploy/stacks-of-ours");
        std::fs::create_dir_all(root.join("stacks")).expect("a folder");
        for (path, want) in [
            ("deploy/stacks-of-ours/stacks/a/main.tf", "stacks/a/main.tf"),
            ("stacks-of-ours/stacks/a/main.tf", "stacks/a/main.tf"),
            ("stacks/a/main.tf", "stacks/a/main.tf"),
            ("other/stacks/a/main.tf", "other/stacks/a/main.tf"),
            ("deploy/other/main.tf", "deploy/other/main.tf"),
            ("main.tf", "main.tf"),
        ] {
            assert_eq!(within(&root, path), want);
        }
    }
}
