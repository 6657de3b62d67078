//! Layers of Terraform that a node holds: read and applied on the control machine, whatever the node's transport is.

use super::facts::Folder;
use super::gather::{Gathered, Ready};
use super::watch::{Event, Watch};
use super::{Options, Setup};
use crate::base::{Place, Plain, Problem, Problems};
use crate::catalogue::Entry;
use crate::node::{Failure, Outcome, Reason};
use crate::plan::owed::Change;
use crate::plan::{Collected, Language, Layer, NodePlan, Part, Plan};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Who knows Terraform. `cli` fills it in: this room does not.
///
/// Its methods block for as long as Terraform works.
pub trait Layers: Send + Sync {
    /// Renders and plans the layers that the public config of a module names, and keeps the plans. `place` tells where
    /// a value of that config stands; `tell` hears what is being done.
    ///
    /// # Errors
    /// Everything that is wrong with one of them. Where a layer may only wait for another that is to be applied before
    /// it, that is part of the facts.
    fn read(
        &self,
        node: &str,
        config: &Plain,
        place: &dyn Fn(&[&str]) -> Option<Place>,
        tell: &dyn Fn(&str),
    ) -> Result<Plain, Problems>;

    /// Reads the layers of a node again of which some were held back at first: what was found of the others stands.
    ///
    /// # Errors
    /// As [`Layers::read`].
    fn read_rest(
        &self,
        node: &str,
        config: &Plain,
        place: &dyn Fn(&[&str]) -> Option<Place>,
        tell: &dyn Fn(&str),
    ) -> Result<Plain, Problems>;

    /// Finds what is wrong with such a config before anything is rendered.
    ///
    /// # Errors
    /// There is no such layer, or another node holds it, too.
    fn check(&self, node: &str, config: &Plain, place: &dyn Fn(&[&str]) -> Option<Place>) -> Result<(), Problems>;

    /// Applies the plan that was kept for a layer of `node`, and returns what Terraform said. `tell` hears how it goes.
    ///
    /// # Errors
    /// There is no such plan any more, it is stale, or Terraform failed.
    fn apply(&self, node: &str, layer: &Layer, tell: &dyn Fn(&str)) -> Result<String, Problem>;
}

/// The modules whose facts are layers, each with its public config.
pub(super) fn modules<'a>(parts: impl IntoIterator<Item = &'a Part>) -> Vec<(String, Plain)> {
    layered(parts).map(|part| (part.name.clone(), part.config.public.clone())).collect()
}

/// Those of a node's modules whose facts are layers.
fn layered<'a>(parts: impl IntoIterator<Item = &'a Part>) -> impl Iterator<Item = &'a Part> {
    let with_layers = |part: &&Part| part.collector.as_ref().is_some_and(|c| c.language == Language::Layers);
    parts.into_iter().filter(with_layers)
}

/// What is wrong with the layers that a module of `entry` names in its public config, as far as is known without them.
pub fn check(layers: &dyn Layers, entry: &Entry, module: &str, config: &Plain) -> Problems {
    layers.check(&entry.name, config, &|path| place(entry, module, path)).err().unwrap_or_default()
}

/// Where a value of a module's config stands.
fn place(entry: &Entry, module: &str, path: &[&str]) -> Option<Place> {
    let path: Vec<&str> = std::iter::once(module).chain(path.iter().copied()).collect();
    entry.at(&path).map(|value| value.place)
}

/// Reads the layers of these `modules`, one after the other.
///
/// # Errors
/// As [`Layers::read`].
pub(super) async fn read(
    setup: &Setup,
    entry: &Entry,
    modules: Vec<(String, Plain)>,
    watch: &dyn Watch,
) -> Result<Collected, Problems> {
    read_with(setup, entry, modules, watch, false).await
}

/// Reads those that were held back.
///
/// # Errors
/// As [`Layers::read_rest`].
pub(super) async fn read_rest(
    setup: &Setup,
    entry: &Entry,
    modules: Vec<(String, Plain)>,
    watch: &dyn Watch,
) -> Result<Collected, Problems> {
    read_with(setup, entry, modules, watch, true).await
}

async fn read_with(
    setup: &Setup,
    entry: &Entry,
    modules: Vec<(String, Plain)>,
    watch: &dyn Watch,
    rest: bool,
) -> Result<Collected, Problems> {
    let mut collected = Collected::new();
    for (module, config) in modules {
        let (layers, entry, name) = (Arc::clone(&setup.layers), entry.clone(), module.clone());
        let node = entry.name.to_string();
        let work = move |node: &str, tell: &dyn Fn(&str)| {
            let place = |path: &[&str]| place(&entry, &module, path);
            match rest {
                true => layers.read_rest(node, &config, &place, tell),
                false => layers.read(node, &config, &place, tell),
            }
        };
        let read = told(&node, work, watch).await.map_err(|problem| *problem)?;
        collected.insert(name, Ok(read?));
    }
    Ok(collected)
}

/// The nodes on which a plan applies layers.
pub fn working(plan: &Plan) -> Vec<String> {
    let works = |node: &&NodePlan| node.operations.iter().any(|operation| operation.action.layer.is_some());
    plan.nodes.iter().filter(works).map(|node| node.node.clone()).collect()
}

/// True while it is not known whether a layer of a module can be planned: these facts are no answer.
pub(super) fn is_open(collected: &Collected, module: &str) -> bool {
    let facts = collected.get(module).and_then(|facts| facts.as_ref().ok());
    let mut layers = facts.and_then(|facts| facts.get("layers")?.as_map()).into_iter().flatten();
    layers.any(|(_, layer)| layer.get("open").is_some())
}

/// Warns of the layers that cannot be planned before others are applied.
pub(super) fn waiting(node: &str, collected: &Collected) -> Vec<Problem> {
    let facts = collected.values().filter_map(|facts| facts.as_ref().ok());
    let layers = facts.flat_map(|facts| facts.get("layers").and_then(Plain::as_map).into_iter().flatten());
    let waits = layers.filter_map(|(name, layer)| Some((name, layer.get("waits").and_then(Plain::as_str)?)));
    let warning = |(name, why): (&String, &str)| {
        Problem::warning(format!("node `{node}`: layer `{name}` has no part in this plan: it cannot be planned yet"))
            .note(why.to_owned())
    };
    waits.map(warning).collect()
}

/// True where layers of a node could not be planned before others were applied, and have no part in what was; `stays`
/// tells those that are not come to in this run.
pub fn is_unfinished(root: &Path, node: &str, modules: &BTreeSet<String>, stays: &dyn Fn(&str) -> bool) -> bool {
    let waits = |(name, layer): (&String, &Plain)| {
        !stays(name) && (layer.get("waits").is_some() || layer.get("waited").is_some())
    };
    modules.iter().any(|module| {
        let facts = Folder::of(root, node).facts(module).unwrap_or_default();
        facts.get("layers").and_then(Plain::as_map).is_some_and(|layers| layers.iter().any(waits))
    })
}

/// True while a field of a node's facts is about to change, or is not known: it is of a layer that Terraform would
/// change, or of another module that has operations, or the node was not read.
pub fn is_pending(gathered: &Gathered, node: &str, field: &str) -> bool {
    let Some((_, Ok(ready))) = gathered.nodes.iter().find(|(name, _)| name == node) else { return true };
    let (module, path) = field.split_once('.').unwrap_or((field, ""));
    let with_layers = layered(&ready.intent.parts).any(|part| part.name == module);
    if !with_layers {
        let mut plans = gathered.plan.nodes.iter().filter(|plan| plan.node == node);
        return plans.any(|plan| plan.operations.iter().any(|operation| operation.module == module));
    }
    let Some(Ok(facts)) = ready.collected.get(module) else { return false };
    let layers = facts.get("layers").and_then(Plain::as_map).into_iter().flatten();
    let mut read =
        layers.filter(|(name, _)| path.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('.')));
    read.any(|(_, layer)| layer.get("clean").and_then(Plain::as_bool) != Some(true))
}

/// Applies a layer. What the node writes down of reactions that it owes stands before it and after it, as with any
/// operation.
pub(super) async fn apply(
    setup: &Setup,
    ready: &mut Ready,
    layer: &Layer,
    owed: &[Change; 2],
    options: &Options,
    watch: &dyn Watch,
) -> Result<Outcome, Failure> {
    let [before, after] = owed;
    if !before.is_empty() {
        ready.session.run("writing down what is owed", &before.script(), options.step_limit).await?;
    }
    let (layers, node, layer) = (Arc::clone(&setup.layers), ready.node.clone(), layer.clone());
    let work = move |node: &str, tell: &dyn Fn(&str)| layers.apply(node, &layer, tell);
    let applied = told(&node, work, watch).await.unwrap_or_else(|problem| Err(*problem));
    let said = applied.map_err(|problem| Failure { reason: Reason::Local, problem: Box::new(problem) })?;
    if !after.is_empty() {
        ready.session.run("writing down what is paid", &after.script(), options.step_limit).await?;
    }
    Ok(Outcome { status: 0, stdout: setup.vault.mask().apply(&said), stderr: String::new() })
}

/// Does work that blocks, on a thread of its own, and tells what it says meanwhile.
async fn told<T: Send + 'static>(
    node: &str,
    work: impl FnOnce(&str, &dyn Fn(&str)) -> T + Send + 'static,
    watch: &dyn Watch,
) -> Result<T, Box<Problem>> {
    let (told, mut hears) = mpsc::unbounded_channel::<String>();
    let name = node.to_owned();
    let work = tokio::task::spawn_blocking(move || {
        // Nobody hears it once the run was stopped.
        work(&name, &|words: &str| drop(told.send(words.to_owned())))
    });
    while let Some(words) = hears.recv().await {
        watch.event(&Event::Phase { node, phase: &words });
    }
    work.await.map_err(|error| Box::new(Problem::new(format!("node `{node}`: suil itself failed: {error}"))))
}
