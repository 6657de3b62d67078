//! What a run needs of Terraform layers, for the nodes whose role holds some.

use super::infra::{begin, options, root, tree};
use super::later::Back;
use super::{Context, start};
use crate::base::{Mask, Place, Plain, Problem, Problems};
use crate::data::tree::Repository;
use crate::infra::layer::{Options, Run};
use crate::infra::role::{Desk, Ground, Ledger, Stops, Wait};
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
    back: Back,
    desk: OnceLock<Result<Desk, Problems>>,
}

impl Held {
    /// The layers of the workspace at `root`; what is secret is added to `mask`, `stops` interrupt Terraform, and those
    /// that are `back` are not planned.
    pub fn new(context: &Context, root: &Path, mask: &Mask, stops: Stops, back: Back) -> Held {
        let (context, mask, root) = (context.clone(), mask.clone(), root.to_owned());
        Held { context, mask, stops, root, back, desk: OnceLock::new() }
    }

    fn desk(&self) -> Result<&Desk, Problems> {
        let open = || {
            // The workspace is this one, wherever the tree lies.
            let context = Context { workspace: Some(self.root.clone()), ..self.context.clone() };
            let options = options::read(false)?;
            let (mask, back) = (self.mask.clone(), self.back.clone());
            let ground = Around { context, options: options.clone(), mask, back };
            Ok(Desk::new(&self.root, options, ground, self.mask.clone(), self.stops.clone()))
        };
        self.desk.get_or_init(open).as_ref().map_err(Problems::clone)
    }
}

/// The trees of layers of a workspace, and what the environment says of them.
struct Around {
    context: Context,
    options: Options,
    mask: Mask,
    back: Back,
}

impl Ground for Around {
    fn begin(&self, root: &Path) -> Result<Run, Problems> {
        begin::run(&self.context, root, self.options.clone(), &self.mask)
    }

    fn ledger(&self, root: &Path) -> Result<Ledger, Problems> {
        Ok(Ledger {
            store: root::store(root, &self.context)?,
            repo: self.repo(root),
            user: start::user(),
            who: start::who(),
            reason: start::purpose(),
        })
    }

    fn repo(&self, root: &Path) -> String {
        tree::repo(&tree::Where::default(), root, &Repository::around(root))
    }

    fn held_back(&self, node: &str, name: &str) -> Option<Wait> {
        self.back.get(node, name)
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

    fn read_rest(
        &self,
        node: &str,
        config: &Plain,
        place: &dyn Fn(&[&str]) -> Option<Place>,
        tell: &dyn Fn(&str),
    ) -> Result<Plain, Problems> {
        self.desk()?.read_rest(node, config, place, tell)
    }

    fn apply(&self, node: &str, layer: &Layer, tell: &dyn Fn(&str)) -> Result<String, Problem> {
        let desk = self.desk().map_err(|problems| problems.into_iter().next().unwrap_or_default())?;
        desk.apply(node, &layer.name, &layer.plan, tell)
    }
}
