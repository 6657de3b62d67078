//! Values on their way into a template and out of it.

use super::super::value::{Number, Value};
use crate::module::template::{filter, method, number};
use indexmap::IndexMap;
use minijinja::value::{Enumerator, Object, Value as Jin, ValueKind};
use minijinja::{Error, ErrorKind};
use std::sync::Arc;

/// The variables of a layer, ready for any number of templates.
#[derive(Clone)]
pub struct Var(Jin);

impl Var {
    /// Takes the mapping of all variables; templates find it under the name `var`.
    pub fn new(variables: &Value) -> Var {
        Var(Jin::from_pairs([("var", value(variables))]))
    }

    /// What a template sees: the name `var`.
    pub(super) fn context(&self) -> Jin {
        self.0.clone()
    }
}

/// A mapping with texts as keys. Nothing changes it.
#[derive(Debug)]
struct Map(IndexMap<String, Jin>);

impl Object for Map {
    fn get_value(self: &Arc<Self>, key: &Jin) -> Option<Jin> {
        self.0.get(key.as_str()?).cloned()
    }

    /// What stands behind a point: a method of the mapping comes before the key of its name.
    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Jin> {
        match method::DICT.contains(&key) {
            true => Some(method::bound(Jin::from_dyn_object(Arc::clone(self)), key)),
            false => self.0.get(key).cloned(),
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let map = Arc::clone(self);
        let at = move |at: usize| map.0.get_index(at).map(|(key, _)| Jin::from(key.as_str())).unwrap_or_default();
        Enumerator::Iter(Box::new((0..self.0.len()).map(at)))
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.0.len())
    }
}

/// A value as the engine holds it.
pub fn value(value: &Value) -> Jin {
    match value {
        Value::Null => Jin::from(()),
        Value::Bool(b) => Jin::from(*b),
        Value::Number(Number::Float(x)) => Jin::from(*x),
        Value::Number(Number::Int(n)) => number::whole(n),
        Value::Str(text) => Jin::from(text.as_str()),
        Value::List(items) => Jin::from(items.iter().map(self::value).collect::<Vec<Jin>>()),
        Value::Map(map) => {
            Jin::from_object(Map(map.iter().map(|(key, item)| (key.clone(), self::value(item))).collect()))
        }
    }
}

/// A value of a template as JSON has it: a tuple is a list, a key that is no text becomes one.
///
/// # Errors
/// Something is undefined, is no data (a function, a macro), or lies deeper than a hundred levels.
pub fn plain(value: &Jin) -> Result<Value, Error> {
    level(value, 0)
}

fn level(value: &Jin, depth: usize) -> Result<Value, Error> {
    if depth > 100 {
        return Err(Error::new(ErrorKind::BadSerialization, "the value is nested too deep"));
    }
    Ok(match value.kind() {
        ValueKind::None => Value::Null,
        ValueKind::Bool => Value::Bool(value.is_true()),
        ValueKind::Number => numeric(value)?,
        ValueKind::String => Value::Str(value.as_str().unwrap_or_default().to_owned()),
        ValueKind::Seq | ValueKind::Iterable => {
            Value::List(value.try_iter()?.map(|item| level(&item, depth + 1)).collect::<Result<_, _>>()?)
        }
        ValueKind::Map => {
            let mut map = IndexMap::new();
            for name in value.try_iter()? {
                map.insert(key(&name)?, level(&value.get_item(&name)?, depth + 1)?);
            }
            Value::Map(map)
        }
        ValueKind::Undefined => return Err(filter::undefined(value)),
        other => match value.downcast_object_ref::<number::Huge>() {
            Some(number::Huge(n)) => Value::Number(Number::Int(n.clone())),
            None => {
                method::printable(value)?;
                return Err(Error::new(ErrorKind::BadSerialization, format!("a {other} is no data")));
            }
        },
    })
}

fn numeric(value: &Jin) -> Result<Value, Error> {
    let wrong = || Error::new(ErrorKind::BadSerialization, "the number is out of range");
    Ok(Value::Number(match (i128::try_from(value.clone()), u128::try_from(value.clone())) {
        _ if !value.is_integer() => Number::Float(f64::try_from(value.clone())?),
        (Ok(n), _) => Number::Int(n.into()),
        (_, Ok(n)) => Number::Int(n.into()),
        _ => return Err(wrong()),
    }))
}

fn key(value: &Jin) -> Result<String, Error> {
    Ok(match value.kind() {
        ValueKind::String => value.as_str().unwrap_or_default().to_owned(),
        ValueKind::None => "null".to_owned(),
        ValueKind::Bool => value.is_true().to_string(),
        ValueKind::Number => match numeric(value)? {
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        },
        other => return Err(Error::new(ErrorKind::BadSerialization, format!("a {other} is no key in JSON"))),
    })
}
