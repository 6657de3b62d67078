//! Files that suil writes: aside, flushed, renamed, so that a run that dies leaves old or new.

use super::Problem;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Writes `bytes` to `path` through a file beside it that is flushed and renamed. `mode` is the new file's mode.
pub fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Problem> {
    let failed = |error: &std::io::Error| Problem::io("write", path, error);
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut aside = tempfile::Builder::new()
        .prefix(".suil-")
        .permissions(fs::Permissions::from_mode(mode))
        .tempfile_in(folder)
        .map_err(|e| failed(&e))?;
    aside.write_all(bytes).map_err(|e| failed(&e))?;
    aside.as_file().set_permissions(fs::Permissions::from_mode(mode)).map_err(|e| failed(&e))?;
    aside.as_file().sync_data().map_err(|e| failed(&e))?;
    aside.persist(path).map_err(|e| failed(&e.error))?;
    Ok(())
}

/// Makes `path` and its parents; the last one gets mode 0700.
pub fn private_folder(path: &Path) -> Result<(), Problem> {
    fs::create_dir_all(path).map_err(|e| Problem::io("make folder", path, &e))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700)).map_err(|e| Problem::io("set the mode of", path, &e))
}
