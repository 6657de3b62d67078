//! A workspace in a revision, read from git's object store by the program `git`: whatever that store is (packed,
//! shared, partial, sha256), `git` knows how to read it. The working tree and the index are never touched.
//!
//! This is the one place outside `node` where a process starts: an answer that comes from the data alone must not need
//! a connection, and a second reader of git's formats would be wrong where `git` is right. The programs get no terminal,
//! no prompt and no stdin but ours, take no lock, and what a person typed is never read as an option.

mod change;
mod objects;
mod paths;
mod remote;
mod same;
mod standing;

pub use change::{Change, Refs, Tracked};
pub use remote::{Names, names};
pub use standing::{Environment, Standing};

use super::Tree;
use crate::base::{Problem, file, nearest::nearest};
use objects::Objects;
use paths::{Paths, Thing};
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::io::{Error, ErrorKind, Result as Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// The repository that a workspace lies in.
#[derive(Clone, Debug)]
pub struct Repository {
    root: PathBuf,
    /// The folder of the workspace in the repository, with a slash behind it; empty for the top.
    prefix: String,
    /// False where only what the environment names as the repository is one.
    discovered: bool,
    /// True for a submodule, of which every file may be read; a workspace may lie among many others.
    whole: bool,
    /// The folders and files that are read, as their paths begin.
    reads: Vec<String>,
}

/// The files of a workspace in one revision.
pub struct Revision {
    name: String,
    commit: String,
    paths: Paths,
    root: PathBuf,
    /// The files whose content is that of the disk, where it is read.
    unchanged: HashSet<String>,
    objects: Mutex<Objects>,
    /// The submodules, by their paths, each in the commit that belongs to this one.
    submodules: BTreeMap<String, Revision>,
}

impl Repository {
    /// Finds the repository of the workspace at `root`.
    ///
    /// # Errors
    /// It lies in none, or there is no `git`.
    pub fn find(root: &Path) -> Result<Repository, Problem> {
        let reads = ["data/", "modules/", "modules.yaml"].map(str::to_owned).to_vec();
        let mut found =
            Repository { root: root.to_owned(), prefix: String::new(), discovered: true, whole: false, reads };
        // A hook of another repository, or of this one, names a repository in the environment. The workspace's own comes
        // first; one that is kept apart from its files is only named there.
        let mut asked = found.ask(&["rev-parse", "--show-prefix"])?;
        if asked.is_err() {
            found.discovered = false;
            let again = found.ask(&["rev-parse", "--show-prefix"])?;
            asked = asked.or(again);
        }
        match asked {
            Ok(prefix) => {
                found.prefix = text(prefix).trim_end_matches('\n').to_owned();
                Ok(found)
            }
            Err(words) if words.contains("not a git repository") => {
                Err(Problem::new("the workspace is in no git repository, so it has no revisions")
                    .help("`git init` makes one"))
            }
            Err(words) => Err(said("cannot look for the git repository of the workspace", &words)),
        }
    }

    /// The same repository where other folders than those of a workspace are read, each with a slash behind it.
    #[must_use]
    pub fn reading(self, folders: Vec<String>) -> Repository {
        Repository { reads: folders, ..self }
    }

    /// Opens a revision, by any name that git knows it by. `A...B` is where the histories of the two part, `B` being
    /// `HEAD` where it is left out.
    ///
    /// # Errors
    /// It names no commit, or the workspace is not in it.
    pub fn revision(&self, name: &str) -> Result<Revision, Problem> {
        let Some((one, other)) = name.split_once("...") else { return self.open(name, self.commit(name)?) };
        let other = if other.is_empty() { "HEAD" } else { other };
        let (a, b) = (self.commit(one)?, self.commit(other)?);
        let base = self.ask(&["merge-base", &a, &b])?.map(text);
        let base = base.map_err(|_| Problem::new(format!("`{one}` and `{other}` have no commit in common")))?;
        let base = base.trim();
        self.open(base.get(..12).unwrap_or(base), base.to_owned())
    }

    fn open(&self, name: &str, commit: String) -> Result<Revision, Problem> {
        let tree = match self.prefix.trim_end_matches('/') {
            "" => format!("{commit}^{{tree}}"),
            prefix => format!("{commit}:{prefix}"),
        };
        let listed = self.ask(&["ls-tree", "-r", "-z", "--full-tree", &tree])?;
        let listed = listed.map_err(|words| {
            let problem = Problem::new(format!("`{name}` has no folder `{}`", self.prefix.trim_end_matches('/')));
            problem.note(format!("git says: {words}")).help("the workspace is younger than this revision")
        })?;
        let mut objects = Objects::new(self.command(&["cat-file", "--batch"]));
        let paths = Paths::read(&listed, &mut |id| objects.get(id))
            .map_err(|error| Problem::new(format!("cannot read the files of `{name}`: {error}")))?;
        let submodules = paths.submodules().filter_map(|(path, id)| Some((path.to_owned(), self.submodule(path, id)?)));
        let submodules = submodules.collect();
        let unchanged = same::on_disk(self, &paths);
        let root = self.root.clone();
        Ok(Revision { name: name.to_owned(), commit, paths, root, unchanged, objects: Mutex::new(objects), submodules })
    }

    /// A commit of the submodule at `path`; `None` where the submodule is not here, or not that commit of it.
    fn submodule(&self, path: &str, id: &str) -> Option<Revision> {
        let found = Repository { whole: true, ..Repository::find(&self.root.join(path)).ok()? };
        // Without a repository of its own, the one around it is found.
        if !found.prefix.is_empty() || !found.discovered {
            return None;
        }
        let commit = found.commit(id).ok()?;
        found.open(id, commit).ok()
    }

    /// The id of the commit that a revision names.
    ///
    /// # Errors
    /// It names none.
    pub fn commit(&self, name: &str) -> Result<String, Problem> {
        let parse = |name: &str| -> Result<Result<String, String>, Problem> {
            let asked = self.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", name])?;
            Ok(asked.map(|id| text(id).trim().to_owned()))
        };
        let asked = match name.is_empty() || name.starts_with('-') || name.contains('\0') {
            true => {
                Err("a revision is a branch, a tag, a commit, or one counted from there, as `HEAD~1` is".to_owned())
            }
            // In two steps: what stands behind `:/words` belongs to the words.
            false => match parse(name)? {
                Ok(id) => parse(&format!("{id}^{{commit}}"))?,
                Err(words) => Err(words),
            },
        };
        asked.map_err(|words| self.unknown(name, &words))
    }

    fn unknown(&self, name: &str, words: &str) -> Problem {
        let problem = Problem::new(format!("git knows no commit `{name}`"));
        let problem = match words {
            "" => problem,
            words => problem.note(words),
        };
        let ask = |args: &[&str]| self.ask(args).ok().and_then(Result::ok).map(text).unwrap_or_default();
        if ask(&["rev-parse", "--is-shallow-repository"]).trim() == "true" {
            return problem
                .note("the repository is a shallow clone: older commits are not here")
                .help("fetch them: `git fetch --unshallow`");
        }
        let names = ask(&["for-each-ref", "--format=%(refname:short)"]);
        match nearest(name, names.lines().chain(["HEAD"])) {
            Some(near) if !name.contains(['~', '^', '@', ':']) => problem.help(format!("did you mean `{near}`?")),
            _ => problem.help("`git log --oneline` lists commits, `git branch --all` lists branches"),
        }
    }

    /// What git prints, or what it says instead.
    ///
    /// # Errors
    /// There is no `git`.
    fn ask(&self, args: &[&str]) -> Result<Result<Vec<u8>, String>, Problem> {
        let output = self.command(args).stdin(Stdio::null()).output().map_err(|error| unstarted(&error))?;
        Ok(match output.status.success() {
            true => Ok(output.stdout),
            false => Err(text(output.stderr).trim().trim_start_matches("fatal: ").to_owned()),
        })
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = program(&self.root, args);
        if self.discovered {
            for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"] {
                command.env_remove(name);
            }
        }
        command
    }
}

/// The program in a folder. It asks nothing.
#[allow(clippy::disallowed_methods, reason = "the one place outside `node` where a process starts")]
fn program(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(args);
    for (name, value) in [
        ("LC_ALL", "C"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_TERMINAL_PROMPT", "0"),
        // An object of a partial clone may still have to be fetched: without a question, or not at all.
        ("GIT_ASKPASS", "false"),
        ("SSH_ASKPASS", "false"),
        ("SSH_ASKPASS_REQUIRE", "force"),
    ] {
        command.env(name, value);
    }
    // What git starts, ssh or a helper for passwords, need not know ours.
    for name in ["GIT_PREFIX", "SUIL_AGE_KEY", "SUIL_KEY_PASSPHRASE", "SUIL_STORE", "SUIL_SUDO_PASSWORD", "SUIL_TOKEN"]
    {
        command.env_remove(name);
    }
    command
}

fn unstarted(error: &Error) -> Problem {
    match error.kind() {
        ErrorKind::NotFound => Problem::new("there is no program `git` here").help("install git"),
        _ => Problem::new(format!("cannot start `git`: {error}")),
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

fn said(what: &str, words: &str) -> Problem {
    let problem = Problem::new(what);
    words.lines().fold(problem, |problem, line| problem.note(format!("git says: {line}")))
}

impl Revision {
    /// The name that a person typed, or would.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The id of the commit.
    pub fn commit(&self) -> &str {
        &self.commit
    }

    fn submodule(&self, path: &str) -> Read<&Revision> {
        let absent =
            || Error::other("it is in a submodule that is not here in this commit; `git submodule update` fetches it");
        self.submodules.get(path).ok_or_else(absent)
    }
}

impl Tree for Revision {
    fn read(&self, path: &str) -> Read<Vec<u8>> {
        let way = self.paths.get(path)?;
        match way.thing {
            Thing::File(_) if self.unchanged.contains(&way.path) => file::read(&self.root.join(&way.path)),
            Thing::File(id) => self.objects.lock().unwrap_or_else(PoisonError::into_inner).get(id),
            Thing::Submodule(_) => self.submodule(&way.path)?.read(&way.rest),
            Thing::Folder(_) | Thing::Link(_) => Err(Error::new(ErrorKind::IsADirectory, "it is a folder")),
        }
    }

    fn entries(&self, path: &str) -> Read<Vec<(String, bool)>> {
        let way = self.paths.get(path)?;
        let under = |name: &str| if way.path.is_empty() { name.to_owned() } else { format!("{}/{name}", way.path) };
        match way.thing {
            Thing::Folder(names) => {
                Ok(names.iter().map(|name| (name.clone(), self.paths.is_folder(&under(name)))).collect())
            }
            Thing::Submodule(_) => self.submodule(&way.path)?.entries(&way.rest),
            Thing::File(_) | Thing::Link(_) => Err(Error::new(ErrorKind::NotADirectory, "it is no folder")),
        }
    }

    fn is_file(&self, path: &str) -> bool {
        self.paths.get(path).is_ok_and(|way| match way.thing {
            Thing::File(_) => true,
            Thing::Submodule(_) => self.submodule(&way.path).is_ok_and(|tree| tree.is_file(&way.rest)),
            Thing::Folder(_) | Thing::Link(_) => false,
        })
    }

    fn is_executable(&self, path: &str) -> bool {
        self.paths.get(path).is_ok_and(|way| match way.thing {
            Thing::File(_) => self.paths.is_executable(&way.path),
            Thing::Submodule(_) => self.submodule(&way.path).is_ok_and(|tree| tree.is_executable(&way.rest)),
            Thing::Folder(_) | Thing::Link(_) => false,
        })
    }

    fn resolved(&self, path: &str) -> Read<String> {
        let way = self.paths.get(path)?;
        match way.thing {
            Thing::Submodule(_) => Ok(format!("{}/{}", way.path, self.submodule(&way.path)?.resolved(&way.rest)?)),
            _ => Ok(way.path),
        }
    }

    fn shown(&self, path: &str) -> PathBuf {
        PathBuf::from(format!("{}:{path}", self.name))
    }

    fn real_path(&self, _path: &str) -> Option<PathBuf> {
        None
    }
}

impl fmt::Debug for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Revision({} = {})", self.name, self.commit)
    }
}
