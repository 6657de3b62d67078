//! Files that look like input and are never read.

use super::levels::{Origin, is_plain};
use super::sources::Kind;
use super::{Layer, Run};
use crate::base::{Problem, Problems, Result};
use std::path::{Path, PathBuf};

/// Warns of every file around a layer that its author may take for input.
///
/// # Errors
/// A folder cannot be listed.
pub fn warnings(run: &Run, layer: &Layer) -> Result<Problems> {
    let warning = |(path, help): (PathBuf, String)| {
        Problem::warning(format!("`{}` is never read", layer.shown(&path))).help(help)
    };
    Ok(files(run, layer)?.into_iter().map(warning).collect())
}

/// The files around a layer that its author may take for input, and what would be.
///
/// # Errors
/// A folder cannot be listed.
pub fn files(run: &Run, layer: &Layer) -> Result<Vec<(PathBuf, String)>> {
    let mut found = Vec::new();
    let mut look = |folder: &Path, help: &str, odd: &dyn Fn(&str) -> bool| -> Result<()> {
        for item in run.sources.folder(folder)?.iter().filter(|item| item.kind == Kind::File && odd(item.text())) {
            found.push((folder.join(&item.name), help.to_owned()));
        }
        Ok(())
    };
    let template = |name: &str| name.ends_with(".tfvars.jinja");
    look(&layer.environment(&run.options), "of an environment's folder only `env.tfvars` counts", &|name| {
        name != "env.tfvars" && (is_plain(name) || alike(name) || template(name))
    })?;
    let variables = "files of variables are called `<name>.tfvars`";
    if let Some(folder) = layer.subenvironment(&run.options) {
        look(&folder, variables, &|name| alike(name) || template(name))?;
    }
    for origin in Origin::ALL {
        look(&origin.folder(run, layer), variables, &alike)?;
    }
    let base = layer.shown(&layer.stack.join(&run.options.base));
    for origin in [Origin::Stack, Origin::Layer] {
        look(&origin.folder(run, layer), &format!("code of a stack goes to `{base}`"), &|name| {
            name.ends_with(".tf") || name.ends_with(".tf.json")
        })?;
    }
    Ok(found)
}

/// A name that is nearly one of a file of variables.
fn alike(name: &str) -> bool {
    let lower = name.to_lowercase();
    let variables = lower.ends_with(".tfvars") && !is_plain(name);
    variables || lower.ends_with(".tfvars.json") || lower.ends_with(".tfvars.jinja") && !name.ends_with(".tfvars.jinja")
}
