//! `cycler("odd", "even")`: gives its items in turn.

use minijinja::value::{Object, Rest, Value};
use minijinja::{Error, ErrorKind, State};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Debug)]
struct Cycler {
    items: Vec<Value>,
    at: AtomicUsize,
}

pub fn cycler(items: Rest<Value>) -> Result<Value, Error> {
    if items.is_empty() {
        return Err(Error::new(ErrorKind::MissingArgument, "cycler needs an item"));
    }
    Ok(Value::from_object(Cycler { items: items.0, at: AtomicUsize::new(0) }))
}

impl Cycler {
    fn item(&self, at: usize) -> Value {
        self.items.get(at % self.items.len().max(1)).cloned().unwrap_or_default()
    }
}

impl Object for Cycler {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        (key.as_str() == Some("current")).then(|| self.item(self.at.load(Ordering::Relaxed)))
    }

    fn call_method(self: &Arc<Self>, _state: &mut State, method: &str, _args: &[Value]) -> Result<Value, Error> {
        match method {
            "next" => Ok(self.item(self.at.fetch_add(1, Ordering::Relaxed))),
            "reset" => {
                self.at.store(0, Ordering::Relaxed);
                Ok(Value::from(()))
            }
            _ => Err(Error::from(ErrorKind::UnknownMethod)),
        }
    }
}
