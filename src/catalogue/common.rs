//! `data/common.yaml`: the hierarchy, the connection defaults, the recipients of secrets, how long runs are kept.

use super::files::{Layer, is_absent};
use super::hierarchy::Hierarchy;
use super::hook::Hooks;
use super::keep::Keep;
use crate::base::{FileId, Place, Problem, Problems, Result, nearest::nearest};
use crate::data::{Tagged, Tree, Value, load};
use std::sync::Arc;

/// The file that makes a folder a workspace.
pub const COMMON: &str = "data/common.yaml";

/// What `data/common.yaml` says.
pub struct Common {
    file: Tagged,
}

impl Common {
    pub fn read(tree: &dyn Tree) -> Result<Common> {
        let shown = tree.shown(COMMON);
        let bytes = tree.read(COMMON).map_err(|error| match is_absent(&error) {
            true => Problem::new(format!("`{}` does not exist", shown.display()))
                .help("stand in a workspace, name one with `--workspace DIR`, or make one with `suil init`"),
            false => Problem::io("read", &shown, &error),
        })?;
        match load(&shown, &bytes)? {
            Some(file) if file.is_map() => Ok(Common { file }),
            Some(file) => Err(Problem::new(format!("`{COMMON}` holds something else than a mapping"))
                .at(file.place)
                .expected("expected `deployment` and `hierarchy`")
                .into()),
            None => Ok(Common { file: Tagged::map(Default::default(), Place::start(FileId::new(shown, ""))) }),
        }
    }

    pub fn value(&self, key: &str) -> Option<Value> {
        self.file.get(key)?.value.settle().ok().flatten()
    }

    /// `runs`, or what counts without it.
    pub fn keep(&self) -> Result<Keep> {
        match self.file.get("runs") {
            Some(member) => member.value.settle()?.map_or(Ok(Keep::default()), |value| Keep::read(&value)),
            None => Ok(Keep::default()),
        }
    }

    pub fn hierarchy(&self) -> Result<Hierarchy> {
        match self.file.get("hierarchy") {
            Some(member) => match member.value.settle()? {
                Some(value) => Hierarchy::read(&value),
                None => Err(self.no_hierarchy().into()),
            },
            None => Err(self.no_hierarchy().into()),
        }
    }

    /// The hooks of all roles that name none of their own.
    pub fn hooks(&self) -> Result<Hooks> {
        Hooks::read(&self.file, Hooks::default())
    }

    fn no_hierarchy(&self) -> Problem {
        Problem::new(format!("`{COMMON}` has no `hierarchy`"))
            .at(self.file.place)
            .expected("expected a list of layer patterns such as `roles/{role}.yaml` and `nodes/{node}.yaml`")
    }

    pub fn deployment(&self) -> Option<Arc<Layer>> {
        self.file.get("deployment")?;
        let data = self.file.filtered(|key| key == "deployment");
        Some(Arc::new(Layer {
            id: u32::MAX,
            shown: COMMON.to_owned(),
            whole: self.file.clone(),
            data,
            problems: Vec::new(),
        }))
    }

    pub fn warnings(&self) -> Problems {
        const KNOWN: [&str; 6] = ["deployment", "hierarchy", "recipients", "runs", "before_batch", "after_batch"];
        let mut warnings = Problems::new();
        for (key, member) in self.file.members() {
            if KNOWN.contains(&&*key) {
                continue;
            }
            let warning = Problem::warning(format!("the key `{key}` of `{COMMON}` reaches no node"))
                .at(member.key)
                .expected(format!("expected one of `{}`", KNOWN.join("`, `")));
            warnings.push(match nearest(&key, KNOWN) {
                Some(near) => warning.help(format!("did you mean `{near}`?")),
                None => warning.help("a layer of the `hierarchy`, `all.yaml` say, reaches every node"),
            });
        }
        warnings
    }
}
