//! What changed since a revision, the working tree with it.

use super::{Repository, said, text};
use crate::base::{Problem, Result};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashSet};
use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;

/// A path that differs, seen from the folder that was asked about.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Change {
    pub path: String,
    /// It is there no more.
    pub gone: bool,
}

/// What the refs of a repository say.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Refs {
    /// The commit that is checked out; `None` before the first one.
    pub head: Option<String>,
    /// What work is compared with where nobody says it: the branch that the origin has checked out, else `main` or
    /// `master`, of the origin first.
    pub main: Option<String>,
}

/// What git's index has.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tracked {
    pub files: HashSet<String>,
    pub submodules: HashSet<String>,
}

impl Tracked {
    /// Reads `<mode> <id> <stage>\t<path>\0…`.
    fn read(listed: &str) -> Tracked {
        let mut tracked = Tracked::default();
        for line in listed.split('\0') {
            let Some((head, path)) = line.split_once('\t') else { continue };
            match head.starts_with("160000 ") {
                true => tracked.submodules.insert(path.to_owned()),
                false => tracked.files.insert(path.to_owned()),
            };
        }
        tracked
    }

    /// True for a file that git does not know, and that belongs to no submodule.
    pub fn lacks(&self, path: &str) -> bool {
        let module = |path: &str| self.submodules.contains(path);
        let within = || path.match_indices('/').any(|(at, _)| path.get(..at).is_some_and(module));
        !self.files.contains(path) && (self.submodules.is_empty() || !module(path) && !within())
    }
}

/// The refs that may be the one to compare with, the best first.
const MAIN: [&str; 5] = [
    "refs/remotes/origin/HEAD",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
];

impl Repository {
    /// The repository around `folder`, which need not be a workspace; whether there is one shows with the first question.
    pub fn around(folder: &Path) -> Repository {
        Repository { root: folder.to_owned(), prefix: String::new(), discovered: true, whole: false, reads: Vec::new() }
    }

    /// What the refs say; `None` where there is no repository.
    ///
    /// # Errors
    /// There is no `git`.
    pub fn refs(&self) -> Result<Option<Refs>, Problem> {
        let words = match self.ask(&["show-ref", "--head", "HEAD", "main", "master"])? {
            Ok(bytes) => text(bytes),
            Err(words) if words.is_empty() => String::new(),
            Err(_) => return Ok(None),
        };
        let pairs: Vec<(&str, &str)> = words.lines().filter_map(|line| line.split_once(' ')).collect();
        let known = |name: &str| pairs.iter().any(|(_, own)| *own == name);
        let head = pairs.iter().find(|(_, name)| *name == "HEAD").map(|(id, _)| (*id).to_owned());
        let main = MAIN.into_iter().find(|name| known(name));
        let short = |name: &str| name.trim_start_matches("refs/remotes/").trim_start_matches("refs/heads/").to_owned();
        Ok(Some(Refs { head, main: main.map(short) }))
    }

    /// The last commit that has something at `path`: the one that is checked out, or the one before `path` was removed.
    ///
    /// # Errors
    /// There is no `git`.
    pub fn last_with(&self, path: &str) -> Result<Option<String>, Problem> {
        let has = |commit: &str| -> Result<bool, Problem> {
            let path = format!("{}{path}", self.prefix);
            let listed = self.ask(&["ls-tree", "--full-tree", "-z", commit, "--", &path])?;
            Ok(listed.is_ok_and(|listed| !listed.is_empty()))
        };
        let Some(head) = self.refs()?.and_then(|refs| refs.head) else { return Ok(None) };
        if has(&head)? {
            return Ok(Some(head));
        }
        let gone = self.ask(&["log", "-1", "--diff-filter=D", "--format=%P", &head, "--", path])?;
        let parents = gone.map(text).unwrap_or_default();
        for parent in parents.split_whitespace() {
            if has(parent)? {
                return Ok(Some(parent.to_owned()));
            }
        }
        Ok(None)
    }

    /// The commits right before the last `count` changes of any of `paths` that the history of `commit` has, the newest first.
    ///
    /// # Errors
    /// There is no `git`.
    pub fn before_changes(&self, commit: &str, paths: &[String], count: usize) -> Result<Vec<String>, Problem> {
        let count = format!("-{count}");
        let mut words = vec!["log", &count, "--format=%P", commit, "--"];
        words.extend(paths.iter().map(String::as_str));
        let parents = self.ask(&words)?.map(text).unwrap_or_default();
        let first = parents.lines().filter_map(|line| line.split_whitespace().next());
        Ok(first.map(str::to_owned).collect())
    }

    /// What of the tracked files differs from the commit where `base` and `HEAD` part; a rename is two paths.
    ///
    /// # Errors
    /// `base` names no commit, or git cannot compare.
    pub fn changes(&self, base: &str) -> Result<Vec<Change>, Problem> {
        self.changes_among(base, &[])
    }

    /// The same for some paths alone, as they are written; of no path all.
    ///
    /// # Errors
    /// `base` names no commit, or git cannot compare.
    pub fn changes_among(&self, base: &str, paths: &[&str]) -> Result<Vec<Change>, Problem> {
        let no_option = !base.is_empty() && !base.starts_with('-') && !base.contains(['\0', '\n']);
        let compare =
            ["--literal-pathspecs", "diff", "--name-status", "-z", "--no-renames", "--no-ext-diff", "--relative"];
        let args = [&compare[..], &["--merge-base", base, "--"], paths].concat();
        let said_instead = match no_option {
            true => match self.ask(&args)? {
                Ok(bytes) => return Ok(listed(&text(bytes))),
                Err(words) => words,
            },
            false => String::new(),
        };
        // Its own words are about ranges and merges; whether the name is known is what matters first.
        self.commit(base)?;
        Err(match said_instead.contains("no merge base") {
            true => Problem::new(format!("`{base}` and `HEAD` have no commit in common"))
                .help("name another revision with `--base`, or the paths with `--changed-from`"),
            false => said(&format!("git cannot compare with `{base}`"), &said_instead),
        })
    }

    /// The files among `untracked` that git is not told to ignore.
    ///
    /// # Errors
    /// Git cannot say.
    pub fn unignored<'a>(&self, untracked: impl Iterator<Item = &'a str>) -> Result<Vec<Change>, Problem> {
        let new: BTreeSet<&str> = untracked.collect();
        if new.is_empty() {
            return Ok(Vec::new());
        }
        let ignored = self.ignored(&new)?;
        let kept = new.into_iter().filter(|path| !ignored.contains(*path));
        Ok(kept.map(|path| Change { path: path.to_owned(), gone: false }).collect())
    }

    /// What git tracks.
    ///
    /// # Errors
    /// Git cannot read its index.
    pub fn tracked(&self) -> Result<Tracked, Problem> {
        let listed = self.ask(&["ls-files", "--stage", "-z"])?;
        let listed = listed.map_err(|words| said("git cannot list the files that it tracks", &words))?;
        Ok(Tracked::read(&text(listed)))
    }

    fn ignored(&self, paths: &BTreeSet<&str>) -> Result<HashSet<String>, Problem> {
        let failed = |e: std::io::Error| Problem::new(format!("git cannot say which files it ignores: {e}"));
        let mut command = self.command(&["check-ignore", "-z", "--stdin"]);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(failed)?;
        let (ask, answer) = (child.stdin.take(), child.stdout.take());
        let mut out = Vec::new();
        let asked: String = paths.iter().flat_map(|path| [*path, "\0"]).collect();
        if let (Some(mut ask), Some(mut answer)) = (ask, answer) {
            std::thread::scope(|scope| {
                // Where git ends early its answer tells more than the broken pipe.
                scope.spawn(move || ask.write_all(asked.as_bytes()));
                answer.read_to_end(&mut out)
            })
            .map_err(failed)?;
        }
        child.wait().map_err(failed)?;
        Ok(text(out).split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
    }
}

/// Reads `M\0path\0D\0path\0`.
fn listed(text: &str) -> Vec<Change> {
    let mut words = text.split('\0');
    let mut found = Vec::new();
    while let (Some(status), Some(path)) = (words.next().filter(|word| !word.is_empty()), words.next()) {
        found.push(Change { path: path.to_owned(), gone: status == "D" });
    }
    found
}
