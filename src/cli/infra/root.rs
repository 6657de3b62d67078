//! The root of a tree of stacks, and the store that belongs to it.

use super::keys::settings;
use super::options::{self, here};
use super::tree::{self, Where};
use crate::base::{Problem, Problems};
use crate::cli::Context;
use crate::cli::settings::variable;
use crate::infra::layer::Options;
use crate::infra::store::{self, Known, Store};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What stands at a root that has no `stackorder.yaml` and no layers; the first that is found here or above it counts.
const MARKS: [&str; 2] = [".git", "data/common.yaml"];

/// The root of the tree: the folder that is named, else the nearest at or above the current one that has a
/// `stackorder.yaml`, else the folders of layers, else a `.git`, else the data of a workspace, else the current folder.
/// Of the last three it is the folder `infra`, where the tree is there.
///
/// # Errors
/// There is no current folder, a variable `STACKS_*` makes no sense, or nothing marks a tree and the current folder is the
/// home of the user or that of the whole machine.
pub fn root(named: Option<&Path>, context: &Context) -> Result<PathBuf, Problems> {
    let layers = options::read(false)?;
    if let Some(folder) = named.or(context.workspace.as_deref()) {
        return match folder.is_dir() {
            true if named.is_none() => Ok(within(here()?.join(folder), &layers)),
            true => Ok(here()?.join(folder)),
            false => Err(Problem::new(format!("there is no folder `{}`", folder.display())).into()),
        };
    }
    let here = here()?;
    let with = |mark: &str| here.ancestors().find(|folder| folder.join(mark).exists()).map(Path::to_owned);
    let found = with("stackorder.yaml").or_else(|| layers.root(&here));
    match found.or_else(|| MARKS.iter().find_map(|mark| with(mark)).map(|folder| within(folder, &layers))) {
        Some(found) => Ok(found),
        None if is_no_tree(&here) => Err(Problem::new(format!("there is no tree of stacks at `{}`", here.display()))
            .note("a tree has a `stackorder.yaml`, folders of layers, a `.git` or a `data/common.yaml` at its root")
            .help("go to the tree, or name it: `--repo-root DIR`")
            .into()),
        None => Ok(within(here, &layers)),
    }
}

/// True for folders that hold everything there is, or everything of a user: nobody means all of that.
fn is_no_tree(folder: &Path) -> bool {
    let home = variable("HOME").map(PathBuf::from).and_then(|home| home.canonicalize().ok());
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder.parent().is_none() || home.is_some_and(|home| home == folder)
}

/// The folder `infra` of a workspace where the tree is there: the workspace itself has no stacks then.
fn within(folder: PathBuf, layers: &Options) -> PathBuf {
    let is_tree = |folder: &Path| {
        folder.join("stackorder.yaml").exists()
            || folder.join(&layers.stacks).is_dir() && folder.join(&layers.environments).is_dir()
    };
    let infra = folder.join("infra");
    match !is_tree(&folder) && !folder.join(&layers.stacks).exists() && is_tree(&infra) {
        true => infra,
        false => folder,
    }
}

/// Opens the store of the tree at `root`, or the one that SUIL_STORE names.
///
/// # Errors
/// A setting makes no sense, or the store cannot be opened.
pub fn store(root: &Path, context: &Context) -> Result<Arc<dyn Store>, Problems> {
    let settings = settings(context)?;
    Ok(store::open(settings.store.as_ref(), root)?)
}

/// A store, and the repository whose rows in it are meant.
pub struct Books {
    pub store: Arc<dyn Store>,
    /// `None` where the store belongs to this tree alone, whatever it was called meanwhile.
    pub repo: Option<String>,
}

impl Books {
    /// True for rows of the repository that is meant; letter case does not count.
    pub fn has(&self, repo: &str) -> bool {
        self.repo.as_ref().is_none_or(|name| name.eq_ignore_ascii_case(repo))
    }
}

/// Opens the store for a command that only looks: where there is none yet it makes none. In a store that SUIL_STORE names
/// other repositories may have rows, too.
///
/// # Errors
/// As [`root`] and [`store`].
pub fn known(place: &Where, context: &Context) -> Result<Option<Books>, Problems> {
    readable(place, context)?.map_err(Problems::from)
}

/// The same for a command that has more to tell than what the store holds: a store that this user may not read is a
/// problem apart.
///
/// # Errors
/// As [`known`].
pub fn readable(place: &Where, context: &Context) -> Result<Result<Option<Books>, Problem>, Problems> {
    let root = root(place.repo_root.as_deref(), context)?;
    let settings = settings(context)?;
    let store = match store::known(settings.store.as_ref(), &root)? {
        Known::None => return Ok(Ok(None)),
        Known::Open(store) => store,
        Known::Closed(problem) => return Ok(Err(problem)),
    };
    let named = || tree::named(place, context).ok().map(|(_, name)| name);
    let repo = match (&place.repo, &settings.store) {
        (Some(name), _) => Some(name.clone()),
        (None, Some(_)) => named(),
        (None, None) => None,
    };
    Ok(Ok(Some(Books { store, repo })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_of_a_workspace_is_its_folder_infra_unless_it_has_stacks_itself() {
        let room = tempfile::tempdir().expect("a folder");
        let (root, layers) = (room.path().to_owned(), Options::default());
        let found = || within(root.clone(), &layers);
        let make = |folder: &str| std::fs::create_dir_all(root.join(folder)).expect("made");
        make("infra/stacks");
        assert_eq!(found(), root);
        make("infra/environments");
        assert_eq!(found(), root.join("infra"));
        make("stacks");
        assert_eq!(found(), root);
    }
}
