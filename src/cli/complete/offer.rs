//! What may be typed next.

use crate::base::Plain;
use crate::catalogue::{self, Catalogue, Workspace};
use crate::cli::infra::{options, select};
use crate::cli::{Cli, Context, infra, settings};
use crate::data::Value;
use crate::data::secret::NO_KEY;
use crate::infra::layer::Options;
use crate::infra::surgery::record;
use crate::module::{Module, Revealed};
use crate::plan::Modules;
use crate::plan::intent::header;
use crate::plan::origin::Parts;
use crate::ui::Output;
use crate::ui::text::count;
use clap::{ArgMatches, CommandFactory};
use clap_complete::engine::CompletionCandidate;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The command line so far.
pub struct Offer {
    words: Vec<OsString>,
    /// True where the shell shows a few words beside each candidate.
    helps: bool,
}

impl Offer {
    pub fn new(words: Vec<OsString>, helps: bool) -> Offer {
        Offer { words, helps }
    }

    /// The nodes that begin so, and their roles.
    pub fn nodes(&self, start: &str) -> Vec<CompletionCandidate> {
        let Some(workspace) = self.workspace() else { return Vec::new() };
        let names = workspace.node_names().filter(|name| name.starts_with(start));
        names
            .map(|name| {
                let role = if self.helps { workspace.seeming_role(name) } else { None };
                CompletionCandidate::new(name).help(role.map(Into::into))
            })
            .collect()
    }

    /// The roles that begin so, and how many nodes each has.
    pub fn roles(&self, start: &str) -> Vec<CompletionCandidate> {
        let Some(workspace) = self.workspace() else { return Vec::new() };
        let Ok(names) = workspace.role_names() else { return Vec::new() };
        let mut nodes: BTreeMap<String, usize> = BTreeMap::new();
        if self.helps {
            for role in workspace.node_names().filter_map(|node| workspace.seeming_role(node)) {
                *nodes.entry(role).or_default() += 1;
            }
        }
        let help = |name: &str| self.helps.then(|| count(nodes.get(name).copied().unwrap_or_default(), "node"));
        let names = names.filter(|name| name.starts_with(start));
        names.map(|name| CompletionCandidate::new(name).help(help(name).map(Into::into))).collect()
    }

    /// The modules that begin so, and where each comes from.
    pub fn modules(&self, start: &str) -> Vec<CompletionCandidate> {
        let Some(workspace) = self.workspace() else { return Vec::new() };
        let dirs = workspace.library().iter().filter(|dir| dir.name.starts_with(start));
        dirs.map(|dir| CompletionCandidate::new(&dir.name).help(Some(dir.origin.to_string().into()))).collect()
    }

    /// The keys, or the resources, of the node that the command line names; keys one level below what is typed. A key that has more below
    /// stands there with a dot, too.
    pub fn keys(&self, start: &str) -> Vec<CompletionCandidate> {
        if self.is_infra() && self.words.iter().any(|word| word == "unlock") {
            return super::stacks::keys(start);
        }
        if self.words.iter().any(|word| word == "infra") {
            return self.stacks(start);
        }
        let known = || {
            let workspace = self.workspace()?;
            let (name, matches) = self.matches()?.remove_subcommand()?;
            let node = text(&matches, "node").filter(|_| name == "explain")?;
            if matches.try_get_one("resource").ok().flatten() == Some(&true) {
                return Some(resources(&workspace, &node, start));
            }
            let (data, modules) = catalogue::sketch(&workspace, &node).ok()?;
            let mut keys = BTreeSet::new();
            below(&data, "", start, &mut keys);
            let names = modules.iter().map(|name| (name.as_str(), Plain::Null));
            below(&names.collect(), "", start, &mut keys);
            let all = Modules::open(workspace.library());
            let asked =
                modules.iter().filter(|name| start.strip_prefix(*name).is_some_and(|rest| rest.starts_with('.')));
            for module in asked.filter_map(|name| all.get(name)) {
                let shape = module.json_schema().ok().flatten().map(|schema| shape(&schema)).unwrap_or_default();
                below(&Plain::from_iter([(Module::name(module), shape)]), "", start, &mut keys);
            }
            Some(keys)
        };
        known().into_iter().flatten().map(CompletionCandidate::new).collect()
    }

    /// The layers of the tree around here whose folders, seen from its root, begin so.
    pub fn layers(&self, start: &str) -> Vec<CompletionCandidate> {
        let Some((root, options)) = self.tree() else { return Vec::new() };
        let layers = select::found(&root, &options).unwrap_or_default();
        let names = layers.iter().filter_map(|path| path.strip_prefix(&root).ok()?.to_str());
        names.filter(|name| name.starts_with(start)).map(CompletionCandidate::new).collect()
    }

    /// The surgeries on record that begin so, the last first, and what each was.
    pub fn surgeries(&self, start: &str) -> Vec<CompletionCandidate> {
        let records = self.tree().and_then(|(root, _)| record::all(&root).ok()).unwrap_or_default();
        let found = records.into_iter().rev().filter(|record| record.id.starts_with(start));
        found.map(|record| CompletionCandidate::new(record.id).help(Some(record.manifest.surgery.into()))).collect()
    }

    /// The tree of layers around the current folder.
    fn tree(&self) -> Option<(PathBuf, Options)> {
        let options = options::read(false).ok()?;
        Some((options.root(&std::env::current_dir().ok()?)?, options))
    }

    /// The stacks that begin so, and their environments; behind a comma the next one. The cache of the graph answers where
    /// it is good; a tree with a mistake has none.
    pub fn stacks(&self, start: &str) -> Vec<CompletionCandidate> {
        let Some(graph) = infra::keys_of(self.option("repo_root"), self.option("workspace")) else { return Vec::new() };
        let (before, start) = start.rsplit_once(',').map_or(("", start), |(before, start)| (before, start));
        let named = |key: &str| if before.is_empty() { key.to_owned() } else { format!("{before},{key}") };
        let own = graph.stacks.iter().filter(|stack| !stack.external && stack.key.starts_with(start));
        let help = |environment: &str| self.helps.then(|| environment.to_owned().into());
        own.map(|stack| CompletionCandidate::new(named(&stack.key)).help(help(&stack.environment))).collect()
    }

    /// The recorded runs that begin so, the last first; below `infra` those over stacks.
    pub fn runs(&self, start: &str) -> Vec<CompletionCandidate> {
        if self.is_infra() {
            return super::stacks::runs(start);
        }
        let Some(entries) = self.root().and_then(|root| fs::read_dir(root.join(".runs")).ok()) else {
            return Vec::new();
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| !name.starts_with('.') && name.starts_with(start)).collect();
        names.sort_by(|a, b| b.cmp(a));
        names.into_iter().map(CompletionCandidate::new).collect()
    }

    /// The branches and tags that begin so, by the files of the repository around the workspace.
    pub fn revisions(&self, start: &str) -> Vec<CompletionCandidate> {
        let Some(root) = self.root().and_then(|root| fs::canonicalize(root).ok()) else { return Vec::new() };
        let Some(git) = root.ancestors().find_map(|folder| repository(&folder.join(".git"))) else { return Vec::new() };
        let mut names = vec!["HEAD".to_owned()];
        for kind in ["heads", "tags", "remotes"] {
            loose(&git.join("refs").join(kind), "", &mut names, 0);
        }
        let packed = fs::read_to_string(git.join("packed-refs")).unwrap_or_default();
        let full =
            packed.lines().filter_map(|line| line.split_once(' ')).filter(|(hash, _)| !hash.starts_with(['#', '^']));
        let short =
            |(_, name): (&str, &str)| name.strip_prefix("refs/")?.split_once('/').map(|(_, name)| name.to_owned());
        names.extend(full.filter_map(short));
        names.retain(|name| name.starts_with(start));
        names.sort();
        names.dedup();
        names.into_iter().map(CompletionCandidate::new).collect()
    }

    fn is_infra(&self) -> bool {
        self.words.get(1).is_some_and(|word| word == "infra")
    }

    /// The folder that an option names, wherever it stands.
    fn option(&self, name: &str) -> Option<PathBuf> {
        let get = |matches: &ArgMatches| matches.try_get_one::<PathBuf>(name).ok().flatten().cloned();
        let mut matches = self.matches()?;
        let mut found = get(&matches);
        while let Some((_, below)) = matches.remove_subcommand() {
            found = get(&below).or(found);
            matches = below;
        }
        found.map(|folder| settings::home(&folder.to_string_lossy()))
    }

    fn root(&self) -> Option<PathBuf> {
        let workspace = self.option("workspace");
        Context { workspace, output: Output::Text }.root().ok()
    }

    fn workspace(&self) -> Option<Workspace> {
        Workspace::open(&self.root()?).ok()
    }

    /// What clap makes of the words, as far as it goes.
    fn matches(&self) -> Option<ArgMatches> {
        Cli::command().ignore_errors(true).try_get_matches_from(&self.words).ok()
    }
}

fn text(matches: &ArgMatches, name: &str) -> Option<String> {
    matches.try_get_one::<String>(name).ok().flatten().cloned()
}

/// The ids and the paths of the resources that begin so. No key is asked for: a text stands for each secret.
fn resources(workspace: &Workspace, node: &str, start: &str) -> BTreeSet<String> {
    let Ok(catalogue) = Catalogue::build(workspace, &catalogue::Selection::node(node)) else { return BTreeSet::new() };
    let [entry] = catalogue.entries.as_slice() else { return BTreeSet::new() };
    let user = entry.deployment();
    let user = user.as_ref().and_then(|settings| settings.get("ssh_user")).and_then(Value::as_str).unwrap_or_default();
    let mut config = |module: &Module| {
        let slice = entry.slice(module.name());
        let mut closed = |_: &_, _, _: &str| Ok(Revealed::Plaintext(NO_KEY.to_owned().into()));
        module.config(slice.as_ref(), &header(entry, user), &mut closed)
    };
    let modules = Modules::open(workspace.library());
    let words = Parts::of(entry, &modules, &mut config).words();
    words.into_iter().filter(|word| word.starts_with(start)).collect()
}

/// Collects the keys of `value` that go on from `start`; `above` is the way to it, with a dot at its end. A key may have
/// dots of its own.
fn below(value: &Plain, above: &str, start: &str, keys: &mut BTreeSet<String>) {
    let mut look = |name: &str, value: &Plain| {
        let full = format!("{above}{name}");
        let more = match value {
            Plain::Map(map) => !map.is_empty(),
            Plain::List(list) => list.iter().any(|item| matches!(item, Plain::Map(_))),
            _ => false,
        };
        let deeper = format!("{full}.");
        if more && start.starts_with(&deeper) {
            below(value, &deeper, start, keys);
        } else if full.starts_with(start) {
            keys.extend(more.then_some(deeper));
            keys.insert(full);
        }
    };
    match value {
        Plain::Map(map) => map.iter().for_each(|(name, value)| look(name, value)),
        Plain::List(list) => list.iter().enumerate().for_each(|(n, value)| look(&n.to_string(), value)),
        _ => {}
    }
}

/// The keys that a JSON Schema names, as nested mappings.
fn shape(schema: &Plain) -> Plain {
    let named = schema.get("properties").and_then(Plain::as_map);
    named.into_iter().flatten().map(|(name, field)| (name.as_str(), shape(field))).collect()
}

/// The folder that holds the refs: `.git` itself, or what the file `.git` of a worktree points at.
fn repository(git: &Path) -> Option<PathBuf> {
    if git.is_dir() {
        return Some(git.to_owned());
    }
    let folder = fs::read_to_string(git).ok()?.strip_prefix("gitdir: ")?.trim().to_owned();
    let folder = git.parent()?.join(folder);
    let common = fs::read_to_string(folder.join("commondir")).ok()?;
    Some(folder.join(common.trim()))
}

fn loose(folder: &Path, above: &str, names: &mut Vec<String>, depth: usize) {
    let entries = fs::read_dir(folder).ok().into_iter().flatten().flatten();
    for entry in entries.filter(|_| depth < 8) {
        let Ok(name) = entry.file_name().into_string() else { continue };
        match entry.path().is_dir() {
            true => loose(&entry.path(), &format!("{above}{name}/"), names, depth + 1),
            false => names.push(format!("{above}{name}")),
        }
    }
}
