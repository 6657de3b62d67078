//! `suil infra versions`.

use super::tree;
use crate::base::{Mask, Plain, Problem};
use crate::cli::settings::variable;
use crate::cli::{Context, Outcome};
use crate::data::tree::{Names, names};
use crate::infra::versions::{self, Lists, Registries, Standing};
use crate::ui::{self, Exit, Paint};
use std::path::Path;

/// List the modules from elsewhere, and how far each is behind
///
/// Asks each git repository for its tags and branches, and each registry for the versions that it has. Nothing is fetched, and no
/// version is changed.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples: suil infra versions, suil infra versions --detailed-exitcode --output json
The token of a registry stands in TF_TOKEN_<host>, with `_` for each `.` of it and `__` for each `-`.")]
pub struct Args {
    /// Exit 2 where a module is behind
    #[arg(long)]
    detailed_exitcode: bool,
    /// Do not ask registries
    #[arg(long)]
    no_registry: bool,
    #[command(flatten)]
    tree: tree::Where,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let (tree, _) = tree::open(&args.tree, None, context)?;
    let asked = Asked::new(&tree.root, !args.no_registry);
    let (lags, problems) = versions::lags(&tree.graph, &asked);
    let text = || ui::versions::render(&lags, ui::columns(), Paint::ON);
    let value = || Plain::from_iter([("modules", lags.iter().map(ui::versions::value).collect::<Plain>())]);
    ui::show(context.output, text, value)?;
    if !problems.is_empty() {
        return Ok(ui::fail(&problems, &Mask::new()));
    }
    let behind = lags.iter().any(|lag| lag.standing == Standing::Behind);
    Ok(if behind && args.detailed_exitcode { Exit::Differences } else { Exit::Done })
}

/// The token for a host, as Terraform is given it.
fn token(host: &str) -> Option<String> {
    let name = host.split(':').next().unwrap_or_default().replace('-', "__").replace('.', "_");
    variable(&format!("TF_TOKEN_{name}")).filter(|token| !token.is_empty())
}

/// Asks git and registries.
pub struct Asked<'a> {
    root: &'a Path,
    registries: Option<Registries<'a>>,
}

impl<'a> Asked<'a> {
    /// Git from the folder `root`; and `registries`, if those are to be asked.
    pub fn new(root: &'a Path, registries: bool) -> Asked<'a> {
        Asked { root, registries: registries.then(|| Registries::new(&token)) }
    }
}

impl Lists for Asked<'_> {
    fn names(&self, address: &str) -> Result<Names, Problem> {
        names(self.root, address)
    }

    fn versions(&self, source: &str) -> Result<Option<Vec<String>>, Problem> {
        self.registries.as_ref().map(|registries| registries.versions(source)).transpose()
    }
}
