//! What a render leaves in an output folder: what Terraform put there and nobody can make again.

use crate::base::{Problem, Result};
use crate::infra::layer::pieces::Pieces;
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// True for the name of a state, or of what belongs to one.
pub fn is_state(name: &str) -> bool {
    name.ends_with(".tfstate") || name.contains(".tfstate.")
}

/// True for a name that is kept, whatever it holds.
fn keeps(name: &str) -> bool {
    let state = is_state(name);
    let log = name == "crash.log" || name.starts_with("crash.") && name.ends_with(".log");
    let plan = ["tfplan", "plan.out"].contains(&name) || name.ends_with(".tfplan") || name.ends_with(".plan");
    [".terraform", ".terraformrc", ".terraform.lock.hcl"].contains(&name)
        || state
        || log
        || plan
        || name.ends_with(".lock.info")
}

/// True for a plan that Terraform saved, whatever its name: an archive whose first file is `tfplan`.
fn is_plan(path: &Path) -> bool {
    let mut head = [0_u8; 36];
    let mut read = || {
        let found = fs::symlink_metadata(path)?;
        if !found.is_file() {
            return Ok(false);
        }
        fs::File::open(path)?.read_exact(&mut head)?;
        Ok::<bool, std::io::Error>(head.starts_with(b"PK\x03\x04") && head.ends_with(b"tfplan"))
    };
    read().unwrap_or(false)
}

/// Links what is kept of the folder `old` into the folder `new`, unless a piece has its name, or it is there already and no
/// older. Both then hold it, so that it is there whenever the process dies.
pub fn carry(old: &Path, new: &Path, pieces: &Pieces) -> Result<(), Problem> {
    let failed = |path: &Path, e: &std::io::Error| Problem::io("keep", path, e);
    let entries = match fs::read_dir(old) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(|e| failed(old, &e))?,
    };
    for entry in entries {
        let entry = entry.map_err(|e| failed(old, &e))?;
        let name = entry.file_name();
        let path = entry.path();
        let there = new.join(&name);
        if !pieces.contains_key(&name) && is_kept(&path) {
            merge(&path, &there).map_err(|e| failed(&path, &e))?;
        }
    }
    Ok(())
}

pub fn is_kept(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(keeps) || is_plan(path)
}

/// True where `old` holds what `new` does, byte for byte and with the same modes, and beside it only what is kept.
pub fn holds(old: &Path, new: &Path) -> bool {
    let Ok(entries) = fs::read_dir(old).and_then(Iterator::collect::<std::io::Result<Vec<_>>>) else { return false };
    let more = |entry: &fs::DirEntry| new.join(entry.file_name()).symlink_metadata().is_err();
    let kept = |entry: &fs::DirEntry| !more(entry) || is_kept(&entry.path());
    entries.iter().all(kept) && same_entries(old, new).unwrap_or(false)
}

/// True where everything in `new` is in `old`.
fn same_entries(old: &Path, new: &Path) -> std::io::Result<bool> {
    for entry in fs::read_dir(new)? {
        let entry = entry?;
        if !same(&old.join(entry.file_name()), &entry.path())? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn same(old: &Path, new: &Path) -> std::io::Result<bool> {
    let (before, after) = (fs::symlink_metadata(old)?, fs::symlink_metadata(new)?);
    if before.file_type() != after.file_type() || before.permissions() != after.permissions() {
        return Ok(false);
    }
    match after.is_dir() {
        true => Ok(fs::read_dir(old)?.count() == fs::read_dir(new)?.count() && same_entries(old, new)?),
        false => Ok(before.len() == after.len() && fs::read(old)? == fs::read(new)?),
    }
}

/// Brings `to` to hold what `from` does. Terraform may replace a file in the old folder after it was linked: then the newer
/// one counts.
fn merge(from: &Path, to: &Path) -> std::io::Result<()> {
    let (found, there) = match (fs::symlink_metadata(from), fs::symlink_metadata(to)) {
        (Ok(found), Ok(there)) => (found, there),
        (Ok(_), Err(e)) if e.kind() == std::io::ErrorKind::NotFound => return link(from, to),
        // Terraform took it away meanwhile, a lock say.
        (Err(e), _) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        (Err(e), _) | (_, Err(e)) => return Err(e),
    };
    if found.is_dir() && there.is_dir() {
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            merge(&entry.path(), &to.join(entry.file_name()))?;
        }
        return Ok(());
    }
    let same = (found.dev(), found.ino()) == (there.dev(), there.ino());
    if same || !found.is_file() || !there.is_file() || found.modified()? <= there.modified()? {
        return Ok(());
    }
    let mut aside = to.as_os_str().to_owned();
    aside.push(".suil-new");
    let aside = Path::new(&aside);
    let _ = fs::remove_file(aside);
    link(from, aside)?;
    fs::rename(aside, to)
}

/// Links a file, or a folder file by file; copies where the file system has no links.
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    let found = fs::symlink_metadata(from)?;
    if found.is_symlink() {
        return std::os::unix::fs::symlink(fs::read_link(from)?, to);
    }
    if !found.is_dir() {
        return fs::hard_link(from, to).or_else(|_| fs::copy(from, to).map(drop));
    }
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        link(&entry.path(), &to.join(entry.file_name()))?;
    }
    fs::set_permissions(to, super::copy::writable(&found))
}

#[cfg(test)]
mod tests {
    use super::keeps;

    #[test]
    fn states_locks_plans_and_logs_are_kept() {
        for name in [
            ".terraform",
            ".terraform.lock.hcl",
            ".terraform.tfstate.lock.info",
            "terraform.tfstate",
            "terraform.tfstate.backup",
            "terraform.tfstate.1700000000.backup",
            "terraform.tfstate.d",
            "errored.tfstate",
            "saved.plan",
            "x.tfplan",
            "crash.log",
            "crash.20260101.log",
        ] {
            assert!(keeps(name), "{name}");
        }
        for name in ["base_main.tf", "stale.auto.tfvars", ".hidden", "tfstate", "plan", "apply.log"] {
            assert!(!keeps(name), "{name}");
        }
    }
}
