//! Numbers as Python reads and writes them.

pub use crate::base::number::repr;

use minijinja::Error;
use minijinja::value::{Value, ValueKind};

/// A number that is not whole by type.
pub fn fraction(value: &Value) -> Option<f64> {
    let is = value.kind() == ValueKind::Number && !value.is_integer();
    f64::try_from(value.clone()).ok().filter(|_| is)
}

/// `int(default = 0, base = 10)`: what is no number becomes the default.
pub fn int(value: Value, default: Option<i64>, base: Option<u32>) -> Result<i64, Error> {
    super::filter::defined(&value)?;
    let default = default.unwrap_or(0);
    if let Some(text) = value.as_str() {
        let text = text.trim().replace('_', "");
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => (-1, digits),
            None => (1, text.strip_prefix('+').unwrap_or(&text)),
        };
        let base = base.unwrap_or(10);
        let prefix = match base {
            16 => "0x",
            8 => "0o",
            2 => "0b",
            _ => "",
        };
        let lower = digits.to_lowercase();
        let digits = lower.strip_prefix(prefix).unwrap_or(&lower);
        if !(2..=36).contains(&base) {
            return Ok(default);
        }
        return Ok(match i64::from_str_radix(digits, base) {
            Ok(n) => n.saturating_mul(sign),
            Err(_) => text.parse::<f64>().ok().filter(|x| x.is_finite()).map_or(default, |x| x as i64),
        });
    }
    Ok(match value.kind() {
        ValueKind::Bool => i64::from(value.is_true()),
        _ => i64::try_from(value.clone())
            .ok()
            .or_else(|| f64::try_from(value.clone()).ok().filter(|x| x.is_finite()).map(|x| x.trunc() as i64))
            .unwrap_or(default),
    })
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
