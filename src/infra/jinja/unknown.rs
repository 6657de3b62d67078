//! A value that is there and that nobody knows: it goes through a template without stopping it.

use minijinja::value::{Enumerator, Object, ObjectRepr, Value};
use minijinja::{Error, State};
use std::fmt;
use std::sync::Arc;

/// How deep it can be looked into: something has to end where everything is a list of lists.
const DEPTH: u8 = 8;

/// What stands for it in a text.
const WORD: &str = "unknown";

#[derive(Debug)]
struct Unknown(u8);

/// An unknown value.
pub fn value() -> Value {
    Value::from_object(Unknown(DEPTH))
}

impl Unknown {
    fn below(&self) -> Value {
        match self.0.checked_sub(1) {
            Some(depth) => Value::from_object(Unknown(depth)),
            None => Value::from(WORD),
        }
    }
}

impl Object for Unknown {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Iterable
    }

    fn get_value(self: &Arc<Self>, _: &Value) -> Option<Value> {
        Some(self.below())
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        match self.0 {
            0 => Enumerator::Empty,
            _ => Enumerator::Values(vec![self.below()]),
        }
    }

    fn call_method(self: &Arc<Self>, _: &mut State<'_, '_>, _: &str, _: &[Value]) -> Result<Value, Error> {
        Ok(self.below())
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(WORD)
    }
}
