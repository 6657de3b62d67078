//! Checks a whole workspace offline: what no run of today reads is read as well.

use super::build::Catalogue;
use super::files::keep;
use super::glob::Glob;
use super::keys::Kind;
use super::pattern::Pattern;
use super::select::Selection;
use super::workspace::Workspace;
use crate::base::{Problem, Problems, nearest::nearest, problem};

/// Finds everything that is wrong with the data of a workspace: nodes, roles, connection settings, and layers that no
/// node reads at present. Warnings are among the problems, and say so. The entries of the sound nodes come with them,
/// for those who check what modules make of the data.
pub fn validate(workspace: &Workspace) -> (Catalogue, Problems) {
    let (catalogue, mut problems) =
        Catalogue::sound(workspace, &Selection::default()).unwrap_or_else(|problems| (Catalogue::default(), problems));
    problems.extend(catalogue.check_deployments());
    problems.extend(workspace.warnings().iter().cloned());
    keep(workspace.roles(), &mut problems);
    data_files(workspace, &mut problems);
    module_files(workspace, &mut problems);
    problem::sort(&mut problems);
    (catalogue, problems)
}

fn data_files(workspace: &Workspace, problems: &mut Problems) {
    let files = keep(workspace.data_files().map_err(Problems::from), problems).unwrap_or_default();
    let patterns = &workspace.hierarchy().patterns;
    for path in files.iter().filter(|path| *path != "common.yaml") {
        match patterns.iter().find_map(|pattern| Some((pattern, names(pattern, path)?))) {
            None => problems.push(
                Problem::warning(format!("`data/{path}` is read by no layer of the `hierarchy`"))
                    .help("rename it, or add a pattern for it to the `hierarchy` of data/common.yaml"),
            ),
            Some((pattern, module)) => {
                problems.extend(module.and_then(|module| stranger(workspace, pattern, path, &module)));
                if let Some(layer) = keep(workspace.layer(path, Kind::Other), problems).flatten() {
                    problems.extend(layer.problems.iter().cloned());
                }
            }
        }
    }
}

/// A layer of a module that does not exist, which is a misspelt name more often than not.
fn stranger(workspace: &Workspace, pattern: &Pattern, path: &str, module: &str) -> Option<Problem> {
    if workspace.library().get(module).is_some() || workspace.library().absent(module).is_some() {
        return None;
    }
    let warning = Problem::warning(format!("`data/{path}` is for the module `{module}`, which does not exist"));
    let warning = warning.note_at("the layer is", pattern.place);
    Some(match nearest(module, workspace.graph().names()) {
        Some(near) => warning.help(format!("did you mean `{near}`?")),
        None => warning,
    })
}

/// Where a path is one of a pattern: the module that it names, if the pattern has one.
pub fn names(pattern: &Pattern, path: &str) -> Option<Option<String>> {
    let (parts, wanted): (Vec<&str>, Vec<&str>) = (path.split('/').collect(), pattern.text.split('/').collect());
    if parts.len() != wanted.len() {
        return None;
    }
    let mut module = None;
    for (part, wanted) in parts.iter().zip(&wanted) {
        if !Glob::new(&stars(wanted)).matches(part) {
            return None;
        }
        if let Some((before, after)) = wanted.split_once("{module}")
            && !after.contains('{')
            && !before.contains('{')
        {
            module = part.strip_prefix(before).and_then(|part| part.strip_suffix(after)).map(str::to_owned);
        }
    }
    Some(module)
}

/// A part of a pattern as a glob.
fn stars(part: &str) -> String {
    let mut out = String::new();
    let mut rest = part;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        out.push('*');
        rest = after.split_once('}').map_or("", |(_, rest)| rest);
    }
    out + rest
}

fn module_files(workspace: &Workspace, problems: &mut Problems) {
    for module in workspace.library().iter() {
        let files = keep(module.walk("data").map_err(Problems::from), problems).unwrap_or_default();
        for rel in files.iter().filter(|rel| rel.ends_with(".yaml")) {
            if let Some(layer) = keep(workspace.module_file(module, rel), problems).flatten() {
                problems.extend(layer.problems.iter().cloned());
            }
        }
    }
}
