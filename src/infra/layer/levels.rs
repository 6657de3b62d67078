//! The levels of variables, from the weakest to the strongest.

use super::sources::Kind;
use super::variables::Variables;
use super::{Layer, Run};
use crate::base::{FileId, Problems, Result};
use crate::infra::hcl::{self, Attribute};
use std::path::PathBuf;
use std::sync::Arc;

/// Where the templates of a level come from; the prefix of their names in the output folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    Common,
    Stack,
    Layer,
}

impl Origin {
    pub const ALL: [Origin; 3] = [Origin::Common, Origin::Stack, Origin::Layer];

    pub fn prefix(self) -> &'static str {
        match self {
            Origin::Common => "common_",
            Origin::Stack => "stack_",
            Origin::Layer => "layer_",
        }
    }

    /// The folder that its files stand in.
    pub fn folder(self, run: &Run, layer: &Layer) -> PathBuf {
        match self {
            Origin::Common => layer.root.join(&run.options.stacks),
            Origin::Stack => layer.stack.clone(),
            Origin::Layer => layer.path.clone(),
        }
    }
}

/// The variables of the plain files of all levels, merged and not yet opened.
///
/// # Errors
/// Every file that cannot be read.
pub fn plain(run: &Run, layer: &Layer) -> Result<Variables> {
    merged(run, layer, |_| Vec::new())
}

/// The variables of all levels: after the plain files of an origin, what its rendered templates say.
///
/// # Errors
/// Every file that cannot be read.
pub fn merged(run: &Run, layer: &Layer, templates: impl Fn(Origin) -> Vec<FileId>) -> Result<Variables> {
    let settings = run.sources.settings()?;
    let mut variables = Variables::new(settings.markers);
    let mut problems = Problems::new();
    let mut meet = |found: Result<Arc<Vec<Attribute>>>| match found {
        Ok(attributes) => variables.meet(&attributes),
        Err(more) => problems.extend(more),
    };
    for (files, origin) in groups(run, layer) {
        match files {
            Ok(files) => files.iter().for_each(|path| meet(run.sources.variables(path))),
            Err(more) => meet(Err(more)),
        }
        for file in origin.map(&templates).unwrap_or_default() {
            meet(hcl::variables_as(file, settings.reading).map(Arc::new).map_err(rendered));
        }
    }
    if problems.is_empty() { Ok(variables) } else { Err(problems) }
}

/// The plain files of a level, and where its templates come from.
type Group = (Result<Vec<PathBuf>>, Option<Origin>);

/// The plain files of every level, from the weakest to the strongest.
pub fn groups(run: &Run, layer: &Layer) -> Vec<Group> {
    let environment = layer.environment(&run.options).join("env.tfvars");
    let first = if run.sources.is_file(&environment) { vec![environment] } else { Vec::new() };
    let below = layer.subenvironment(&run.options).map(|folder| (folder, None));
    let folders = Origin::ALL.map(|origin| (origin.folder(run, layer), Some(origin)));
    let named = |(folder, origin): (PathBuf, Option<Origin>)| {
        let files = run.sources.folder(&folder).map(|items| {
            let plain = items.iter().filter(|item| item.kind == Kind::File && is_plain(item.text()));
            plain.map(|item| folder.join(&item.name)).collect()
        });
        (files, origin)
    };
    std::iter::once((Ok(first), None)).chain(below.into_iter().chain(folders).map(named)).collect()
}

/// What is wrong in the result of a template stands at a line of the result.
fn rendered(problems: Problems) -> Problems {
    problems.into_iter().map(|problem| problem.note("the line is one of what the template renders to")).collect()
}

/// A file of variables by its name: `*.tfvars`, not hidden.
pub fn is_plain(name: &str) -> bool {
    name.ends_with(".tfvars") && !name.starts_with('.')
}
