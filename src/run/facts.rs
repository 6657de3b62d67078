//! `facts/<node>/`: what was last read from a node, one file per module, and the probe.

use crate::base::{Mask, Plain, Problem, clock, file};
use crate::plan::Part;
use chrono::{DateTime, Utc};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// What `facts/<node>/<module>.yaml` says beside the facts.
#[derive(Clone, Default, Debug)]
pub struct Recorded {
    /// Of the module as it was last applied: where it stays behind, the next run knows that the module changed.
    pub signature: Option<String>,
    /// Reactions that were asked for and not performed yet: the id of the resource, and why.
    pub owed: BTreeMap<String, String>,
}

fn owed(list: &Plain) -> BTreeMap<String, String> {
    let entries = list.as_map().into_iter().flatten();
    entries.filter_map(|(id, why)| Some((id.clone(), why.as_str()?.to_owned()))).collect()
}

/// So many bytes at the end of a file of facts hold its timestamp, but for one that owes much.
const TAIL: u64 = 1024;

/// When something was last read from `node`, by the timestamps of its facts; `None` where nothing ever was.
pub fn read_at(root: &Path, node: &str) -> Option<DateTime<Utc>> {
    let entries = fs::read_dir(root.join("facts").join(node)).ok()?;
    let files =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "yaml"));
    files.filter_map(|path| timestamp(&path)).max()
}

/// The timestamp stands behind the facts, which may be long.
fn timestamp(path: &Path) -> Option<DateTime<Utc>> {
    let mut file = fs::File::open(path).ok()?;
    let size = file.metadata().ok().filter(|found| found.is_file())?.len();
    let mut tail = |from: u64| -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(from)).and_then(|_| file.read_to_end(&mut bytes)).ok()?;
        Some(bytes)
    };
    let found = stamped(&tail(size.saturating_sub(TAIL))?);
    if size > TAIL { found.or_else(|| stamped(&tail(0)?)) } else { found }
}

fn stamped(bytes: &[u8]) -> Option<DateTime<Utc>> {
    let text = String::from_utf8_lossy(bytes);
    let stamp = text.lines().rev().find_map(|line| line.strip_prefix("timestamp:"))?;
    DateTime::parse_from_rfc3339(stamp.trim().trim_matches(['\'', '"'])).ok().map(|at| at.to_utc())
}

/// The folder of one node's facts.
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    pub fn of(root: &Path, node: &str) -> Folder {
        Folder { path: root.join("facts").join(node) }
    }

    /// What was recorded with a module's facts.
    pub fn recorded(&self, module: &str) -> Recorded {
        let Ok(text) = fs::read_to_string(self.path.join(format!("{module}.yaml"))) else { return Recorded::default() };
        let line = text.lines().rev().find_map(|line| line.strip_prefix("signature: "));
        // Only a run that broke off leaves `owed`, so the whole document is hardly ever read.
        let owed = match text.contains("\nowed:") {
            true => Plain::from_yaml(&text).ok().and_then(|document| document.get("owed").map(owed)),
            false => None,
        };
        Recorded {
            signature: line.map(|line| line.trim_matches(['\'', '"']).to_owned()),
            owed: owed.unwrap_or_default(),
        }
    }

    /// The facts of a module as they were last read; `None` where they never were.
    pub fn facts(&self, module: &str) -> Option<Plain> {
        let text = fs::read_to_string(self.path.join(format!("{module}.yaml"))).ok()?;
        Plain::from_yaml(&text).ok()?.get("facts").cloned()
    }

    /// Writes the probe to `suil.yaml`.
    pub fn probe(&self, probe: Plain) -> Result<(), Problem> {
        self.write("suil", &Plain::from_iter([("facts", probe), stamp()]))
    }

    /// Writes a module's facts, and what else the next run must know of the module.
    pub fn module(&self, part: &Part, facts: Plain, also: &Recorded, mask: &Mask) -> Result<(), Problem> {
        let mut document = Plain::from_iter([("facts", facts), stamp()]);
        if let Some(signature) = &also.signature {
            document.set("signature", signature);
        }
        if !also.owed.is_empty() {
            document.set("owed", also.owed.iter().map(|(id, why)| (id.clone(), Plain::from(why))).collect::<Plain>());
        }
        self.write(&part.name, &mask.plain(&document))
    }

    /// Adds to what is owed, for a module that the run has no part in: its facts stay as they are.
    ///
    /// # Errors
    /// What is recorded of the module cannot be read, or not be written.
    pub fn owe(&self, module: &str, id: &str, why: &str, mask: &Mask) -> Result<(), Problem> {
        let path = self.path.join(format!("{module}.yaml"));
        let mut document = match fs::read_to_string(&path) {
            Ok(text) => Plain::from_yaml(&text)
                .map_err(|_| Problem::new(format!("{} is no YAML any more", path.display())).help("remove it"))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Plain::from_iter([("facts", Plain::map()), stamp()])
            }
            Err(error) => return Err(Problem::io("read", &path, &error)),
        };
        let mut owed = document.get("owed").cloned().unwrap_or_else(Plain::map);
        owed.set(id, why);
        document.set("owed", owed);
        self.write(module, &mask.plain(&document))
    }

    fn write(&self, name: &str, document: &Plain) -> Result<(), Problem> {
        if !self.path.is_dir() {
            if let Some(facts) = self.path.parent() {
                file::private_folder(facts)?;
            }
            file::private_folder(&self.path)?;
        }
        file::write_quick(&self.path.join(format!("{name}.yaml")), document.to_yaml().as_bytes(), 0o600)
    }
}

fn stamp() -> (&'static str, Plain) {
    ("timestamp", Plain::from(clock::stamp(clock::now())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_timestamp_tells_when_a_node_was_read() {
        let room = tempfile::tempdir().expect("a folder");
        let folder = room.path().join("facts/a");
        fs::create_dir_all(&folder).expect("a folder");
        assert_eq!(read_at(room.path(), "a"), None);
        assert_eq!(read_at(room.path(), "b"), None);
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).expect("a file");
        let owed = "  x: y\n".repeat(400);
        write("suil.yaml", "facts: {}\ntimestamp: '2026-01-01T00:00:00Z'\n");
        write("long.yaml", &format!("facts: {{}}\ntimestamp: \"2026-01-03T00:00:00Z\"\nowed:\n{owed}"));
        write("old.yaml", "facts:\n  timestamp: 2027-01-01T00:00:00Z\ntimestamp: 2026-01-02T00:00:00Z\nsignature: x\n");
        write("broken.yaml", "timestamp: yesterday\n");
        write("note.txt", "timestamp: 2028-01-01T00:00:00Z\n");
        assert_eq!(read_at(room.path(), "a").map(clock::stamp).as_deref(), Some("2026-01-03T00:00:00Z"));
    }
}
