//! Values on their way into a template and out of it.

use super::super::value::{Number, Value};
use crate::module::template::{filter, method, number};
use indexmap::IndexMap;
use minijinja::value::{Enumerator, Object, ObjectRepr, Value as Jin, ValueKind};
use minijinja::{Error, ErrorKind};
use std::sync::Arc;

/// The variables of a layer, ready for any number of templates.
#[derive(Clone)]
pub struct Var(Jin);

impl Var {
    /// Takes the mapping of all variables; templates find it under the name `var`. Copies it once.
    pub fn new(variables: &Value) -> Var {
        Var::shared(Arc::new(variables.clone()))
    }

    /// The same without a copy.
    pub fn shared(variables: Arc<Value>) -> Var {
        Var(Jin::from_pairs([("var", View { whole: variables, path: Vec::new() }.value())]))
    }

    /// What a template sees: the name `var`.
    pub(super) fn context(&self) -> Jin {
        self.0.clone()
    }
}

/// A value inside a whole that is shared and never changes: which entry to take at every level. What a template does
/// not look at is never turned into a value of the engine.
#[derive(Clone, Debug)]
struct View {
    whole: Arc<Value>,
    path: Vec<usize>,
}

impl View {
    fn here(&self) -> Option<&Value> {
        self.path.iter().try_fold(&*self.whole, |value, at| match value {
            Value::List(items) => items.get(*at),
            Value::Map(map) => map.get_index(*at).map(|(_, item)| item),
            _ => None,
        })
    }

    fn map(&self) -> Option<&IndexMap<String, Value>> {
        match self.here() {
            Some(Value::Map(map)) => Some(map),
            _ => None,
        }
    }

    fn list(&self) -> &[Value] {
        match self.here() {
            Some(Value::List(items)) => items,
            _ => &[],
        }
    }

    /// The entry number `at`, which is `item`.
    fn entry(&self, at: usize, item: &Value) -> Jin {
        if !matches!(item, Value::List(_) | Value::Map(_)) {
            return scalar(item);
        }
        let mut path = Vec::with_capacity(self.path.len() + 1);
        path.extend_from_slice(&self.path);
        path.push(at);
        let view = View { whole: Arc::clone(&self.whole), path };
        if matches!(item, Value::Map(_)) { Jin::from_object(Map(view)) } else { Jin::from_object(List(view)) }
    }

    fn value(self) -> Jin {
        match self.here() {
            Some(Value::Map(_)) => Jin::from_object(Map(self)),
            Some(Value::List(_)) => Jin::from_object(List(self)),
            Some(other) => scalar(other),
            None => Jin::UNDEFINED,
        }
    }
}

/// A mapping with texts as keys.
#[derive(Debug)]
struct Map(View);

impl Map {
    fn item(&self, key: &str) -> Option<Jin> {
        self.0.map()?.get_full(key).map(|(at, _, item)| self.0.entry(at, item))
    }
}

impl Object for Map {
    fn get_value(self: &Arc<Self>, key: &Jin) -> Option<Jin> {
        self.item(key.as_str()?)
    }

    /// What stands behind a point: a method of the mapping comes before the key of its name.
    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Jin> {
        match method::DICT.contains(&key) {
            true => Some(method::bound(Jin::from_dyn_object(Arc::clone(self)), key)),
            false => self.item(key),
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let map = Arc::clone(self);
        let key = move |at: usize| {
            let entry = map.0.map().and_then(|map| map.get_index(at));
            entry.map(|(key, _)| Jin::from(key.as_str())).unwrap_or_default()
        };
        Enumerator::Iter(Box::new((0..self.0.map().map_or(0, IndexMap::len)).map(key)))
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        self.0.map().map(IndexMap::len)
    }
}

/// A list.
#[derive(Debug)]
struct List(View);

impl Object for List {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Jin) -> Option<Jin> {
        let at = key.as_usize()?;
        self.0.list().get(at).map(|item| self.0.entry(at, item))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.0.list().len())
    }
}

/// A value as the engine holds it.
pub fn value(value: Value) -> Jin {
    View { whole: Arc::new(value), path: Vec::new() }.value()
}

/// The same of what holds no others.
fn scalar(value: &Value) -> Jin {
    match value {
        Value::Bool(b) => Jin::from(*b),
        Value::Number(Number::Float(x)) => Jin::from(*x),
        Value::Number(Number::Int(n)) => number::whole(n),
        Value::Str(text) => Jin::from(text.as_str()),
        Value::Null | Value::List(_) | Value::Map(_) => Jin::from(()),
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
