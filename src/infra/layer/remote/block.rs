//! Where a layer keeps its state: the `backend` or `cloud` block of its code, alone in a file that Terraform can be
//! initialised with.

use super::Failure;
use crate::base::FileId;
use crate::infra::Value;
use crate::infra::hcl::{self, Backend};
use crate::infra::layer::{Layer, Piece, Pieces, Run};
use indexmap::IndexMap;
use std::path::{Component, Path, PathBuf};

/// The name and the text of that file.
///
/// # Errors
/// The code has no such block, or several.
pub fn file(run: &Run, layer: &Layer, pieces: &Pieces) -> Result<(&'static str, String), Failure> {
    let label = layer.label();
    let (mut own, mut over) = (Vec::new(), Vec::new());
    for (name, piece) in pieces {
        let name = name.to_str().unwrap_or_default();
        let (stem, found) = match piece {
            Piece::Text { text, source, .. } if name.ends_with(".tf") => {
                let path = source.map_or_else(|| name.into(), FileId::path);
                (name.strip_suffix(".tf"), hcl::backends(FileId::new(path, text.as_str())).items)
            }
            Piece::File(path) if name.ends_with(".tf.json") && !name.starts_with('.') => match run.sources.text(path) {
                Ok(file) => (name.strip_suffix(".tf.json"), hcl::backends_json(file).items),
                Err(_) => continue,
            },
            _ => continue,
        };
        // Terraform lets such files have the last word.
        let last = stem.is_some_and(|stem| stem == "override" || stem.ends_with("_override"));
        if last { over.extend(found) } else { own.extend(found) }
    }
    let blocks = if over.is_empty() { own } else { over };
    match blocks.as_slice() {
        [block] => Ok(alone(layer, block)),
        [] => Err(Failure::Said(
            format!("layer `{label}` has no backend, so nobody else can read its state"),
            vec!["its code has no block `backend` or `cloud` in any block `terraform`".to_owned()],
        )),
        several => Err(Failure::Said(
            format!("layer `{label}` has {} backends", several.len()),
            several.iter().map(|block| format!("one is at {}", block.place)).collect(),
        )),
    }
}

fn alone(layer: &Layer, block: &Backend) -> (&'static str, String) {
    if block.keyword == "backend"
        && block.label.as_deref() == Some("local")
        && let (settings, true) = block.settings()
    {
        return ("main.tf.json", local(layer, &settings));
    }
    match block.text.starts_with(['{', '[']) {
        true => {
            let text = match &block.label {
                Some(label) => format!("{{{}: {}}}", Value::from(label.as_str()).to_json_line(), block.text),
                None => block.text.clone(),
            };
            ("main.tf.json", format!("{{\"terraform\": {{\"{}\": {text}}}}}\n", block.keyword))
        }
        false => ("main.tf", format!("terraform {{\n{}\n}}\n", block.text)),
    }
}

/// A path from `folder`, which need not be there: nothing is found behind the `..` of a folder that is not.
fn real(folder: &Path, path: &Path) -> PathBuf {
    let whole = folder.join(path);
    if folder.is_dir() {
        return whole;
    }
    let mut plain = PathBuf::new();
    for part in whole.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// The local backend of a layer, seen from anywhere: its paths start at the layer's output folder.
fn local(layer: &Layer, settings: &IndexMap<String, Value>) -> String {
    let folder = std::path::absolute(&layer.output).unwrap_or_else(|_| layer.output.clone());
    let default = [("path", "terraform.tfstate"), ("workspace_dir", "terraform.tfstate.d")];
    let settings = default.into_iter().map(|(name, usual)| {
        let path = settings.get(name).and_then(Value::as_str).filter(|path| !path.is_empty()).unwrap_or(usual);
        let path = real(&folder, Path::new(path)).display().to_string();
        (name.to_owned(), Value::from(path.replace("${", "$${").replace("%{", "%%{")))
    });
    let nest = |name: &str, value: Value| Value::from_iter([(name.to_owned(), value)]);
    nest("terraform", nest("backend", nest("local", settings.collect()))).to_json()
}
