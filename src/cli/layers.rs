//! What a run needs of Terraform layers, for the nodes whose role holds some.

use super::Context;
use super::infra::{keys, options};
use crate::base::{Mask, Place, Plain, Problem, Problems};
use crate::infra::role::Desk;
use crate::resource::Layer;
use crate::run::Layers;
use std::path::Path;
use std::sync::OnceLock;

/// The environment is read, and keys are asked for, once a node holds a layer.
pub struct Held {
    context: Context,
    mask: Mask,
    desk: OnceLock<Result<Desk, Problems>>,
    root: std::path::PathBuf,
}

impl Held {
    /// The layers of the workspace at `root`; what is secret is added to `mask`.
    pub fn new(context: &Context, root: &Path, mask: &Mask) -> Held {
        Held { context: context.clone(), mask: mask.clone(), desk: OnceLock::new(), root: root.to_owned() }
    }

    fn desk(&self) -> Result<&Desk, Problems> {
        let open = || {
            let context = self.context.clone();
            let keys = move || keys::private(&context, None);
            Ok(Desk::new(&self.root, options::read(false)?, keys, self.mask.clone()))
        };
        self.desk.get_or_init(open).as_ref().map_err(Problems::clone)
    }
}

impl Layers for Held {
    fn read(
        &self,
        node: &str,
        config: &Plain,
        place: &dyn Fn(&[&str]) -> Option<Place>,
        tell: &dyn Fn(&str),
    ) -> Result<Plain, Problems> {
        self.desk()?.read(node, config, place, tell)
    }

    fn apply(&self, node: &str, layer: &Layer) -> Result<String, Problem> {
        let desk = self.desk().map_err(|problems| problems.into_iter().next().unwrap_or_default())?;
        desk.apply(node, &layer.name, &layer.plan)
    }
}
