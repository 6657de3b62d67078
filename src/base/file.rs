//! Files that suil reads, and files that it writes: aside, flushed, renamed, so that a run that dies leaves old or new.

use super::Problem;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;
use tempfile::NamedTempFile;

/// Reads a file that somebody wrote. A pipe or a device would never end.
///
/// # Errors
/// It is not there, cannot be read, or is no regular file.
pub fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let kind = fs::metadata(path)?.file_type();
    match kind.is_file() || kind.is_dir() {
        true => fs::read(path),
        false => Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is no regular file")),
    }
}

/// So much is read of what a program hands over.
const HANDED: u64 = 1 << 20;

/// The same for a file that may be handed over by a shell, as `<(pass show key)` is: it has a number of this process, and
/// whoever wrote that knows that it ends.
///
/// # Errors
/// As [`read`].
pub fn read_handed(path: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read;
    if !["/dev/fd", "/proc/self/fd"].iter().any(|folder| path.parent() == Some(Path::new(folder))) {
        return read(path);
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(HANDED).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The same as text.
///
/// # Errors
/// As [`read`], and where it is not UTF-8.
pub fn read_text(path: &Path) -> std::io::Result<String> {
    String::from_utf8(read(path)?).map_err(|e| std::io::Error::new(std::io::ErrorKind::InvalidData, e.utf8_error()))
}

/// Writes `bytes` to `path` through a file beside it that is flushed and renamed. `mode` is the new file's mode.
pub fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Problem> {
    let aside = aside(path, bytes, mode)?;
    aside.as_file().sync_data().map_err(|e| Problem::io("write", path, &e))?;
    settle(aside, path)
}

/// Makes a new file, flushed; a name that is taken stays as it is.
///
/// # Errors
/// The name is taken, or the file cannot be made.
pub fn make(path: &Path, bytes: &[u8], mode: u32) -> std::io::Result<()> {
    let mut aside = tempfile::Builder::new()
        .prefix(".suil-")
        .permissions(fs::Permissions::from_mode(mode))
        .tempfile_in(path.parent().unwrap_or(Path::new(".")))?;
    aside.write_all(bytes)?;
    aside.as_file().sync_data()?;
    aside.persist_noclobber(path).map(drop).map_err(|e| e.error)
}

/// Writes `bytes` to `path` aside and renames, without waiting for the disk: for what the next run collects anew.
/// A killed suil leaves old or new; only a power cut may lose the newest.
pub fn write_quick(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Problem> {
    settle(aside(path, bytes, mode)?, path)
}

fn aside(path: &Path, bytes: &[u8], mode: u32) -> Result<NamedTempFile, Problem> {
    let failed = |error: &std::io::Error| Problem::io("write", path, error);
    let mut aside = tempfile::Builder::new()
        .prefix(".suil-")
        .permissions(fs::Permissions::from_mode(mode))
        .tempfile_in(path.parent().unwrap_or(Path::new(".")))
        .map_err(|e| failed(&e))?;
    aside.write_all(bytes).map_err(|e| failed(&e))?;
    Ok(aside)
}

fn settle(aside: NamedTempFile, path: &Path) -> Result<(), Problem> {
    aside.persist(path).map(drop).map_err(|e| Problem::io("write", path, &e.error))
}

/// Makes `path` and its parents; the last one gets mode 0700.
pub fn private_folder(path: &Path) -> Result<(), Problem> {
    fs::create_dir_all(path).map_err(|e| Problem::io("make folder", path, &e))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700)).map_err(|e| Problem::io("set the mode of", path, &e))
}

/// Makes `path` and its parents, for nobody but their owner; what is there stays as it is.
///
/// # Errors
/// It cannot be made.
pub fn new_private_folder(path: &Path) -> Result<(), Problem> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|e| Problem::io("make folder", path, &e))
}

/// Makes suil's own folder below `root`, `.suil`, for nobody but its owner, and tells git to leave it alone.
///
/// # Errors
/// It cannot be made.
pub fn own_folder(root: &Path) -> Result<std::path::PathBuf, Problem> {
    let folder = root.join(".suil");
    if folder.is_symlink() {
        // A tree of somebody else may bring one that leads to a folder of the user's.
        let problem = Problem::new(format!("`{}` is a link", folder.display()));
        return Err(problem
            .expected("expected a folder: secrets are kept there")
            .help("remove it; suil makes its own"));
    }
    private_folder(&folder)?;
    let ignored = folder.join(".gitignore");
    if !ignored.exists() {
        write_quick(&ignored, b"*\n", 0o600)?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_in_the_place_of_the_own_folder_is_refused_and_what_it_leads_to_is_left_alone() {
        let (room, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o777;
        fs::set_permissions(other.path(), fs::Permissions::from_mode(0o755)).expect("a mode");
        std::os::unix::fs::symlink(other.path(), room.path().join(".suil")).expect("a link");
        assert!(own_folder(room.path()).is_err());
        assert_eq!((mode(other.path()), fs::read_dir(other.path()).expect("a folder").count()), (0o755, 0));
    }
}
