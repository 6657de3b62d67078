//! The digest of the files that a plan is made of.

use crate::base::{Problem, digest};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The digest over names and contents of all files of `parts` (folders and files), seen from `root`. Folders that are
/// `foreign`, and what Terraform itself writes, do not count. A part that is not there counts as absent. Folders behind
/// links count where they are below `root`.
///
/// # Errors
/// A file or folder cannot be read.
pub fn content(root: &Path, parts: &[PathBuf], foreign: &BTreeSet<PathBuf>) -> Result<String, Problem> {
    let mut lines: BTreeMap<PathBuf, String> = BTreeMap::new();
    let mut open: Vec<PathBuf> = parts.to_vec();
    let mut first = open.len();
    let top = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let mut followed: BTreeSet<PathBuf> = BTreeSet::new();
    while let Some(path) = open.pop() {
        let is_part = open.len() < first;
        first = first.min(open.len());
        if !is_part && foreign.contains(&path) {
            continue;
        }
        let failed = |e: std::io::Error| Problem::io("read", &path, &e);
        let shown = path.strip_prefix(root).unwrap_or(&path).to_owned();
        let kind = match fs::symlink_metadata(&path) {
            Ok(found) => found.file_type(),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                lines.insert(shown, "absent".to_owned());
                continue;
            }
            Err(e) => return Err(failed(e)),
        };
        if kind.is_symlink() && path.is_dir() && !is_part {
            let target = fs::read_link(&path).map_err(failed)?;
            lines.insert(shown, format!("-> {}", target.display()));
            let real = path.canonicalize().ok().and_then(|real| Some(root.join(real.strip_prefix(&top).ok()?)));
            // A folder around the link holds more than what is read through it.
            if let Some(real) = real.filter(|real| !path.starts_with(real) && followed.insert(real.clone())) {
                open.push(real);
            }
        } else if path.is_dir() {
            for entry in fs::read_dir(&path).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                if counts(&entry.file_name().to_string_lossy()) {
                    open.push(entry.path());
                }
            }
        } else if path.is_file() {
            let (_, hash) = File::open(&path).and_then(digest::sha256_of).map_err(failed)?;
            lines.insert(shown, hash);
        }
    }
    let mut text = Vec::new();
    for (path, hash) in lines {
        text.extend_from_slice(path.as_os_str().as_encoded_bytes());
        text.extend_from_slice(format!("\0{hash}\n").as_bytes());
    }
    Ok(digest::sha256(&text))
}

/// False for what Terraform writes: states, locks, logs, what `init` makes. A lock of providers is Terraform's to hold
/// against a plan.
fn counts(name: &str) -> bool {
    let written = [".terraform", ".terraform.lock.hcl", ".git", ".suil", ".terraform.tfstate.lock.info"];
    let state = name.ends_with(".tfstate") || name.contains(".tfstate.") || name.ends_with(".tfplan");
    let log = name.starts_with("crash.") && name.ends_with("log");
    !(written.contains(&name) || state || log)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_wrote_counts_and_what_terraform_writes_does_not() {
        let room = tempfile::tempdir().expect("a folder");
        let root = room.path();
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        write("s/a/main.tf", "1");
        write("s/a/files/x.tpl", "1");
        write("s/a/b/main.tf", "1");
        write("m/main.tf", "1");
        let parts = [root.join("s/a"), root.join("m"), root.join("common.tfvars")];
        let foreign = [root.join("s/a/b")].into();
        let now = || content(root, &parts, &foreign).expect("a digest");
        let before = now();
        for (path, counts) in [
            ("s/a/.terraform/x", false),
            ("s/a/terraform.tfstate", false),
            ("s/a/.terraform.lock.hcl", false),
            ("s/a/b/main.tf", false),
            ("s/a/files/x.tpl", true),
            ("m/main.tf", true),
            ("common.tfvars", true),
            ("s/a/new.tf", true),
        ] {
            let before = now();
            write(path, "2");
            assert_eq!(now() != before, counts, "{path}");
        }
        assert_ne!(now(), before);
        write("shared/x.tpl", "1");
        std::os::unix::fs::symlink("../../shared", root.join("s/a/shared")).expect("a link");
        std::os::unix::fs::symlink("..", root.join("s/a/around")).expect("a link");
        std::os::unix::fs::symlink("../s/a", root.join("shared/back")).expect("a link");
        let before = now();
        write("s/other.txt", "1");
        assert_eq!(now(), before);
        write("shared/x.tpl", "2");
        assert_ne!(now(), before, "what is read through a link counts");
    }
}
