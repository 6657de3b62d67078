//! `suil edit`.

use super::editor::Editor;
use super::private::{Private, memory};
use super::rekey::begin;
use super::{Context, Outcome};
use crate::base::problem::Kind;
use crate::base::swap::{Change, Swap};
use crate::base::{Mask, Plain, Problem, Problems, file};
use crate::catalogue::Workspace;
use crate::data::secret::Recipients;
use crate::data::upkeep::{Saved, View};
use crate::ui::text::count;
use crate::ui::{self, Exit};
use std::io::ErrorKind::NotFound;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Edit a data file with its secrets in plain text
///
/// Opens a view of the file in your editor: VISUAL, else EDITOR. Each secret stands in it as `!SECRET "…"`, or as
/// `!SECRET |` and a block of lines; change it, remove it, move it, or write new ones in the same way. What did not change
/// comes back byte for byte.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Under another tag a secret is text: `!replace \"!SECRET …\"`. The view lies in a private folder, in memory where there is \
one, and is removed when the editor ends. A file that does not exist is made.")]
pub struct Args {
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// The file that is edited.
struct Subject {
    /// As it was typed.
    shown: PathBuf,
    /// Where it really is.
    path: PathBuf,
    /// What it holds; `None` where it is to be made.
    bytes: Option<Vec<u8>>,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let root = context.root()?;
    let settings = context.settings(&root)?;
    let subject = Subject::find(&args.file, &root)?;
    let keys = settings.keys()?;
    let bytes = subject.bytes.as_deref().unwrap_or_default();
    let view = View::of(&subject.shown, bytes, keys.as_ref())?;
    let mask = Mask::new();
    view.plaintexts().for_each(|plaintext| mask.add(plaintext));
    if !view.closed().is_empty() {
        let left = |problem: &Problem| Problem { kind: Kind::Warning, ..problem.clone() };
        let all: Vec<Problem> =
            view.closed().iter().map(|p| left(p).note("it stands in the view as it stands in the file")).collect();
        ui::warn(&all, &mask);
    }
    // Asked for only where something is to be encrypted.
    let recipients = || -> Result<Recipients, Problems> {
        let workspace = Workspace::open(&root)?;
        Ok(settings.recipients(Some(&workspace))?)
    };
    let editor = Editor::find()?;
    let edited = edit(&editor, &view, &subject, &root, &recipients, &mask);
    editor.close();
    let saved = match edited? {
        Some(saved) => saved,
        None => return show(&subject, &Saved::default(), false, context),
    };
    warn_of(&saved, &subject, &mask);
    write(&subject, &saved, &root)?;
    show(&subject, &saved, true, context)
}

impl Subject {
    /// Finds the file as it was typed, from here or else from the workspace.
    fn find(shown: &Path, root: &Path) -> Result<Subject, Problem> {
        let from_root = root.join(shown);
        let path = if !shown.exists() && from_root.exists() { from_root } else { shown.to_owned() };
        let failed = |e: &std::io::Error| Problem::io("read", shown, e);
        if path.is_dir() {
            return Err(Problem::new(format!("`{}` is a folder", shown.display())).expected("expected a data file"));
        }
        match path.canonicalize() {
            Ok(path) => {
                writable(shown, &path)?;
                let bytes = Some(file::read(&path).map_err(|e| failed(&e))?);
                Ok(Subject { shown: shown.to_owned(), path, bytes })
            }
            Err(e) if e.kind() == NotFound && path.symlink_metadata().is_err() => {
                let parent = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
                let folder = parent.canonicalize().map_err(|e| Problem::io("find the folder of", shown, &e))?;
                let name = path.file_name().ok_or_else(|| failed(&e))?;
                Ok(Subject { shown: shown.to_owned(), path: folder.join(name), bytes: None })
            }
            Err(e) => Err(failed(&e)),
        }
    }
}

/// Nobody should type for an hour into what cannot be saved.
fn writable(shown: &Path, path: &Path) -> Result<(), Problem> {
    use rustix::fs::{Access, access};
    let folder = path.parent().unwrap_or(Path::new("/"));
    // Nothing is closed to root, but a file that nobody may write is meant to stay.
    if path.metadata().is_ok_and(|found| found.mode() & 0o222 == 0) {
        return Err(Problem::new(format!("`{}` is read-only", shown.display())).help("`chmod u+w` it first"));
    }
    for (what, path) in [("write", path), ("write into the folder of", folder)] {
        access(path, Access::WRITE_OK).map_err(|e| Problem::io(what, shown, &e.into()))?;
    }
    Ok(())
}

/// What the editor makes of the view; `None` where it changes nothing.
fn edit(
    editor: &Editor,
    view: &View,
    subject: &Subject,
    root: &Path,
    recipients: &dyn Fn() -> Result<Recipients, Problems>,
    mask: &Mask,
) -> Result<Option<Saved>, Problems> {
    let folder = Private::new(&root.join(".suil"))?;
    let name = subject.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let path = folder.write(&name, view.text().as_bytes())?;
    loop {
        editor.open(&path, folder.path())?;
        let bytes = file::read(&path).map(Zeroizing::new).map_err(|e| {
            let problem = Problem::new(format!("the editor `{}` left no file", editor.name()));
            problem.note(Problem::io("read", Path::new(&name), &e).what).note("nothing was written")
        })?;
        if *bytes == view.text().as_bytes() {
            return Ok(None);
        }
        let saved = match std::str::from_utf8(&bytes) {
            Ok(text) => {
                hide(text, mask);
                view.save(text, recipients)
            }
            Err(_) => Err(Problem::new(format!("`{name}` is not UTF-8")).help("save the view as UTF-8").into()),
        };
        let problems = match saved {
            Ok(saved) => return Ok(Some(saved)),
            Err(problems) => problems,
        };
        let again = "there is no terminal to edit again on: nothing was written";
        if ui::ask::possible("Edit again?", again).is_err() {
            return Err(problems
                .into_iter()
                .map(|problem| problem.note("the line is one of the view; nothing was written"))
                .collect());
        }
        ui::warn(&problems, mask);
        if !editor.confirm("Edit again? A no drops what you wrote.", again)? {
            return Err(Problem::new("nothing was written").into());
        }
    }
}

/// Lets no problem of the view repeat what may be a new secret: every text in quotes that stands behind the tag.
fn hide(text: &str, mask: &Mask) {
    for behind in text.split(crate::data::yaml::spot::OPEN).skip(1) {
        let line = behind.lines().next().unwrap_or_default().trim();
        mask.add(line);
        mask.add(line.trim_matches(['"', '\'']));
    }
}

fn warn_of(saved: &Saved, subject: &Subject, mask: &Mask) {
    let file = subject.shown.display();
    let bare = |key: &String| {
        Problem::warning(format!("what was the secret `{key}` stands in `{file}` in plain text now"))
            .help("edit again, and write it as `!SECRET \"…\"`")
    };
    ui::warn(&saved.bare.iter().map(bare).collect::<Vec<_>>(), mask);
}

/// Writes the file, unless somebody else did in the meantime. What was typed is not lost: it is left beside the file,
/// encrypted.
fn write(subject: &Subject, saved: &Saved, root: &Path) -> Result<(), Problems> {
    let written = begin(root).map_err(Problems::from).and_then(|swap| put(subject, saved, &swap));
    let Err(mut problems) = written else { return Ok(()) };
    let name = subject.path.file_name().unwrap_or_default().to_string_lossy();
    let beside = subject.path.with_file_name(format!("{name}.suil-new"));
    let inside = root.join(".suil/edit.suil-new");
    // The disk of the workspace may be full.
    let memory = memory().map(|folder| folder.join(format!("suil-kept-{}-{name}", std::process::id())));
    let kept = [beside, inside].into_iter().chain(memory).find(|path| file::write(path, &saved.bytes, 0o600).is_ok());
    if let Some(problem) = problems.first_mut() {
        let (note, help) = match kept {
            Some(path) => (
                format!("what you wrote is in `{}`, encrypted", path.display()),
                "compare the two, move yours over it, or remove it and edit again".to_owned(),
            ),
            None => ("what you wrote could not be kept".to_owned(), "make room, then edit again".to_owned()),
        };
        problem.notes.retain(|known| known.text != "nothing was written");
        problem.notes.push(crate::base::Note { text: note, place: None });
        problem.help = Some(help);
    }
    Err(problems)
}

fn put(subject: &Subject, saved: &Saved, swap: &Swap) -> Result<(), Problems> {
    let Some(old) = &subject.bytes else {
        // The name is taken, or made, in one step.
        let made = file::make(&subject.path, &saved.bytes, 0o644);
        return made.map_err(|e| {
            let problem = Problem::io("make", &subject.shown, &e);
            let taken = e.kind() == std::io::ErrorKind::AlreadyExists;
            if taken { problem.kind(Kind::Refused).into() } else { problem.into() }
        });
    };
    swap.write(&[Change {
        shown: subject.shown.clone(),
        path: subject.path.clone(),
        old: old.clone(),
        new: saved.bytes.clone(),
    }])
}

fn show(subject: &Subject, saved: &Saved, written: bool, context: &Context) -> Outcome {
    let file = subject.shown.display().to_string();
    let kinds = [("changed", &saved.changed), ("added", &saved.added), ("removed", &saved.removed)];
    let text = || {
        let mut parts: Vec<String> = Vec::new();
        for (did, keys) in kinds.iter().filter(|(_, keys)| !keys.is_empty()) {
            let what = if parts.is_empty() { count(keys.len(), "secret") } else { keys.len().to_string() };
            parts.push(format!("{what} {did}"));
        }
        match (written, parts.is_empty()) {
            (false, _) => format!("nothing changed in {file}\n"),
            (true, true) => format!("wrote {file}, no secret changed\n"),
            (true, false) => format!("{} in {file}\n", parts.join(", ")),
        }
    };
    let value = || {
        let head = [("file", Plain::from(&file)), ("written", Plain::from(written))];
        let keys = kinds.iter().map(|(did, keys)| (*did, keys.iter().map(Plain::from).collect::<Plain>()));
        Plain::from_iter(head.into_iter().chain(keys))
    };
    ui::show(context.output, text, value)?;
    Ok(Exit::Done)
}
