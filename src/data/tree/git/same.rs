//! Which files of a revision are the same on the disk. The index is not asked: it may be stale, or told to look away.

use super::Repository;
use super::paths::Paths;
use std::collections::HashSet;
use std::io::{Read, Write};
use std::process::Stdio;

/// The paths of the files that git would add with the content that they have in the revision. It hashes them as they
/// would be stored, so that a file which a filter changes (LFS, line ends) is the same as well. What cannot be told is
/// left out, and is read from the object store then.
pub fn on_disk(repository: &Repository, paths: &Paths) -> HashSet<String> {
    let is_read = |path: &str| repository.whole || repository.reads.iter().any(|start| path.starts_with(start));
    // One path is one line, and a quote at its start would make it a quoted one.
    let is_plain = |path: &str| !path.contains('\n') && !path.starts_with('"');
    let is_file = |path: &str| repository.root.join(path).symlink_metadata().is_ok_and(|meta| meta.is_file());
    let files = paths.files().filter(|(path, _)| is_read(path) && is_plain(path) && is_file(path));
    let files: Vec<(&str, &str)> = files.collect();
    let lines: String = files.iter().map(|(path, _)| format!("{path}\n")).collect();
    let Some(ids) = hashed(repository, &lines) else { return HashSet::new() };
    let same = files.iter().zip(ids.lines()).filter(|((_, id), found)| id == found);
    same.map(|((path, _), _)| (*path).to_owned()).collect()
}

/// What git answers to `lines`, all of them.
fn hashed(repository: &Repository, lines: &str) -> Option<String> {
    let mut command = repository.command(&["hash-object", "--stdin-paths"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let (mut ask, mut answer) = (child.stdin.take()?, child.stdout.take()?);
    let mut ids = String::new();
    let read = std::thread::scope(|scope| {
        // git answers while it is asked: a pipe that is full on both ends would wait for ever.
        scope.spawn(move || ask.write_all(lines.as_bytes()));
        answer.read_to_string(&mut ids)
    });
    (child.wait().ok()?.success() && read.is_ok()).then_some(ids)
}
