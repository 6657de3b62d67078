//! `facts/<node>/`: what was last read from a node, one file per module, and the probe.

use crate::base::{Mask, Plain, Problem, clock, file};
use crate::plan::Part;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of one node's facts.
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    pub fn of(root: &Path, node: &str) -> Folder {
        Folder { path: root.join("facts").join(node) }
    }

    /// The signature that was recorded with a module's facts: the one that was last applied.
    pub fn signature(&self, module: &str) -> Option<String> {
        let text = fs::read_to_string(self.path.join(format!("{module}.yaml"))).ok()?;
        let line = text.lines().rev().find_map(|line| line.strip_prefix("signature: "))?;
        Some(line.trim_matches(['\'', '"']).to_owned())
    }

    /// Writes the probe to `suil.yaml`.
    pub fn probe(&self, probe: Plain) -> Result<(), Problem> {
        self.write("suil", &Plain::from_iter([("facts", probe), stamp()]), &Mask::new())
    }

    /// Writes a module's facts. `applied` is false where the module's present state was not brought about: then the
    /// signature that was recorded before stays, so that the next run still knows that the module changed.
    pub fn module(&self, part: &Part, facts: Plain, applied: bool, mask: &Mask) -> Result<(), Problem> {
        let mut document = Plain::from_iter([("facts", facts), stamp()]);
        let signature = match applied {
            true => Some(part.signature.clone()),
            false => self.signature(&part.name),
        };
        if let Some(signature) = signature {
            document.set("signature", signature);
        }
        self.write(&part.name, &document, mask)
    }

    fn write(&self, name: &str, document: &Plain, mask: &Mask) -> Result<(), Problem> {
        if !self.path.is_dir() {
            if let Some(facts) = self.path.parent() {
                file::private_folder(facts)?;
            }
            file::private_folder(&self.path)?;
        }
        let text = mask.apply(&document.to_yaml());
        file::write_quick(&self.path.join(format!("{name}.yaml")), text.as_bytes(), 0o600)
    }
}

fn stamp() -> (&'static str, Plain) {
    ("timestamp", Plain::from(clock::stamp(clock::now())))
}
