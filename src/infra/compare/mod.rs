//! What differs between the output folders of layers in a revision and in the working tree.
//!
//! Enters: two runs over one tree, and folders of layers. Leaves: the files that differ, with every secret covered.
//! Both sides are built in memory; nothing is written, and neither the working tree nor the index is touched.

mod change;

pub use change::{Change, Side};

use crate::base::{Mask, Problem, Problems, Result};
use crate::data::tree::told;
use crate::infra::layer::{self, Layer, Run, files};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The same tree twice: as a revision has it, and as it lies here.
pub struct Both {
    /// The name of the revision.
    pub revision: String,
    pub before: Arc<Run>,
    pub after: Arc<Run>,
    pub mask: Mask,
}

/// A layer of both, or of one of them.
#[derive(Debug)]
pub struct Compared {
    /// The layer's folder, from the root.
    pub layer: String,
    pub before: bool,
    pub after: bool,
    /// The files that differ, by name.
    pub files: Vec<Change>,
    /// What is worth saying of the working tree.
    pub warnings: Problems,
}

impl Compared {
    /// `added`, `removed`, `changed`, or `same`.
    pub fn word(&self) -> &'static str {
        match (self.before, self.after) {
            (false, _) => "added",
            (_, false) => "removed",
            _ if self.files.is_empty() => "same",
            _ => "changed",
        }
    }
}

impl Both {
    /// Compares the layers at `paths`, many at a time; the results in their order.
    pub fn compare(&self, paths: &[PathBuf]) -> Vec<Result<Compared>> {
        let lost = || vec![Problem::new("suil lost a layer; this is a fault of suil")];
        let results = layer::each(paths, |path| self.layer(path));
        results.into_iter().map(|result| result.unwrap_or_else(|| Err(lost()))).collect()
    }

    /// Warns where envelopes stayed closed.
    pub fn closed(&self) -> Problems {
        let sides =
            [(&self.before, format!("of `{}`", self.revision)), (&self.after, "of the working tree".to_owned())];
        let warning = |(run, whose): (&Arc<Run>, String)| {
            let problem = match run.secrets.closed() {
                0 => return None,
                1 => Problem::warning(format!("a secret {whose} stays closed: no key at hand opens it")),
                n => Problem::warning(format!("{n} secrets {whose} stay closed: no key at hand opens them")),
            };
            let note = "what is encrypted is compared: it differs where the same secret was encrypted again, too";
            Some(problem.note(note).help("name the private keys in STACKS_PRIVATE_KEY_PATH"))
        };
        sides.into_iter().filter_map(warning).collect()
    }

    fn layer(&self, path: &Path) -> Result<Compared> {
        let mut problems = Problems::new();
        let mut take = |side: Result<Option<Built>>| {
            side.unwrap_or_else(|found| {
                problems.extend(found);
                None
            })
        };
        let before = take(built(&self.before, path).map_err(|found| told(found, &self.revision)));
        // Where git removed a layer, its output folder may be left.
        let left = self.before.sources.is_folder(path) && !layer::stands(&self.after, path);
        let after = if left { None } else { take(built(&self.after, path)) };
        if !problems.is_empty() {
            return Err(problems);
        }
        let sides = (before.is_some(), after.is_some());
        let empty = files::Files::new();
        let files = change::between(
            before.as_ref().map_or(&empty, |built| &built.files),
            after.as_ref().map_or(&empty, |built| &built.files),
            &self.mask,
        );
        let label = layer::shown(self.after.sources.root(), path).display().to_string();
        let warnings = after.map(|built| built.warnings).unwrap_or_default();
        Ok(Compared { layer: label, before: sides.0, after: sides.1, files, warnings })
    }
}

struct Built {
    files: files::Files,
    warnings: Problems,
}

/// What a side makes of a layer; `None` where it has none.
fn built(run: &Arc<Run>, path: &Path) -> Result<Option<Built>> {
    if !run.sources.is_folder(path) {
        return Ok(None);
    }
    let built = layer::build(run, &Layer::of(run, path)?)?;
    let files = files::of(run, &built.pieces)?;
    Ok(Some(Built { files, warnings: built.warnings }))
}
