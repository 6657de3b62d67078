//! Fills a folder that only this process uses.

use super::super::files::Files;
use super::{keep, remove};
use crate::base::{Problem, Result};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path};

/// True for a name that Terraform reads as code or variables, or makes itself where it is initialised.
pub fn is_input(name: &str) -> bool {
    let ends = [".tf", ".tf.json", ".tofu", ".tofu.json", ".tfvars", ".tfvars.json"];
    ends.iter().any(|end| name.ends_with(end)) || name.starts_with(".terraform") || name.starts_with(".suil-")
}

/// Puts `files` into `folder`, for its owner alone. Of what is there links stay, and what a render keeps; a state is
/// never one of the files.
///
/// # Errors
/// Something cannot be written.
pub fn put(folder: &Path, files: &Files) -> Result<()> {
    let failed = |path: &Path, e: &std::io::Error| Problem::io("write", path, e);
    let state = |path: &Path| path.file_name().and_then(OsStr::to_str).is_some_and(keep::is_state);
    let files: Vec<_> = files.iter().filter(|(path, _)| !state(path)).collect();
    let top = |path: &Path| match path.components().next() {
        Some(Component::Normal(name)) => Some(name.to_owned()),
        _ => None,
    };
    let names: BTreeSet<_> = files.iter().filter_map(|(path, _)| top(path)).collect();
    make(folder).map_err(|e| failed(folder, &e))?;
    for entry in fs::read_dir(folder).map_err(|e| failed(folder, &e))? {
        let entry = entry.map_err(|e| failed(folder, &e))?;
        let path = entry.path();
        let link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        if names.contains(&entry.file_name()) || !link && !keep::is_kept(&path) {
            remove(&path).map_err(|e| failed(&path, &e))?;
        }
    }
    for (name, file) in files {
        let path = folder.join(name);
        let mode = if file.executable { 0o700 } else { 0o600 };
        let written = || {
            make(path.parent().unwrap_or(folder))?;
            fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&path)?.write_all(&file.bytes)
        };
        written().map_err(|e| failed(&path, &e))?;
    }
    Ok(())
}

fn make(folder: &Path) -> std::io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}
