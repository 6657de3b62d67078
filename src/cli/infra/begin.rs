//! Begins a run over a tree of layers, with all that its templates may ask for.

use super::{hosts, keys, options};
use crate::base::{Mask, Problems};
use crate::cli::Context;
use crate::infra::layer::{Options, Run};
use std::path::Path;

/// A run over the tree at `root`: its program, the private keys, and the host data around it.
///
/// # Errors
/// A setting of the tree or of the workspace makes no sense.
pub fn run(context: &Context, root: &Path, options: Options, mask: &Mask) -> Result<Run, Problems> {
    let options = options::of_tree(options, root)?;
    let mut run = Run::new(root, options, keys::private(context, None)?, mask.clone());
    run.hosts = hosts::around(root, context, mask);
    Ok(run)
}
