//! `suil infra surgery`, and what it has below it.

mod edit;
mod import;
mod list;
mod remove;
mod rename;
mod report;
mod transfer;
mod undo;

use super::{begin, options, select};
use crate::base::{Mask, Problem, Problems, Result};
use crate::cli::{Context, Outcome, start};
use crate::infra::layer::{Layer, Options, Run};
use crate::infra::surgery::{Address, Pulled, Site, State, Work};
use crate::infra::terraform::Tool;
use crate::ui;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Work on the states of layers: list, import, remove, rename, move, edit, undo
#[derive(clap::Args, Debug)]
#[command(disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    List(list::Args),
    Import(import::Args),
    Remove(remove::Args),
    Rename(rename::Args),
    Move(transfer::Args),
    Edit(edit::Args),
    Undo(undo::Args),
}

pub fn run(args: Args, context: &Context) -> Outcome {
    match args.command {
        Command::List(args) => list::run(args, context),
        Command::Import(args) => import::run(args, context),
        Command::Remove(args) => remove::run(args, context),
        Command::Rename(args) => rename::run(args, context),
        Command::Move(args) => transfer::run(args, context),
        Command::Edit(args) => edit::run(args, context),
        Command::Undo(args) => undo::run(args, context),
    }
}

/// What every one of them may be told.
#[derive(clap::Args, Debug)]
struct Common {
    /// The layer whose state is meant [default: the one here]
    #[arg(long, value_name = "LAYER")]
    layer: Option<String>,
    /// Let templates read files outside the tree
    #[arg(long)]
    allow_outside: bool,
}

/// What those that change something may be told.
#[derive(clap::Args, Debug)]
struct Change {
    #[command(flatten)]
    common: Common,
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
}

/// A tree of layers.
struct Tree {
    root: PathBuf,
    run: Arc<Run>,
    tool: Tool,
    mask: Mask,
    /// Who ran what.
    by: String,
}

/// A tree, and the layer of it that is worked on.
struct Bench {
    tree: Tree,
    layer: Layer,
}

impl Deref for Bench {
    type Target = Tree;

    fn deref(&self) -> &Tree {
        &self.tree
    }
}

impl Tree {
    /// The tree of the layer that is named, else of the current folder, which need be no layer.
    fn find(common: &Common, context: &Context) -> Result<Tree> {
        let options = options::read(common.allow_outside)?;
        let here = options::here()?;
        let root = match &common.layer {
            Some(word) => one(Some(word), &here, &options)?.root,
            None => select::tree(&[], &here, &options)?,
        };
        Tree::new(root, options, context)
    }

    fn new(root: PathBuf, options: Options, context: &Context) -> Result<Tree> {
        let mask = Mask::new();
        let run = Arc::new(begin::run(context, &root, options, &mask)?);
        let tool = Tool::new(&run.options.terraform);
        Ok(Tree { root, run, tool, mask, by: start::purpose() })
    }

    /// Renders a layer, and initialises it where it never was.
    fn open(&self, layer: &Layer) -> Result<Site> {
        let site = Site::open(&self.run, layer, &self.tool)?;
        ui::warn(&site.warnings, &self.mask);
        Ok(site)
    }

    fn work<'a>(&'a self, surgery: &'a str, undoes: Option<&'a str>) -> Work<'a> {
        Work { root: &self.root, surgery, by: &self.by, undoes }
    }
}

impl Bench {
    fn new(common: &Common, context: &Context) -> Result<Bench> {
        let options = options::read(common.allow_outside)?;
        let layer = one(common.layer.as_deref(), &options::here()?, &options)?;
        let bench = Bench { tree: Tree::new(layer.root.clone(), options, context)?, layer };
        undo::warn(&bench)?;
        Ok(bench)
    }

    /// The state that was pulled; a surgery needs one.
    fn state<'a>(&self, site: &Site, pulled: &'a Pulled) -> Result<&'a State, Problem> {
        pulled.state.as_ref().ok_or_else(|| Problem::new(format!("layer `{}` has no state", site.label())))
    }
}

/// The one layer that a word names; without a word the one here.
fn one(word: Option<&str>, here: &Path, options: &Options) -> Result<Layer> {
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
fn addresses(words: &[String]) -> Result<Vec<Address>> {
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
