//! `suil infra diff`.

use super::{begin, options, select};
use crate::base::problem::Kind;
use crate::base::{Mask, Plain, Problems};
use crate::cli::{Context, Outcome};
use crate::data::tree::Repository;
use crate::infra::compare::{Both, Change, Compared};
use crate::ui::{self, Exit, Paint};
use std::sync::Arc;

/// What the command ends with where something differs, as diff(1) does.
const DIFFERENT: Exit = Exit::Failed;
/// What it ends with where a side could not be rendered.
const TROUBLE: Exit = Exit::Other(2);

/// Show what a change does to the output folders of layers
///
/// Renders the working tree and a revision of git, both in memory, and compares them file by file. The working tree is
/// only read. Secrets show as digests.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples: suil infra diff, suil infra diff --all --ref main, suil infra diff 'stacks/*/layers/prod*'
Ends as diff(1) does: with 0 where nothing differs, 1 where something does, 2 where a side cannot be rendered.")]
pub struct Args {
    /// Compare these layers: folders, or patterns of folders [default: the one here]
    #[arg(value_name = "LAYER")]
    layers: Vec<String>,
    /// Compare every layer that either side has
    #[arg(long, conflicts_with = "layers")]
    all: bool,
    /// Compare with this revision; `REV...` is where the branch of the working tree left REV
    #[arg(long = "ref", value_name = "REV", default_value = "HEAD")]
    revision: String,
    /// Let templates read files outside the tree
    #[arg(long)]
    allow_outside: bool,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let mask = Mask::new();
    match compare(&args, context, &mask) {
        Ok(exit) => Ok(exit),
        Err(problems) => Ok(match ui::fail(&problems, &mask) {
            Exit::Failed => TROUBLE,
            exit => exit,
        }),
    }
}

fn compare(args: &Args, context: &Context, mask: &Mask) -> Outcome {
    let options = options::read(args.allow_outside)?;
    let here = options::here()?;
    let root = select::root_of(&args.layers, args.all, &here, &options)?;
    let folders = [&options.environments, &options.stacks].map(|folder| format!("{}/", folder.display()));
    let revision = Repository::find(&root)?.reading(folders.to_vec()).revision(&args.revision)?;
    let (name, commit) = (revision.name().to_owned(), revision.commit().to_owned());
    let after = Arc::new(begin::run(context, &root, options, mask)?.lenient());
    let before = after.of_revision(Arc::new(revision));
    let paths = select::either(&args.layers, args.all, &here, &after, &before)?;
    let both = Both { revision: name, before: Arc::new(before), after, mask: mask.clone() };
    let (mut compared, mut warnings, mut problems) = (Vec::new(), Problems::new(), Problems::new());
    for result in both.compare(&paths) {
        match result {
            Ok(mut found) => {
                warnings.append(&mut found.warnings);
                compared.push(found);
            }
            Err(found) => problems.extend(found.into_iter().filter(|problem| problem.kind != Kind::Warning)),
        }
    }
    warnings.extend(both.closed());
    let failed = paths.len() - compared.len();
    let text = || ui::layers::render(&compared, failed, &both.revision, &both.after.options.output, Paint::ON);
    let value = || value(&compared, &both.revision, &commit);
    ui::show(context.output, text, value)?;
    ui::warn(&warnings, mask);
    if !problems.is_empty() {
        ui::fail(&problems, mask);
        return Ok(TROUBLE);
    }
    let same = compared.iter().all(|layer| layer.word() == "same");
    Ok(if same { Exit::Done } else { DIFFERENT })
}

/// `{from: {revision, commit}, layers: [{layer, change, files: [{file, change, secret, binary, mode, diff}]}]}`; layers
/// that are the same on both sides are there, too.
fn value(compared: &[Compared], revision: &str, commit: &str) -> Plain {
    let layer = |found: &Compared| {
        Plain::from_iter([
            ("layer", Plain::from(&found.layer)),
            ("change", Plain::from(found.word())),
            ("files", found.files.iter().map(file).collect()),
        ])
    };
    let from = Plain::from_iter([("revision", Plain::from(revision)), ("commit", Plain::from(commit))]);
    Plain::from_iter([("from", from), ("layers", compared.iter().map(layer).collect())])
}

fn file(change: &Change) -> Plain {
    let executable = |side: Option<bool>| Plain::from(side);
    let mode = Plain::from_iter([
        ("before", executable(change.before.as_ref().map(|side| side.executable))),
        ("after", executable(change.after.as_ref().map(|side| side.executable))),
    ]);
    let diff = change.unified();
    Plain::from_iter([
        ("file", Plain::from(change.path.display().to_string())),
        ("change", Plain::from(change.word())),
        ("secret", Plain::from(change.secret)),
        ("binary", Plain::from(diff.is_none())),
        ("executable", mode),
        ("diff", Plain::from(diff)),
    ])
}
