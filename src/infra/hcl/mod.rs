//! HCL, read as Terraform reads it: files of variables, and what Terraform code declares.
//!
//! Enters: the text of a file. Leaves: values and the places where they were written. Never resolves a name and never
//! calls a function: a file of variables may do neither.

use super::Value;
use crate::base::{FileId, Place, Problem, Problems, Result};

/// A variable as a file sets it.
#[derive(Clone, PartialEq, Debug)]
pub struct Attribute {
    pub name: String,
    pub value: Value,
    /// Where the name stands.
    pub place: Place,
}

/// What a file of Terraform code was found to hold, and what of it could not be read. Code that cannot be read is
/// Terraform's to refuse, so that the findings stay good.
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
    /// The block as it was written; for JSON the object as HCL reads it in a `*.tf.json` file.
    pub text: String,
    pub place: Place,
}

/// Reads a file of variables (`*.tfvars`), in the order of the file.
pub fn variables(file: FileId) -> Result<Vec<Attribute>> {
    let text = file.text();
    let body =
        hcl_edit::parser::parse_body(&text).map_err(|error| Problem::new(error.to_string()).at(Place::start(file)))?;
    let mut found = vec![];
    for attribute in body.attributes() {
        let value = literal(&attribute.value).ok_or_else(|| {
            Problem::new(format!("the value of `{}` is not a literal", attribute.key.as_str())).at(Place::start(file))
        })?;
        found.push(Attribute { name: attribute.key.as_str().to_owned(), value, place: Place::start(file) });
    }
    Ok(found)
}

/// Reads a file of variables in JSON (`*.tfvars.json`), in the order of the file.
pub fn variables_json(file: FileId) -> Result<Vec<Attribute>> {
    let value = serde_json::from_str(&file.text())
        .map_err(|error| Problem::new(format!("bad JSON: {error}")).at(Place::start(file)))?;
    let serde_json::Value::Object(map) = value else { return Ok(vec![]) };
    let place = Place::start(file);
    Ok(map.into_iter().map(|(name, value)| Attribute { name, value: json(value), place }).collect())
}

/// Names the variables that a file of code (`*.tf`) declares.
pub fn declared(file: FileId) -> Found<(String, Place)> {
    let place = Place::start(file);
    match hcl_edit::parser::parse_body(&file.text()) {
        Ok(body) => {
            let blocks = body.blocks().filter(|block| block.ident.as_str() == "variable");
            let names = blocks.filter_map(|block| block.labels.first()).map(|label| (label.as_str().to_owned(), place));
            Found { items: names.collect(), problems: vec![] }
        }
        Err(error) => Found { items: vec![], problems: vec![Problem::new(error.to_string()).at(place)] },
    }
}

fn literal(expression: &hcl_edit::expr::Expression) -> Option<Value> {
    use hcl_edit::expr::{Expression, ObjectKey};
    Some(match expression {
        Expression::Null(_) => Value::Null,
        Expression::Bool(b) => Value::Bool(*b.value()),
        Expression::Number(n) => json(serde_json::from_str(&n.value().to_string()).ok()?),
        Expression::String(s) => Value::Str(s.value().to_string()),
        Expression::Array(items) => Value::List(items.iter().map(literal).collect::<Option<_>>()?),
        Expression::Object(map) => Value::Map(
            map.iter()
                .map(|(key, value)| {
                    let key = match key {
                        ObjectKey::Ident(name) => name.as_str().to_owned(),
                        ObjectKey::Expression(key) => literal(key)?.as_str()?.to_owned(),
                    };
                    Some((key, literal(value.expr())?))
                })
                .collect::<Option<_>>()?,
        ),
        _ => return None,
    })
}

fn json(value: serde_json::Value) -> Value {
    match value {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(b) => Value::Bool(b),
        serde_json::Value::Number(n) => Value::Number(match n.to_string().parse() {
            Ok(n) => super::Number::Int(n),
            Err(_) => super::Number::Float(n.as_f64().unwrap_or_default()),
        }),
        serde_json::Value::String(text) => Value::Str(text),
        serde_json::Value::Array(items) => Value::List(items.into_iter().map(json).collect()),
        serde_json::Value::Object(map) => map.into_iter().map(|(key, value)| (key, json(value))).collect(),
    }
}
