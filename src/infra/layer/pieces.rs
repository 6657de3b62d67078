//! What an output folder is made of, under the names it gets there.

use super::levels::Origin;
use super::sources::Kind;
use super::{Layer, Run};
use crate::base::{FileId, Problem, Problems, Result};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What stands at the top of the output folder, by name.
pub type Pieces = BTreeMap<OsString, Piece>;

/// One name of the output folder.
#[derive(Debug)]
pub enum Piece {
    /// A text that is not rendered yet.
    Template(FileId),
    /// A text as it is written. `source` is the template that it was.
    Text { text: String, mode: u32, source: Option<FileId> },
    /// A file that is copied as it stands, its mode too.
    File(PathBuf),
    /// A folder that is copied with all it holds, links followed.
    Folder(PathBuf),
}

/// Collects the pieces of a layer: templates and code of all stacks, of the stack, its base, the layer.
///
/// # Errors
/// The stack has no base, or a file cannot be read; all of them together.
pub fn collect(run: &Run, layer: &Layer) -> Result<Pieces> {
    let mut pieces = Pieces::new();
    let mut problems = Problems::new();
    let base = layer.stack.join(&run.options.base);
    if !run.sources.is_folder(&base) {
        let shown = layer.shown(&base);
        let problem = Problem::new(format!("stack `{}` has no folder `{shown}`", layer.stack_name()));
        return Err(problem.help(format!("make `{shown}`; the Terraform code of all its layers goes there")).into());
    }
    let template = |name: &str| name.ends_with(".tfvars.jinja");
    let code = |name: &str| name.ends_with(".tf");
    // In this order: a later one takes the name of an earlier one.
    let groups = [
        named(run, &Origin::Common.folder(run, layer), "common_", |name| template(name) || code(name)),
        named(run, &Origin::Stack.folder(run, layer), "stack_", template),
        own(run, layer, &base),
        named(run, &base, "base_", code),
        named(run, &Origin::Layer.folder(run, layer), "layer_", template),
    ];
    for group in groups {
        match group {
            Ok(group) => pieces.extend(group),
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() { Ok(pieces) } else { Err(problems) }
}

/// The templates of a folder whose names are taken, under names with a prefix.
fn named(run: &Run, folder: &Path, prefix: &str, takes: impl Fn(&str) -> bool) -> Result<Pieces> {
    let mut pieces = Pieces::new();
    let mut problems = Problems::new();
    for item in run.sources.folder(folder)?.iter().filter(|item| item.kind == Kind::File && takes(item.text())) {
        match run.sources.text(&folder.join(&item.name)) {
            Ok(file) => {
                pieces.insert(format!("{prefix}{}", item.text()).into(), Piece::Template(file));
            }
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() { Ok(pieces) } else { Err(problems) }
}

/// What base brings under its own names: everything but its code.
fn own(run: &Run, layer: &Layer, base: &Path) -> Result<Pieces> {
    let mut pieces = Pieces::new();
    let mut problems = Problems::new();
    for item in run.sources.folder(base)?.iter() {
        let path = base.join(&item.name);
        let name = item.text();
        match item.kind {
            Kind::Folder => {
                pieces.insert(item.name.clone(), Piece::Folder(path));
            }
            Kind::File if name.ends_with(".tf") => {}
            Kind::File if name.ends_with(".tfvars.jinja") && !name.starts_with('.') => match run.sources.text(&path) {
                Ok(file) => {
                    pieces.insert(item.name.clone(), Piece::Template(file));
                }
                Err(found) => problems.extend(found),
            },
            Kind::File => {
                pieces.insert(item.name.clone(), Piece::File(path));
            }
            Kind::Dangling => {
                problems.push(Problem::new(format!("`{}` is a link to nothing", layer.shown(&path))));
            }
            Kind::Other => {}
        }
    }
    if problems.is_empty() { Ok(pieces) } else { Err(problems) }
}
