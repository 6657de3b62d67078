//! Plain values to Starlark and back.

use super::record::{Record, as_dict};
use super::thing::Thing;
use crate::base::Plain;
use starlark::values::dict::AllocDict;
use starlark::values::float::StarlarkFloat;
use starlark::values::list::{AllocList, ListRef};
use starlark::values::structs::StructRef;
use starlark::values::tuple::TupleRef;
use starlark::values::{Heap, UnpackValue, Value, ValueLike};

/// Deeper values than this are refused rather than followed.
const DEPTH: usize = 64;

/// Makes a value of `plain`; mappings become records.
pub fn alloc<'v>(plain: &Plain, heap: Heap<'v>) -> Value<'v> {
    match plain {
        Plain::Null => Value::new_none(),
        Plain::Bool(b) => Value::new_bool(*b),
        Plain::Int(n) => heap.alloc(*n),
        Plain::Float(x) => heap.alloc(*x),
        Plain::Str(text) => heap.alloc(text.as_str()),
        Plain::List(list) => heap.alloc(AllocList(list.iter().map(|item| alloc(item, heap)))),
        Plain::Map(map) => {
            let pairs = map.iter().map(|(key, value)| (key.as_str(), alloc(value, heap)));
            Record::alloc(heap.alloc(AllocDict(pairs)), heap)
        }
    }
}

/// Reads a value that the code made. A resource becomes its id.
///
/// # Errors
/// What there is, where it is not plain: a function, a number beyond 64 bits, a key that is no text.
pub fn to_plain(value: Value) -> Result<Plain, String> {
    read(value, DEPTH)
}

fn read(value: Value, depth: usize) -> Result<Plain, String> {
    if depth == 0 {
        return Err(format!("a value nested deeper than {DEPTH} levels"));
    }
    if value.is_none() {
        return Ok(Plain::Null);
    }
    if let Some(b) = value.unpack_bool() {
        return Ok(Plain::Bool(b));
    }
    if let Some(text) = value.unpack_str() {
        return Ok(Plain::Str(text.to_owned()));
    }
    if let Ok(Some(n)) = i64::unpack_value(value) {
        return Ok(Plain::Int(n));
    }
    if let Some(x) = value.downcast_ref::<StarlarkFloat>() {
        return Ok(Plain::Float(x.0));
    }
    if let Some(list) = ListRef::from_value(value) {
        return items(list.iter(), depth);
    }
    if let Some(tuple) = TupleRef::from_value(value) {
        return items(tuple.iter(), depth);
    }
    if let Some(dict) = as_dict(value) {
        let mut out = Plain::map();
        for (key, item) in dict.iter() {
            let key = match key.unpack_str() {
                Some(text) => text.to_owned(),
                None if key.unpack_i32().is_some() => key.to_str(),
                None => return Err(format!("a mapping whose key {} is no string", key.to_repr())),
            };
            out.set(key, read(item, depth - 1)?);
        }
        return Ok(out);
    }
    if let Some(fields) = StructRef::from_value(value) {
        let mut out = Plain::map();
        for (key, item) in fields.iter() {
            out.set(key.as_str(), read(item, depth - 1)?);
        }
        return Ok(out);
    }
    if let Some(thing) = value.downcast_ref::<Thing>() {
        return Ok(Plain::Str(thing.resource.id().0));
    }
    match value.get_type() {
        "int" => Err("a number beyond 64 bits".to_owned()),
        _ => Err(type_name(value)),
    }
}

/// The word a person uses for the type.
pub fn type_name(value: Value) -> String {
    match value.get_type() {
        "NoneType" => "nothing".to_owned(),
        "bool" => "a boolean".to_owned(),
        "int" | "float" => "a number".to_owned(),
        "string" => "a string".to_owned(),
        "list" | "tuple" => "a list".to_owned(),
        "dict" | "mapping" | "struct" => "a mapping".to_owned(),
        other => format!("a {other}"),
    }
}

/// A list in a list of resources stands for its items: `package("a", "b")` gives a list.
fn items<'v>(values: impl Iterator<Item = Value<'v>>, depth: usize) -> Result<Plain, String> {
    let mut out = Vec::new();
    for value in values {
        match ListRef::from_value(value) {
            Some(inner) if inner.iter().next().is_some_and(|v| v.downcast_ref::<Thing>().is_some()) => {
                for item in inner.iter() {
                    out.push(read(item, depth - 1)?);
                }
            }
            _ => out.push(read(value, depth - 1)?),
        }
    }
    Ok(Plain::List(out))
}
