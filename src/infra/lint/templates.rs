//! What stands in templates, in code, and in what they become.

use super::files::read_otherwise;
use super::{Finding, Rule};
use crate::base::{FileId, Place};
use crate::infra::hcl;
use crate::infra::layer::{Built, Layer, Piece, Pieces, Run};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::Path;

/// Looks at what a layer is made of.
pub fn sources(run: &Run, layer: &Layer, pieces: &Pieces, findings: &mut Vec<Finding>) {
    for (name, piece) in pieces {
        match piece {
            Piece::Template(source) => {
                template(layer, *source, name.to_str().is_some_and(|name| name.ends_with(".tf")), findings);
            }
            Piece::File(path) if run.sources.is_executable(path) => {
                let what = "this file stays a program; the original took that from it";
                findings.push(Finding::new(Rule::LostMode, what, run.sources.shown(path)));
            }
            _ => {}
        }
    }
}

/// Looks at what a layer became.
pub fn results(run: &Run, layer: &Layer, built: &Built, findings: &mut Vec<Finding>) {
    for problem in &built.refused {
        let file = problem.place.map_or_else(|| layer.label().into(), |place| place.path());
        let finding = Finding::new(Rule::ReservedName, problem.what.clone(), file);
        findings.push(Finding { place: problem.place, help: problem.help.clone(), ..finding });
    }
    let set = names(&built.pieces);
    for (name, piece) in &built.pieces {
        let Some(name) = name.to_str() else { continue };
        match piece {
            Piece::Text { text, source: Some(source), .. } if name.ends_with(".tfvars.jinja") => {
                rendered(*source, text, findings);
            }
            Piece::File(path) if !name.starts_with('.') => file(run, name, path, &set, findings),
            _ => {}
        }
    }
}

/// The variables that a layer sets.
fn names(pieces: &Pieces) -> HashSet<String> {
    let Some(Piece::Text { text, .. }) = pieces.get(OsStr::new("zzz.auto.tfvars.json")) else {
        return HashSet::new();
    };
    let all = hcl::variables_json(FileId::new("zzz.auto.tfvars.json", text.as_str())).unwrap_or_default();
    all.into_iter().map(|attribute| attribute.name).collect()
}

/// The result of a template of variables, which the original read as it read any file.
fn rendered(source: FileId, text: &str, findings: &mut Vec<Finding>) {
    let mut found = Vec::new();
    let result = FileId::new(source.path(), text);
    read_otherwise(result, &mut found);
    // Where rendering changed nothing, the places are those of the template.
    let own = source.text();
    let same = own.strip_suffix('\n').unwrap_or(&own) == text;
    for finding in &mut found {
        if !same {
            finding.what.push_str(" (a line of what the template renders to)");
        }
    }
    findings.append(&mut found);
}

fn template(layer: &Layer, source: FileId, is_code: bool, findings: &mut Vec<Finding>) {
    let text = source.text();
    if is_code {
        let mut places = Places::new(source, &text);
        for (at, _) in text.match_indices("\"ENC[") {
            let finding = Finding::at(Rule::EnvelopeInCode, "an envelope in code is never opened", places.place(at, 5));
            findings.push(finding.help("set a variable to the envelope, and use the variable here"));
        }
    }
    let value = format!("stacks/{}/layer/{}", layer.stack_name(), layer.layer_name());
    for (word, rule, what) in [
        (
            "stacks_path",
            Rule::StacksPath,
            format!("`stacks_path` is `{value}` and no path of a folder: the layer is `{}`", layer.label()),
        ),
        (
            "stacks_environments",
            Rule::EnvironmentOrder,
            "`stacks_environments` is sorted by name; the original had it in the order of the disk".to_owned(),
        ),
    ] {
        let word_end = |at: usize| {
            let after = text.get(at + word.len()..).unwrap_or_default();
            !after.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        };
        let first = text.match_indices(word).map(|(at, _)| at).find(|at| word_end(*at));
        if let Some(at) = first.filter(|_| rule != Rule::StacksPath || value != layer.label()) {
            findings.push(Finding::at(rule, what, Places::new(source, &text).place(at, word.len())));
        }
    }
}

/// Places of a text, asked for from its start to its end, so that each character is counted once.
struct Places<'a> {
    file: FileId,
    text: &'a str,
    at: usize,
    line: u32,
    column: u32,
}

impl<'a> Places<'a> {
    fn new(file: FileId, text: &'a str) -> Places<'a> {
        Places { file, text, at: 0, line: 1, column: 1 }
    }

    /// The place of the byte `at`, which lies behind the one before.
    fn place(&mut self, at: usize, width: usize) -> Place {
        for c in self.text.get(self.at..at).unwrap_or_default().chars() {
            match c {
                '\n' => (self.line, self.column) = (self.line + 1, 1),
                _ => self.column += 1,
            }
        }
        self.at = at;
        Place { file: self.file, line: self.line, column: self.column, width: width as u32 }
    }
}

/// A file of base that goes to the output folder as it is.
fn file(run: &Run, name: &str, path: &Path, set: &HashSet<String>, findings: &mut Vec<Finding>) {
    // What cannot be read has failed the build.
    let Ok(file) = (match [".tf.json", ".auto.tfvars.json", ".auto.tfvars"].iter().any(|end| name.ends_with(end)) {
        true => run.sources.text(path),
        false => return,
    }) else {
        return;
    };
    if name.ends_with(".tf.json") {
        for (variable, place) in hcl::declared_json(file).items.into_iter().filter(|(name, _)| set.contains(name)) {
            let what =
                format!("`{variable}` is declared here; the original declared it once more, and Terraform failed");
            findings.push(Finding::at(Rule::DeclaredInJson, what, place));
        }
    } else if name.ends_with(".json") {
        for attribute in hcl::variables_json(file).unwrap_or_default() {
            let what =
                format!("`{}` is declared where nothing else does; the original did not look here", attribute.name);
            findings.push(Finding::at(Rule::SetInJson, what, attribute.place));
        }
    } else {
        let all = hcl::texts(file).unwrap_or_default();
        for text in all.into_iter().filter(|text| crate::infra::envelope::is_envelope(&text.value)) {
            let finding =
                Finding::at(Rule::EnvelopeInCode, "an envelope in a file of base is never opened", text.place);
            findings.push(finding.help("set the variable in the stack or the layer"));
        }
    }
}
