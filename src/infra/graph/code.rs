//! The code of a folder: what its files say together, later ones and overrides replacing.

use super::files::{Files, Folder, Listing};
use super::memo::Memo;
use super::{At, Code as Word, Warning, key};
use crate::infra::hcl::{self, Called, Kept, Read, Spot};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

/// What one file says; kept from run to run by the digest of its content.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Facts {
    pub backends: Vec<Kept>,
    pub modules: Vec<Called>,
    pub states: Vec<Read>,
    /// What could not be read.
    pub faults: Vec<(Spot, String)>,
}

impl Facts {
    /// Reads a file of code.
    pub fn read(path: &str, text: Arc<str>) -> Facts {
        let links = hcl::links(Path::new(path), text);
        let fault = |problem: crate::base::Problem| {
            let spot = problem.place.map(|place| Spot { line: place.line, column: place.column });
            (spot.unwrap_or_default(), problem.what)
        };
        let faults = links.problems.into_iter().map(fault).collect();
        Facts { backends: links.backends, modules: links.modules, states: links.states, faults }
    }
}

/// Something that a file of the folder says, and that file.
#[derive(Clone, PartialEq, Debug)]
pub struct Said<T> {
    pub what: T,
    pub file: String,
}

impl<T> Said<T> {
    fn new(what: T, file: &str) -> Said<T> {
        Said { what, file: file.to_owned() }
    }

    pub fn at(&self, spot: Spot) -> At {
        At { file: self.file.clone(), line: spot.line, column: spot.column }
    }
}

/// What the files of a folder say together.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Code {
    /// There is a file of code.
    pub any: bool,
    /// One of the files is for OpenTofu alone.
    pub tofu: bool,
    pub backend: Option<Said<Kept>>,
    /// By the order of files.
    pub modules: Vec<Said<Called>>,
    pub states: Vec<Said<Read>>,
    pub warnings: Vec<Warning>,
}

/// The ends of the names of code.
const ENDS: [&str; 4] = [".tf", ".tf.json", ".tofu", ".tofu.json"];

/// True for a file that Terraform or OpenTofu reads as code.
pub fn is_code(name: &str) -> bool {
    !name.starts_with('.') && ENDS.iter().any(|end| name.ends_with(end))
}

fn is_tofu(name: &str) -> bool {
    name.ends_with(".tofu") || name.ends_with(".tofu.json")
}

/// True for a file that replaces what others say.
pub fn is_override(name: &str) -> bool {
    let stem = ENDS.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    stem == "override" || stem.ends_with("_override")
}

/// The names of the code in a folder, overrides last. With `tofu`, a file for OpenTofu stands for the one of the same
/// name, as OpenTofu has it; without, such files are nothing.
pub fn names(folder: &Folder, tofu: bool) -> Vec<&str> {
    let all = || folder.files.iter().map(|entry| entry.name.as_str()).filter(|name| is_code(name));
    let twin = |name: &str| name.replace(".tf", ".tofu");
    let mut names: Vec<&str> = match tofu {
        true => all().filter(|name| is_tofu(name) || !all().any(|other| other == twin(name))).collect(),
        false => all().filter(|name| !is_tofu(name)).collect(),
    };
    names.sort_by_key(|name| (is_override(name), *name));
    names
}

/// True where a folder holds code at all.
pub fn holds_code(folder: &Folder) -> bool {
    folder.files.iter().any(|entry| is_code(&entry.name))
}

impl Code {
    /// Reads the code of the folder at `path`.
    pub fn read(files: &Files, listing: &Listing, memo: &Memo, path: &str, tofu: bool) -> Code {
        let mut code = Code::default();
        let Some(folder) = listing.folder(path) else { return code };
        let names = names(folder, tofu);
        code.any = !names.is_empty();
        code.tofu = names.iter().any(|name| is_tofu(name));
        for name in names {
            let file = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
            match memo.facts(files, listing, &file) {
                Ok(facts) => code.take(path, &file, is_override(name), &facts),
                Err(warning) => code.warnings.push(warning),
            }
        }
        code
    }

    /// Takes in what a file of the folder says.
    pub fn take(&mut self, folder: &str, file: &str, over: bool, facts: &Facts) {
        for (spot, what) in &facts.faults {
            self.warnings.push(Warning {
                code: Word::HclSyntax,
                subject: file.to_owned(),
                message: format!("`{file}` is not read whole: {what}"),
                at: Some(At { file: file.to_owned(), line: spot.line, column: spot.column }),
            });
        }
        for kept in &facts.backends {
            match &self.backend {
                Some(first) if !over => {
                    let said = Said::new(kept.clone(), file);
                    let message =
                        format!("`{}` has two backends; that of {} counts", shown(folder), first.at(first.what.at));
                    self.warnings.push(Warning {
                        code: Word::BackendTwice,
                        subject: shown(folder).to_owned(),
                        message,
                        at: Some(said.at(kept.at)),
                    });
                }
                _ => self.backend = Some(Said::new(kept.clone(), file)),
            }
        }
        for called in &facts.modules {
            match self.modules.iter_mut().find(|known| over && known.what.name == called.name) {
                // An override replaces argument by argument.
                Some(known) => {
                    known.what.source = called.source.clone().or(known.what.source.take());
                    known.what.version = called.version.clone().or(known.what.version.take());
                }
                None => self.modules.push(Said::new(called.clone(), file)),
            }
        }
        for read in &facts.states {
            match self.states.iter_mut().find(|known| over && known.what.name == read.name) {
                Some(known) => {
                    known.what.backend = read.backend.clone().or(known.what.backend.take());
                    known.what.config = read.config.clone().or(known.what.config.take());
                    known.what.workspace = read.workspace.clone().or(known.what.workspace.take());
                }
                None => self.states.push(Said::new(read.clone(), file)),
            }
        }
    }
}

/// A folder as a person names it.
pub fn shown(folder: &str) -> &str {
    if folder.is_empty() { "." } else { folder }
}

/// True where a file of values is read without being named.
pub fn is_auto_loaded(name: &str) -> bool {
    let name = key::name(name);
    matches!(name, "terraform.tfvars" | "terraform.tfvars.json")
        || name.ends_with(".auto.tfvars")
        || name.ends_with(".auto.tfvars.json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infra::graph::files::Entry;

    fn folder(names: &[&str]) -> Folder {
        let entry = |name: &&str| Entry { name: (*name).to_owned(), link: false, mark: None };
        Folder { files: names.iter().map(entry).collect(), ..Folder::default() }
    }

    #[test]
    fn overrides_come_last_and_a_file_for_opentofu_stands_for_its_twin() {
        let all = folder(&[".x.tf", "a.tf", "b.tf.json", "main.tf", "main.tofu", "a_override.tf", "notes.md", "x.tf~"]);
        assert_eq!(names(&all, true), ["a.tf", "b.tf.json", "main.tofu", "a_override.tf"]);
        assert_eq!(names(&all, false), ["a.tf", "b.tf.json", "main.tf", "a_override.tf"]);
    }

    #[test]
    fn an_override_replaces_and_a_second_backend_is_told() {
        let read = |text: &str| Facts::read("x.tf", Arc::from(text));
        let backend = |key: &str| read(&format!("terraform {{\n  backend \"s3\" {{\n    key = \"{key}\"\n  }}\n}}\n"));
        let mut code = Code::default();
        code.take("d", "d/a.tf", false, &backend("one"));
        code.take("d", "d/b.tf", false, &backend("two"));
        assert_eq!(code.warnings.iter().map(|w| w.code).collect::<Vec<_>>(), [Word::BackendTwice]);
        let key = |code: &Code| format!("{:?}", code.backend.as_ref().map(|kept| kept.what.settings["key"].clone()));
        assert!(key(&code).contains("one"));
        code.take("d", "d/override.tf", true, &backend("three"));
        assert!(key(&code).contains("three"));
        code.take("d", "d/a.tf", false, &read("module \"m\" {\n  source = \"./a\"\n  version = \"1\"\n}\n"));
        code.take("d", "d/override.tf", true, &read("module \"m\" {\n  source = \"./b\"\n}\n"));
        assert_eq!(code.modules.len(), 1);
        assert_eq!(code.modules[0].what.source, Some(hcl::Literal::Text("./b".to_owned())));
    }
}
