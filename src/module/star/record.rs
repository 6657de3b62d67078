//! A mapping that module code reads by key and by attribute alike: `config["workers"]`, `config.workers`.
//!
//! Everything else is a dict's: `in`, `len`, iteration, `get`, `items`, `keys`, `values`, `==`, `|`. Where a key has
//! the name of one of these methods, the attribute is the method and the key is reached by index.

#![allow(unsafe_code, reason = "the interpreter's derive implements an unsafe marker trait; none is written here")]

use allocative::Allocative;
use starlark::values::dict::DictRef;
use starlark::values::{Heap, ProvidesStaticType, StarlarkPagablePanic, StarlarkValue, Trace, Value, starlark_value};

#[derive(Debug, Trace, ProvidesStaticType, StarlarkPagablePanic, Allocative)]
pub struct Record<'v> {
    pub dict: Value<'v>,
}

impl<'v> Record<'v> {
    pub fn alloc(dict: Value<'v>, heap: Heap<'v>) -> Value<'v> {
        heap.alloc_complex_no_freeze(Record { dict })
    }
}

/// The dict that `value` is or wraps.
pub fn as_dict<'v>(value: Value<'v>) -> Option<DictRef<'v>> {
    DictRef::from_value(inner(value))
}

/// The dict inside a record; any other value as it is.
fn inner<'v>(value: Value<'v>) -> Value<'v> {
    use starlark::values::ValueLike;
    value.downcast_ref::<Record>().map_or(value, |record| record.dict)
}

impl std::fmt::Display for Record<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(&self.dict, f)
    }
}

impl serde::Serialize for Record<'_> {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.dict.serialize(s)
    }
}

#[starlark_value(type = "mapping")]
impl<'v> StarlarkValue<'v> for Record<'v> {
    type Canonical = Self;

    fn get_attr(&self, attribute: &str, heap: Heap<'v>) -> Option<Value<'v>> {
        match self.dict.get_attr(attribute, heap) {
            Ok(Some(method)) => Some(method),
            _ => as_dict(self.dict)?.get_str(attribute),
        }
    }

    fn has_attr(&self, attribute: &str, heap: Heap<'v>) -> bool {
        self.get_attr(attribute, heap).is_some()
    }

    fn dir_attr(&self) -> Vec<String> {
        let mut names = self.dict.dir_attr();
        if let Some(dict) = as_dict(self.dict) {
            names.extend(dict.keys().filter_map(|key| key.unpack_str().map(str::to_owned)));
        }
        names
    }

    fn at(&self, index: Value<'v>, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        self.dict.at(index, heap)
    }

    fn is_in(&self, other: Value<'v>) -> starlark::Result<bool> {
        self.dict.is_in(other)
    }

    fn length(&self) -> starlark::Result<i32> {
        self.dict.length()
    }

    fn to_bool(&self) -> bool {
        self.dict.to_bool()
    }

    fn iterate_collect(&self, heap: Heap<'v>) -> starlark::Result<Vec<Value<'v>>> {
        Ok(self.dict.iterate(heap)?.collect())
    }

    fn equals(&self, other: Value<'v>) -> starlark::Result<bool> {
        self.dict.equals(inner(other))
    }

    fn bit_or(&self, other: Value<'v>, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        self.dict.bit_or(inner(other), heap)
    }
}
