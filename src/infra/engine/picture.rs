//! A private picture of the tree in which some of it is as a revision had it: links to everything else, so that every path
//! that the code writes leads where it leads in the tree itself.

use crate::base::file::new_private_folder as make;
use crate::base::{Problem, Result};
use crate::data::Tree;
use crate::data::tree::Revision;
use crate::infra::layer;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

/// What is never in a picture.
const LEFT_OUT: [&str; 3] = [".git", ".suil", ".terraform"];

/// A picture that is to be drawn.
pub struct Picture<'a> {
    pub old: &'a Revision,
    /// The tree.
    pub root: &'a Path,
    /// The folder of the picture, which is empty.
    pub top: &'a Path,
    /// Folders and files of the revision, seen from the root.
    pub wanted: &'a BTreeSet<String>,
    /// Output folders of layers, and where they really were. Nothing stands in them but links to what is left there.
    pub outputs: &'a BTreeMap<String, PathBuf>,
}

impl Picture<'_> {
    /// Draws it.
    ///
    /// # Errors
    /// A file of the revision cannot be read, or something cannot be written.
    pub fn draw(&self) -> Result<(), Problem> {
        self.folder("", false)?;
        for (output, real) in self.outputs {
            let there = self.top.join(output);
            make(&there)?;
            left(real, &there)?;
        }
        Ok(())
    }

    /// Fills one folder; `all` of the revision where it is below one that is wanted.
    fn folder(&self, path: &str, all: bool) -> Result<(), Problem> {
        let mut names: BTreeMap<String, Option<bool>> = BTreeMap::new();
        if let Ok(entries) = fs::read_dir(self.root.join(path)) {
            names.extend(entries.flatten().filter_map(|entry| Some((entry.file_name().into_string().ok()?, None))));
        }
        for (name, is_folder) in self.old.entries(path).unwrap_or_default() {
            names.insert(name, Some(is_folder));
        }
        for (name, old) in names {
            let child = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
            if !LEFT_OUT.contains(&name.as_str()) && !self.outputs.contains_key(&child) {
                self.entry(&child, old, all)?;
            }
        }
        Ok(())
    }

    fn entry(&self, path: &str, old: Option<bool>, all: bool) -> Result<(), Problem> {
        let (here, there) = (self.root.join(path), self.top.join(path));
        let is_here = here.symlink_metadata().is_ok();
        let wanted = all || self.wanted.contains(path);
        let below = format!("{path}/");
        let holds = |next: Option<&String>| next.is_some_and(|next| next.starts_with(&below));
        let output = self.outputs.range(below.clone()..).next().map(|(output, _)| output);
        let above = holds(self.wanted.range(below.clone()..).next()) || holds(output);
        // A state that a commit has is an old one: only the one on the disk counts.
        let is_state = layer::is_state(path);
        match old {
            Some(true) if wanted || above || !is_here => {
                make(&there)?;
                self.folder(path, wanted || !is_here && !above)
            }
            Some(false) if (wanted || !is_here) && !is_state => self.write(path, &there),
            None if above && here.is_dir() => {
                make(&there)?;
                self.folder(path, false)
            }
            _ if is_here => link(&here, &there),
            _ => Ok(()),
        }
    }

    fn write(&self, path: &str, to: &Path) -> Result<(), Problem> {
        let failed = |e: std::io::Error| Problem::io("restore", to, &e);
        let bytes = self.old.read(path).map_err(failed)?;
        let mode = if self.old.is_executable(path) { 0o700 } else { 0o600 };
        let file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(to);
        file.and_then(|mut file| file.write_all(&bytes)).map_err(failed)
    }
}

fn link(from: &Path, to: &Path) -> Result<(), Problem> {
    symlink(from, to).map_err(|e| Problem::io("link", to, &e))
}

/// Links what is left in an output folder, but for what Terraform reads as code; the choice of providers is copied.
fn left(from: &Path, to: &Path) -> Result<(), Problem> {
    const CHOICE: &str = ".terraform.lock.hcl";
    for entry in fs::read_dir(from).into_iter().flatten().flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        match name.to_str() {
            Some(CHOICE) => {
                fs::copy(&path, to.join(CHOICE)).map_err(|e| Problem::io("copy", &path, &e))?;
            }
            Some(text) if layer::is_input(text) => {}
            _ => link(&path, &to.join(&name))?,
        }
    }
    Ok(())
}

/// Removes a picture. States that Terraform wrote into it, backups and those that it could write nowhere else, are brought to
/// their places in the tree first; where that fails the picture stays.
pub fn clear(root: &Path, top: &Path) {
    if bring(root, top, Path::new("")).is_ok() {
        // Links are removed, not followed.
        let _ = fs::remove_dir_all(top);
    }
}

fn bring(root: &Path, top: &Path, path: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(top.join(path))? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        let path = path.join(&name);
        let text = name.to_string_lossy();
        if text.starts_with(".terraform") {
            continue;
        }
        if kind.is_dir() {
            bring(root, top, &path)?;
        } else if kind.is_file() && layer::is_state(&text) {
            let to = root.join(&path);
            fs::create_dir_all(to.parent().unwrap_or(root))?;
            if fs::rename(entry.path(), &to).is_err() {
                fs::copy(entry.path(), &to)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_that_terraform_wrote_into_a_picture_come_to_their_places_before_it_is_removed() {
        let room = tempfile::tempdir().expect("a folder");
        let (root, top) = (room.path().join("tree"), room.path().join("picture"));
        for (folder, names) in [
            (&root, ["s/a/terraform.tfstate", "s/a/terraform.tfstate.backup", "shared/x.tfstate"].as_slice()),
            (&top, &["s/a/terraform.tfstate.backup", "s/b/errored.tfstate", "s/a/.terraform/terraform.tfstate"]),
            (&top, &["s/a/main.tf", "s/a/.terraform.tfstate.lock.info"]),
        ] {
            for name in names {
                let path = folder.join(name);
                make(path.parent().expect("a parent")).expect("a folder");
                fs::write(path, folder.file_name().expect("a name").as_encoded_bytes()).expect("a file");
            }
        }
        link(&root.join("s/a/terraform.tfstate"), &top.join("s/a/terraform.tfstate")).expect("a link");
        link(&root.join("shared"), &top.join("shared")).expect("a link");
        clear(&root, &top);
        assert!(!top.exists());
        let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
        let all = ["s/a/terraform.tfstate", "s/a/terraform.tfstate.backup", "s/b/errored.tfstate", "shared/x.tfstate"];
        assert_eq!(all.map(read), ["tree", "picture", "picture", "tree"]);
        assert!(!root.join("s/a/.terraform").exists() && !root.join("s/a/main.tf").exists());
    }

    #[test]
    fn a_picture_whose_states_cannot_be_brought_back_stays() {
        let room = tempfile::tempdir().expect("a folder");
        let (root, top) = (room.path().join("tree"), room.path().join("picture"));
        make(&top.join("s")).expect("a folder");
        make(&root).expect("a folder");
        fs::write(top.join("s/errored.tfstate"), "state").expect("a file");
        fs::write(root.join("s"), "in the way").expect("a file");
        clear(&root, &top);
        assert_eq!(fs::read_to_string(top.join("s/errored.tfstate")).expect("a file"), "state");
    }
}
