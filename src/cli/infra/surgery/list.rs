//! `suil infra surgery list`.

use super::{Bench, Common, addresses};
use crate::base::{Plain, Problems};
use crate::cli::{Context, Outcome};
use crate::infra::surgery::address::{Key, module};
use crate::infra::surgery::{Item, State};
use crate::ui::{self, Exit};

/// List what the state of a layer holds
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples: suil infra surgery list, suil infra surgery list module.shop --output json")]
pub struct Args {
    /// Only these: resources, instances, or modules
    #[arg(value_name = "ADDRESS")]
    addresses: Vec<String>,
    #[command(flatten)]
    common: Common,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let picks = addresses(&args.addresses)?;
    let bench = Bench::new(&args.common, context)?;
    let site = bench.open(&bench.layer)?;
    let state = site.pull()?.state;
    let items = state.as_ref().map(State::items).unwrap_or_default();
    let picked: Vec<&Item> =
        items.iter().filter(|item| picks.is_empty() || picks.iter().any(|pick| pick.covers(&item.address))).collect();
    let absent: Problems = match &state {
        Some(state) => picks
            .iter()
            .filter(|pick| !items.iter().any(|item| pick.covers(&item.address)))
            .map(|pick| crate::infra::surgery::absent(state, pick))
            .collect(),
        None => Problems::new(),
    };
    let text = || {
        let mut lines: Vec<String> = picked.iter().map(|item| format!("{}\n", item.address)).collect();
        lines.dedup();
        lines.concat()
    };
    let value = || {
        Plain::from_iter([
            ("layer", Plain::from(site.label())),
            ("serial", Plain::from(state.as_ref().map(State::serial))),
            ("lineage", Plain::from(state.as_ref().map(State::lineage))),
            ("resources", picked.iter().map(|item| plain(item)).collect()),
        ])
    };
    ui::show(context.output, text, value)?;
    if absent.is_empty() { Ok(Exit::Done) } else { Err(absent) }
}

fn plain(item: &Item) -> Plain {
    let (mode, kind, name, key) = match &item.address.resource {
        Some(of) => (Plain::from(of.mode.word()), Plain::from(&of.kind), Plain::from(&of.name), of.key.clone()),
        None => Default::default(),
    };
    let key = match key {
        Key::None => Plain::Null,
        Key::Number(number) => Plain::from(number),
        Key::Text(text) => Plain::from(text),
    };
    Plain::from_iter([
        ("address", Plain::from(item.address.to_string())),
        ("module", Plain::from(Some(module(&item.address.module)).filter(|module| !module.is_empty()))),
        ("mode", mode),
        ("type", kind),
        ("name", name),
        ("key", key),
        ("provider", Plain::from(&item.provider)),
        ("deposed", Plain::from(item.deposed.as_deref())),
        ("tainted", Plain::from(item.tainted)),
    ])
}
