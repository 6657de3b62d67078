//! A quick look at one node, for completion while a command line is typed.

use super::workspace::Workspace;
use crate::base::{Plain, Result};
use std::sync::Arc;

/// The merged data of `node` with its lookups as they are written and its secrets closed, and its modules.
///
/// # Errors
/// What is wrong with the layers of the node; other nodes are not read.
pub fn sketch(workspace: &Workspace, node: &str) -> Result<(Plain, Arc<[String]>)> {
    let card = workspace.card(node)?;
    let shape = card.shape(workspace, &workspace.probe(node)?)?;
    let stack = workspace.stacks().get(workspace, &shape);
    let merged = stack.merge(workspace, node)?;
    let mut data = merged.map_or_else(Plain::map, |value| value.to_plain(&mut |_, _| Plain::from("secret")));
    data.set("role", &*card.role);
    data.set("modules", stack.modules.iter().map(Plain::from).collect::<Plain>());
    Ok((data, stack.modules.clone()))
}
