//! `suil infra rekey`.

use super::keys;
use crate::base::problem::{self, Kind};
use crate::base::swap::Change;
use crate::base::{Plain, Problem, Problems, file};
use crate::cli::rekey::begin;
use crate::cli::settings::variable;
use crate::cli::{Context, Outcome};
use crate::infra::envelope::{Keys, Opened, Public};
use crate::ui::text::count;
use crate::ui::{self, Exit};
use std::fs;
use std::path::{Path, PathBuf};

/// Encrypt all secrets of layers again, for another public key
#[derive(clap::Args, Debug)]
#[command(after_help = "\
All secrets or none: nothing is written where one of them cannot be opened. Every byte that is no envelope stays as it
is. The private keys are those of --private-key-path, else of STACKS_PRIVATE_KEY_PATH; the public one of
--public-key-path, else of STACKS_PUBLIC_KEY_PATH. Output folders, hidden folders and links are left out. Who had the old
key could read the secrets: change those themselves, too.")]
pub struct Args {
    /// Rekey the *.tfvars and *.tfvars.jinja below this folder, the root of the tree
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// Encrypt for this public key
    #[arg(long, value_name = "FILE")]
    public_key_path: Option<String>,
    /// Open with these private keys, with commas between them
    #[arg(long, value_name = "FILES")]
    private_key_path: Option<String>,
    /// Only say what would be written
    #[arg(long)]
    dry_run: bool,
    /// Go on where no private key at hand fits the public one
    #[arg(long)]
    force: bool,
}

/// A file with secrets, opened.
struct File {
    shown: PathBuf,
    path: PathBuf,
    bytes: Vec<u8>,
    opened: Opened,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let public = keys::public(args.public_key_path.as_deref())?;
    let keys = keys::private(context, args.private_key_path.as_deref())?;
    if !args.folder.is_dir() {
        return Err(Problem::usage(format!("`{}` is no folder", args.folder.display())).into());
    }
    // What an earlier one left is settled before anything is read.
    let swap = if args.dry_run { None } else { Some(begin(&args.folder)?) };
    if !args.force {
        still_mine(&keys, &public)?;
    }
    let files = open(&args.folder, &keys)?;
    if let Some(swap) = swap {
        swap.write(&changes(&files, &public)?)?;
    }
    show(args.dry_run, &files, &public, context)?;
    Ok(Exit::Done)
}

/// One of the private keys at hand fits the public key: otherwise this would be the last rekey from here.
fn still_mine(keys: &Keys, public: &Public) -> Result<(), Problem> {
    match keys.fits(public)? {
        true => Ok(()),
        false => Err(Problem::new("you would lock yourself out: none of your private keys fits the public key")
            .kind(Kind::Refused)
            .note(format!("the public key is {}", public.fingerprint()))
            .help("list the new private key, too, behind the old one, or go on with `--force`")),
    }
}

/// Opens every envelope of the tree.
fn open(folder: &Path, keys: &Keys) -> Result<Vec<File>, Problems> {
    let mut paths = Vec::new();
    let mut problems = Problems::new();
    find(folder, &output(), &mut paths, &mut problems);
    let mut files = Vec::new();
    for path in paths {
        let shown = path.strip_prefix(".").unwrap_or(&path).to_path_buf();
        let text = match file::read_text(&path) {
            Ok(text) => text,
            Err(error) => {
                problems.push(Problem::io("read", &shown, &error));
                continue;
            }
        };
        if !text.contains("ENC[") {
            continue;
        }
        let bytes = text.clone().into_bytes();
        match Opened::read(&shown, text, keys) {
            Ok(opened) if opened.count() > 0 => files.push(File { shown, path, bytes, opened }),
            Ok(_) => {}
            Err(more) => problems.extend(more),
        }
    }
    problem::sort(&mut problems);
    if problems.is_empty() { Ok(files) } else { Err(problems) }
}

/// What an output folder is called.
fn output() -> String {
    let set = variable("STACKS_OUTPUT_DIR");
    let name = set.as_deref().and_then(|set| Path::new(set).file_name()?.to_str());
    name.unwrap_or("stacks.out").to_owned()
}

/// The files of variables and their templates below `folder`, in the order of their names.
fn find(folder: &Path, output: &str, paths: &mut Vec<PathBuf>, problems: &mut Problems) {
    let entries = fs::read_dir(folder).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
    let mut entries = match entries {
        Ok(entries) => entries,
        Err(error) => {
            problems.push(Problem::io("read folder", folder, &error));
            return;
        }
    };
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
        let name = name.to_string_lossy();
        if kind.is_dir() && !name.starts_with('.') && name != output {
            find(&entry.path(), output, paths, problems);
        } else if kind.is_file() && (name.ends_with(".tfvars") || name.ends_with(".tfvars.jinja")) {
            paths.push(entry.path());
        }
    }
}

fn changes(files: &[File], public: &Public) -> Result<Vec<Change>, Problem> {
    let change = |file: &File| {
        Ok(Change {
            shown: file.shown.clone(),
            path: file.path.clone(),
            old: file.bytes.clone(),
            new: file.opened.seal(&file.shown, public)?.into_bytes(),
        })
    };
    files.iter().map(change).collect()
}

fn show(dry_run: bool, files: &[File], public: &Public, context: &Context) -> Result<(), Problem> {
    let all: usize = files.iter().map(|file| file.opened.count()).sum();
    let text = || {
        let line = |file: &File| format!("{}: {}\n", file.shown.display(), count(file.opened.count(), "secret"));
        let did = if dry_run { "would be encrypted again" } else { "encrypted again" };
        let (secrets, of) = (count(all, "secret"), count(files.len(), "file"));
        let whom = public.fingerprint();
        files.iter().map(line).collect::<String>() + &format!("{secrets} in {of} {did} for {whom}\n")
    };
    let value = || {
        let file = |file: &File| {
            let path = Plain::from(file.shown.display().to_string());
            Plain::from_iter([("file", path), ("secrets", Plain::Int(file.opened.count() as i64))])
        };
        Plain::from_iter([
            ("dry_run", Plain::from(dry_run)),
            ("fingerprint", Plain::from(public.fingerprint())),
            ("files", files.iter().map(file).collect()),
            ("secrets", Plain::Int(all as i64)),
        ])
    };
    ui::show(context.output, text, value)
}
