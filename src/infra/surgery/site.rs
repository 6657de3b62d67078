//! A layer whose state is worked on.

use super::state::State;
use crate::base::{Problem, Problems, Result};
use crate::infra::layer::{self, Layer, Run};
use crate::infra::terraform::{self, Tool};
use std::sync::Arc;

/// A rendered layer in which Terraform can read its state.
#[derive(Debug)]
pub struct Site {
    pub layer: Layer,
    pub tool: Tool,
    /// What the render found worth saying.
    pub warnings: Problems,
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
    pub fn pull(&self) -> Result<Option<State>, Problem> {
        State::parse(&self.tool.pull(&self.layer.output, &self.label())?, &self.label())
    }
}
