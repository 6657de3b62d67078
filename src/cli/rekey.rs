//! `suil rekey`.

use super::{Context, Outcome};
use crate::base::swap::{Change, swap};
use crate::base::{Plain, Problem, Problems, file, problem};
use crate::catalogue::Workspace;
use crate::data::upkeep::Opened;
use crate::ui::text::count;
use crate::ui::{self, Exit};
use std::path::PathBuf;

/// Encrypt every secret of the workspace again, for the present recipients
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Only say what would be written
    #[arg(long)]
    dry_run: bool,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let root = context.root()?;
    let settings = context.settings(&root)?;
    let workspace = Workspace::open(&root)?;
    let recipients = settings.recipients(Some(&workspace))?;
    let keys = settings.keys()?.ok_or_else(no_key)?;
    let mut opened = Vec::new();
    let mut problems = Problems::new();
    for source in workspace.sources()? {
        let old = match file::read(&source.path) {
            Ok(bytes) => bytes,
            Err(error) => {
                problems.push(Problem::io("read", &source.shown, &error));
                continue;
            }
        };
        // A file that nothing reads may be of any kind, unless it mentions a secret.
        if !source.read && !old.windows(5).any(|five| five == b"!ENC[") {
            continue;
        }
        match Opened::read(&source.shown, &old, &keys) {
            Ok(secrets) if secrets.count() > 0 => opened.push((source, old, secrets)),
            Ok(_) => {}
            Err(more) => problems.extend(more),
        }
    }
    if !problems.is_empty() {
        problem::sort(&mut problems);
        return Err(problems);
    }
    let mut changes = Vec::new();
    let mut files: Vec<(PathBuf, usize)> = Vec::new();
    for (source, old, secrets) in opened {
        files.push((source.shown.clone(), secrets.count()));
        let new = secrets.seal(&source.shown, &recipients)?;
        let path = source.path.canonicalize().map_err(|e| Problem::io("find", &source.shown, &e))?;
        changes.push(Change { shown: source.shown, path, old, new });
    }
    if !args.dry_run {
        swap(&changes)?;
    }
    let all: usize = files.iter().map(|(_, count)| count).sum();
    let names = recipients.names();
    let text = || {
        let mut out = String::new();
        for (path, secrets) in &files {
            out.push_str(&format!("{}: {}\n", path.display(), count(*secrets, "secret")));
        }
        let did = if args.dry_run { "would be encrypted again" } else { "encrypted again" };
        let whom = count(names.len(), "recipient");
        out + &format!("{} in {} {did} for {whom}\n", count(all, "secret"), count(files.len(), "file"))
    };
    let value = || {
        let file = |(path, secrets): &(PathBuf, usize)| {
            Plain::from_iter([
                ("file", Plain::from(path.display().to_string())),
                ("secrets", Plain::Int(*secrets as i64)),
            ])
        };
        Plain::from_iter([
            ("version", Plain::Int(1)),
            ("dry_run", Plain::from(args.dry_run)),
            ("recipients", names.iter().map(Plain::from).collect()),
            ("files", files.iter().map(file).collect()),
            ("secrets", Plain::Int(all as i64)),
        ])
    };
    ui::show(context.output, text, value)?;
    Ok(Exit::Done)
}

pub(super) fn no_key() -> Problem {
    Problem::new("there is no key to open the secrets with").help("set SUIL_AGE_KEY or SUIL_AGE_KEY_FILE")
}
