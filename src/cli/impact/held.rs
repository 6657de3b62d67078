//! What a change does to the layers that nodes hold, and to whom their outputs matter.

use super::Version;
use crate::base::{Plain, Problems};
use crate::catalogue::impact::Both as Entries;
use crate::catalogue::{Entry, Need, Selection, need};
use crate::cli::infra::{begin, hosts, options};
use crate::cli::load::{Closed, Loaded};
use crate::data::tree::{Repository, Tree};
use crate::infra::compare::{Both, Compared};
use crate::infra::graph;
use crate::infra::layer::{Options, Run};
use crate::plan::impact::{LayerChange, LayerImpact, LayerRead};
use crate::plan::{Language, Modules};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The layers that are not rendered as they were, and the nodes whose data reads their outputs.
#[derive(Default)]
pub struct Held {
    /// By node, each with the module that holds it.
    layers: BTreeMap<String, Vec<(String, LayerImpact)>>,
    /// By node, each with the module that is told it.
    reads: BTreeMap<String, BTreeSet<(String, LayerRead)>>,
}

/// One layer as a node holds it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Holding {
    /// The tree of layers.
    pub root: PathBuf,
    pub node: String,
    pub module: String,
    /// `<stack>/<layer>`.
    pub layer: String,
}

impl Holding {
    /// The key of the layer in the graph of a tree that keeps its stacks in `stacks`.
    pub fn key(&self, stacks: &Path) -> String {
        let (stack, layer) = self.layer.split_once('/').unwrap_or_default();
        graph::key::key(&format!("{}/{stack}", stacks.display()), layer)
    }

    /// How the fields of the layer's outputs begin, among the facts of its node.
    pub fn begin(&self) -> String {
        format!("{}.{}.", self.module, self.layer)
    }

    /// True where a field of the facts of `node` is an output of the layer.
    pub fn brings(&self, node: &str, field: &str) -> bool {
        self.node == node && field.starts_with(&self.begin())
    }
}

impl Held {
    /// Compares every layer that a node of either version holds.
    ///
    /// # Errors
    /// A setting of the environment makes no sense. A layer that cannot be compared is no error: it counts as one that
    /// differs.
    pub fn compare(loaded: &Loaded, before: Version, after: Version) -> Result<Held, Problems> {
        let modules = |version: Version| with_layers(version.modules);
        let names: BTreeSet<String> = modules(before).union(&modules(after)).cloned().collect();
        let mut holders: BTreeSet<String> = need::holders(after.workspace, &names).into_iter().collect();
        holders.extend(need::holders(before.workspace, &names));
        if holders.is_empty() {
            return Ok(Held::default());
        }
        // One that is broken and selected is told of elsewhere.
        let selection = Selection::names(holders.iter().map(String::as_str));
        let Ok(entries) = Entries::build(before.workspace, after.workspace, &selection) else {
            return Ok(Held::default());
        };
        let side = |entries: &[Entry], version: Version| {
            let of = |entry: &Entry| holdings(loaded, version, entry, &names);
            entries.iter().flat_map(of).collect::<BTreeSet<Holding>>()
        };
        let (had, has) = (side(&entries.before.entries, before), side(&entries.after.entries, after));
        let mut held = Held::default();
        let all: BTreeSet<&Holding> = had.union(&has).collect();
        let roots: BTreeSet<&PathBuf> = all.iter().map(|holding| &holding.root).collect();
        for root in roots {
            let of_root: Vec<&Holding> = all.iter().copied().filter(|holding| holding.root == *root).collect();
            held.tree(loaded, [before, after], root, &of_root)?;
        }
        held.readers(&need::needs(after.workspace, &Selection::default(), &names)?, &has);
        Ok(held)
    }

    /// Compares the layers of one tree.
    fn tree(&mut self, loaded: &Loaded, versions: [Version; 2], root: &Path, all: &[&Holding]) -> Result<(), Problems> {
        let options = options::read(false)?;
        let path = |holding: &&Holding| {
            let (stack, layer) = holding.layer.split_once('/').unwrap_or_default();
            root.join(&options.stacks).join(stack).join(&options.layers).join(layer)
        };
        let paths: Vec<PathBuf> = all.iter().map(path).collect();
        let [before, after] = versions.map(|version| side(loaded, version, root, &options));
        let (before, after) = match (before, after) {
            (Ok(before), Ok(after)) => (before, after),
            (Err(problems), _) | (_, Err(problems)) => {
                all.iter().for_each(|holding| self.add(holding, unknown(&problems)));
                return Ok(());
            }
        };
        let revision = versions[0].name.unwrap_or_default().to_owned();
        let both = Both { revision, before, after, mask: loaded.mask.clone() };
        for (holding, compared) in all.iter().zip(both.compare(&paths)) {
            match compared {
                Ok(Compared { before: false, after: false, .. }) => {}
                Ok(Compared { before: false, .. }) => self.add(holding, LayerChange::Added),
                Ok(Compared { after: false, .. }) => self.add(holding, LayerChange::Removed),
                Ok(Compared { files, .. }) if files.is_empty() => {}
                Ok(Compared { files, .. }) => {
                    let names = files.iter().map(|file| file.path.display().to_string());
                    self.add(holding, LayerChange::Changed(names.collect()));
                }
                Err(problems) => self.add(holding, unknown(&problems)),
            }
        }
        Ok(())
    }

    fn add(&mut self, holding: &Holding, change: LayerChange) {
        let impact = LayerImpact { layer: holding.layer.clone(), change };
        self.layers.entry(holding.node.clone()).or_default().push((holding.module.clone(), impact));
    }

    /// Follows the outputs: a node that reads one may hold layers itself, which others read.
    fn readers(&mut self, needs: &[Need], has: &BTreeSet<Holding>) {
        let mut moved: BTreeSet<(String, String)> = BTreeSet::new();
        for (node, layers) in &self.layers {
            moved.extend(layers.iter().map(|(module, impact)| (node.clone(), format!("{module}.{}.", impact.layer))));
        }
        loop {
            let reads = |need: &&Need| {
                moved.iter().any(|(node, layer)| *node == need.provider && need.field.starts_with(layer.as_str()))
            };
            let found: Vec<&Need> = needs.iter().filter(reads).collect();
            let known = moved.len();
            for need in found {
                let read = LayerRead { node: need.provider.clone(), field: need.field.clone() };
                self.reads.entry(need.reader.clone()).or_default().insert((need.key.clone(), read));
                let own = has.iter().filter(|holding| holding.node == need.reader);
                moved.extend(own.map(|own| (own.node.clone(), own.begin())));
            }
            if moved.len() == known {
                return;
            }
        }
    }

    /// True where a layer of the node differs, or its data reads one that does.
    pub fn touches(&self, node: &str) -> bool {
        self.layers.contains_key(node) || self.reads.contains_key(node)
    }

    /// The layers of a node that differ, of the modules that are asked for.
    pub fn layers(&self, node: &str, only: &dyn Fn(&str) -> bool) -> Vec<LayerImpact> {
        let layers = self.layers.get(node).into_iter().flatten();
        layers.filter(|(module, _)| only(module)).map(|(_, impact)| impact.clone()).collect()
    }

    /// What the data of a node reads of layers that differ, for the modules that are asked for.
    pub fn reads(&self, node: &str, only: &dyn Fn(&str) -> bool) -> Vec<LayerRead> {
        let reads = self.reads.get(node).into_iter().flatten().filter(|(module, _)| only(module));
        reads.map(|(_, read)| read.clone()).collect::<BTreeSet<LayerRead>>().into_iter().collect()
    }
}

/// The names of the modules whose facts are layers.
pub fn with_layers(modules: &Modules) -> BTreeSet<String> {
    let with = modules
        .iter()
        .filter(|module| matches!(module.collector(), Ok(Some(found)) if found.language == Language::Layers));
    with.map(|module| module.name().to_owned()).collect()
}

/// The layers that a node holds. A config that is none has no layers, and is told of elsewhere.
pub fn holdings(loaded: &Loaded, version: Version, entry: &Entry, names: &BTreeSet<String>) -> Vec<Holding> {
    let modules = entry.modules.iter().filter(|name| names.contains(*name));
    let configs = modules.filter_map(|name| {
        let module = version.modules.get(name)?;
        Some((name, loaded.config(entry, module, Closed::Pretend).ok()?.public))
    });
    let of = |(module, config): (&String, Plain)| {
        let root = config.get("root").and_then(Plain::as_str).unwrap_or("infra").to_owned();
        let root = loaded.workspace.root().join(root);
        let layers = config.get("layers").and_then(Plain::as_list).unwrap_or_default().to_vec();
        let holding = |layer: &Plain| {
            let layer = layer.as_str()?.to_owned();
            Some(Holding { root: root.clone(), node: entry.name.to_string(), module: module.clone(), layer })
        };
        layers.iter().filter_map(holding).collect::<Vec<_>>()
    };
    configs.flat_map(of).collect()
}

/// The tree at `root` as a version has it, and the host data with it.
fn side(loaded: &Loaded, version: Version, root: &Path, options: &Options) -> Result<Arc<Run>, Problems> {
    let mut run = Arc::new(begin::run(&loaded.context, root, options.clone(), &loaded.mask)?.lenient());
    if let Some(commit) = version.commit {
        let folders = [&options.environments, &options.stacks].map(|folder| format!("{}/", folder.display()));
        let revision = Repository::find(root)?.reading(folders.to_vec()).revision(commit)?;
        let mut past = run.of_revision(Arc::new(revision));
        let data: Arc<dyn Tree> = Arc::new(Repository::find(loaded.workspace.root())?.revision(commit)?);
        past.hosts = Some(hosts::of(loaded.workspace.root(), root, &loaded.mask, Some(data)));
        run = Arc::new(past);
    }
    Ok(run)
}

fn unknown(problems: &Problems) -> LayerChange {
    LayerChange::Unknown(problems.first().map(|problem| problem.what.clone()).unwrap_or_default())
}
