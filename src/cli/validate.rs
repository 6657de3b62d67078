//! `suil validate`.

use super::later::{Back, Later};
use super::layers::Held;
use super::load::{Closed, Loaded};
use super::{Context, Outcome, Selection};
use crate::base::{Plain, Problem, Problems};
use crate::catalogue::{self, Entry};
use crate::data::library::Origin;
use crate::infra::role::Stops;
use crate::plan::{Language, conflict, want::Want};
use crate::run::layers;
use crate::ui::text::count;
use crate::ui::{self, Exit};
use std::num::NonZero;
use std::sync::Arc;

/// Check the whole workspace without connecting
///
/// Every file, node, module, config and template; all problems are told at once.
#[derive(clap::Args, Debug)]
#[command(after_help = "Needs no key: where a secret cannot be opened, a text stands for it.")]
pub struct Args {}

pub fn run(_args: Args, context: &Context) -> Outcome {
    let mut loaded = None;
    let problems = match context.load() {
        Ok(found) => check(context, loaded.insert(found)),
        Err(problems) => problems,
    };
    let mask = loaded.as_ref().map(|l| l.mask.clone()).unwrap_or_default();
    let exit = if problems.is_empty() { Exit::Done } else { ui::problem::exit(&problems) };
    ui::warn(&problems, &mask);
    let text = || match exit {
        Exit::Done => format!("{}: no problem\n", loaded.as_ref().map(size).unwrap_or_default()),
        _ => String::new(),
    };
    let count = |count: fn(&Loaded) -> usize| Plain::from(loaded.as_ref().map(count));
    let value = || Plain::from_iter([("nodes", count(nodes_of)), ("roles", count(roles_of))]);
    ui::show(context.output, text, value).map_err(Problems::from)?;
    Ok(exit)
}

fn nodes_of(loaded: &Loaded) -> usize {
    loaded.workspace.node_names().count()
}

fn roles_of(loaded: &Loaded) -> usize {
    loaded.workspace.role_names().map(Iterator::count).unwrap_or_default()
}

fn size(loaded: &Loaded) -> String {
    format!("{}, {}", count(nodes_of(loaded), "node"), count(roles_of(loaded), "role"))
}

/// All that can be found without a node, stage by stage; a stage works on what the one before it could build.
fn check(context: &Context, loaded: &Loaded) -> Problems {
    let mut problems = Problems::new();
    let workspace = &loaded.workspace;
    // A stock module is compiled where a node has it; it is not the workspace's to mend.
    let own = workspace.library().iter().filter(|dir| dir.origin != Origin::Stock);
    for module in own.filter_map(|dir| loaded.modules.get(&dir.name)) {
        problems.extend(module.compile().err().unwrap_or_default());
    }
    let (catalogue, found) = catalogue::validate(workspace);
    problems.extend(found);
    let layers = Held::new(context, workspace.root(), &loaded.mask, Stops::default(), Back::default());
    problems.extend(nodes(loaded, &catalogue.entries));
    // One after the other: which of two nodes holds a layer must not depend on threads.
    problems.extend(catalogue.entries.iter().flat_map(|entry| held(loaded, &layers, entry)));
    let all = Later::part(loaded, &Selection::default(), catalogue::Selection::default(), &[]);
    problems.extend(all.err().unwrap_or_default());
    problems
}

/// The problems of all entries, found in parallel: module code depends on its config alone.
fn nodes(loaded: &Loaded, entries: &[Entry]) -> Problems {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let share = entries.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let work = |part: &'_ [Entry]| part.iter().flat_map(|entry| node(loaded, entry)).collect::<Problems>();
        let started: Vec<_> = entries.chunks(share).map(|part| scope.spawn(move || work(part))).collect();
        let lost = |_| vec![Problem::new("suil lost a thread that checked nodes; this is a fault of suil")];
        started.into_iter().flat_map(|thread| thread.join().unwrap_or_else(lost)).collect()
    })
}

/// What is wrong with one node: its configs, and what the modules make of them.
fn node(loaded: &Loaded, entry: &Entry) -> Problems {
    let mut problems = Problems::new();
    let mut wants = Vec::new();
    for module in entry.modules.iter().filter_map(|name| loaded.modules.get(name)) {
        let config = match loaded.config(entry, module, Closed::Pretend) {
            Ok(config) => Arc::new(config),
            Err(found) => {
                problems.extend(found);
                continue;
            }
        };
        problems.extend(module.expected(&config).err().unwrap_or_default());
        match module.resources(&config) {
            Ok(resources) => wants.push(Want { module: module.name().to_owned(), resources, ..Want::default() }),
            Err(found) => problems.extend(found),
        }
    }
    problems.extend(conflict::settle(&entry.name, &mut wants).err().unwrap_or_default());
    problems
}

/// What is wrong with the layers that a node holds. A config that is no config has been told of.
fn held(loaded: &Loaded, layers: &Held, entry: &Entry) -> Problems {
    let modules = entry.modules.iter().filter_map(|name| loaded.modules.get(name));
    let with_layers = modules
        .filter(|module| matches!(module.collector(), Ok(Some(collector)) if collector.language == Language::Layers));
    let configs = with_layers.filter_map(|module| Some((module, loaded.config(entry, module, Closed::Pretend).ok()?)));
    configs.flat_map(|(module, config)| layers::check(layers, entry, module.name(), &config.public)).collect()
}
