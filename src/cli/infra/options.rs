//! What the environment says about a tree of layers.

use crate::base::{Problem, Problems};
use crate::cli::settings;
use crate::infra::layer::Options;
use std::path::PathBuf;

/// Reads the variables `STACKS_*`.
///
/// # Errors
/// One of them makes no sense.
pub fn read(outside: bool) -> Result<Options, Problems> {
    let default = Options::default();
    let folder = |name: &str, default: PathBuf| settings::variable(name).map_or(default, PathBuf::from);
    let options = Options {
        environments: folder("STACKS_ENVIRONMENTS_DIR", default.environments),
        stacks: folder("STACKS_STACKS_DIR", default.stacks),
        base: folder("STACKS_BASE_DIR", default.base),
        layers: folder("STACKS_LAYERS_DIR", default.layers),
        output: folder("STACKS_OUTPUT_DIR", default.output),
        terraform: settings::variable("STACKS_TERRAFORM_PATH").unwrap_or(default.terraform),
        outside,
    };
    options.check()?;
    Ok(options)
}

/// The current folder. A render replaces the output folder, and a shell that stands in it then stands nowhere: there
/// the name counts that the shell remembers.
///
/// # Errors
/// There is none.
pub fn here() -> Result<PathBuf, Problems> {
    match std::env::current_dir() {
        Ok(here) => Ok(here),
        Err(e) => match settings::variable("PWD").map(PathBuf::from).filter(|path| path.is_dir()) {
            Some(here) => Ok(here),
            None => Err(Problem::io("find", "the current folder".as_ref(), &e).into()),
        },
    }
}
