//! What the environment says about a tree of layers.

use crate::base::{Problem, Problems, file};
use crate::cli::settings;
use crate::infra::layer::Options;
use crate::infra::reader::{self, Reader};
use std::path::{Path, PathBuf};

/// Reads the variables `STACKS_*`.
///
/// # Errors
/// One of them makes no sense.
pub fn read(outside: bool) -> Result<Options, Problems> {
    let default = Options::default();
    let folder = |name: &str, default: PathBuf| settings::variable(name).map_or(default, PathBuf::from);
    let options = Options {
        environments: folder("STACKS_ENVIRONMENTS_DIR", default.environments),
        stacks: folder("STACKS_STACKS_DIR", default.stacks),
        base: folder("STACKS_BASE_DIR", default.base),
        layers: folder("STACKS_LAYERS_DIR", default.layers),
        output: folder("STACKS_OUTPUT_DIR", default.output),
        terraform: settings::variable("STACKS_TERRAFORM_PATH").unwrap_or(default.terraform),
        outside,
    };
    options.check()?;
    Ok(options)
}

/// The options with the program that the tree at `root` asks for: `tool` of its `stackorder.yaml`, unless
/// `STACKS_TERRAFORM_PATH` names one.
///
/// # Errors
/// The file cannot be read, or asks for something else than `terraform` or `tofu`.
pub fn of_tree(options: Options, root: &Path) -> Result<Options, Problems> {
    if settings::variable("STACKS_TERRAFORM_PATH").is_some() {
        return Ok(options);
    }
    let name = Path::new("stackorder.yaml");
    let bytes = match file::read(&root.join(name)) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(options),
        bytes => bytes.map_err(|e| Problem::io("read", name, &e))?,
    };
    let Some(tree) = reader::whole(name, &bytes)? else { return Ok(options) };
    let mut problems = Problems::new();
    // What else stands there is read with the graph.
    let tool = Reader::over(&tree, "stackorder.yaml", &mut problems).word("tool", &["terraform", "tofu"]);
    match (tool, problems.pop()) {
        (_, Some(problem)) => Err(problem.help("another program is named by STACKS_TERRAFORM_PATH").into()),
        (Some(tool), None) => Ok(Options { terraform: tool, ..options }),
        (None, None) => Ok(options),
    }
}

/// The current folder. A render replaces the output folder, and a shell that stands in it then stands nowhere: there
/// the name counts that the shell remembers.
///
/// # Errors
/// There is none.
pub fn here() -> Result<PathBuf, Problems> {
    match std::env::current_dir() {
        Ok(here) => Ok(here),
        Err(e) => match settings::variable("PWD").map(PathBuf::from).filter(|path| path.is_dir()) {
            Some(here) => Ok(here),
            None => Err(Problem::io("find", "the current folder".as_ref(), &e).into()),
        },
    }
}
