//! `suil init`: a small workspace that works as it stands, with comments that teach.

use super::{Context, Outcome};
use crate::base::{Plain, Problem, shell};
use crate::ui::{self, Exit};
use std::fs;
use std::path::{Path, PathBuf};

/// Make a small workspace to start from
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The folder to make; it may exist, but not as a workspace
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Path and text of each file. They are files of this repository, so that they can be read and tested as such.
const FILES: [(&str, &str); 8] = [
    (".gitignore", include_str!("init/gitignore")),
    ("data/common.yaml", include_str!("init/common.yaml")),
    ("data/roles/example.yaml", include_str!("init/role.yaml")),
    ("data/nodes/here.yaml", include_str!("init/node.yaml")),
    ("modules/greeting/code/config.star", include_str!("init/config.star")),
    ("modules/greeting/code/main.star", include_str!("init/main.star")),
    ("modules/greeting/templates/greeting.txt.j2", include_str!("init/greeting.txt.j2")),
    ("modules/greeting/tests/greeting.yaml", include_str!("init/test.yaml")),
];

/// The one file that a folder may have before it is a workspace.
const IGNORED: &str = ".gitignore";

pub fn run(args: Args, context: &Context) -> Outcome {
    let root = &args.folder;
    if root.join("data/common.yaml").symlink_metadata().is_ok() {
        let what = format!("`{}` is a workspace already: it has data/common.yaml", root.display());
        return Err(Problem::new(what).help("choose another folder").into());
    }
    // Nothing is overwritten: all files are looked for before the first is written.
    let taken: Vec<Problem> = FILES
        .iter()
        .filter(|(path, _)| *path != IGNORED && root.join(path).symlink_metadata().is_ok())
        .map(|(path, _)| Problem::new(format!("`{}` is already there", root.join(path).display())))
        .collect();
    if !taken.is_empty() {
        return Err(taken);
    }
    let files: Vec<_> =
        FILES.iter().filter(|(path, _)| *path != IGNORED || root.join(path).symlink_metadata().is_err()).collect();
    let mut text = format!("made a workspace in {}:\n", root.display());
    for (path, content) in &files {
        write(&root.join(path), content)?;
        text.push_str(&format!("  {path}\n"));
    }
    let folder = shell::quote(&root.to_string_lossy());
    text.push_str(&format!("next: cd {folder} && suil apply --role example --dry-run\n"));
    let value = || {
        let files = files.iter().map(|(path, _)| Plain::from(*path)).collect();
        Plain::from_iter([("folder", Plain::from(root.display().to_string())), ("files", files)])
    };
    ui::show(context.output, || text, value)?;
    Ok(Exit::Done)
}

fn write(path: &Path, text: &str) -> Result<(), Problem> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|e| Problem::io("make folder", folder, &e))?;
    }
    crate::base::file::write(path, text.as_bytes(), 0o644)
}
