//! A private picture of the tree in which one folder can be changed: links to everything else, so that every path that
//! the code writes leads where it leads in the tree itself.

use crate::base::{Problem, file};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

/// A picture; it is gone when this is dropped. The files behind the links stay.
#[derive(Debug)]
pub struct Mirror {
    top: PathBuf,
    /// The folder that can be changed.
    pub folder: PathBuf,
}

impl Mirror {
    /// Pictures the tree at `root` in `top`, where `folder` of the tree is one of links to its own files.
    ///
    /// # Errors
    /// `folder` is not below `root`, or a link cannot be made.
    pub fn new(root: &Path, folder: &Path, top: &Path) -> Result<Mirror, Problem> {
        let below = folder
            .strip_prefix(root)
            .map_err(|_| Problem::new(format!("`{}` is not below `{}`", folder.display(), root.display())))?;
        let _ = fs::remove_dir_all(top);
        file::private_folder(top)?;
        let mirror = Mirror { top: top.to_owned(), folder: top.join(below) };
        let (mut from, mut to) = (root.to_owned(), top.to_owned());
        for part in below.components() {
            let Component::Normal(name) = part else { continue };
            links(&from, &to, Some(Path::new(name)))?;
            from.push(name);
            to.push(name);
            fs::create_dir(&to).map_err(|e| Problem::io("make folder", &to, &e))?;
        }
        links(&from, &to, None)?;
        Ok(mirror)
    }

    /// Puts a file into the folder, in the place of a link.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn put(&self, name: &str, text: &str) -> Result<(), Problem> {
        let path = self.folder.join(name);
        let _ = fs::remove_file(&path);
        fs::write(&path, text).map_err(|e| Problem::io("write", &path, &e))
    }
}

impl Drop for Mirror {
    fn drop(&mut self) {
        // Links are removed, not followed. What cannot be removed now is removed with the logs of the run.
        let _ = fs::remove_dir_all(&self.top);
    }
}

/// Links everything of `from` in `to`, but `left`, and but what suil and git keep at the root.
fn links(from: &Path, to: &Path, left: Option<&Path>) -> Result<(), Problem> {
    let failed = |e: std::io::Error| Problem::io("list", from, &e);
    for entry in fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        if left == Some(Path::new(&name)) || name == ".suil" {
            continue;
        }
        let link = to.join(&name);
        symlink(entry.path(), &link).map_err(|e| Problem::io("link", &link, &e))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_leads_where_it_leads_in_the_tree_and_the_tree_stays_as_it_is() {
        let room = tempfile::tempdir().expect("a folder");
        let root = room.path();
        for (path, text) in [("s/a/main.tf", "a"), ("s/b/main.tf", "b"), ("m/main.tf", "m"), (".suil/x", "x")] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        let top = root.join(".suil/mirror");
        let mirror = Mirror::new(root, &root.join("s/a"), &top).expect("a mirror");
        let read = |path: &str| fs::read_to_string(mirror.folder.join(path)).unwrap_or_default();
        assert_eq!([read("main.tf"), read("../b/main.tf"), read("../../m/main.tf")], ["a", "b", "m"]);
        assert!(!top.join(".suil").exists());
        mirror.put("main.tf", "other").expect("written");
        assert_eq!(read("main.tf"), "other");
        drop(mirror);
        assert!(!top.exists());
        assert_eq!(fs::read_to_string(root.join("s/a/main.tf")).expect("a file"), "a");
    }
}
