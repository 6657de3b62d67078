//! A layer whose state is worked on.

use super::state::State;
use crate::base::{Problem, Problems, Result};
use crate::infra::layer::{self, Layer, Run};
use crate::infra::terraform::{self, Forecast, Stop, Tool};
use std::sync::Arc;

/// A rendered layer in which Terraform can read its state.
#[derive(Debug)]
pub struct Site {
    pub layer: Layer,
    pub tool: Tool,
    /// What the render found worth saying.
    pub warnings: Problems,
}

/// A state as Terraform gave it.
#[derive(Clone, Debug)]
pub struct Pulled {
    pub bytes: Vec<u8>,
    /// `None` where the layer has no state.
    pub state: Option<State>,
}

impl Pulled {
    /// The bytes of a backup, where there is a state.
    pub fn backup(&self) -> Option<&[u8]> {
        self.state.as_ref().map(|_| self.bytes.as_slice())
    }

    /// The digest of what it holds; `None` where there is no state.
    pub fn digest(&self) -> Option<String> {
        self.state.as_ref().map(State::digest)
    }

    pub fn serial(&self) -> u64 {
        self.state.as_ref().map(State::serial).unwrap_or_default()
    }
}

impl Site {
    /// Renders the layer into its own output folder, and initialises it where it never was.
    ///
    /// # Errors
    /// It cannot be rendered or initialised.
    pub fn open(run: &Arc<Run>, layer: &Layer, tool: &Tool) -> Result<Site> {
        let rendered = layer::render(run, layer)?;
        let site = Site { layer: layer.clone(), tool: tool.clone(), warnings: rendered.warnings };
        if terraform::is_new(&layer.output) {
            if !rendered.refused.is_empty() {
                return Err(rendered.refused);
            }
            site.tool.initialise(&layer.output, &layer.label())?;
        }
        Ok(site)
    }

    pub fn label(&self) -> String {
        self.layer.label()
    }

    /// The state as it is now.
    ///
    /// # Errors
    /// Terraform cannot read it, or it is of no known form.
    pub fn pull(&self) -> Result<Pulled, Problem> {
        let bytes = self.tool.pull(&self.layer.output, &self.label())?;
        let state = State::parse(&bytes, &self.label())?;
        Ok(Pulled { bytes, state })
    }

    /// Replaces the state.
    ///
    /// # Errors
    /// Terraform refuses, or `stop` was asked for twice.
    pub fn push(&self, state: &State, stop: &Stop) -> Result<(), Problem> {
        self.tool.push(&self.layer.output, state.text().as_bytes(), stop, &self.label())
    }

    /// What a plan would do now.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn forecast(&self) -> Result<Forecast, Problem> {
        self.tool.forecast(&self.layer.output, &self.label())
    }
}
