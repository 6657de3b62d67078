//! What the environment says about a tree: `cli` reads it and gives it in.

use crate::base::Problem;
use std::path::{Component, Path, PathBuf};

/// The names of folders and programs. The defaults are those of the original.
#[derive(Clone, Debug)]
pub struct Options {
    /// `STACKS_ENVIRONMENTS_DIR`: the folder of environments, below the root.
    pub environments: PathBuf,
    /// `STACKS_STACKS_DIR`: the folder of stacks, one name below the root.
    pub stacks: PathBuf,
    /// `STACKS_BASE_DIR`: the folder of code, below a stack.
    pub base: PathBuf,
    /// `STACKS_LAYERS_DIR`: the folder of layers, below a stack.
    pub layers: PathBuf,
    /// `STACKS_OUTPUT_DIR`: the output folder, below a layer; or an absolute path.
    pub output: PathBuf,
    /// `STACKS_TERRAFORM_PATH`: the program that is Terraform.
    pub terraform: String,
    /// Templates may read files outside the root.
    pub outside: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            environments: "environments".into(),
            stacks: "stacks".into(),
            base: "base".into(),
            layers: "layers".into(),
            output: "stacks.out".into(),
            terraform: "terraform".to_owned(),
            outside: false,
        }
    }
}

impl Options {
    /// Checks what the original only meets in the middle of a render.
    ///
    /// # Errors
    /// The folder of stacks is more than one name: the root is found four folders above a layer.
    pub fn check(&self) -> Result<(), Problem> {
        let mut parts = self.stacks.components();
        if matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)) {
            return Ok(());
        }
        let what = format!("STACKS_STACKS_DIR is `{}`", self.stacks.display());
        Err(Problem::usage(what).expected("expected one name: the root is the folder four above a layer"))
    }

    /// The nearest folder at or above `here` that has a folder of environments and one of stacks.
    pub fn root(&self, here: &Path) -> Option<PathBuf> {
        let has = |folder: &&Path| folder.join(&self.environments).is_dir() && folder.join(&self.stacks).is_dir();
        here.ancestors().find(has).map(Path::to_owned)
    }
}
