//! The root of a tree of stacks, and the store that belongs to it.

use super::keys::settings;
use super::{options, tree};
use crate::base::Problems;
use crate::cli::Context;
use crate::infra::store::{self, Store};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The root of the tree: the folder that is named, else the one that the graph is made of, else that of the workspace,
/// else the current folder.
///
/// # Errors
/// There is no current folder.
pub fn root(named: Option<&Path>, context: &Context) -> Result<PathBuf, Problems> {
    if let Some(folder) = named.or(context.workspace.as_deref()) {
        return Ok(folder.to_owned());
    }
    let here = options::here()?;
    let workspace = || here.ancestors().find(|folder| folder.join("data/common.yaml").exists()).map(Path::to_owned);
    let found = tree::found(&here, &options::read(false)?).or_else(workspace);
    Ok(found.unwrap_or(here))
}

/// Opens the store of the tree at `root`, or the one that SUIL_STORE names.
///
/// # Errors
/// A setting makes no sense, or the store cannot be opened.
pub fn store(root: &Path, context: &Context) -> Result<Arc<dyn Store>, Problems> {
    let settings = settings(context)?;
    Ok(store::open(settings.store.as_deref().map(String::as_str), root)?)
}

/// The same for a command that only looks: where there is no store yet it makes none.
///
/// # Errors
/// As [`store`].
pub fn known(root: &Path, context: &Context) -> Result<Option<Arc<dyn Store>>, Problems> {
    let settings = settings(context)?;
    Ok(store::known(settings.store.as_deref().map(String::as_str), root)?)
}
