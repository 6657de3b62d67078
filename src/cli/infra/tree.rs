//! The tree that a graph is made of: where it is, what it is called, and what changed in it.

use super::options;
use crate::base::{Problem, Problems};
use crate::cli::Context;
use crate::data::tree::{Change, Refs, Repository};
use crate::infra::graph::{self, Graph};
use crate::infra::layer::Options;
use std::collections::{HashMap, HashSet};
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

/// Opens the tree, and finds out what changed where `since` is given: git works while the files are read.
///
/// # Errors
/// There is no such folder, git cannot compare, or everything that is wrong in the configuration.
pub fn open(args: &Where, since: Option<&Since>, context: &Context) -> Result<(Tree, Option<Changes>), Problems> {
    let options = options::read(false)?;
    let root = super::root::root(args.repo_root.as_deref(), context)?;
    let git = Repository::around(&root);
    let asked = since.is_some();
    let (refs, compared, listing, repo, tracked) = std::thread::scope(|scope| {
        let listing = scope.spawn(|| graph::list(&root, &options));
        let named = scope.spawn(|| repo(args, &root, &git));
        let index = scope.spawn(|| if asked { git.tracked() } else { Ok(HashSet::new()) });
        let refs = git.refs();
        let compared = since.zip(refs.as_ref().ok()).map(|(since, refs)| compared(since, refs.as_ref(), &root, &git));
        (refs, compared, joined(listing), joined(named), joined(index))
    });
    let (refs, listing, mut changes) = (refs?, listing??, compared.transpose()?);
    if let Some(changes) = changes.as_mut().filter(|changes| changes.base.is_none()) {
        for change in &mut changes.changes {
            change.path = within(&root, &change.path).to_owned();
        }
    }
    let opened = graph::open(&root, &repo?, &options, &listing)?;
    let mut graph = opened.graph;
    graph.sha = refs.as_ref().and_then(|refs| refs.head.clone());
    if let Some(changes) = changes.as_mut().filter(|changes| changes.base.is_some()) {
        let paths: Vec<String> = listing.paths().collect();
        changes.changes.extend(git.untracked(paths.iter().map(String::as_str), &tracked??)?);
        changes.changes.sort();
        changes.changes.dedup();
    }
    Ok((Tree { root, graph, cached: opened.cached, refs, options }, changes))
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

fn joined<T>(handle: std::thread::ScopedJoinHandle<'_, T>) -> Result<T, Problems> {
    handle.join().map_err(|_| vec![Problem::new("a thread of suil died; this is a fault of suil")])
}

/// The changed paths: from a file, or from git's comparison.
fn compared(since: &Since, refs: Option<&Refs>, root: &Path, git: &Repository) -> Result<Changes, Problems> {
    if let Some(file) = &since.changed_from {
        return listed(file).map(|changes| Changes { changes, base: None });
    }
    let Some(refs) = refs else {
        if let Some(top) = root.ancestors().find(|folder| folder.join(".git").exists()) {
            return Err(Problem::new(format!("git cannot read the repository at `{}`", top.display()))
                .note("it may be somebody else's, or damaged")
                .help("`git status` there says why; or name the changed paths with `--changed-from FILE`")
                .into());
        }
        return Err(Problem::new("the tree is in no git repository, so nobody knows what changed")
            .help("name the changed paths with `--changed-from FILE`")
            .into());
    };
    let base = match since.base.clone().or_else(|| refs.main.clone()) {
        Some(base) => base,
        // A CI often fetches one branch alone: compared with itself nothing would ever differ.
        None if git.remote().is_some() => {
            return Err(Problem::new("nobody knows what to compare with: no main branch was fetched")
                .note("looked for `HEAD`, `main` and `master` of `origin`, and for a local `main` or `master`")
                .help("`git fetch origin BRANCH`, then `--base origin/BRANCH`; a shallow clone needs `--unshallow`")
                .into());
        }
        None => "HEAD".to_owned(),
    };
    if refs.head.is_none() && since.base.is_none() {
        // Before the first commit everything is new.
        let all = git.tracked()?.into_iter().map(|path| Change { path, gone: false });
        return Ok(Changes { changes: all.collect(), base: Some(base) });
    }
    Ok(Changes { changes: git.changes(&base)?, base: Some(base) })
}

/// Reads a list of paths, one a line or with NUL between them.
fn listed(file: &Path) -> Result<Vec<Change>, Problems> {
    let stdin = file.as_os_str() == "-";
    let mut bytes = Vec::new();
    let read = match stdin {
        true => std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes).map(drop),
        false => crate::base::file::read(file).map(|content| bytes = content),
    };
    read.map_err(|e| Problem::io("read", if stdin { Path::new("stdin") } else { file }, &e))?;
    let text = String::from_utf8_lossy(&bytes);
    let lines = !text.contains('\0');
    let paths = text.split(if lines { '\n' } else { '\0' }).map(|line| line.trim_end_matches('\r'));
    let paths = paths.filter(|line| !line.trim().is_empty());
    let plain = |line: &str| quoted(line).filter(|_| lines).unwrap_or_else(|| line.to_owned());
    Ok(paths.map(|path| Change { path: plain(path), gone: false }).collect())
}

/// The path that git writes in quotes, where its name holds what `core.quotePath` says; `None` for any other line.
fn quoted(line: &str) -> Option<String> {
    let inner = line.strip_prefix('"')?.strip_suffix('"').filter(|inner| !inner.is_empty())?;
    let (mut bytes, mut rest) = (Vec::new(), inner.bytes());
    while let Some(byte) = rest.next() {
        if byte == b'"' {
            return None;
        }
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next()? {
            b'a' => 7,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            plain @ (b'"' | b'\\') => plain,
            first @ b'0'..=b'3' => {
                let mut digit = || rest.next().filter(|byte| (b'0'..=b'7').contains(byte)).map(|byte| byte - b'0');
                (first - b'0') * 64 + digit()? * 8 + digit()?
            }
            _ => return None,
        });
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
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
    let folder = || {
        let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        real.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_else(|| "local".to_owned())
    };
    let remote = || git.remote().and_then(|address| graph::key::repo_of(&address));
    args.repo.clone().or_else(remote).unwrap_or_else(folder)
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
    /// Who holds the locks of stacks of this tree, by key. Where there is no store nobody does.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn holders(&self, context: &Context) -> Result<HashMap<String, graph::Holder>, Problems> {
        let place = Where { repo_root: Some(self.root.clone()), repo: Some(self.graph.repo.clone()) };
        let Some(books) = super::root::known(&place, context)? else { return Ok(HashMap::new()) };
        let locks = books.store.locks()?.into_iter().filter(|lock| graph::key::same_repo(&lock.repo, &self.graph.repo));
        Ok(locks.map(|lock| (lock.stack, graph::Holder { run: lock.run, pr: 0, who: lock.who })).collect())
    }

    /// As [`stack_of`].
    pub fn named(&self, word: &str) -> String {
        stack_of(&self.root, &self.graph, word)
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
    fn a_path_in_the_quotes_of_git_is_the_path_itself() {
        for (line, want) in [
            (r#""stacks/\303\274 x/\303\251 \"q\".txt""#, Some("stacks/ü x/é \"q\".txt")),
            (r#""a\tb\\c""#, Some("a\tb\\c")),
            ("stacks/a/main.tf", None),
            (r#""half"#, None),
            (r#"""#, None),
            (r#""a"b""#, None),
            (r#""a\""#, None),
            (r#""a\9""#, None),
            (r#""a\40""#, None),
        ] {
            assert_eq!(quoted(line).as_deref(), want, "{line}");
        }
    }

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
