//! The files of an output folder that is not written.

use super::{Kind, Piece, Pieces, Run};
use crate::base::{Problem, Problems, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Files by their paths in the output folder.
pub type Files = BTreeMap<PathBuf, File>;

/// What a file would hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct File {
    pub bytes: Vec<u8>,
    pub executable: bool,
}

/// Reads everything that a render would write.
///
/// # Errors
/// Everything that cannot be read.
pub fn of(run: &Run, pieces: &Pieces) -> Result<Files> {
    let mut walk = Walk { run, files: Files::new(), problems: Problems::new() };
    for (name, piece) in pieces {
        let plain = |text: &str| File { bytes: text.as_bytes().to_vec(), executable: false };
        match piece {
            Piece::Text { text, .. } => drop(walk.files.insert(name.into(), plain(text))),
            Piece::Template(file) => drop(walk.files.insert(name.into(), plain(&file.text()))),
            Piece::File(path) => walk.file(path, name.into()),
            Piece::Folder(path) => walk.folder(path, Path::new(name), &mut Vec::new()),
        }
    }
    if walk.problems.is_empty() { Ok(walk.files) } else { Err(walk.problems) }
}

struct Walk<'a> {
    run: &'a Run,
    files: Files,
    problems: Problems,
}

impl Walk<'_> {
    fn file(&mut self, path: &Path, name: PathBuf) {
        let sources = &self.run.sources;
        match sources.bytes(path) {
            Ok(bytes) => drop(self.files.insert(name, File { bytes, executable: sources.is_executable(path) })),
            Err(e) => self.problems.extend(sources.failed("read", path, &e)),
        }
    }

    /// A folder, links followed. `above` are the folders that it stands in.
    fn folder(&mut self, path: &Path, name: &Path, above: &mut Vec<PathBuf>) {
        let sources = &self.run.sources;
        let real = match sources.real(path) {
            Ok(real) => real,
            Err(e) => return self.problems.extend(sources.failed("read", path, &e)),
        };
        let shown = |path: &Path| sources.shown(path).display().to_string();
        if above.contains(&real) {
            let what = format!("`{}` is a link to a folder that it stands in", shown(path));
            return self.problems.push(Problem::new(what));
        }
        let items = match sources.folder(path) {
            Ok(items) => items,
            Err(found) => return self.problems.extend(found),
        };
        above.push(real);
        for item in items.iter() {
            let (path, name) = (path.join(&item.name), name.join(&item.name));
            match item.kind {
                Kind::File => self.file(&path, name),
                Kind::Folder => self.folder(&path, &name, above),
                Kind::Dangling => {
                    self.problems.push(Problem::new(format!("`{}` is a link to nothing", shown(&path))));
                }
                Kind::Other => self.problems.push(Problem::new(format!("`{}` is no regular file", shown(&path)))),
            }
        }
        above.pop();
    }
}
