//! The git commit that a workspace stands on, read from `.git` without starting git.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the commit that is checked out around `root`: none outside git, and none before the first commit.
pub fn of(root: &Path) -> Option<String> {
    let root = root.canonicalize().ok()?;
    let git = root.ancestors().map(|folder| folder.join(".git")).find(|git| git.exists())?;
    let git = if git.is_dir() { git } else { named(&git, "gitdir: ")? };
    let head = fs::read_to_string(git.join("HEAD")).ok()?;
    let head = head.trim();
    let Some(name) = head.strip_prefix("ref: ") else { return hash(head) };
    // A second work tree keeps its own HEAD, and its branches with the first.
    let common = named(&git.join("commondir"), "").unwrap_or_else(|| git.clone());
    let loose = [&git, &common].into_iter().find_map(|folder| fs::read_to_string(folder.join(name)).ok());
    loose.and_then(|text| hash(text.trim())).or_else(|| packed(&common, name))
}

/// The path that stands in `file` behind `lead`, relative to where the file is.
fn named(file: &Path, lead: &str) -> Option<PathBuf> {
    let text = fs::read_to_string(file).ok()?;
    Some(file.parent()?.join(text.trim().strip_prefix(lead)?))
}

fn packed(common: &Path, name: &str) -> Option<String> {
    let text = fs::read_to_string(common.join("packed-refs")).ok()?;
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.filter(|(_, reference)| *reference == name).find_map(|(commit, _)| hash(commit))
}

fn hash(text: &str) -> Option<String> {
    let digits = matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit());
    digits.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "1111111111111111111111111111111111111111";

    #[test]
    fn the_commit_is_found_loose_packed_detached_and_in_a_second_work_tree() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
            fs::write(path, text).expect("a file");
        };
        assert_eq!(of(folder.path()), None);
        write("a/.git/HEAD", "ref: refs/heads/main\n");
        write("a/work/data/x", "");
        assert_eq!(of(&folder.path().join("a/work")), None, "before the first commit");
        write("a/.git/packed-refs", &format!("# pack-refs\n{ONE} refs/heads/main\n"));
        assert_eq!(of(&folder.path().join("a/work")).as_deref(), Some(ONE));
        write("a/.git/worktrees/b/HEAD", "ref: refs/heads/main\n");
        write("a/.git/worktrees/b/commondir", "../..\n");
        write("b/.git", "gitdir: ../a/.git/worktrees/b\n");
        assert_eq!(of(&folder.path().join("b")).as_deref(), Some(ONE));
        let two = ONE.replace('1', "2");
        write("a/.git/refs/heads/main", &format!("{two}\n"));
        assert_eq!(of(&folder.path().join("b")).as_deref(), Some(&*two));
        write("a/.git/HEAD", &format!("{ONE}\n"));
        assert_eq!(of(&folder.path().join("a")).as_deref(), Some(ONE));
    }
}
