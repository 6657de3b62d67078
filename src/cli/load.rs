//! Loads what commands need together: the workspace, the modules, a node's config.

use super::{Context, Settings};
use crate::base::{Mask, Problem, Problems};
use crate::catalogue::{Entry, Workspace};
use crate::data::secret::{NO_KEY, Vault};
use crate::module::{Config, Module, Revealed};
use crate::plan::Modules;
use crate::plan::intent::header;
use zeroize::Zeroizing;

/// The workspace with its settings and the secrets that its keys open.
pub struct Loaded {
    pub context: Context,
    pub workspace: Workspace,
    pub settings: Settings,
    pub vault: Vault,
    pub mask: Mask,
    pub modules: Modules,
}

impl Context {
    /// Opens the workspace with all that is needed to build configs.
    ///
    /// # Errors
    /// There is no workspace, or a setting of it is wrong.
    pub fn load(&self) -> Result<Loaded, Problems> {
        let root = self.root()?;
        let settings = self.settings(&root)?;
        let mask = Mask::new();
        let vault = settings.vault(&mask)?;
        let workspace = Workspace::open(&root)?;
        let modules = Modules::open(workspace.library());
        Ok(Loaded { context: self.clone(), workspace, settings, vault, mask, modules })
    }
}

/// What to do with a secret for which no key is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Closed {
    /// Show that there is no key; module code cannot run then.
    Mark,
    /// Let this text stand for the plaintext, so that module code can run; nothing of it may reach a node.
    Pretend,
}

impl Loaded {
    /// The config of one module on one node.
    ///
    /// # Errors
    /// What is wrong with the slice, and secrets that the keys do not open.
    pub fn config(&self, entry: &Entry, module: &Module, closed: Closed) -> Result<Config, Problems> {
        let mut reveal = |cipher: &_, place, path: &str| match (self.vault.has_keys(), closed) {
            (false, Closed::Mark) => Ok(Revealed::Marker(NO_KEY.to_owned())),
            (false, Closed::Pretend) => Ok(Revealed::Plaintext(Zeroizing::new(NO_KEY.to_owned()))),
            (true, _) => {
                let plaintext = self.vault.reveal(cipher, path, place)?;
                let text = plaintext.as_str().ok_or_else(|| {
                    Problem::new(format!("the secret `{path}` is no text"))
                        .at(place)
                        .expected("expected UTF-8")
                        .help("encode it, as base64 say, before it is encrypted")
                })?;
                Ok(Revealed::Plaintext(Zeroizing::new(text.to_owned())))
            }
        };
        let deployment = entry.deployment();
        let user = deployment.as_ref().and_then(|d| d.get("ssh_user")).and_then(|v| v.as_str()).unwrap_or_default();
        module.config(entry.slice(module.name()).as_ref(), &header(entry, user), &mut reveal)
    }
}
