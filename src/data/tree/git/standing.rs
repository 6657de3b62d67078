//! What decides git's answers about a tree beside the files of it: where HEAD and the branches are, the index, what git is
//! told to ignore, and how it is set up. While none of that changes, an answer about files that did not change stays good.

use super::{Repository, text};
use crate::base::digest::sha256;
use crate::base::{Mark, Moment};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// So many files of branches and tags are looked at; git packs them from time to time.
const REFS: usize = 512;

/// Where every system has the settings of all its users.
const SYSTEM: &str = "/etc/gitconfig";

/// The files in the folder of a working tree, and those in the folder that all working trees share.
const OWN: [&str; 12] = [
    "HEAD",
    "index",
    "commondir",
    "config.worktree",
    "info/sparse-checkout",
    "reftable/tables.list",
    "FETCH_HEAD",
    "ORIG_HEAD",
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
];
const SHARED: [&str; 9] = [
    "HEAD",
    "config",
    "packed-refs",
    "shallow",
    "info/exclude",
    "info/attributes",
    "info/sparse-checkout",
    "info/grafts",
    "reftable/tables.list",
];

/// What the environment tells git.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Environment {
    /// `HOME`.
    pub home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`.
    pub settings: Option<PathBuf>,
    /// Each `GIT_*` with its value, as `name=value`, sorted.
    pub variables: Vec<String>,
}

impl Environment {
    /// The digest of it: a variable may hold a token.
    fn digest(&self) -> String {
        sha256(format!("{:?}", (&self.home, &self.settings, &self.variables)).as_bytes())
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.variables.iter().find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }

    /// The path that a setting means; `None` where nobody can tell what it is seen from.
    fn path(&self, value: &str) -> Option<PathBuf> {
        match value.strip_prefix("~/") {
            Some(below) => Some(self.home.as_ref()?.join(below)),
            None => Some(PathBuf::from(value)).filter(|path| path.is_absolute()),
        }
    }
}

/// What decided git's answers when they were given.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Standing {
    environment: String,
    /// Each file, and what the disk said about it.
    marks: Vec<(PathBuf, Option<Mark>)>,
}

impl Standing {
    /// True where nothing of it has changed.
    pub fn holds(&self, environment: &Environment) -> bool {
        self.environment == environment.digest() && self.marks.iter().all(|(path, mark)| Mark::at(path) == *mark)
    }

    /// True where it was old enough at `moment` to tell every later change.
    pub fn is_settled(&self, moment: Moment) -> bool {
        self.marks.iter().filter_map(|(_, mark)| *mark).all(|mark| mark.is_settled(moment))
    }
}

/// The settings of git that matter here, from `git config --list --show-origin -z`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Settings {
    /// The files that they stand in.
    origins: BTreeSet<PathBuf>,
    pairs: Vec<(String, String)>,
}

impl Settings {
    /// Reads `<origin>\0<name>\n<value>\0…`.
    fn read(listed: &str) -> Settings {
        let mut settings = Settings::default();
        let mut words = listed.split('\0');
        while let (Some(origin), Some(pair)) = (words.next(), words.next()) {
            settings.origins.extend(origin.strip_prefix("file:").map(PathBuf::from));
            // A name without a value is `true`.
            let (name, value) = pair.split_once('\n').unwrap_or((pair, "true"));
            settings.pairs.push((name.to_owned(), value.to_owned()));
        }
        settings
    }

    fn all(&self, wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = &str> {
        self.pairs.iter().filter(move |(name, _)| wanted(name)).map(|(_, value)| value.as_str())
    }

    /// The address of `origin`, else of the first remote.
    fn remote(&self) -> Option<String> {
        let first = self.all(|name| name.starts_with("remote.") && name.ends_with(".url")).next();
        let origin = self.all(|name| name == "remote.origin.url").next();
        origin.or(first).map(str::to_owned)
    }
}

impl Repository {
    /// The address of `origin`, else of the first remote.
    pub fn remote(&self) -> Option<String> {
        let listed = self.ask(&["config", "--list", "--show-origin", "-z"]).ok()?.ok().map(text)?;
        Settings::read(&listed).remote()
    }

    /// What decides git's answers now, and the address of `origin` or another remote; `None` in the place of the first
    /// where nobody can be sure that it is all.
    pub fn standing(&self, environment: &Environment) -> (Option<Standing>, Option<String>) {
        let listed = self.ask(&["config", "--list", "--show-origin", "-z"]);
        let Some(listed) = listed.ok().and_then(Result::ok).map(text) else { return (None, None) };
        let settings = Settings::read(&listed);
        let remote = settings.remote();
        let paths = || -> Option<BTreeSet<PathBuf>> {
            let root = self.root.canonicalize().ok()?;
            let mut paths = places(&root)?;
            paths.extend(configured(&root, &settings, environment)?);
            Some(paths)
        };
        let marked = |path: PathBuf| {
            let mark = Mark::at(&path);
            (path, mark)
        };
        let standing = paths().map(|paths| Standing {
            environment: environment.digest(),
            marks: paths.into_iter().map(marked).collect(),
        });
        (standing, remote)
    }
}

/// The files of the repository around a folder.
fn places(root: &Path) -> Option<BTreeSet<PathBuf>> {
    let mut paths = BTreeSet::new();
    let mut found = None;
    for folder in root.ancestors() {
        let git = folder.join(".git");
        if folder != root {
            paths.extend([".gitignore", ".gitattributes"].map(|name| folder.join(name)));
        }
        if let Ok(meta) = fs::metadata(&git) {
            found = Some((git, meta.is_dir()));
            break;
        }
        paths.insert(git);
    }
    let (git, is_folder) = found?;
    let own = match is_folder {
        true => git,
        false => {
            // A working tree of its own, or a submodule.
            let words = fs::read_to_string(&git).ok()?;
            let own = git.parent()?.join(words.strip_prefix("gitdir:")?.trim());
            paths.insert(git);
            own
        }
    };
    let shared = match fs::read_to_string(own.join("commondir")) {
        Ok(words) => own.join(words.trim()),
        Err(_) => own.clone(),
    };
    // Git goes on looking where this is none.
    if !own.join("HEAD").is_file() || !shared.join("objects").is_dir() {
        return None;
    }
    paths.extend(OWN.map(|name| own.join(name)));
    paths.extend(SHARED.map(|name| shared.join(name)));
    let mut open = vec![shared.join("refs")];
    if own != shared {
        open.push(own.join("refs"));
    }
    let mut count = 0;
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            count += 1;
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                _ => {
                    paths.insert(entry.path());
                }
            }
        }
        paths.insert(folder);
        if count > REFS {
            return None;
        }
    }
    Some(paths)
}

/// The files that the settings of git stand in and name.
fn configured(root: &Path, settings: &Settings, environment: &Environment) -> Option<BTreeSet<PathBuf>> {
    let mut paths: BTreeSet<PathBuf> = settings.origins.iter().map(|path| root.join(path)).collect();
    paths.insert(PathBuf::from(SYSTEM));
    let home = environment.home.clone();
    let folder = environment.settings.clone().or_else(|| Some(home.as_ref()?.join(".config")));
    paths.extend(
        folder.iter().flat_map(|folder| ["config", "ignore", "attributes"].map(|name| folder.join("git").join(name))),
    );
    paths.extend(home.map(|home| home.join(".gitconfig")));
    paths.extend(
        ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"]
            .iter()
            .filter_map(|name| environment.variable(name))
            .map(PathBuf::from),
    );
    let names = |name: &str| matches!(name, "core.excludesfile" | "core.attributesfile");
    for value in settings.all(names) {
        paths.insert(environment.path(value)?);
    }
    // An included file that is not there now may come; one that is there is an origin, unless it says nothing.
    let included = |name: &str| name == "include.path" || name.starts_with("includeif.") && name.ends_with(".path");
    for value in settings.all(included) {
        match environment.path(value) {
            Some(path) => drop(paths.insert(path)),
            None => {
                paths.extend(settings.origins.iter().filter_map(|origin| Some(root.join(origin).parent()?.join(value))))
            }
        }
    }
    Some(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_tell_their_files_and_the_address_of_the_origin() {
        let listed = "file:/home/a/.gitconfig\0user.name\nA\nB\0file:.git/config\0remote.up.url\nu\0\
                      file:.git/config\0remote.origin.url\ngit@h:o/r\0command line:\0core.bare\0";
        let settings = Settings::read(listed);
        let origins: Vec<&Path> = settings.origins.iter().map(PathBuf::as_path).collect();
        assert_eq!(origins, [Path::new("/home/a/.gitconfig"), Path::new(".git/config")]);
        assert_eq!(settings.remote().as_deref(), Some("git@h:o/r"));
        assert_eq!(Settings::read("file:c\0remote.up.url\nu\0").remote().as_deref(), Some("u"));
        assert_eq!(settings.all(|name| name == "core.bare").collect::<Vec<_>>(), ["true"]);
        assert_eq!(Settings::read(""), Settings::default());
    }

    #[test]
    fn a_path_that_is_seen_from_nobody_knows_where_is_no_path() {
        let environment = Environment { home: Some("/home/a".into()), ..Environment::default() };
        assert_eq!(environment.path("~/x"), Some("/home/a/x".into()));
        assert_eq!(environment.path("/x"), Some("/x".into()));
        assert_eq!(environment.path("x"), None);
        assert_eq!(Environment::default().path("~/x"), None);
    }
}
