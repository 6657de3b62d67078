//! The state of one layer, read by Terraform itself.
//!
//! Outputs need no provider, and so none is fetched for them: Terraform is initialised where it finds no provider at all,
//! which it takes for a failure once it has set up the backend. Resources need the providers that made them.

use super::{Chain, Failure, Found, block, words};
use crate::base::file;
use crate::infra::layer::host::Asking;
use crate::infra::layer::render::build_for;
use crate::infra::layer::{Layer, Run};
use crate::infra::terraform::{Finished, Tool};
use crate::infra::{Value, jinja};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The backend of a layer, and what was read through it.
#[derive(Debug)]
pub struct State {
    label: String,
    tool: Tool,
    /// The name and the text of a file with the backend.
    file: (&'static str, String),
    folder: PathBuf,
    bare: OnceLock<Result<Ready, Failure>>,
    whole: OnceLock<Result<Ready, Failure>>,
    outputs: OnceLock<Result<Value, Failure>>,
    resources: OnceLock<Result<Value, Failure>>,
}

/// A folder that is initialised with the backend.
#[derive(Clone, Debug)]
struct Ready {
    folder: PathBuf,
    /// What Terraform said where providers are missing.
    missing: Option<Failure>,
}

impl State {
    /// Renders the layer in memory for its backend.
    ///
    /// # Errors
    /// The layer cannot be rendered, or has no backend.
    pub fn new(run: &Arc<Run>, layer: &Layer, chain: &Chain) -> Result<State, Failure> {
        let label = layer.label();
        let asking = Arc::new(Asking::default());
        let built = build_for(run, layer, chain, &asking).map_err(|problems| match asking.cycle() {
            Some(cycle) => Failure::Cycle(cycle),
            None => Failure::Said(
                format!("layer `{label}`, whose state is asked for, cannot be rendered"),
                problems.iter().flat_map(words::problem).collect(),
            ),
        })?;
        let file = block::file(run, layer, &built.pieces)?;
        Ok(State::of(label, Tool::new(&run.options.terraform), file, run.states.folder(layer)?))
    }

    /// A state that nothing was read of yet.
    pub(super) fn of(label: String, tool: Tool, file: (&'static str, String), folder: PathBuf) -> State {
        let (bare, whole) = (OnceLock::new(), OnceLock::new());
        State { label, tool, file, folder, bare, whole, outputs: OnceLock::new(), resources: OnceLock::new() }
    }

    /// The output of this name.
    ///
    /// # Errors
    /// Terraform cannot read the state.
    pub fn output(&self, name: &str) -> Result<Found, Failure> {
        let read = || {
            let ready = match self.whole.get() {
                Some(Ok(whole)) => whole,
                _ => self.bare()?,
            };
            self.json(&ready.folder, &["output", "-json", "-no-color"]).map_err(|failure| {
                match (&ready.missing, failure) {
                    (Some(Failure::Said(_, more)), Failure::Said(what, notes)) => {
                        Failure::Said(what, [notes.as_slice(), more].concat())
                    }
                    (_, failure) => failure,
                }
            })
        };
        Ok(Found::output(self.outputs.get_or_init(read).as_ref().map_err(Failure::clone)?, name, &self.label))
    }

    /// The attributes of the resource at this address.
    ///
    /// # Errors
    /// Terraform cannot read the state.
    pub fn resource(&self, address: &str) -> Result<Found, Failure> {
        let read = || {
            let ready = match self.bare.get() {
                Some(Ok(bare)) if bare.missing.is_none() => bare,
                _ => self.whole()?,
            };
            self.json(&ready.folder, &["show", "-json", "-no-color"])
        };
        Ok(Found::resource(self.resources.get_or_init(read).as_ref().map_err(Failure::clone)?, address, &self.label))
    }

    /// A folder without providers.
    fn bare(&self) -> Result<&Ready, Failure> {
        let begin = || {
            let none = self.folder.join("none");
            self.make(&none)?;
            let missing = self.init(&self.folder, Some(&none)).err();
            match missing {
                Some(failure) if !self.folder.join(".terraform/terraform.tfstate").exists() => Err(failure),
                missing => Ok(Ready { folder: self.folder.clone(), missing }),
            }
        };
        self.bare.get_or_init(begin).as_ref().map_err(Failure::clone)
    }

    /// A folder with all providers that the state needs. Its depth is that of the other.
    fn whole(&self) -> Result<&Ready, Failure> {
        let begin = || {
            let name = self.folder.file_name().unwrap_or_default().to_string_lossy();
            let folder = self.folder.with_file_name(format!("{name}-whole"));
            self.make(&folder)?;
            self.init(&folder, None)?;
            Ok(Ready { folder, missing: None })
        };
        self.whole.get_or_init(begin).as_ref().map_err(Failure::clone)
    }

    fn init(&self, folder: &Path, providers: Option<&Path>) -> Result<(), Failure> {
        let (name, text) = &self.file;
        file::make(&folder.join(name), text.as_bytes(), 0o600).map_err(|e| {
            let what = format!("cannot write the backend of layer `{}`: {e}", self.label);
            Failure::Said(what, Vec::new())
        })?;
        let providers = providers.map(|providers| format!("-plugin-dir={}", providers.display()));
        let words = ["init", "-input=false", "-no-color"].into_iter().chain(providers.as_deref());
        self.terraform(folder, &words.collect::<Vec<_>>()).map(drop)
    }

    fn make(&self, folder: &Path) -> Result<(), Failure> {
        file::private_folder(folder).map_err(|problem| Failure::Said(problem.what, Vec::new()))
    }

    fn json(&self, folder: &Path, arguments: &[&str]) -> Result<Value, Failure> {
        let said = self.terraform(folder, arguments)?;
        let text = String::from_utf8_lossy(&said);
        jinja::decode(&text).map_err(|expected| {
            let what = format!("`{} {}` says no JSON", self.tool.program.display(), arguments.join(" "));
            Failure::Said(what, vec![format!("expected {expected}")])
        })
    }

    fn terraform(&self, folder: &Path, arguments: &[&str]) -> Result<Vec<u8>, Failure> {
        let data = folder.join(".terraform");
        // Whatever the caller has set: what this folder is initialised with is nobody else's.
        let environment = [("TF_DATA_DIR", data.as_os_str())];
        let ran = self.tool.capture(folder, arguments, &environment);
        let Finished { status, stdout, stderr } = ran.map_err(|problem| {
            let help = problem.help.into_iter().collect();
            Failure::Said(problem.what, help)
        })?;
        if status.success() {
            return Ok(stdout);
        }
        let command = arguments.first().copied().unwrap_or_default();
        let what = format!("`{} {command}` fails for the state of layer `{}`", self.tool.program.display(), self.label);
        Err(Failure::Said(what, words::terraform(&stderr)))
    }
}
