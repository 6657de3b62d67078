//! The keys of envelopes: where the command line and the environment say they are.

use crate::base::{Problem, Problems, file};
use crate::cli::settings::variable;
use crate::cli::{Context, Settings};
use crate::infra::envelope::{Keys, Public};
use crate::ui;
use std::path::Path;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The setting that lists private keys. The name is that of the original.
pub const PRIVATE: &str = "STACKS_PRIVATE_KEY_PATH";

/// The setting for the public key; the original has none.
pub const PUBLIC: &str = "STACKS_PUBLIC_KEY_PATH";

/// The settings of the workspace where there is one: a tree of layers may stand alone.
pub fn settings(context: &Context) -> Result<Settings, Problems> {
    match (context.root(), &context.workspace) {
        (Ok(root), _) => context.settings(&root),
        (Err(problems), Some(_)) => Err(problems),
        (Err(_), None) => Ok(Settings::environment()),
    }
}

/// The private keys of `list`, else those of [`PRIVATE`]. Paths start at the current folder. Nothing is read or asked
/// for before an envelope needs it.
pub fn private(context: &Context, list: Option<&str>) -> Result<Keys, Problems> {
    let settings = Arc::new(settings(context)?);
    let list = list.map(str::to_owned).or_else(|| variable(PRIVATE)).unwrap_or_default();
    let age = settings.clone();
    let keys = Keys::read(&list, Path::new(""), move |shown| passphrase(&settings, shown));
    Ok(keys.with_age(move || age.keys()))
}

fn passphrase(settings: &Settings, shown: &str) -> Result<Zeroizing<String>, Problem> {
    if let Some(passphrase) = &settings.key_passphrase {
        return Ok(passphrase.clone());
    }
    let question = format!("Passphrase of {shown}");
    ui::ask::hidden(&question, "set SUIL_KEY_PASSPHRASE").map_err(|problem| {
        Problem::new(format!("the private key `{shown}` is encrypted, and there is no passphrase for it"))
            .note(problem.what)
            .help("set SUIL_KEY_PASSPHRASE")
    })
}

/// The public key at `path`, else at [`PUBLIC`].
pub fn public(path: Option<&str>) -> Result<Public, Problem> {
    let Some(path) = path.map(str::to_owned).or_else(|| variable(PUBLIC)) else {
        return Err(Problem::usage("there is no public key to encrypt for")
            .help(format!("name its file with `--public-key-path FILE`, or in {PUBLIC}")));
    };
    let text = file::read_text(path.as_ref()).map_err(|e| Problem::io("read the public key", path.as_ref(), &e))?;
    Public::read(&text, &path)
}
