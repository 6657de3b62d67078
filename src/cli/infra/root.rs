//! The root of a tree of stacks, and the store that belongs to it.

use super::keys::settings;
use super::options::{self, here};
use crate::base::{Problem, Problems};
use crate::cli::Context;
use crate::infra::store::{self, Store};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What stands at a root that has no `stackorder.yaml` and no layers; the first that is found here or above it counts.
const MARKS: [&str; 2] = [".git", "data/common.yaml"];

/// The root of the tree: the folder that is named, else the nearest at or above the current one that has a
/// `stackorder.yaml`, else the folders of layers, else a `.git`, else the data of a workspace, else the current folder.
///
/// # Errors
/// There is no current folder, or a variable `STACKS_*` makes no sense.
pub fn root(named: Option<&Path>, context: &Context) -> Result<PathBuf, Problems> {
    if let Some(folder) = named.or(context.workspace.as_deref()) {
        return match folder.is_dir() {
            true => Ok(here()?.join(folder)),
            false => Err(Problem::new(format!("there is no folder `{}`", folder.display())).into()),
        };
    }
    let here = here()?;
    let with = |mark: &str| here.ancestors().find(|folder| folder.join(mark).exists()).map(Path::to_owned);
    let layers = options::read(false)?;
    let found = with("stackorder.yaml").or_else(|| layers.root(&here));
    Ok(found.or_else(|| MARKS.iter().find_map(|mark| with(mark))).unwrap_or(here))
}

/// Opens the store of the tree at `root`, or the one that SUIL_STORE names.
///
/// # Errors
/// A setting makes no sense, or the store cannot be opened.
#[allow(dead_code, reason = "commands that run stacks open it")]
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
