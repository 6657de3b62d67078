//! What a run needs of Terraform layers, for the nodes whose role holds some.

use super::infra::{begin, options, root, tree};
use super::{Context, start};
use crate::base::{Mask, Place, Plain, Problem, Problems};
use crate::data::tree::Repository;
use crate::infra::role::{Desk, Ledger, Stops};
use crate::plan::Layer;
use crate::run::Layers;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The environment is read, and keys are asked for, once a node holds a layer.
pub struct Held {
    context: Context,
    mask: Mask,
    stops: Stops,
    root: PathBuf,
    desk: OnceLock<Result<Desk, Problems>>,
}

impl Held {
    /// The layers of the workspace at `root`; what is secret is added to `mask`, and `stops` interrupt Terraform.
    pub fn new(context: &Context, root: &Path, mask: &Mask, stops: Stops) -> Held {
        Held { context: context.clone(), mask: mask.clone(), stops, root: root.to_owned(), desk: OnceLock::new() }
    }

    fn desk(&self) -> Result<&Desk, Problems> {
        let open = || {
            let options = options::read(false)?;
            // The workspace is this one, wherever the tree lies.
            let context = Context { workspace: Some(self.root.clone()), ..self.context.clone() };
            let (mask, of_run) = (self.mask.clone(), options.clone());
            let begin = move |root: &Path| begin::run(&context, root, of_run.clone(), &mask);
            let of_store = self.context.clone();
            let open = move |root: &Path| {
                Ok(Ledger {
                    store: root::store(root, &of_store)?,
                    repo: tree::repo(&tree::Where::default(), root, &Repository::around(root)),
                    user: start::user(),
                    who: start::who(),
                    reason: start::purpose(),
                })
            };
            Ok(Desk::new(&self.root, options, begin, open, self.mask.clone(), self.stops.clone()))
        };
        self.desk.get_or_init(open).as_ref().map_err(Problems::clone)
    }
}

impl Layers for Held {
    fn check(&self, node: &str, config: &Plain, place: &dyn Fn(&[&str]) -> Option<Place>) -> Result<(), Problems> {
        self.desk()?.check(node, config, place)
    }

    fn read(
        &self,
        node: &str,
        config: &Plain,
        place: &dyn Fn(&[&str]) -> Option<Place>,
        tell: &dyn Fn(&str),
    ) -> Result<Plain, Problems> {
        self.desk()?.read(node, config, place, tell)
    }

    fn apply(&self, node: &str, layer: &Layer, tell: &dyn Fn(&str)) -> Result<String, Problem> {
        let desk = self.desk().map_err(|problems| problems.into_iter().next().unwrap_or_default())?;
        desk.apply(node, &layer.name, &layer.plan, tell)
    }
}
