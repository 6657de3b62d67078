//! Copies files and folders of base: bytes and modes, links followed.

use crate::base::{Problem, Problems, Result};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Copies a file with its mode.
pub fn file(from: &Path, to: &Path) -> Result<(), Problem> {
    fs::copy(from, to).map(drop).map_err(|e| Problem::io("copy", from, &e))
}

/// Copies a folder with all it holds. `above` are the folders that this one stands in.
///
/// # Errors
/// Something cannot be copied: a link leads nowhere, or back to a folder that it stands in.
pub fn folder(from: &Path, to: &Path, above: &mut Vec<PathBuf>) -> Result<()> {
    let failed = |e: &std::io::Error| Problems::from(Problem::io("copy", from, e));
    let real = from.canonicalize().map_err(|e| failed(&e))?;
    if above.contains(&real) {
        return Err(Problem::new(format!("`{}` is a link to a folder that it stands in", from.display())).into());
    }
    fs::create_dir(to).map_err(|e| failed(&e))?;
    above.push(real);
    let mut problems = Problems::new();
    for entry in fs::read_dir(from).map_err(|e| failed(&e))? {
        let entry = entry.map_err(|e| failed(&e))?;
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        let copied = match fs::metadata(&path) {
            Ok(found) if found.is_dir() => folder(&path, &to, above),
            Ok(found) if found.is_file() => file(&path, &to).map_err(Problems::from),
            Ok(_) => Err(Problem::new(format!("`{}` is no regular file", path.display())).into()),
            Err(_) if path.is_symlink() => {
                Err(Problem::new(format!("`{}` is a link to nothing", path.display())).into())
            }
            Err(e) => Err(Problem::io("copy", &path, &e).into()),
        };
        problems.extend(copied.err().unwrap_or_default());
    }
    above.pop();
    if !problems.is_empty() {
        return Err(problems);
    }
    let found = fs::metadata(from).map_err(|e| failed(&e))?;
    fs::set_permissions(to, writable(&found)).map_err(|e| failed(&e))
}

/// The mode of a folder, which its owner can always change and remove.
pub fn writable(folder: &fs::Metadata) -> fs::Permissions {
    fs::Permissions::from_mode(folder.mode() & 0o7777 | 0o700)
}
