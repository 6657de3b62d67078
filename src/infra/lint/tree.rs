//! What stands in files of the whole tree.

use super::{Finding, Rule};
use crate::base::Result;
use crate::infra::Value;
use crate::infra::envelope::{is_envelope, is_marker};
use crate::infra::layer::{Kind, Run};

/// The secrets of environments, which every layer of the tree is given.
///
/// # Errors
/// A file cannot be read.
pub fn secrets(run: &Run) -> Result<Vec<Finding>> {
    let folder = run.sources.root().join(&run.options.environments);
    let items = run.sources.folder(&folder)?;
    let files: Vec<_> = items
        .iter()
        .filter(|item| item.kind == Kind::Folder)
        .map(|item| folder.join(&item.name).join("env.tfvars"))
        .filter(|path| run.sources.is_file(path))
        .collect();
    let mut found = Vec::new();
    if files.len() < 2 {
        return Ok(found);
    }
    for path in files {
        // What cannot be read is told by every layer.
        let Ok(attributes) = run.sources.variables(&path) else { continue };
        for attribute in attributes.iter().filter(|attribute| holds(&attribute.value)) {
            let what = format!(
                "the secret `{}` goes to the layers of all environments, in `stacks_environments`: whoever renders one \
                 with a key for it has it in the output folder",
                attribute.name
            );
            let help = "set it in a sub-environment, a stack or a layer, or give each environment a key of its own";
            found.push(Finding::at(Rule::SharedSecret, what, attribute.place).help(help));
        }
    }
    Ok(found)
}

fn holds(value: &Value) -> bool {
    match value {
        Value::Str(text) => is_envelope(text) || is_marker(text),
        Value::List(items) => items.iter().any(holds),
        Value::Map(map) => map.values().any(holds),
        _ => false,
    }
}
