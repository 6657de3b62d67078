//! Macros that take any arguments, and `%` behind a text: what [`super::dialect`] writes is answered here.

use super::dialect::{PERCENT, VARIED};
use crate::module::template::{filter, printf};
use minijinja::value::{Kwargs, Object, ObjectRepr, Rest, Value, ValueKind, from_args};
use minijinja::{Environment, Error, ErrorKind, State};
use std::sync::Arc;

pub fn add(environment: &mut Environment<'static>) {
    environment.add_filter(PERCENT, percent);
    environment.add_function(VARIED, |inner: Value| Value::from_object(Varied(inner)));
}

/// A macro whose last two arguments are `varargs` and `kwargs`.
#[derive(Debug)]
struct Varied(Value);

impl Object for Varied {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.0.get_item(key).ok().filter(|value| !value.is_undefined())
    }

    fn call(self: &Arc<Self>, state: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        let (Rest(mut given), named): (Rest<Value>, Kwargs) = from_args(args)?;
        let arguments = self.0.get_attr("arguments")?;
        let names: Vec<String> = arguments.try_iter()?.map(|name| name.to_string()).collect();
        let own = names.len().saturating_sub(2);
        let known = |name: &str| name == "caller" || names.iter().take(own).any(|own| own == name);
        let rest = given.split_off(own.min(given.len()));
        let (mut kept, mut other) = (Vec::new(), Vec::new());
        for name in named.args() {
            let value: Value = named.peek(name)?;
            match known(name) {
                true => kept.push((name.to_owned(), value)),
                false => other.push((name.to_owned(), value)),
            }
        }
        kept.push(("varargs".to_owned(), Value::from(minijinja::value::Tuple::from(rest))));
        kept.push(("kwargs".to_owned(), Value::from_pairs(other)));
        given.push(kept.into_iter().collect::<Kwargs>().into());
        self.0.call(state, &given)
    }
}

/// `text % value` as Python has it: a tuple fills the places, a mapping the names; numbers give the remainder.
fn percent(left: Value, right: Value) -> Result<Value, Error> {
    if let Some(pattern) = left.as_str() {
        if right.is_undefined() {
            return Err(filter::undefined(&right));
        }
        let args: Vec<Value> = match right.kind() {
            ValueKind::Seq if right.is_tuple() => right.try_iter()?.collect(),
            ValueKind::Map if pattern.contains("%(") => Vec::new(),
            _ => vec![right.clone()],
        };
        let name = |name: &str| right.get_item(&Value::from(name)).ok().filter(|value| !value.is_undefined());
        return printf::format(pattern, &args, name).map(Value::from);
    }
    let zero = || Error::new(ErrorKind::InvalidOperation, "the remainder of a division by zero");
    let wrong = || {
        let words = format!("tried to use % on a {} and a {}", left.kind(), right.kind());
        Error::new(ErrorKind::InvalidOperation, words)
    };
    let numeric = |value: &Value| matches!(value.kind(), ValueKind::Number | ValueKind::Bool);
    if !numeric(&left) || !numeric(&right) {
        return Err(wrong());
    }
    if let (true, true, Ok(a), Ok(b)) =
        (left.is_integer(), right.is_integer(), i128::try_from(left.clone()), i128::try_from(right.clone()))
    {
        let rest = a.checked_rem(b).ok_or_else(zero)?;
        return Ok(Value::from(if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }));
    }
    let (a, b) = (f64::try_from(left.clone())?, f64::try_from(right.clone())?);
    if b == 0.0 {
        return Err(zero());
    }
    let rest = a % b;
    Ok(Value::from(if rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest }))
}
