//! The files in which a workspace keeps its data, whether a node reads them today or not.

use super::validate::names;
use super::workspace::Workspace;
use crate::base::Result;
use crate::data::library::Origin;
use std::path::PathBuf;

/// A data file of the workspace.
#[derive(Clone, Debug)]
pub struct Source {
    /// The path as a person would type it.
    pub shown: PathBuf,
    pub path: PathBuf,
    /// True where a layer of the hierarchy, or a module, reads it.
    pub read: bool,
}

impl Workspace {
    /// Every data file: those below `data/`, and those of the modules of the workspace. Stock modules are in the binary
    /// and modules from elsewhere are pinned, so neither is here.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn sources(&self) -> Result<Vec<Source>> {
        let files = self.data_files()?;
        let patterns = &self.hierarchy().patterns;
        let mut sources: Vec<Source> = files
            .into_iter()
            .map(|path| Source {
                read: path == "common.yaml" || patterns.iter().any(|pattern| names(pattern, &path).is_some()),
                shown: PathBuf::from("data").join(&path),
                path: self.root().join("data").join(&path),
            })
            .collect();
        for module in self.library().iter().filter(|module| module.origin == Origin::Workspace) {
            for rel in module.walk("data")?.iter().filter(|rel| rel.ends_with(".yaml")) {
                if let Some(path) = module.real_path(rel) {
                    sources.push(Source { shown: module.shown(rel), path, read: true });
                }
            }
        }
        sources.sort_by(|a, b| a.shown.cmp(&b.shown));
        Ok(sources)
    }
}
