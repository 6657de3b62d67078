//! `suil rekey`.

use super::{Context, Outcome, Settings};
use crate::base::problem::{self, Kind};
use crate::base::swap::{Change, Left, Swap};
use crate::base::{Mask, Plain, Problem, Problems};
use crate::catalogue::{Source, Workspace};
use crate::data::secret::{Keys, Recipients};
use crate::data::upkeep::Opened;
use crate::ui::text::count;
use crate::ui::{self, Exit};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Encrypt all secrets again, for the present recipients
#[derive(clap::Args, Debug)]
#[command(after_help = "\
All secrets or none: nothing is written where one of them cannot be opened. Every byte that is no ciphertext stays as it \
is. Who was taken off the recipients can still read what they could read before: change those secrets themselves, too.")]
pub struct Args {
    /// Only say what would be written
    #[arg(long)]
    dry_run: bool,
    /// Go on where your own key will not open the secrets any more, or where a link leads out of the workspace
    #[arg(long)]
    force: bool,
}

/// A file with secrets, opened.
struct File {
    source: Source,
    bytes: Vec<u8>,
    opened: Opened,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let root = context.root()?;
    let settings = context.settings(&root)?;
    // What an earlier one left is settled before anything is read.
    let swap = if args.dry_run { None } else { Some(begin(&root)?) };
    let workspace = Workspace::open(&root)?;
    let recipients = settings.recipients(Some(&workspace))?;
    let keys = keys(&settings)?;
    if !args.force {
        still_mine(&keys, &recipients)?;
    }
    let files = open(&workspace, &keys)?;
    if !args.force {
        inside(&root, &files)?;
    }
    if let Some(swap) = swap {
        ui::warn(&other_names(&files), &Mask::new());
        swap.write(&changes(&files, &recipients)?)?;
    }
    show(args.dry_run, &files, &recipients, context)?;
    Ok(Exit::Done)
}

/// Takes the right to write secrets, and says what an earlier process left.
pub(super) fn begin(root: &Path) -> Result<Swap, Problem> {
    let (swap, left) = Swap::begin(&root.join(".suil"))?;
    let what = match left {
        Left::Nothing => return Ok(swap),
        Left::Finished(files) => format!("finished a rekey or edit that was cut off: {} written", count(files, "file")),
        Left::TakenBack => "took back a rekey or edit that was cut off: nothing of it is left".to_owned(),
    };
    ui::warn(&[Problem::warning(what)], &Mask::new());
    Ok(swap)
}

pub(super) fn keys(settings: &Settings) -> Result<Keys, Problem> {
    settings.keys()?.ok_or_else(|| {
        Problem::new("there is no key to open the secrets with").help("set SUIL_AGE_KEY or SUIL_AGE_KEY_FILE")
    })
}

/// One of the keys at hand is a recipient: otherwise this would be the last rekey from here.
fn still_mine(keys: &Keys, recipients: &Recipients) -> Result<(), Problem> {
    let (mine, all) = (keys.recipients().names(), recipients.names());
    if mine.iter().any(|name| all.contains(name)) {
        return Ok(());
    }
    Err(Problem::new("you would lock yourself out: none of your keys is among the recipients")
        .kind(Kind::Refused)
        .note(format!("your keys are those of {}", mine.join(", ")))
        .help("add one of them to `recipients` in data/common.yaml, or go on with `--force`"))
}

/// Opens every secret of every data file.
fn open(workspace: &Workspace, keys: &Keys) -> Result<Vec<File>, Problems> {
    let mut files = Vec::new();
    let mut problems = Problems::new();
    for (source, bytes) in workspace.secret_sources(&mut problems)? {
        match Opened::read(&source.shown, &bytes, keys) {
            Ok(opened) if opened.count() > 0 => files.push(File { source, bytes, opened }),
            Ok(_) => {}
            Err(more) => problems.extend(more),
        }
    }
    problem::sort(&mut problems);
    if problems.is_empty() { Ok(files) } else { Err(problems) }
}

/// No file is reached through a link that leaves the workspace: who else reads it has other recipients, maybe.
fn inside(root: &Path, files: &[File]) -> Result<(), Problems> {
    let root = root.canonicalize().map_err(|e| Problem::io("find", root, &e))?;
    let outside = files.iter().filter(|file| !file.source.path.starts_with(&root));
    let problem = |file: &File| {
        Problem::new(format!("`{}` is outside of the workspace", file.source.shown.display()))
            .kind(Kind::Refused)
            .note(format!("a symbolic link leads to {}", file.source.path.display()))
            .help("rekey it where it is at home, or go on with `--force`")
    };
    let problems: Problems = outside.map(problem).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// A warning for each file that has another name: that one keeps the old content.
fn other_names(files: &[File]) -> Problems {
    let linked = |file: &&File| file.source.path.metadata().is_ok_and(|found| found.nlink() > 1);
    let warning = |file: &File| {
        Problem::warning(format!("`{}` has another name on the disk, which keeps the old secrets", shown(file)))
            .note("a file that is written anew parts from its hard links")
    };
    files.iter().filter(linked).map(warning).collect()
}

fn shown(file: &File) -> String {
    file.source.shown.display().to_string()
}

fn changes(files: &[File], recipients: &Recipients) -> Result<Vec<Change>, Problem> {
    let change = |file: &File| {
        Ok(Change {
            shown: file.source.shown.clone(),
            path: file.source.path.clone(),
            old: file.bytes.clone(),
            new: file.opened.seal(&file.source.shown, recipients)?,
        })
    };
    files.iter().map(change).collect()
}

fn show(dry_run: bool, files: &[File], recipients: &Recipients, context: &Context) -> Result<(), Problem> {
    let names = recipients.names();
    let all: usize = files.iter().map(|file| file.opened.count()).sum();
    let text = || {
        let line = |file: &File| format!("{}: {}\n", shown(file), count(file.opened.count(), "secret"));
        let did = if dry_run { "would be encrypted again" } else { "encrypted again" };
        let (secrets, of, whom) = (count(all, "secret"), count(files.len(), "file"), count(names.len(), "recipient"));
        files.iter().map(line).collect::<String>() + &format!("{secrets} in {of} {did} for {whom}\n")
    };
    let value = || {
        let file = |file: &File| {
            Plain::from_iter([("file", Plain::from(shown(file))), ("secrets", Plain::Int(file.opened.count() as i64))])
        };
        Plain::from_iter([
            ("dry_run", Plain::from(dry_run)),
            ("recipients", names.iter().map(Plain::from).collect()),
            ("files", files.iter().map(file).collect()),
            ("secrets", Plain::Int(all as i64)),
        ])
    };
    ui::show(context.output, text, value)
}
