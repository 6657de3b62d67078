//! How far modules from elsewhere are behind: the versions that stacks ask for, and those that there are.
//!
//! Enters: a graph, and who lists the versions of a module. Leaves: per module and version that is asked for, the newest
//! one and how many lie between. Never changes a version that is asked for.

mod registry;
mod semver;
mod web;

pub use registry::Registries;
pub use semver::Version;

use crate::base::Problem;
use crate::data::tree::Names;
use crate::infra::graph::{Graph, Kind, Module, Need, Origin};
use crate::infra::layer::each;
use std::collections::{BTreeMap, BTreeSet};

/// A module, as some stacks ask for it.
#[derive(Clone, Debug)]
pub struct Lag {
    /// Its key without the version.
    pub module: String,
    pub kind: Origin,
    /// The version that is asked for: a tag, a branch, a commit, a constraint; empty for none.
    pub pin: String,
    /// The newest version there is, as its tag says it.
    pub latest: Option<String>,
    /// How many newer versions there are.
    pub behind: usize,
    pub standing: Standing,
    /// What the pin names in its repository, as far as that is known.
    pub named: Option<Named>,
    /// Who asks for it: stacks, and modules.
    pub used_by: Vec<String>,
}

/// What a pin names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Named {
    Tag,
    Branch,
    /// Nothing has this name, and it reads as the digest of a commit.
    Commit,
}

impl Named {
    /// The word for it in every output.
    pub fn word(self) -> &'static str {
        match self {
            Named::Tag => "tag",
            Named::Branch => "branch",
            Named::Commit => "commit",
        }
    }
}

/// How a module stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    Current,
    Behind,
    /// No version is asked for: the newest commit is taken.
    Unpinned,
    /// What is asked for is no version, or one that nobody has made.
    Unknown,
    /// Nobody was asked for its versions.
    NotLookedUp,
    /// Its versions could not be listed.
    Failed,
}

impl Standing {
    /// The word for it in every output.
    pub fn word(self) -> &'static str {
        match self {
            Standing::Current => "current",
            Standing::Behind => "behind",
            Standing::Unpinned => "unpinned",
            Standing::Unknown => "unknown",
            Standing::NotLookedUp => "not looked up",
            Standing::Failed => "failed",
        }
    }
}

/// Who lists versions.
pub trait Lists: Sync {
    /// The tags and branches of the repository at an address.
    ///
    /// # Errors
    /// They cannot be listed.
    fn names(&self, address: &str) -> Result<Names, Problem>;

    /// The versions of the module of a registry that a `source` names; `None` where registries are not asked.
    ///
    /// # Errors
    /// They cannot be listed.
    fn versions(&self, source: &str) -> Result<Option<Vec<String>>, Problem>;
}

/// How far the modules of a graph are behind, by their keys; and what could not be listed.
pub fn lags(graph: &Graph, lists: &dyn Lists) -> (Vec<Lag>, Vec<Problem>) {
    let mut modules: Vec<&Module> = graph.modules.iter().filter(|module| module.kind != Origin::Local).collect();
    modules.sort_by(|a, b| (&a.path, &a.pin).cmp(&(&b.path, &b.pin)));
    modules.dedup_by(|a, b| a.path == b.path && a.pin == b.pin);
    // The folders of one repository share its tags, whatever form its address has.
    let mut families: BTreeMap<(&str, Origin), BTreeSet<String>> = BTreeMap::new();
    for module in &modules {
        let source = graph.closed.get(&module.key).unwrap_or(&module.source);
        let address = if module.kind == Origin::Git { address(source) } else { source.clone() };
        families.entry((family(&module.path), module.kind)).or_default().insert(address);
    }
    let asked: Vec<((&str, Origin), BTreeSet<String>)> = families.into_iter().collect();
    let mut problems = Vec::new();
    let mut known: BTreeMap<&str, Option<Names>> = BTreeMap::new();
    let ask = |((_, kind), addresses): &((&str, Origin), BTreeSet<String>)| match kind {
        Origin::Registry => {
            first(addresses, |source| Ok(lists.versions(source)?.map(|tags| Names { tags, branches: Vec::new() })))
        }
        _ => first(addresses, |address| lists.names(address).map(Some)),
    };
    for (((name, _), _), found) in asked.iter().zip(each(&asked, ask)) {
        let lost = || Err(Problem::new("suil lost a module; this is a fault of suil"));
        match found.unwrap_or_else(lost) {
            Ok(None) => {}
            Ok(Some(names)) => drop(known.insert(name, Some(names))),
            Err(problem) => {
                problems.push(Problem { what: format!("module `{name}`: {}", problem.what), ..problem });
                known.insert(name, None);
            }
        }
    }
    let lag = |module: &&Module| {
        let used_by = users(graph, &module.key);
        let base = Lag {
            module: module.path.clone(),
            kind: module.kind,
            pin: module.pin.clone(),
            latest: None,
            behind: 0,
            standing: Standing::NotLookedUp,
            named: None,
            used_by,
        };
        match known.get(family(&module.path)) {
            Some(Some(names)) => measured(base, names),
            Some(None) => Lag { standing: Standing::Failed, ..base },
            None => base,
        }
    };
    (modules.iter().map(lag).collect(), problems)
}

/// What the first address that answers says; or why the first does not.
fn first<T>(addresses: &BTreeSet<String>, ask: impl Fn(&str) -> Result<T, Problem>) -> Result<T, Problem> {
    let mut failed = None;
    for address in addresses {
        match ask(address) {
            Ok(found) => return Ok(found),
            Err(problem) => failed = failed.or(Some(problem)),
        }
    }
    Err(failed.unwrap_or_else(|| Problem::new("nothing says where it is")))
}

/// Compares what is asked for with what there is.
fn measured(lag: Lag, names: &Names) -> Lag {
    let tags = &names.tags;
    let named = named(&lag, names);
    let lag = Lag { named, ..lag };
    let versions: BTreeMap<Version, &String> = tags.iter().filter_map(|tag| Some((Version::read(tag)?, tag))).collect();
    let stable = versions.iter().rfind(|(version, _)| version.is_stable());
    let latest = stable.or_else(|| versions.iter().next_back()).map(|(_, tag)| (*tag).clone());
    let Some(pin) = Version::read(&lag.pin) else {
        let standing = if lag.pin.is_empty() { Standing::Unpinned } else { Standing::Unknown };
        return Lag { latest, standing, ..lag };
    };
    let counts = |version: &&Version| **version > pin && (version.is_stable() || !pin.is_stable());
    let behind = versions.keys().filter(counts).count();
    let is_made = match lag.kind {
        Origin::Git => named == Some(Named::Tag),
        _ => versions.contains_key(&pin),
    };
    let standing = match behind {
        0 if is_made => Standing::Current,
        0 => Standing::Unknown,
        _ => Standing::Behind,
    };
    Lag { latest, behind, standing, ..lag }
}

/// What the pin of a module from git names.
fn named(lag: &Lag, names: &Names) -> Option<Named> {
    let pin = &lag.pin;
    let is_digest = || (7..=64).contains(&pin.len()) && pin.bytes().all(|b| b.is_ascii_hexdigit());
    match lag.kind {
        Origin::Git if names.tags.contains(pin) => Some(Named::Tag),
        Origin::Git if names.branches.contains(pin) => Some(Named::Branch),
        Origin::Git if is_digest() => Some(Named::Commit),
        _ => None,
    }
}

/// The repository of a module: its key without the folder below it.
fn family(path: &str) -> &str {
    path.split_once("//").map_or(path, |(repository, _)| repository)
}

/// Who asks for a module directly.
fn users(graph: &Graph, key: &str) -> Vec<String> {
    let uses = graph.edges.iter().filter(|edge| edge.kind == Need::UsesModule);
    let uses = uses.filter(|edge| edge.to.kind == Kind::Module && edge.to.key == key);
    uses.map(|edge| edge.from.key.clone()).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The address of the repository that a source names, as git takes it.
pub fn address(source: &str) -> String {
    let source = source.split_once('?').map_or(source, |(source, _)| source);
    let (forced, address) = match source.strip_prefix("git::") {
        Some(address) => (true, address),
        None => (false, source),
    };
    // The folder below stands behind `//`, which a scheme has, too.
    let (scheme, rest) = match address.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), address),
    };
    let repository = rest.split_once("//").map_or(rest, |(repository, _)| repository).trim_end_matches('/');
    if !scheme.is_empty() || forced || repository.contains('@') {
        return match (scheme.is_empty(), repository.contains('@')) {
            // `git::github.com/a/b`
            (true, false) => format!("https://{repository}"),
            _ => format!("{scheme}{repository}"),
        };
    }
    // `github.com/owner/name/folder`
    let names: Vec<&str> = repository.splitn(4, '/').take(3).collect();
    format!("https://{}", names.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_what_git_takes() {
        for (source, want) in [
            ("git::https://git.example.net/a/b.git//fifo?ref=v2", "https://git.example.net/a/b.git"),
            ("git::ssh://git@git.example.net/plat/db.git?ref=v0.3.0", "ssh://git@git.example.net/plat/db.git"),
            ("git@git.example.net:a/b.git//x", "git@git.example.net:a/b.git"),
            ("git::git@git.example.net:a/b.git", "git@git.example.net:a/b.git"),
            ("github.com/a/b", "https://github.com/a/b"),
            ("github.com/a/b/parts/log?ref=main", "https://github.com/a/b"),
            ("github.com/a/b//parts/log", "https://github.com/a/b"),
            ("git::github.com/a/b.git//x", "https://github.com/a/b.git"),
        ] {
            assert_eq!(address(source), want, "{source}");
        }
    }

    fn at(kind: Origin, pin: &str, tags: &[&str]) -> Lag {
        let lag = Lag {
            module: "a/b".to_owned(),
            kind,
            pin: pin.to_owned(),
            latest: None,
            behind: 0,
            standing: Standing::NotLookedUp,
            named: None,
            used_by: Vec::new(),
        };
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        measured(lag, &Names { tags: owned(tags), branches: owned(&["main", "v5.0.0"]) })
    }

    fn of(pin: &str, tags: &[&str]) -> (Standing, usize, Option<String>) {
        let lag = at(Origin::Git, pin, tags);
        (lag.standing, lag.behind, lag.latest)
    }

    #[test]
    fn newer_stable_versions_are_counted_once_each() {
        let tags = ["v1.0.0", "1.0.0", "v1.1.0", "v1.2.0", "1.2.0", "v2.0.0-rc.1", "nightly", "v1"];
        let latest = |text: &str| Some(text.to_owned());
        assert_eq!(of("v1.0.0", &tags), (Standing::Behind, 2, latest("1.2.0")));
        assert_eq!(of("1.2.0", &tags), (Standing::Current, 0, latest("1.2.0")));
        assert_eq!(of("v1.2.0-rc.1", &tags), (Standing::Behind, 2, latest("1.2.0")));
        assert_eq!(of("main", &tags), (Standing::Unknown, 0, latest("1.2.0")));
        assert_eq!(of("", &tags), (Standing::Unpinned, 0, latest("1.2.0")));
        let early = ["v0.1.0", "v1.0.0-rc.1", "v1.0.0-rc.2"];
        assert_eq!(of("v0.1.0", &early), (Standing::Current, 0, latest("v0.1.0")));
    }

    #[test]
    fn what_no_tag_has_is_not_current() {
        let tags = ["v1.2.0", "nightly", "abcdef1"];
        for (pin, standing, named) in [
            ("v1.2.0", Standing::Current, Some(Named::Tag)),
            ("nightly", Standing::Unknown, Some(Named::Tag)),
            ("abcdef1", Standing::Unknown, Some(Named::Tag)),
            ("v5.0.0", Standing::Unknown, Some(Named::Branch)),
            ("main", Standing::Unknown, Some(Named::Branch)),
            ("abcdef2", Standing::Unknown, Some(Named::Commit)),
            ("v3.0.0", Standing::Unknown, None),
            ("1.2.0", Standing::Unknown, None),
            ("gone", Standing::Unknown, None),
            ("v1.0.0", Standing::Behind, None),
        ] {
            let lag = at(Origin::Git, pin, &tags);
            assert_eq!((lag.standing, lag.named), (standing, named), "{pin}");
        }
        for (pin, standing) in
            [("1.2.0", Standing::Current), ("1.3.0", Standing::Unknown), ("~> 1.0", Standing::Unknown)]
        {
            let lag = at(Origin::Registry, pin, &["1.2.0"]);
            assert_eq!((lag.standing, lag.named), (standing, None), "{pin}");
        }
    }
}
