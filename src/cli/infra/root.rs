//! The root of a tree of stacks, and the store that belongs to it.

use super::keys::settings;
use super::options;
use crate::base::{Problem, Problems};
use crate::cli::Context;
use crate::infra::layer::Options;
use crate::infra::store::{self, Store};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The nearest folder at or above `here` with a `stackorder.yaml`, else with folders of layers, else with a `.git`.
pub fn find(here: &Path, options: &Options) -> Option<PathBuf> {
    let with = |name: &str| here.ancestors().find(|folder| folder.join(name).exists()).map(Path::to_owned);
    with("stackorder.yaml").or_else(|| options.root(here)).or_else(|| with(".git"))
}

/// The root of the tree: the folder that is named, else as [`find`] finds it, else the workspace, else the current folder.
///
/// # Errors
/// The folder that is named is not there, there is no current one, or a setting makes no sense.
pub fn root(named: Option<&Path>, context: &Context) -> Result<PathBuf, Problems> {
    if let Some(folder) = named {
        return match folder.is_dir() {
            true => Ok(folder.to_owned()),
            false => Err(Problem::new(format!("there is no folder `{}`", folder.display())).into()),
        };
    }
    let here = options::here()?;
    let found = find(&here, &options::read(false)?).or_else(|| context.root().ok());
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
