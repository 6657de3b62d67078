//! Which layers are meant: this one, those named, or all.

use super::left;
use crate::base::{Problem, Problems, nearest::nearest};
use crate::catalogue::Glob;
use crate::infra::layer::{Kind, Layer, Options, Run};
use std::path::{Component, Path, PathBuf};

/// The layers that the words of the command line name, and their root. Without words it is the layer at `here`.
///
/// # Errors
/// A word names no layer, or what it names cannot be rendered; all of them together.
pub fn layers(words: &[String], all: bool, here: &Path, options: &Options) -> Result<Vec<Layer>, Problems> {
    if words.is_empty() && !all {
        return Layer::at(here, options).map(|layer| vec![layer]).map_err(|problem| vec![lost(problem, here, options)]);
    }
    let root = tree(words, here, options)?;
    let known = left::without(&root, found(&root, options)?, options)?;
    let mut paths = if all { known.clone() } else { Vec::new() };
    let mut problems = Problems::new();
    for word in words {
        match named(word, here, &root, &known) {
            Ok(found) => paths.extend(found),
            Err(problem) => problems.push(problem),
        }
    }
    if all && paths.is_empty() {
        problems.push(Problem::new(format!("`{}` has no layer", root.join(&options.stacks).display())));
    }
    let mut layers: Vec<Layer> = Vec::new();
    for path in paths {
        match Layer::at(&path, options) {
            Ok(layer) if layers.iter().any(|known| known.path == layer.path) => {}
            Ok(layer) if layer.root != root => {
                let what = format!("`{}` is a layer of another tree", path.display());
                problems.push(Problem::usage(what).expected(format!("expected one below `{}`", root.display())));
            }
            Ok(layer) => layers.push(layer),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(layers) } else { Err(problems) }
}

/// The root of the layers that the words name, or of the layer at `here`.
///
/// # Errors
/// There is none.
pub fn root_of(words: &[String], all: bool, here: &Path, options: &Options) -> Result<PathBuf, Problems> {
    if !words.is_empty() || all {
        return Ok(tree(words, here, options)?);
    }
    Ok(Layer::at(here, options).map_err(|problem| lost(problem, here, options))?.root)
}

/// The root of the tree that the words are about.
///
/// # Errors
/// There is none.
pub fn tree(words: &[String], here: &Path, options: &Options) -> Result<PathBuf, Problem> {
    root(words, here, options).ok_or_else(|| {
        let (environments, stacks) = (options.environments.display(), options.stacks.display());
        let what =
            format!("there is no tree of layers here or in any folder above: none has {environments}/ and {stacks}/");
        Problem::new(what).help("go to one")
    })
}

/// The folders of the layers that the words name, in the working tree or in the revision that `before` reads, sorted.
///
/// # Errors
/// A word names no layer of either; all of them together.
pub fn either(words: &[String], all: bool, here: &Path, after: &Run, before: &Run) -> Result<Vec<PathBuf>, Problems> {
    if words.is_empty() && !all {
        return layers(words, all, here, &after.options).map(|layers| layers.into_iter().map(|l| l.path).collect());
    }
    let root = after.sources.root();
    let mut known = stands(after)?;
    known.extend(stands(before)?);
    known.sort();
    known.dedup();
    let mut paths = if all { known.clone() } else { Vec::new() };
    let mut problems = Problems::new();
    for word in words {
        let gone = [plain(&here.join(word)), plain(&root.join(word))];
        match gone.into_iter().find(|path| before.sources.is_folder(path)) {
            Some(path) => paths.push(path),
            None => match named(word, here, root, &known) {
                Ok(found) => paths.extend(found),
                Err(problem) => problems.push(problem),
            },
        }
    }
    if all && paths.is_empty() {
        problems.push(Problem::new(format!("`{}` has no layer", root.join(&after.options.stacks).display())));
    }
    paths.sort();
    paths.dedup();
    if problems.is_empty() { Ok(paths) } else { Err(problems) }
}

/// Every folder of a run's tree that stands where layers do.
fn stands(run: &Run) -> Result<Vec<PathBuf>, Problems> {
    let folders = |path: &Path| -> Result<Vec<PathBuf>, Problems> {
        let items = run.sources.folder(path)?;
        let shown = items.iter().filter(|item| item.kind == Kind::Folder && !item.text().starts_with('.'));
        Ok(shown.map(|item| path.join(&item.name)).collect())
    };
    let mut found = Vec::new();
    for stack in folders(&run.sources.root().join(&run.options.stacks))? {
        if run.sources.is_folder(&stack.join(&run.options.base)) {
            found.extend(folders(&stack.join(&run.options.layers))?);
        }
    }
    Ok(found)
}

/// The root of the first word that is a layer's folder, else the nearest at or above `here`.
fn root(words: &[String], here: &Path, options: &Options) -> Option<PathBuf> {
    let of = |word: &String| {
        let path = plain(&here.join(word));
        if path.is_dir() { options.root(&path) } else { None }
    };
    words.iter().find_map(of).or_else(|| options.root(here))
}

/// Every folder that stands where layers do, sorted.
///
/// # Errors
/// A folder cannot be listed.
pub fn found(root: &Path, options: &Options) -> Result<Vec<PathBuf>, Problems> {
    let mut found = Vec::new();
    for stack in folders(&root.join(&options.stacks))? {
        if stack.join(&options.base).is_dir() {
            found.extend(folders(&stack.join(&options.layers))?);
        }
    }
    Ok(found)
}

/// The folders in a folder, hidden ones left out, sorted; none where it is not there.
fn folders(path: &Path) -> Result<Vec<PathBuf>, Problem> {
    let failed = |e: std::io::Error| Problem::io("list", path, &e);
    let entries = match std::fs::read_dir(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if !hidden && path.is_dir() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The layers that a word names: a folder, seen from here or from the root, or a pattern of one.
fn named(word: &str, here: &Path, root: &Path, known: &[PathBuf]) -> Result<Vec<PathBuf>, Problem> {
    let places = [plain(&here.join(word)), plain(&root.join(word))];
    // A folder whose own name has the characters of a pattern is that folder.
    if let Some(path) = places.iter().find(|path| path.is_dir()) {
        return Ok(vec![path.clone()]);
    }
    if Glob::is_pattern(word) {
        let matching: Vec<PathBuf> =
            known.iter().filter(|path| places.iter().any(|pattern| matches(pattern, path))).cloned().collect();
        if !matching.is_empty() {
            return Ok(matching);
        }
        return Err(Problem::new(format!("no layer matches `{word}`")));
    }
    let shown: Vec<String> =
        known.iter().map(|path| path.strip_prefix(root).unwrap_or(path).display().to_string()).collect();
    let problem = Problem::new(format!("there is no layer `{word}`"));
    Err(match nearest(word, shown.iter().map(String::as_str)) {
        Some(name) => problem.help(format!("did you mean `{name}`?")),
        None => problem,
    })
}

/// True where every part of `path` matches the part of `pattern` at its place.
fn matches(pattern: &Path, path: &Path) -> bool {
    let (mut parts, mut names) = (pattern.components(), path.components());
    loop {
        match (parts.next(), names.next()) {
            (None, None) => return true,
            (Some(Component::Normal(part)), Some(Component::Normal(name))) => {
                let (part, name) = (part.to_string_lossy(), name.to_string_lossy());
                if part != name && !Glob::new(&part).matches(&name) {
                    return false;
                }
            }
            (part, name) if part == name => {}
            _ => return false,
        }
    }
}

/// A path without `.` and `..`, as the words stand; links are not followed.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// Standing in the tree, but in no layer of it.
fn lost(problem: Problem, here: &Path, options: &Options) -> Problem {
    let inside = options.root(here).is_some_and(|root| {
        here.strip_prefix(root.join(&options.stacks)).map_or(0, |below| below.components().count()) != 3
    });
    let outside = options.root(here).is_none() && !problem.what.starts_with("layer ");
    if !inside && !outside {
        return problem;
    }
    Problem::new("this folder is no layer")
        .note(format!("it is `{}`", here.display()))
        .help("go to a layer's folder, name layers, or use `--all`")
}
