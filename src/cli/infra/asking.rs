//! What the disk and git say about a tree. Git works while the files are looked at, and where it was asked before it is
//! asked again only about what moved.

use super::tree::{Changes, Since};
use crate::base::{Problem, Problems};
use crate::data::tree::{Change, Environment, Refs, Repository, Standing, Tracked};
use crate::infra::graph::{self, Listing, Told, Word};
use crate::infra::layer::Options;
use std::path::Path;
use std::thread::{ScopedJoinHandle, scope};

/// What is asked.
pub struct Asking<'a> {
    pub root: &'a Path,
    pub options: &'a Options,
    /// What changed is wanted.
    pub since: Option<&'a Since>,
    pub environment: &'a Environment,
}

/// What was found.
pub struct Parts {
    pub listing: Listing,
    /// The digest of the listing, where it is that of an earlier one.
    pub digest: Option<String>,
    /// `None` outside git.
    pub refs: Option<Refs>,
    /// The name of the repository that the remote has.
    pub name: Option<String>,
    pub changes: Option<Changes>,
    /// What git went by and what it said, where that is new and the next who asks may go by it.
    pub told: Option<(Standing, Word)>,
}

/// What is known of the files of a tree.
enum Before {
    Nothing,
    /// The folders that have not changed since.
    Told(Box<Told>),
    Listed(Listing),
}

impl From<Option<Told>> for Before {
    fn from(told: Option<Told>) -> Before {
        told.map_or(Before::Nothing, |told| Before::Told(Box::new(told)))
    }
}

impl Asking<'_> {
    /// # Errors
    /// A folder cannot be listed, git cannot compare, or the list of changes cannot be read.
    pub fn parts(&self) -> Result<Parts, Problems> {
        let by_git = self.by_git();
        let mut told = Told::read(self.root, self.options);
        let Some(known) = told.as_mut().filter(|told| told.holds(self.environment)) else {
            return self.anew(Before::from(told));
        };
        if by_git.is_some_and(|since| since.base != known.word.asked) {
            return self.anew(Before::from(told));
        }
        let (listing, moved) = known.list(self.root, by_git.is_some())?;
        let mut changes = None;
        if by_git.is_some() {
            if known.ask(&Repository::around(self.root), self.root, &listing, &moved)?.is_none() {
                return self.anew(Before::Listed(listing));
            }
            changes = Some(Changes { changes: known.word.changes.clone(), base: Some(known.word.base.clone()) });
        } else if let Some(file) = self.since.and_then(|since| since.changed_from.as_deref()) {
            changes = Some(listed(file)?);
        }
        let (refs, name) = (Some(known.word.refs.clone()), known.word.name.clone());
        let is_same = moved.is_nothing();
        let digest = known.digest.take().filter(|_| is_same && !moved.behind && by_git.is_some());
        let told = told.filter(|_| !is_same && by_git.is_some()).map(|told| (told.standing, told.word));
        Ok(Parts { listing, digest, refs, name, changes, told })
    }

    /// What git is asked to compare with.
    fn by_git(&self) -> Option<&Since> {
        self.since.filter(|since| since.changed_from.is_none())
    }

    /// Asks git everything.
    fn anew(&self, before: Before) -> Result<Parts, Problems> {
        let git = Repository::around(self.root);
        let by_git = self.by_git().is_some();
        let (refs, compared, listing, standing, tracked) = scope(|scope| {
            let listing = scope.spawn(|| match before {
                Before::Nothing => graph::list(self.root, self.options, by_git),
                Before::Told(mut told) => told.list(self.root, by_git).map(|(listing, _)| listing),
                Before::Listed(listing) => Ok(listing),
            });
            let standing = scope.spawn(|| git.standing(self.environment));
            let index = scope.spawn(|| if by_git { git.tracked() } else { Ok(Tracked::default()) });
            let refs = git.refs();
            let compared =
                self.since.zip(refs.as_ref().ok()).map(|(since, refs)| compared(since, refs.as_ref(), self.root, &git));
            (refs, compared, joined(listing), joined(standing), joined(index))
        });
        let (refs, listing, mut changes) = (refs?, listing??, compared.transpose()?);
        let (standing, remote) = standing?;
        let name = remote.and_then(|address| graph::key::repo_of(&address));
        let mut told = None;
        if let Some(Changes { changes, base: Some(base) }) = changes.as_mut() {
            let (tracked, paths) = (tracked??, listing.paths().collect::<Vec<_>>());
            changes.extend(git.unignored(paths.iter().map(String::as_str).filter(|path| tracked.lacks(path)))?);
            changes.sort();
            changes.dedup();
            if let Some((standing, refs)) = standing.zip(refs.clone()) {
                let asked = self.since.and_then(|since| since.base.clone());
                let place = (&listing, self.root, self.options);
                let word = Word::new((refs, name.clone()), (asked, base.clone()), changes.clone(), &tracked, place);
                told = word.map(|word| (standing, word));
            }
        }
        Ok(Parts { listing, digest: None, refs, name, changes, told })
    }
}

/// What a thread found.
///
/// # Errors
/// It died.
pub fn joined<T>(handle: ScopedJoinHandle<'_, T>) -> Result<T, Problems> {
    handle.join().map_err(|_| vec![Problem::new("a thread of suil died; this is a fault of suil")])
}

/// The changed paths: from a file, or from git's comparison.
fn compared(since: &Since, refs: Option<&Refs>, root: &Path, git: &Repository) -> Result<Changes, Problems> {
    if let Some(file) = &since.changed_from {
        return listed(file);
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
        let Tracked { files, submodules } = git.tracked()?;
        let all = files.into_iter().chain(submodules).map(|path| Change { path, gone: false });
        return Ok(Changes { changes: all.collect(), base: Some(base) });
    }
    Ok(Changes { changes: git.changes(&base)?, base: Some(base) })
}

/// Reads a list of paths, one a line or with NUL between them.
fn listed(file: &Path) -> Result<Changes, Problems> {
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
    Ok(Changes { changes: paths.map(|path| Change { path: plain(path), gone: false }).collect(), base: None })
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
}
