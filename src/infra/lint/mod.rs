//! What of a tree the original would have made something else of, or what is not what its author may think.
//!
//! Enters: a run and folders of layers. Leaves: findings, at the lines that they are about. Nothing is written, and no
//! envelope has to be opened.

mod files;
mod lists;
mod rule;
mod templates;
mod tree;

pub use rule::Rule;

use crate::base::problem::Kind;
use crate::base::{Place, Problem, Problems};
use crate::infra::Value;
use crate::infra::layer::{self, Layer, NOT_READ, Run, levels, pieces, unread};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Something that was found.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    pub rule: Rule,
    /// One line.
    pub what: String,
    /// The file, as a person types it at the root.
    pub file: PathBuf,
    /// Where in it; none where the whole file or folder is meant.
    pub place: Option<Place>,
    /// What suil and Terraform read there, where that is told.
    pub value: Option<Value>,
    /// What the original read there, where that is known.
    pub original: Option<Value>,
    /// One thing to do.
    pub help: Option<String>,
}

impl Finding {
    fn new(rule: Rule, what: impl Into<String>, file: impl Into<PathBuf>) -> Finding {
        let (what, file) = (what.into(), file.into());
        Finding { rule, what, file, place: None, value: None, original: None, help: None }
    }

    fn at(rule: Rule, what: impl Into<String>, place: Place) -> Finding {
        Finding { place: Some(place), ..Finding::new(rule, what, place.path()) }
    }

    fn help(self, help: impl Into<String>) -> Finding {
        Finding { help: Some(help.into()), ..self }
    }

    fn order(&self) -> (PathBuf, u32, u32, Rule, String) {
        let (line, column) = self.place.map_or((0, 0), |place| (place.line, place.column));
        (self.file.clone(), line, column, self.rule, self.what.clone())
    }
}

/// What was found, by place, and what could not be looked at.
#[derive(Debug, Default)]
pub struct Linted {
    pub findings: Vec<Finding>,
    pub problems: Problems,
    /// What was not looked at, and why.
    pub warnings: Problems,
}

/// Looks at the layers at `paths` and at what they share.
pub fn lint(run: &Arc<Run>, paths: &[PathBuf]) -> Linted {
    let mut all = Linted::default();
    for found in layer::each(paths, |path| of_layer(run, path)).into_iter().flatten() {
        all.findings.extend(found.findings);
        all.problems.extend(found.problems);
        all.warnings.extend(found.warnings);
    }
    match tree::secrets(run) {
        Ok(found) => all.findings.extend(found),
        Err(found) => all.problems.extend(found),
    }
    all.findings.sort_by_cached_key(Finding::order);
    all.findings.dedup_by(|a, b| a.order() == b.order());
    // One file that several layers read has its problem once.
    crate::base::problem::sort(&mut all.problems);
    all
}

fn of_layer(run: &Arc<Run>, path: &Path) -> Linted {
    let mut found = Linted::default();
    let layer = match Layer::of(run, path) {
        Ok(layer) => layer,
        Err(problem) => {
            let finding = Finding::new(Rule::LayerName, problem.what, run.sources.shown(path));
            found.findings.push(Finding { help: problem.help, ..finding });
            return found;
        }
    };
    let Linted { findings, problems, warnings } = &mut found;
    let mut levels = Vec::new();
    for (files, _) in levels::groups(run, &layer) {
        match files
            .and_then(|files| files.iter().map(|path| run.sources.variables(path)).collect::<Result<Vec<_>, _>>())
        {
            Ok(files) => levels.extend(files),
            Err(more) => problems.extend(more),
        }
    }
    for file in &levels {
        files::look(file, findings);
    }
    lists::look(&levels, findings);
    match unread::files(run, &layer) {
        Ok(unread) => findings.extend(unread.into_iter().map(|(path, help)| {
            let shown = run.sources.shown(&path);
            Finding::new(Rule::UnreadFile, "this file is never read", shown).help(help)
        })),
        Err(more) => problems.extend(more),
    }
    // What is wrong with them the build tells.
    if let Ok(pieces) = pieces::collect(run, &layer) {
        templates::sources(run, &layer, &pieces, findings);
    }
    match layer::build(run, &layer) {
        Ok(built) => templates::results(run, &layer, &built, findings),
        Err(more) => {
            let (denied, more): (Problems, Problems) = more.into_iter().partition(|one| one.what.contains(NOT_READ));
            problems.extend(more.into_iter().filter(|problem| problem.kind != Kind::Warning));
            if !denied.is_empty() {
                let what = format!("what templates of `{}` render to is not looked at", layer.label());
                warnings.push(Problem::warning(what).note("they ask for outputs or resources of other layers"));
            }
        }
    }
    found
}
