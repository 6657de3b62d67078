//! HCL, read as Terraform reads it: files of variables, and what Terraform code declares.
//!
//! Enters: the text of a file. Leaves: values and the places where they were written. Never resolves a name and never
//! calls a function: a file of variables may do neither.
//!
//! The rules are those of HCL 2 as Terraform 1.11 has it, measured; `tests/conformance/stacks/hcl_oracle.json` is the
//! proof. Text becomes tokens ([`lexer`]), tokens a tree ([`parser`]), and a tree values ([`eval`]).

mod code;
mod eval;
mod json;
mod kind;
mod lexer;
mod links;
mod number;
mod original;
mod parser;
mod setup;
mod source;
mod texts;
mod tree;

pub use code::{backends, backends_json, declared, declared_json};
pub use links::{Called, Kept, Links, Literal, Read, Settings, Spot, links, settings};
pub use original::{Cause, Difference, original};
pub use setup::{RemoteState, Setup, setup, setup_json};
pub use texts::{Text, texts};

use super::Value;
use crate::base::{FileId, Place, Problems, Result};
use eval::Evaluator;
use source::Source;
use std::collections::HashMap;

/// A variable as a file sets it.
#[derive(Clone, PartialEq, Debug)]
pub struct Attribute {
    pub name: String,
    pub value: Value,
    /// Where the name stands.
    pub place: Place,
}

/// What a file of Terraform code was found to hold, and what of it could not be read. Code that cannot be read is
/// Terraform's to refuse, so what was found stays good.
#[derive(Clone, PartialEq, Debug)]
pub struct Found<T> {
    pub items: Vec<T>,
    pub problems: Problems,
}

/// A `backend` or `cloud` block inside a `terraform` block.
#[derive(Clone, PartialEq, Debug)]
pub struct Backend {
    /// `backend` or `cloud`.
    pub keyword: String,
    /// The type of a backend: `s3`, `local`.
    pub label: Option<String>,
    /// The block as it was written; from JSON its settings, an object.
    pub text: String,
    pub place: Place,
}

/// Whose reading of a file of variables counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reading {
    /// Terraform's.
    #[default]
    Terraform,
    /// That of the original, python-hcl2 7.2.1, for trees whose states were made with it. What Terraform cannot read is
    /// refused all the same.
    Original,
}

/// Reads a file of variables (`*.tfvars`) as Terraform does, in the order of the file.
///
/// Fails with every problem of the file: what is no HCL, what names variables or functions, blocks, and variables
/// that are set twice.
pub fn variables(file: FileId) -> Result<Vec<Attribute>> {
    variables_as(file, Reading::Terraform)
}

/// The same in either reading. In the original's, a value of which it is not certain what the original made is a
/// problem as well.
pub fn variables_as(file: FileId, reading: Reading) -> Result<Vec<Attribute>> {
    let source = Source::new(file);
    let (body, mut problems) = parser::parse(&source);
    for block in &body.blocks {
        let name = source.slice(block.keyword);
        let problem = source.problem(
            block.keyword,
            format!("a block `{name}` in a file of variables"),
            "expected `name = value`",
        );
        problems.push(problem.help(format!("write `{name} = {{ … }}` for a map")));
    }
    let mut evaluator = Evaluator::new(&source);
    if reading == Reading::Original {
        for (span, difference) in original::differences(&source, &body) {
            match difference.original {
                Some(Value::Str(text)) => evaluator.instead(span, text),
                _ if difference.cause.refused() => {}
                _ => {
                    let problem = source.problem(span, difference.cause.text(), "expected what both read alike");
                    problems.push(problem.help("write the plain value, or read HCL as Terraform does"));
                }
            }
        }
    }
    let mut first: HashMap<&str, Place> = HashMap::with_capacity(body.attributes.len());
    let mut found = Vec::with_capacity(body.attributes.len());
    for setting in &body.attributes {
        let name = source.slice(setting.name);
        let place = source.place(setting.name);
        if let Some(before) = first.get(name) {
            let problem = source.problem(setting.name, format!("`{name}` is set twice"), "expected each variable once");
            problems.push(problem.note_at("first set at", *before));
            continue;
        }
        first.insert(name, place);
        if let Some(value) = evaluator.value(&setting.expression) {
            found.push(Attribute { name: name.to_owned(), value: value.into_value(), place });
        }
    }
    problems.append(&mut evaluator.problems);
    checked(found, problems)
}

/// Reads a file of variables in JSON (`*.tfvars.json`), in the order of the file. Strings are taken as they are.
pub fn variables_json(file: FileId) -> Result<Vec<Attribute>> {
    let source = Source::new(file);
    let root = json::parse(&source).map_err(|problem| vec![*problem])?;
    let json::Node::Map(map) = root.node else {
        return Err(source.problem(root.span, "a file of variables holds one object", "expected `{`").into());
    };
    let settings = map.into_iter().filter(|(name, _)| name != "//");
    let found = settings.map(|(name, (span, json))| Attribute {
        name,
        value: json.into_computed().into_value(),
        place: source.place(span),
    });
    Ok(found.collect())
}

fn checked<T>(found: T, mut problems: Problems) -> Result<T> {
    crate::base::problem::sort(&mut problems);
    if problems.is_empty() { Ok(found) } else { Err(problems) }
}
