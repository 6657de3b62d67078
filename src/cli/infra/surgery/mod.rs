//! `suil infra surgery`, and what it has below it.

mod list;
mod rename;

use super::{begin, options, select};
use crate::base::{Mask, Problem, Problems, Result};
use crate::cli::{Context, Outcome};
use crate::infra::layer::{Layer, Run};
use crate::infra::surgery::{Address, Site};
use crate::infra::terraform::Tool;
use crate::ui;
use std::sync::Arc;

/// Work on the state of a layer: list, import, remove, rename, move, edit, undo
#[derive(clap::Args, Debug)]
#[command(disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    List(list::Args),
    Rename(rename::Args),
}

pub fn run(args: Args, context: &Context) -> Outcome {
    match args.command {
        Command::List(args) => list::run(args, context),
        Command::Rename(args) => rename::run(args, context),
    }
}

/// What every one of them may be told.
#[derive(clap::Args, Debug)]
struct Common {
    /// The layer, a folder [default: the one here]
    #[arg(long, value_name = "LAYER")]
    layer: Option<String>,
    /// Let templates read files outside the tree
    #[arg(long)]
    allow_outside: bool,
}

/// The tree that is worked on.
struct Bench {
    run: Arc<Run>,
    tool: Tool,
    layer: Layer,
    mask: Mask,
}

impl Bench {
    fn new(common: &Common, context: &Context) -> Result<Bench> {
        let options = options::read(common.allow_outside)?;
        let here = options::here()?;
        let layer = one(common.layer.as_deref(), &here, &options)?;
        let mask = Mask::new();
        let run = Arc::new(begin::run(context, &layer.root, options, &mask)?);
        let tool = Tool::new(&run.options.terraform);
        Ok(Bench { run, tool, layer, mask })
    }

    /// Renders and initialises a layer.
    fn open(&self, layer: &Layer) -> Result<Site> {
        let site = Site::open(&self.run, layer, &self.tool)?;
        ui::warn(&site.warnings, &self.mask);
        Ok(site)
    }
}

/// The one layer that a word names; without a word the one here.
fn one(word: Option<&str>, here: &std::path::Path, options: &crate::infra::layer::Options) -> Result<Layer, Problems> {
    let words: Vec<String> = word.map(str::to_owned).into_iter().collect();
    let mut layers = select::layers(&words, false, here, options)?;
    match (layers.pop(), layers.len()) {
        (Some(layer), 0) => Ok(layer),
        (_, more) => {
            let what = format!("`{}` names {} layers", word.unwrap_or_default(), more + 1);
            Err(Problem::usage(what).expected("expected one").into())
        }
    }
}

/// Reads addresses of the command line.
fn addresses(words: &[String]) -> Result<Vec<Address>, Problems> {
    let (mut read, mut problems) = (Vec::new(), Problems::new());
    for word in words {
        match Address::parse(word) {
            Ok(address) => read.push(address),
            Err(expected) => {
                problems.push(Problem::usage(format!("`{word}` is no address of Terraform")).expected(expected));
            }
        }
    }
    if problems.is_empty() { Ok(read) } else { Err(problems) }
}
