//! Looks at what a layer is made of and whom it asks, without starting anything.

use super::host::{Asked, Asking};
use super::remote::Chain;
use super::render::{Built, build_with};
use super::{Layer, Run};
use crate::base::Result;
use crate::infra::jinja::{Answer, Host, Lookup, Target};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What a layer is made of. What its templates would read from states and hosts is unknown in it.
#[derive(Debug)]
pub struct Survey {
    pub built: Result<Built>,
    pub seen: Seen,
}

/// Whom the templates of a layer ask, as far as they got.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Files that they read, links followed.
    pub files: BTreeSet<PathBuf>,
    /// Layers whose plain files they read, by their folders.
    pub variables: BTreeMap<PathBuf, Layer>,
    /// Layers whose states they read, by their folders, and the names of the outputs and resources.
    pub states: BTreeMap<PathBuf, BTreeSet<String>>,
    /// What they ask of the host data, each question once.
    pub lookups: Vec<Lookup>,
}

/// Surveys a layer.
pub fn survey(run: &Arc<Run>, layer: &Layer) -> Survey {
    let asking: Arc<Asking> = Arc::default();
    let asked =
        Asked { run: Arc::clone(run), layer: layer.clone(), chain: Chain::new(layer), asking: Arc::clone(&asking) };
    let recorder = Arc::new(Recorder { asked, seen: Mutex::default() });
    let built = build_with(run, layer, recorder.clone(), &asking);
    let seen = recorder.seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Survey { built, seen }
}

/// Answers what the tree knows, and notes what is asked.
struct Recorder {
    asked: Asked,
    seen: Mutex<Seen>,
}

impl Recorder {
    fn note(&self, note: impl FnOnce(&mut Seen)) {
        note(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn state(&self, name: &str, target: &Target) -> Result<Answer, String> {
        let other = self.asked.other(target)?;
        self.note(|seen| {
            seen.states.entry(other.path).or_default().insert(name.to_owned());
        });
        Ok(Answer::Unknown)
    }
}

impl Host for Recorder {
    fn file(&self, path: &str) -> Result<String, String> {
        let full = self.asked.layer.path.join(path);
        let real = self.asked.run.sources.real(&full).unwrap_or(full);
        self.note(|seen| {
            seen.files.insert(real);
        });
        self.asked.file(path)
    }

    fn variable(&self, name: &str, target: &Target) -> Result<Answer, String> {
        let other = self.asked.other(target)?;
        self.note(|seen| {
            seen.variables.insert(other.path.clone(), other);
        });
        self.asked.variable(name, target)
    }

    fn output(&self, name: &str, target: &Target) -> Result<Answer, String> {
        self.state(name, target)
    }

    fn resource(&self, address: &str, target: &Target) -> Result<Answer, String> {
        self.state(address, target)
    }

    fn lookup(&self, asked: &Lookup) -> Result<Answer, String> {
        self.note(|seen| {
            if !seen.lookups.contains(asked) {
                seen.lookups.push(asked.clone());
            }
        });
        Ok(Answer::Unknown)
    }
}

/// A path of the tree as it is kept in a graph: below the root, with `/` between names.
pub fn below(root: &Path, path: &Path) -> Option<String> {
    path.strip_prefix(root).ok()?.to_str().map(str::to_owned)
}
