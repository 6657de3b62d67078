//! What a render leaves in an output folder: what Terraform put there and nobody can make again.

use crate::base::{Problem, Result};
use crate::infra::layer::pieces::Pieces;
use std::fs;
use std::io::Read;
use std::path::Path;

/// True for a name that is kept, whatever it holds.
fn keeps(name: &str) -> bool {
    let state = name.ends_with(".tfstate") || name.contains(".tfstate.");
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

/// Links what is kept of the folder `old` into the folder `new`, unless a piece has its name. Both then hold it, so that
/// it is there whenever the process dies.
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
        if pieces.contains_key(&name) || !(name.to_str().is_some_and(keeps) || is_plan(&path)) {
            continue;
        }
        link(&path, &new.join(&name)).map_err(|e| failed(&path, &e))?;
    }
    Ok(())
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
    fs::set_permissions(to, found.permissions())
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
