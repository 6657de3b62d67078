//! The files that suil itself writes: `stacks.tf.json` declares what nothing else declares, `zzz.auto.tfvars.json` sets
//! all variables, and stands last by its name so that it wins.

use super::Run;
use super::pieces::{Piece, Pieces};
use super::variables::Variables;
use crate::base::problem::Kind;
use crate::base::{FileId, Place, Problem, Problems, Result};
use crate::infra::Value;
use crate::infra::hcl;
use std::collections::HashSet;
use std::ffi::OsString;

/// Names that Terraform keeps for itself: no variable may have one.
const RESERVED: [&str; 8] =
    ["source", "version", "providers", "count", "for_each", "lifecycle", "depends_on", "locals"];

/// Both files, and what there is to say about the names in them.
pub struct Declared {
    pub files: Vec<(OsString, Piece)>,
    /// What of the code could not be read.
    pub warnings: Problems,
    /// Variables that Terraform will refuse, and the places that set them.
    pub refused: Problems,
}

/// Makes both files. With `sensitive`, a variable that holds a secret is declared as one.
///
/// # Errors
/// A file of variables from base is neither HCL nor JSON.
pub fn files(run: &Run, variables: &Variables, pieces: &Pieces, sensitive: bool) -> Result<Declared> {
    let (declared, warnings) = declared(run, pieces)?;
    let assigned = assigned(run, pieces)?;
    let own = variables.0.iter().map(|(name, variable)| (name, variable.place));
    let all = own.chain(assigned.iter().map(|(name, place)| (name, Some(*place))));
    let mut missing = indexmap::IndexMap::new();
    let mut refused = Problems::new();
    for (name, place) in all.filter(|(name, _)| !declared.contains(*name)) {
        if RESERVED.contains(&name.as_str()) {
            let mut problem = Problem::new(format!("no variable can be called `{name}`: Terraform keeps that name"));
            problem.place = place;
            refused.push(problem.help("rename the variable"));
        }
        let secret = sensitive && variables.0.get(name).is_some_and(|variable| variable.secret);
        let marks = secret.then(|| ("sensitive".to_owned(), Value::Bool(true)));
        missing.insert(name.clone(), Value::Map(marks.into_iter().collect()));
    }
    let universe: Value = [("variable".to_owned(), Value::Map(missing))].into_iter().collect();
    let text = |text: String, mode: u32| Piece::Text { text, mode, source: None };
    let files = vec![
        ("stacks.tf.json".into(), text(universe.to_json(), 0o644)),
        ("zzz.auto.tfvars.json".into(), text(variables.value().to_json(), 0o600)),
    ];
    Ok(Declared { files, warnings, refused })
}

/// The names that the code declares, at the top of the output folder.
fn declared(run: &Run, pieces: &Pieces) -> Result<(HashSet<String>, Problems)> {
    let mut names = HashSet::new();
    let mut warnings = Problems::new();
    let mut take = |found: hcl::Found<(String, Place)>| {
        names.extend(found.items.into_iter().map(|(name, _)| name));
        // Terraform reads its code itself, and says better what is wrong with it.
        warnings.extend(found.problems.into_iter().map(|problem| problem.kind(Kind::Warning)));
    };
    for (name, piece) in pieces {
        let name = name.to_str().unwrap_or_default();
        match piece {
            Piece::Text { text, source: Some(source), .. } if name.ends_with(".tf") => {
                take(hcl::declared(written(*source, text)));
            }
            Piece::File(path) if name.ends_with(".tf.json") && !name.starts_with('.') => {
                take(hcl::declared_json(run.sources.text(path)?));
            }
            _ => {}
        }
    }
    for (name, piece) in pieces {
        if let Piece::Text { source: Some(source), .. } = piece
            && name.to_str().is_some_and(|name| name.ends_with(".tf"))
            && let Some(place) = sealed(*source)
        {
            let warning = Problem::warning("an envelope in code is never opened").at(place);
            warnings.push(warning.help("set a variable to the envelope, and use the variable here"));
        }
    }
    Ok((names, warnings))
}

/// Where a text holds an envelope as a quoted string.
fn sealed(file: FileId) -> Option<Place> {
    let text = file.text();
    let at = text.find("\"ENC[")?;
    let before = text.get(..at)?;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before.get(start..)?.chars().count() + 1;
    let line = before.matches('\n').count() + 1;
    Some(Place { file, line: line as u32, column: column as u32, width: 5 })
}

/// The rendered text as a file; the template itself where rendering changed nothing, so that places are right.
fn written(source: FileId, text: &str) -> FileId {
    let own = source.text();
    if own.strip_suffix('\n').unwrap_or(&own) == text { source } else { FileId::new(source.path(), text) }
}

/// The names that `*.auto.tfvars` of base set, which Terraform reads by itself; where the tree wants that, those of the
/// other files that it reads, too.
fn assigned(run: &Run, pieces: &Pieces) -> Result<Vec<(String, Place)>> {
    let mut found = Vec::new();
    let all = run.sources.settings()?.declare_all;
    for (name, piece) in pieces {
        let Piece::File(path) = piece else { continue };
        let attributes = match name.to_str().filter(|name| !name.starts_with('.')) {
            Some(name) if name.ends_with(".auto.tfvars") => hcl::variables(run.sources.text(path)?)?,
            Some("terraform.tfvars") if all => hcl::variables(run.sources.text(path)?)?,
            Some(name) if all && (name == "terraform.tfvars.json" || name.ends_with(".auto.tfvars.json")) => {
                hcl::variables_json(run.sources.text(path)?)?
            }
            _ => continue,
        };
        found.extend(attributes.into_iter().map(|attribute| (attribute.name, attribute.place)));
    }
    Ok(found)
}
