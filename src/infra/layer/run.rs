//! One run over a tree: what all layers of it share.

use super::remote::States;
use super::secrets::Secrets;
use super::sources::{Kind, Sources};
use super::variables::Variables;
use super::{Hosts, Layer, Options};
use crate::base::{Mask, Problem, Problems, Result};
use crate::data::tree::Tree;
use crate::infra::Value;
use crate::infra::envelope::Keys;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Variables, and whether an envelope was among them.
type Opened = (Arc<Variables>, bool);

/// A run over the tree at one root. Threads share it.
pub struct Run {
    pub options: Options,
    pub sources: Sources,
    pub secrets: Secrets,
    pub(super) states: Arc<States>,
    /// The run over the working tree, where this one is over a revision of it: a state is no part of a revision.
    pub(super) present: Option<Arc<Run>>,
    /// False where no state may be read.
    pub(super) reads: bool,
    /// Who answers `lookup()`; nobody where there is no host data.
    pub hosts: Option<Arc<dyn Hosts>>,
    root: PathBuf,
    environments: OnceLock<Result<(Arc<Value>, bool)>>,
    plain: Mutex<HashMap<PathBuf, Result<Opened>>>,
}

impl Run {
    /// Begins a run at `root`; what `keys` open is added to `mask`.
    pub fn new(root: &Path, options: Options, keys: Keys, mask: Mask) -> Run {
        Run::over(Sources::new(root, None), options, Secrets::new(keys, mask))
    }

    /// A run over the same tree as a revision has it, with the same keys; envelopes that none of them opens stay closed.
    /// The states of layers are those of the present, and are read once for both runs.
    pub fn of_revision(self: &Arc<Run>, revision: Arc<dyn Tree>) -> Run {
        let hosts = self.hosts.as_ref().map(|hosts| hosts.of_revision(revision.clone()));
        let run = Run::over(Sources::new(&self.root, Some(revision)), self.options.clone(), self.secrets.lenient());
        Run { hosts, states: Arc::clone(&self.states), present: Some(Arc::clone(self)), reads: self.reads, ..run }
    }

    /// The same run where envelopes that no key opens stay closed.
    #[must_use]
    pub fn lenient(self) -> Run {
        let secrets = self.secrets.lenient();
        Run { secrets, ..self }
    }

    /// The same run where an envelope that no key opens is a problem.
    #[must_use]
    pub fn strict(self) -> Run {
        let secrets = self.secrets.again();
        Run { secrets, ..self }
    }

    /// The same run where templates that ask for states of layers fail, and no program starts.
    #[must_use]
    pub fn without_states(self) -> Run {
        Run { reads: false, ..self }
    }

    fn over(sources: Sources, options: Options, secrets: Secrets) -> Run {
        Run {
            root: sources.root().to_owned(),
            sources,
            secrets,
            states: Arc::default(),
            present: None,
            reads: true,
            hosts: None,
            environments: OnceLock::new(),
            plain: Mutex::new(HashMap::new()),
            options,
        }
    }

    /// The value of `stacks_environments`: what `env.tfvars` of every environment says, sorted by name; and whether an
    /// envelope of it was opened. One that no key opens stays closed, and all do where the tree wants that.
    ///
    /// # Errors
    /// A file cannot be read, or an envelope is malformed.
    pub fn environments(&self) -> Result<(Arc<Value>, bool)> {
        self.environments.get_or_init(|| self.read_environments()).clone()
    }

    fn read_environments(&self) -> Result<(Arc<Value>, bool)> {
        let settings = self.sources.settings()?;
        let folder = self.root.join(&self.options.environments);
        let (mut found, mut opened, mut problems) = (indexmap::IndexMap::new(), false, Problems::new());
        for item in self.sources.folder(&folder)?.iter().filter(|item| item.kind == Kind::Folder) {
            let path = folder.join(&item.name).join("env.tfvars");
            let Some(kind) = self.sources.kind(&path) else { continue };
            let read = || {
                let mut variables = Variables::new(settings.markers);
                if kind == Kind::File {
                    variables.meet(&self.sources.variables(&path)?);
                }
                let opened = !settings.closed && self.secrets.open(&mut variables, true)?;
                Ok::<_, Problems>((variables.value(), opened))
            };
            match read() {
                Ok((value, any)) => {
                    opened |= any;
                    found.insert(item.text().to_owned(), value);
                }
                Err(more) => {
                    let all = "every layer of the tree reads this file, for `stacks_environments`";
                    problems.extend(more.into_iter().map(|problem| problem.note(all)));
                }
            }
        }
        if problems.is_empty() { Ok((Arc::new(Value::Map(found)), opened)) } else { Err(problems) }
    }

    /// The variables of a layer's plain files, opened: what `variable()` sees of another layer; and whether there was an
    /// envelope.
    ///
    /// # Errors
    /// A file cannot be read, or an envelope cannot be opened.
    pub fn plain(&self, layer: &Layer) -> Result<Opened> {
        if let Some(found) = self.plain.lock().unwrap_or_else(PoisonError::into_inner).get(&layer.path) {
            return found.clone();
        }
        let found = super::levels::plain(self, layer).and_then(|mut variables| {
            let opened = self.secrets.open(&mut variables, false)?;
            Ok((Arc::new(variables), opened))
        });
        self.plain.lock().unwrap_or_else(PoisonError::into_inner).insert(layer.path.clone(), found.clone());
        found
    }

    /// A file of the tree as templates read it, CRLF as LF.
    pub(super) fn file(&self, layer: &Layer, path: &str) -> Result<String, String> {
        let full = layer.path.join(path);
        let real = self.sources.real(&full).map_err(|e| Problem::io("read", Path::new(path), &e).what)?;
        let root = self.sources.real(&layer.root).map_err(|e| Problem::io("read", &layer.root, &e).what)?;
        if !self.options.outside && !real.starts_with(&root) {
            return Err(format!("`{path}` is outside the root; `--allow-outside` lets templates read it"));
        }
        match self.sources.text(&real) {
            Ok(file) => Ok(file.text().replace("\r\n", "\n").replace('\r', "\n")),
            Err(problems) => Err(problems.into_iter().next().map(|p| p.what).unwrap_or_default()),
        }
    }
}
