//! A workspace on the disk.

use super::Tree;
use crate::base::file;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The folder of a workspace.
#[derive(Clone, Debug)]
pub struct Disk {
    root: PathBuf,
}

impl Disk {
    pub fn new(root: &Path) -> Disk {
        Disk { root: root.to_owned() }
    }
}

impl Tree for Disk {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        file::read(&self.root.join(path))
    }

    fn entries(&self, path: &str) -> io::Result<Vec<(String, bool)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(self.root.join(path))? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let is_folder = entry.file_type().is_ok_and(|kind| match kind.is_symlink() {
                true => entry.path().is_dir(),
                false => kind.is_dir(),
            });
            found.push((name, is_folder));
        }
        found.sort();
        Ok(found)
    }

    fn is_file(&self, path: &str) -> bool {
        self.root.join(path).is_file()
    }

    fn is_executable(&self, path: &str) -> bool {
        let found = fs::metadata(self.root.join(path));
        found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o100 != 0)
    }

    fn resolved(&self, path: &str) -> io::Result<String> {
        let (root, real) = (self.root.canonicalize()?, self.root.join(path).canonicalize()?);
        let inside = real.strip_prefix(root).ok().and_then(Path::to_str);
        inside.map(str::to_owned).ok_or_else(|| io::Error::other("it is outside the workspace"))
    }

    fn shown(&self, path: &str) -> PathBuf {
        PathBuf::from(path)
    }

    fn real_path(&self, path: &str) -> Option<PathBuf> {
        Some(self.root.join(path))
    }
}
