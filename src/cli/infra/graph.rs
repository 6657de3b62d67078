//! `suil infra graph`.

use super::nodes::Around;
use super::tree;
use crate::base::problem::Kind;
use crate::base::{Mask, Problem, Problems, file};
use crate::cli::{Context, Outcome};
use crate::infra::graph::Graph;
use crate::ui::{self, Exit, Output, Paint};
use clap::ValueEnum;
use std::ffi::OsString;
use std::path::PathBuf;

/// Show the stacks and modules of a tree, and what each needs
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  suil infra graph
  suil infra graph --output json
  suil infra graph --output dot | dot -Tsvg > graph.svg
  suil infra graph --output mermaid --affected
  suil infra graph --nodes
  suil infra graph --output html --affected --write graph.html")]
pub struct Args {
    #[command(flatten)]
    tree: tree::Where,
    /// Print a drawing instead; `--output dot`, `mermaid` and `html` mean the same
    #[arg(long, value_enum, value_name = "FORM")]
    format: Option<Format>,
    /// Write the drawing to this file instead
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Mark in a drawing what is affected by the changes
    #[arg(long)]
    affected: bool,
    /// Show the nodes of the workspace, too: whose data reads an output, and of whom a template reads something; a page
    /// for a browser always does
    #[arg(long)]
    nodes: bool,
    #[command(flatten)]
    since: tree::Since,
}

/// A form that programs draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Format {
    /// Graphviz
    Dot,
    Mermaid,
    /// One page for a browser, which needs no network
    Html,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let marked = args.affected || args.since.base.is_some() || args.since.changed_from.is_some();
    if marked && args.format.is_none() {
        let problem = Problem::usage("only a drawing shows what is affected");
        return Err(problem.help("add `--output html`, or ask `suil infra affected`").into());
    }
    if args.write.is_some() && args.format.is_none() {
        return Err(Problem::usage("only a drawing is written to a file").help("add `--output html`").into());
    }
    let (tree, changes) = tree::open(&args.tree, marked.then_some(&args.since), context)?;
    let affected = changes.map(|changes| {
        let query = crate::infra::graph::Query { changed: changes.paths(), requested: Vec::new() };
        crate::infra::graph::affected(&tree.graph, &query)
    });
    let graph = &graph(&args, &tree, context)?;
    let drawing = args.format.map(|format| match format {
        Format::Dot => ui::graph::dot(graph, affected.as_ref()),
        Format::Mermaid => ui::graph::mermaid(graph, affected.as_ref()),
        Format::Html => ui::page::export(graph, affected.as_ref()),
    });
    match (&drawing, &args.write) {
        (Some(drawing), Some(path)) => file::write(path, drawing.as_bytes(), 0o644)?,
        (Some(drawing), None) => ui::out_bytes(drawing.as_bytes())?,
        (None, _) => {
            let text = || ui::graph::graph(graph, ui::columns(), Paint::ON);
            ui::show(context.output, text, || ui::graph::plain(graph))?;
        }
    }
    if context.output == Output::Text {
        ui::warn(&ui::graph::warnings(&graph.warnings, &tree.root), &Mask::new());
    }
    Ok(Exit::Done)
}

/// The graph, with the nodes where they are wanted. A page is drawn without them where the workspace is broken.
fn graph(args: &Args, tree: &tree::Tree, context: &Context) -> Result<Graph, Problems> {
    let graph = || tree.graph.clone();
    if !args.nodes && args.format != Some(Format::Html) {
        return Ok(graph());
    }
    let around = Around::open(tree, context);
    match around.map(|around| around.drawn(graph())).transpose() {
        Ok(Some(drawn)) => Ok(drawn),
        Ok(None) if args.nodes => Err(Problem::new("there are no nodes around this tree")
            .note("nodes are those of a workspace at or above the root of a tree that has layers")
            .help("`--workspace DIR` names the workspace")
            .into()),
        Ok(None) => Ok(graph()),
        Err(problems) if args.nodes => Err(problems),
        Err(problems) => {
            let warnings: Problems = problems.into_iter().map(|problem| problem.kind(Kind::Warning)).collect();
            ui::warn(&warnings, &Mask::new());
            Ok(graph())
        }
    }
}

/// The words of a command line in which `--output dot` is `--format dot`: the option is every command's, and its other
/// forms are this one's.
pub fn sorted(args: Vec<OsString>) -> Vec<OsString> {
    let is = |word: &str| args.iter().any(|arg| arg == word);
    if !is("infra") || !is("graph") {
        return args;
    }
    let drawn = |word: &str| Format::from_str(word, false).is_ok();
    let mut out: Vec<OsString> = Vec::with_capacity(args.len());
    for word in args {
        let text = word.to_str().unwrap_or_default();
        match (text.strip_prefix("--output="), out.last_mut()) {
            (Some(form), _) if drawn(form) => out.push(format!("--format={form}").into()),
            (None, Some(last)) if last == "--output" && drawn(text) => {
                *last = "--format".into();
                out.push(word);
            }
            _ => out.push(word),
        }
    }
    out
}
