//! `suil infra affected`.

use super::nodes::{self, Around};
use super::tree::{self, Changes, Tree};
use crate::base::{Mask, Plain, Problem};
use crate::cli::{Context, Outcome};
use crate::infra::graph::{self, Affected, Code, Query};
use crate::ui::{self, Exit, Output, Paint};

/// Show which stacks a change touches, why, and in which order they are run
///
/// Compares the working tree, new files with it, with where HEAD and the main branch part. Exit code 2 says that a stack
/// is affected.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  suil infra affected
  suil infra affected --base origin/main --output json
  suil infra affected --stacks stacks/vpc,stacks/dns
  git diff --name-only HEAD~1 | suil infra affected --changed-from -
  suil infra affected --matrix >> \"$GITHUB_OUTPUT\"")]
pub struct Args {
    #[command(flatten)]
    tree: tree::Where,
    #[command(flatten)]
    since: tree::Since,
    /// Run only these stacks; what they need of the order stays
    #[arg(long, value_name = "STACK", value_delimiter = ',')]
    stacks: Vec<String>,
    /// Print `matrix=` and the matrix for a CI, on one line
    #[arg(long)]
    matrix: bool,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let (tree, changes) = tree::open(&args.tree, Some(&args.since), context)?;
    let changes = changes.unwrap_or_else(|| Changes { changes: Vec::new(), base: None });
    let query =
        Query { changed: changes.paths(), requested: args.stacks.iter().map(|word| tree.named(word.trim())).collect() };
    let around = Around::open(&tree, context);
    let data = around.as_ref().map(|around| around.told(&tree, &changes)).transpose()?.unwrap_or_default();
    let mut affected = graph::affected_with(&tree.graph, &query, &data);
    let nodes = around.as_ref().map(|around| around.nodes(&affected)).transpose()?;
    affected.cached = tree.cached;
    affected.removed = tree.removed(&changes);
    let mut holders = tree.holders(context)?;
    affected.affected.iter_mut().for_each(|one| one.locked_by = holders.remove(&one.key));
    let against = changes.base.as_ref().map(|base| format!(", compared with {base}")).unwrap_or_default();
    let all = tree.graph.stacks.iter().filter(|stack| !stack.external).count();
    if args.matrix {
        let matrix = ui::graph::plain(&affected.matrix).to_json_line();
        ui::out(&format!("matrix={matrix}\n"))?;
    } else {
        let text = || {
            let hosts = nodes.as_ref().map(|nodes| nodes::render(nodes, ui::columns(), Paint::ON)).unwrap_or_default();
            ui::graph::affected(&affected, all, &against, ui::columns(), Paint::ON) + &hosts
        };
        let value = || {
            let mut value = ui::graph::plain(&affected);
            if let Some(nodes) = &nodes {
                value.set("nodes", nodes.iter().map(|(node, touched)| touched.to_plain(node)).collect::<Plain>());
            }
            value.set("base", changes.base.as_deref());
            value.set("changed", changes.paths().iter().map(Plain::from).collect::<Plain>());
            value
        };
        ui::show(context.output, text, value)?;
    }
    if context.output == Output::Text {
        ui::warn(&ui::graph::warnings(&told(&tree, &affected), &tree.root), &Mask::new());
    }
    if !affected.cycles.is_empty() {
        return Err(cycle(&affected, &tree).into());
    }
    let exit = if affected.affected.is_empty() { Exit::Done } else { Exit::Differences };
    // The process ends: to give a large graph back piece by piece is work for nobody.
    std::mem::forget(tree);
    Ok(exit)
}

/// The warnings that a person is told: nobody who maps no environments wants to know that a stack has none, and what stood
/// in a removed stack was that one's.
fn told(tree: &Tree, affected: &Affected) -> Vec<graph::Warning> {
    let mapped = tree.graph.stacks.iter().any(|stack| !stack.external && !stack.unmapped);
    let folders: Vec<String> = affected.removed.iter().map(|one| format!("{}/", tree.folder(one))).collect();
    let wanted = |warning: &&graph::Warning| match warning.code {
        Code::UnmappedEnvironment => mapped,
        Code::UnclaimedPath => !folders.iter().any(|folder| warning.subject.starts_with(folder)),
        _ => true,
    };
    affected.warnings.iter().filter(wanted).cloned().collect()
}

/// The cycles as one problem.
fn cycle(affected: &Affected, tree: &Tree) -> Problem {
    let words: Vec<String> = affected.cycles.iter().map(|cycle| graph::spelled(cycle)).collect();
    let problem = Problem::new(format!("cycle: {}", words.join("; ")));
    let edges = affected.cycles.iter().flat_map(|cycle| cycle.windows(2));
    let places = edges.filter_map(|pair| {
        let [from, to] = pair else { return None };
        let edge = tree.graph.edges.iter().find(|edge| edge.from.key == *from && edge.to.key == *to)?;
        Some(format!("{from} {} {to} ({})", edge.kind.name(), edge.at.as_ref()?))
    });
    let problem = places.take(8).fold(problem, Problem::note);
    problem.help("take one of these edges away")
}
