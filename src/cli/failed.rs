//! `--failed`: the nodes that the last run left behind.

use super::Selection;
use super::load::Loaded;
use crate::base::{Problem, Problems, problem::Kind};
use crate::catalogue;
use crate::run::past::Runs;
use crate::ui;
use std::collections::BTreeSet;

/// Of the selected nodes, those that the last run which applied a plan did not bring to its end.
///
/// # Errors
/// No run has applied anything, it still goes on, or its record is broken. Where no node is left behind the one problem
/// is a warning, so that suil says it and exits 0.
pub fn narrow(selection: &Selection, loaded: &Loaded) -> Result<catalogue::Selection, Problems> {
    let chosen = catalogue::Selection { roles: selection.roles.clone(), nodes: selection.nodes.clone() };
    let selected = catalogue::selected(&loaded.workspace, &chosen)?;
    let runs = Runs::open(loaded.workspace.root())?;
    let Some(run) = runs.last_applied()? else {
        return Err(Problem::new("no run has applied anything in this workspace")
            .help("name the nodes with `--role ROLE` or `--node NODE`")
            .into());
    };
    if run.is_going() {
        let what = format!("the last run, `{}`, still goes on", run.id);
        return Err(Problem::new(what).kind(Kind::Refused).help("wait until it has ended").into());
    }
    let left: Vec<String> = run.ends()?.into_iter().filter(|(_, end)| !end.is_done()).map(|(node, _)| node).collect();
    let (there, gone): (Vec<String>, Vec<String>) =
        left.iter().cloned().partition(|node| loaded.workspace.node_names().any(|name| name == node));
    let gone = gone.iter().map(|node| {
        Problem::warning(format!("node `{node}`, which the run `{}` left behind, has no file any more", run.id))
    });
    ui::warn(&gone.collect::<Problems>(), &loaded.mask);
    let nodes: BTreeSet<String> = there.into_iter().filter(|node| selected.contains(node)).collect();
    match nodes.is_empty() {
        true => {
            let of = if chosen.roles.is_empty() && chosen.nodes.is_empty() { "no node" } else { "none of these nodes" };
            Err(Problem::warning(format!("nothing to do: the run `{}` left {of} behind", run.id)).into())
        }
        false => Ok(catalogue::Selection { roles: Vec::new(), nodes: nodes.into_iter().collect() }),
    }
}
