//! A layer: where it stands, and what its name says.

use super::{Options, Run};
use crate::base::Problem;
use std::path::{Component, Path, PathBuf};

/// A layer and the folders that it is rendered from.
#[derive(Clone, Debug)]
pub struct Layer {
    /// The layer's folder.
    pub path: PathBuf,
    /// Four folders above it.
    pub root: PathBuf,
    /// The stack's folder, two above it.
    pub stack: PathBuf,
    pub name: Name,
    /// The output folder.
    pub output: PathBuf,
}

/// What the name of a layer says: `<environment>[@<subenvironment>][_<instance>]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    pub environment: String,
    /// An empty one is none.
    pub subenvironment: Option<String>,
    pub instance: Option<String>,
}

impl Name {
    /// Cuts a name at the first `_`, then what stands before it at the first `@`.
    pub fn new(name: &str) -> Name {
        let (left, instance) = cut(name, '_');
        let (environment, subenvironment) = cut(left, '@');
        Name { environment: environment.to_owned(), subenvironment, instance }
    }

    /// The name of a folder whose name says this.
    pub fn folder(&self) -> String {
        let part = |mark: char, part: &Option<String>| part.as_ref().map(|p| format!("{mark}{p}")).unwrap_or_default();
        format!("{}{}{}", self.environment, part('@', &self.subenvironment), part('_', &self.instance))
    }
}

fn cut(text: &str, at: char) -> (&str, Option<String>) {
    match text.split_once(at) {
        Some((left, right)) => (left, Some(right.to_owned()).filter(|right| !right.is_empty())),
        None => (text, None),
    }
}

impl Layer {
    /// Finds the layer of a folder: the folder itself, or the one above where `path` is its output folder. `path` is
    /// absolute.
    ///
    /// # Errors
    /// The folder is not there or not deep enough, or its name or an environment's folder is not right.
    pub fn at(path: &Path, options: &Options) -> Result<Layer, Problem> {
        Layer::found(path, options, Path::is_dir)
    }

    /// The same in the files of a run, which may be those of a revision.
    ///
    /// # Errors
    /// As [`Layer::at`].
    pub fn of(run: &Run, path: &Path) -> Result<Layer, Problem> {
        Layer::found(path, &run.options, |path| run.sources.is_folder(path))
    }

    fn found(path: &Path, options: &Options, is_folder: impl Fn(&Path) -> bool) -> Result<Layer, Problem> {
        let layer = Layer::named(path, options)?;
        if !is_folder(&layer.path) {
            return Err(Problem::new(format!("there is no folder `{}`", path.display())));
        }
        layer.check(options, is_folder)?;
        Ok(layer)
    }

    /// The same for a folder that need not be there.
    fn named(path: &Path, options: &Options) -> Result<Layer, Problem> {
        // An output folder of several parts is one all the same.
        let inside = options.output.is_relative() && path.ends_with(&options.output);
        let up = if inside { options.output.components().count() } else { 0 };
        let path = path.ancestors().nth(up).unwrap_or(path);
        let above = |count: usize| path.ancestors().nth(count);
        let (Some(stack), Some(root), Some(name)) = (above(2), above(4), path.file_name().and_then(|n| n.to_str()))
        else {
            return Err(Problem::new(format!("`{}` is no layer: it is not deep enough", path.display()))
                .help("go to `<root>/stacks/<stack>/layers/<layer>`, or name one"));
        };
        Ok(Layer {
            path: path.to_owned(),
            root: root.to_owned(),
            stack: stack.to_owned(),
            name: Name::new(name),
            output: path.join(&options.output),
        })
    }

    /// Another layer of the tree, which need not be there.
    ///
    /// # Errors
    /// Its environment is not there, or a name is not right.
    pub fn beside(&self, stack: Option<&str>, name: Name, run: &Run) -> Result<Layer, Problem> {
        let options = &run.options;
        let parts = [stack, Some(&name.environment), name.subenvironment.as_deref(), name.instance.as_deref()];
        for part in parts.into_iter().flatten() {
            if part.contains(['/', '\0']) || matches!(part, "." | "..") {
                return Err(Problem::new(format!("`{part}` is no part of a layer's name")));
            }
        }
        let stack = match stack {
            Some(stack) => self.root.join(&options.stacks).join(stack),
            None => self.stack.clone(),
        };
        let path = stack.join(&options.layers).join(name.folder());
        let output = path.join(&options.output);
        let layer = Layer { path, root: self.root.clone(), stack, name, output };
        layer.check(options, |path| run.sources.is_folder(path))?;
        Ok(layer)
    }

    fn check(&self, options: &Options, is_folder: impl Fn(&Path) -> bool) -> Result<(), Problem> {
        let shown = self.shown(&self.path);
        let environment = &self.name.environment;
        let odd = |part: &str| matches!(part, "" | "." | "..") || part.chars().any(char::is_control);
        if odd(environment) || self.name.subenvironment.as_deref().is_some_and(odd) {
            return Err(Problem::new(format!("`{shown}` is no layer: its name names no environment"))
                .expected("expected `<environment>[@<subenvironment>][_<instance>]`"));
        }
        let folder = self.environment(options);
        if !is_folder(&folder) {
            let what = format!("layer `{shown}`: there is no environment `{environment}`");
            let help = format!("make the folder `{}`, or rename the layer", self.shown(&folder));
            return Err(Problem::new(what).help(help));
        }
        match self.subenvironment(options) {
            Some(folder) if !is_folder(&folder) => {
                let name = self.name.subenvironment.as_deref().unwrap_or_default();
                let what = format!("layer `{shown}`: environment `{environment}` has no sub-environment `{name}`");
                Err(Problem::new(what).help(format!("make the folder `{}`, or rename the layer", self.shown(&folder))))
            }
            _ => Ok(()),
        }
    }

    /// The folder of its environment.
    pub fn environment(&self, options: &Options) -> PathBuf {
        self.root.join(&options.environments).join(&self.name.environment)
    }

    /// The folder of its sub-environment, where its name has one.
    pub fn subenvironment(&self, options: &Options) -> Option<PathBuf> {
        self.name.subenvironment.as_ref().map(|name| self.environment(options).join(name))
    }

    /// A path as a person types it at the root.
    pub fn shown(&self, path: &Path) -> String {
        shown(&self.root, path).display().to_string()
    }

    /// The layer's folder as a person types it at the root.
    pub fn label(&self) -> String {
        self.shown(&self.path)
    }

    /// Its name in the graph of the tree: `stacks/<stack>:<layer>`.
    pub fn key(&self) -> String {
        format!("{}:{}", self.shown(&self.stack), self.layer_name())
    }

    /// The name of the stack.
    pub fn stack_name(&self) -> String {
        name(&self.stack)
    }

    /// The name of the layer's folder.
    pub fn layer_name(&self) -> String {
        name(&self.path)
    }

    /// `..` as often as the output folder lies below the root; empty where it lies elsewhere.
    pub fn way_up(&self) -> String {
        let depth = self.output.strip_prefix(&self.root).map_or(0, |below| below.components().count());
        vec![".."; depth].join("/")
    }
}

/// True where the folder of a layer is in the files of a run. Of one that was removed the output folder alone may be left.
pub fn stands(run: &Run, folder: &Path) -> bool {
    let output = run.options.output.components().next().map(Component::as_os_str);
    match run.sources.folder(folder) {
        Ok(items) if items.is_empty() => run.sources.is_folder(folder),
        Ok(items) => items.iter().any(|item| Some(item.name.as_os_str()) != output),
        Err(_) => true,
    }
}

/// A path below `root` as a person types it there.
pub fn shown<'a>(root: &Path, path: &'a Path) -> &'a Path {
    path.strip_prefix(root).unwrap_or(path)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_cut_at_the_first_underscore_and_then_at_the_first_at() {
        let parts = |name: &str| {
            let Name { environment, subenvironment, instance } = Name::new(name);
            (environment, subenvironment.unwrap_or_default(), instance.unwrap_or_default())
        };
        for (name, environment, subenvironment, instance) in [
            ("harbor", "harbor", "", ""),
            ("harbor_blue", "harbor", "", "blue"),
            ("harbor@east_blue_1", "harbor", "east", "blue_1"),
            ("harbor_a@b", "harbor", "", "a@b"),
            ("harbor@_", "harbor", "", ""),
            ("_solo", "", "", "solo"),
        ] {
            assert_eq!(parts(name), (environment.to_owned(), subenvironment.to_owned(), instance.to_owned()), "{name}");
        }
    }

    #[test]
    fn a_layer_is_found_from_its_output_folder_too_and_knows_the_way_up() {
        let room = tempfile::tempdir().expect("a folder");
        let path = room.path().join("stacks/kiln/layers/harbor");
        std::fs::create_dir_all(path.join("stacks.out")).expect("a layer");
        std::fs::create_dir_all(room.path().join("environments/harbor")).expect("an environment");
        let options = Options::default();
        for from in [path.clone(), path.join("stacks.out")] {
            let layer = Layer::at(&from, &options).expect("a layer");
            assert_eq!((layer.label().as_str(), layer.root.as_path()), ("stacks/kiln/layers/harbor", room.path()));
            assert_eq!(layer.way_up(), "../../../../..");
        }
    }

    #[test]
    fn a_name_without_an_environment_is_no_layer() {
        let room = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(room.path().join("environments")).expect("environments");
        for name in ["_solo", "..@x", "@east"] {
            let path = room.path().join("stacks/kiln/layers").join(name);
            std::fs::create_dir_all(&path).expect("a layer");
            let problem = Layer::at(&path, &Options::default()).expect_err("no layer");
            assert!(problem.what.ends_with("its name names no environment"), "{problem:?}");
        }
    }
}
