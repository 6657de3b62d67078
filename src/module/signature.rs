//! A module's signature: the digest of everything that decides what it does.

use super::files::Files;
use crate::base::{Problem, digest};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

const FOLDERS: [&str; 5] = ["code", "data", "facts", "files", "templates"];

/// Size and digest of every file that decides what a module does, by its path.
pub type Contents = BTreeMap<String, (u64, String)>;

/// Reads every file of a module that decides what it does.
pub fn contents(files: &dyn Files) -> Result<Contents, Problem> {
    let mut paths = vec!["requires.yaml".to_owned()];
    for folder in FOLDERS {
        paths.extend(files.walk(folder)?);
    }
    let mut contents = Contents::new();
    for path in paths {
        if let Some(found) = of(files, &path)? {
            contents.insert(path, found);
        }
    }
    Ok(contents)
}

/// Returns `sha256:<hex>` over path, length and digest of every file, in the order of the paths.
pub fn signature(contents: &Contents) -> String {
    let mut hash = Sha256::new();
    for (path, (size, sha256)) in contents {
        hash.update(format!("{path}\0{size}\0{sha256}\n").as_bytes());
    }
    format!("sha256:{}", digest::hex(&hash.finalize()))
}

/// Size and digest of a file. One on disk is streamed: `files/` may hold large ones.
fn of(files: &dyn Files, path: &str) -> Result<Option<(u64, String)>, Problem> {
    if let Some(real) = files.real_path(path)
        && let Ok(file) = std::fs::File::open(&real)
        && file.metadata().is_ok_and(|meta| meta.is_file())
    {
        return digest::sha256_of(file).map(Some).map_err(|e| Problem::io("read", &files.shown(path), &e));
    }
    Ok(files.read(path)?.map(|bytes| (bytes.len() as u64, digest::sha256(&bytes))))
}

#[cfg(test)]
mod tests {
    use super::{contents, signature};
    use crate::module::tests::Memory;

    #[test]
    fn every_file_that_decides_counts_and_no_other() {
        let base = [("code/main.star", "a"), ("data/main.yaml", "b"), ("requires.yaml", "c")];
        let of = |more: &[(&'static str, &'static str)]| {
            signature(&contents(&*Memory::of(base.iter().chain(more).copied())).expect("contents"))
        };
        let plain = of(&[]);
        assert_eq!(plain.len(), "sha256:".len() + 64);
        assert_eq!(plain, of(&[("tests/a.yaml", "x"), ("README.md", "y")]));
        for path in ["code/lib.star", "data/os/debian/12.yaml", "files/a/b", "templates/t.j2", "facts/collector.sh"] {
            assert_ne!(plain, of(&[(path, "")]), "{path}");
        }
        // The border between a path and a text counts too.
        assert_ne!(of(&[("files/ab", "c")]), of(&[("files/a", "bc")]));
    }
}
