//! `suil config`.

use super::load::{Closed, Loaded};
use super::{Context, Outcome, Selection};
use crate::base::{Plain, Problems};
use crate::catalogue::{self, Catalogue, Entry};
use crate::ui::{self, Exit, Listing};

/// Print the public catalogue of nodes
///
/// What each module is told, its defaults included and every secret as its digest.
#[derive(clap::Args, Debug)]
#[command(after_help = "Without a key, secrets show as `secret (no key)`. Nothing is connected to.")]
pub struct Args {
    #[command(flatten)]
    selection: Selection,
    /// Print the merged data as it is before modules check it and add their defaults
    #[arg(long)]
    merged: bool,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let loaded = context.load()?;
    let catalogue = Catalogue::build(&loaded.workspace, &args.selection.of_nodes(&loaded)?)?;
    ui::warn(&catalogue.warnings, &loaded.mask);
    args.selection.check_modules(catalogue.entries.iter().flat_map(|e| e.modules.iter()).map(String::as_str))?;
    if args.merged {
        let mut listing = Listing::streamed(context.output, "nodes");
        for entry in catalogue.merged_entries(&loaded.vault)? {
            listing.add(entry)?;
        }
        listing.finish()?;
        return Ok(Exit::Done);
    }
    let mut problems = Problems::new();
    let mut listing = Listing::whole(context.output, "nodes");
    for entry in &catalogue.entries {
        match node(entry, &loaded, &args.selection) {
            Ok(node) => listing.add(node)?,
            Err(found) => problems.extend(found),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    listing.finish()?;
    Ok(Exit::Done)
}

fn node(entry: &Entry, loaded: &Loaded, selection: &Selection) -> Result<Plain, Problems> {
    let mut problems = Problems::new();
    let mut configs = Plain::map();
    for name in entry.modules.iter().filter(|name| selection.has_module(name)) {
        let Some(module) = loaded.modules.get(name) else { continue };
        match loaded.config(entry, module, Closed::Mark) {
            Ok(config) => configs.set(name, bare(config.public)),
            Err(found) => problems.extend(found),
        }
    }
    let deployment = match entry.deployment() {
        Some(value) => catalogue::public(&value, &loaded.vault, &entry.name, "deployment"),
        None => Ok(Plain::map()),
    };
    match (deployment, problems.is_empty()) {
        (Ok(deployment), true) => Ok(Plain::from_iter([
            ("name", Plain::from(&*entry.name)),
            ("role", Plain::from(&*entry.role)),
            ("family", Plain::from(entry.family())),
            ("release", entry.probe.release.clone().unwrap_or_default()),
            ("provisional", Plain::from(entry.provisional)),
            ("modules", entry.modules.iter().map(Plain::from).collect()),
            ("deployment", deployment),
            ("config", configs),
        ])),
        (deployment, _) => {
            problems.extend(deployment.err().unwrap_or_default());
            Err(problems)
        }
    }
}

/// The config without `suil`, which says what stands beside it here.
fn bare(config: Plain) -> Plain {
    match config {
        Plain::Map(map) => map.into_iter().filter(|(key, _)| key != "suil").collect(),
        other => other,
    }
}
