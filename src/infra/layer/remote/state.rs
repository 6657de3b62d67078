//! The state of one layer, read by Terraform itself.

use super::{Chain, Failure, Found, block, words};
use crate::base::file;
use crate::infra::layer::host::Asking;
use crate::infra::layer::render::build_for;
use crate::infra::layer::{Layer, Run};
use crate::infra::terraform::{Finished, Tool};
use crate::infra::{Value, jinja};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// A folder that is initialised with a layer's backend, and what was read there.
#[derive(Debug)]
pub struct State {
    label: String,
    tool: Tool,
    folder: PathBuf,
    outputs: OnceLock<Result<Value, Failure>>,
    resources: OnceLock<Result<Value, Failure>>,
}

impl State {
    /// Renders the layer in memory for its backend, and initialises a folder with that.
    ///
    /// # Errors
    /// The layer cannot be rendered, has no backend, or Terraform refuses it.
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
        let (name, text) = block::file(run, layer, &built.pieces)?;
        let folder = run.states.folder(layer)?;
        file::make(&folder.join(name), text.as_bytes(), 0o600).map_err(|e| {
            let what = format!("cannot write the backend of layer `{label}`: {e}");
            Failure::Said(what, Vec::new())
        })?;
        let tool = Tool::new(&run.options.terraform);
        let state = State::empty(label, tool, folder);
        state.terraform(&["init", "-input=false", "-no-color"])?;
        Ok(state)
    }

    /// A state that nothing was read of yet.
    pub(super) fn empty(label: String, tool: Tool, folder: PathBuf) -> State {
        State { label, tool, folder, outputs: OnceLock::new(), resources: OnceLock::new() }
    }

    /// The output of this name.
    ///
    /// # Errors
    /// Terraform cannot read the state.
    pub fn output(&self, name: &str) -> Result<Found, Failure> {
        let outputs = self.outputs.get_or_init(|| self.json(&["output", "-json", "-no-color"])).as_ref();
        Ok(Found::output(outputs.map_err(Failure::clone)?, name, &self.label))
    }

    /// The attributes of the resource at this address.
    ///
    /// # Errors
    /// Terraform cannot read the state.
    pub fn resource(&self, address: &str) -> Result<Found, Failure> {
        let state = self.resources.get_or_init(|| self.json(&["show", "-json", "-no-color"])).as_ref();
        Ok(Found::resource(state.map_err(Failure::clone)?, address, &self.label))
    }

    fn json(&self, arguments: &[&str]) -> Result<Value, Failure> {
        let said = self.terraform(arguments)?;
        let text = String::from_utf8_lossy(&said);
        jinja::decode(&text).map_err(|expected| {
            let what = format!("`{} {}` says no JSON", self.tool.program.display(), arguments.join(" "));
            Failure::Said(what, vec![format!("expected {expected}")])
        })
    }

    fn terraform(&self, arguments: &[&str]) -> Result<Vec<u8>, Failure> {
        let data = self.folder.join(".terraform");
        // Whatever the caller has set: what this folder is initialised with is nobody else's.
        let environment = [("TF_DATA_DIR", data.as_os_str())];
        let ran = self.tool.capture(&self.folder, arguments, &environment);
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
