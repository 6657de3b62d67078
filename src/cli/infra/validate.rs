//! `suil infra validate`.

use super::tree;
use crate::base::problem::Kind;
use crate::base::{Mask, Plain, Problem};
use crate::cli::{Context, Outcome};
use crate::infra::graph;
use crate::ui::text::count;
use crate::ui::{self, Exit, Output};

/// Check the configuration and the graph of a whole tree
#[derive(clap::Args, Debug)]
#[command(after_help = "Example: suil infra validate --repo-root ~/infra")]
pub struct Args {
    #[command(flatten)]
    tree: tree::Where,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let (tree, _) = tree::open(&args.tree, None, context)?;
    let graph = &tree.graph;
    let checked = graph::check(graph);
    let mut warnings = graph.warnings.clone();
    warnings.extend(checked.warnings.iter().cloned());
    let stacks = graph.stacks.iter().filter(|stack| !stack.external).count();
    let counts = [
        ("stacks", Plain::from(stacks)),
        ("modules", Plain::from(graph.modules.len())),
        ("edges", Plain::from(graph.edges.len())),
    ];
    let told = [("errors", ui::graph::plain(&checked.errors)), ("warnings", ui::graph::plain(&warnings))];
    let text = || {
        let end = match (checked.errors.len(), warnings.len()) {
            (0, 0) => "nothing wrong".to_owned(),
            (0, n) => count(n, "warning"),
            (n, 0) => count(n, "error"),
            (n, m) => format!("{}, {}", count(n, "error"), count(m, "warning")),
        };
        let (stacks, modules) = (count(stacks, "stack"), count(graph.modules.len(), "module"));
        format!("{stacks}, {modules}, {}: {end}\n", count(graph.edges.len(), "edge"))
    };
    ui::show(context.output, text, || counts.into_iter().chain(told).collect())?;
    if context.output == Output::Text {
        ui::warn(&ui::graph::warnings(&warnings, &tree.root), &Mask::new());
    }
    if checked.errors.is_empty() {
        return Ok(Exit::Done);
    }
    let errors = ui::graph::warnings(&checked.errors, &tree.root);
    Err(errors.into_iter().map(|problem: Problem| problem.kind(Kind::Failed)).collect())
}
