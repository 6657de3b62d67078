//! Numbers as Python reads and writes them.

pub use crate::base::number::repr;

use minijinja::Error;
use minijinja::value::{DynObject, Kwargs, Object, ObjectRepr, Value, ValueKind};
use num_bigint::BigInt;
use std::cmp::Ordering;
use std::sync::Arc;

/// A whole number that the engine cannot calculate with. It prints exactly and compares with its like.
#[derive(Debug)]
pub struct Huge(pub BigInt);

impl Object for Huge {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn custom_cmp(self: &Arc<Self>, other: &DynObject) -> Option<Ordering> {
        Some(self.0.cmp(&other.downcast_ref::<Huge>()?.0))
    }

    fn render(self: &Arc<Self>, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A whole number of any size.
pub fn whole(n: &BigInt) -> Value {
    if let Ok(n) = i64::try_from(n) {
        return Value::from(n);
    }
    match (i128::try_from(n), u128::try_from(n)) {
        (Ok(n), _) => Value::from(n),
        (_, Ok(n)) => Value::from(n),
        _ => Value::from_object(Huge(n.clone())),
    }
}

/// True for a whole number of any size.
pub fn is_whole(value: &Value) -> bool {
    value.is_integer() || value.downcast_object_ref::<Huge>().is_some()
}

/// A number that is not whole by type.
pub fn fraction(value: &Value) -> Option<f64> {
    let is = value.kind() == ValueKind::Number && !value.is_integer();
    f64::try_from(value.clone()).ok().filter(|_| is)
}

/// `int(default = 0, base = 10)`: what is no number becomes the default.
pub fn int(value: Value, default: Option<Value>, base: Option<u32>, named: Kwargs) -> Result<Value, Error> {
    super::filter::defined(&value)?;
    let default = named.get::<Option<Value>>("default")?.or(default).unwrap_or_else(|| Value::from(0));
    let base = named.get::<Option<u32>>("base")?.or(base).unwrap_or(10);
    named.assert_all_used()?;
    if let Some(text) = value.as_str() {
        let text = text.trim().replace('_', "");
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", text.strip_prefix('+').unwrap_or(&text)),
        };
        let prefix = match base {
            16 => "0x",
            8 => "0o",
            2 => "0b",
            _ => "",
        };
        let lower = digits.to_lowercase();
        let digits = lower.strip_prefix(prefix).unwrap_or(&lower);
        if !(2..=36).contains(&base) || digits.len() > DIGITS {
            return Ok(default);
        }
        let plain = digits.starts_with(|c: char| c.is_ascii_alphanumeric());
        let read = BigInt::parse_bytes(format!("{sign}{digits}").as_bytes(), base).filter(|_| plain);
        return Ok(match read {
            Some(n) => whole(&n),
            None => text.parse::<f64>().ok().and_then(cut).unwrap_or(default),
        });
    }
    Ok(match value.kind() {
        ValueKind::Bool => Value::from(i64::from(value.is_true())),
        _ if is_whole(&value) => value,
        _ => f64::try_from(value).ok().and_then(cut).unwrap_or(default),
    })
}

/// A text with more digits is no number.
const DIGITS: usize = 4300;

/// A fraction without what is behind the point.
fn cut(x: f64) -> Option<Value> {
    if !x.is_finite() {
        return None;
    }
    // Without an exponent the text of a fraction of 64 bits is exact.
    BigInt::parse_bytes(format!("{:.0}", x.trunc()).as_bytes(), 10).map(|n| whole(&n))
}

/// `float(default = 0.0)`: what is no number becomes the default, as it was given.
pub fn float(value: Value, default: Option<Value>) -> Result<Value, Error> {
    super::filter::defined(&value)?;
    let read = match value.as_str() {
        Some(text) => text.trim().parse().ok(),
        None if value.kind() == ValueKind::Bool => Some(f64::from(u8::from(value.is_true()))),
        None => f64::try_from(value).ok(),
    };
    Ok(read.map(Value::from).or(default).unwrap_or_else(|| Value::from(0.0)))
}

#[cfg(test)]
mod tests {
    #[test]
    fn floats_look_as_in_python() {
        for (x, want) in [
            (1e20, "1e+20"),
            (1.5e-7, "1.5e-07"),
            (5.0, "5.0"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (-0.5, "-0.5"),
            (-0.0, "-0.0"),
        ] {
            assert_eq!(super::repr(x), want);
        }
    }
}
