//! Numbers as Terraform computes with them: binary, of 512 bits, but whole ones that are written out stay exact.

use super::super::Number;
use num_bigint::{BigInt, BigUint, Sign};
use std::cmp::Ordering;

/// The bits of a result.
const BITS: u64 = 512;

/// How many digits a number may have before or after its point: what a person writes has fewer, and what has more
/// would take the memory of the machine.
const DIGITS: i64 = 20_000;

/// `mantissa · 2^exponent`, where the mantissa is odd or the whole is 0.
#[derive(Clone, Debug)]
pub(super) struct Real {
    mantissa: BigInt,
    exponent: i64,
    /// It was written out with a point, `3.0`. JSON and templates show it, and Terraform does not care.
    point: bool,
}

impl PartialEq for Real {
    fn eq(&self, other: &Real) -> bool {
        (&self.mantissa, self.exponent) == (&other.mantissa, other.exponent)
    }
}

impl Eq for Real {}

/// Too large or too small by far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Unwieldy;

impl Real {
    pub fn whole(number: impl Into<BigInt>) -> Real {
        Real::new(number.into(), 0)
    }

    fn new(mantissa: BigInt, exponent: i64) -> Real {
        match mantissa.trailing_zeros() {
            None => Real { mantissa, exponent: 0, point: false },
            Some(0) => Real { mantissa, exponent, point: false },
            Some(zeros) => Real { mantissa: mantissa >> zeros, exponent: exponent + zeros as i64, point: false },
        }
    }

    /// Reads `12`, `1.5`, `1.5e-3`.
    pub fn parse(text: &str) -> Result<Real, Unwieldy> {
        let point = text.contains('.') && !text.contains(['e', 'E']);
        Ok(Real { point, ..Real::digits(text)? })
    }

    fn digits(text: &str) -> Result<Real, Unwieldy> {
        let (digits, power) = match text.find(['e', 'E']) {
            Some(at) => {
                let (digits, power) = text.split_at(at);
                (digits, power.get(1..).unwrap_or("").parse().map_err(|_| Unwieldy)?)
            }
            None => (text, 0i64),
        };
        let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
        let after = after.trim_end_matches('0');
        if before.len() + after.len() > DIGITS as usize || power.abs() > DIGITS {
            return Err(Unwieldy);
        }
        if after.is_empty()
            && power == 0
            && let Ok(small) = before.parse::<i64>()
        {
            return Ok(Real::whole(small));
        }
        let number: BigInt = format!("{before}{after}").parse().map_err(|_| Unwieldy)?;
        let scale = power - after.len() as i64;
        let factor = BigInt::from(10u8).pow(scale.unsigned_abs() as u32);
        if scale >= 0 {
            return Ok(Real::whole(number * factor));
        }
        if (&number % &factor).sign() == Sign::NoSign {
            return Ok(Real::whole(number / factor));
        }
        Real::whole(number).divided_by(&Real::whole(factor)).ok_or(Unwieldy)
    }

    /// Rounds to 512 bits, half to even.
    fn rounded(self) -> Real {
        let (mantissa, exponent) = (self.mantissa, self.exponent);
        let excess = mantissa.bits().saturating_sub(BITS);
        if excess == 0 {
            return Real { mantissa, exponent, point: self.point };
        }
        let (sign, magnitude) = mantissa.into_parts();
        Real::new(BigInt::from_biguint(sign, shifted(&magnitude, excess)), exponent + excess as i64)
    }

    /// The same number, unless it is unwieldy.
    pub fn checked(self) -> Result<Real, Unwieldy> {
        let size = self.exponent + self.mantissa.bits() as i64;
        if size.abs() > DIGITS * 4 { Err(Unwieldy) } else { Ok(self) }
    }

    pub fn is_zero(&self) -> bool {
        self.mantissa.sign() == Sign::NoSign
    }

    /// The whole number, where it is one.
    pub fn to_whole(&self) -> Option<BigInt> {
        let exponent = u64::try_from(self.exponent).ok()?;
        Some(&self.mantissa << exponent)
    }

    /// The mantissas of both for one exponent, which comes third.
    fn aligned(&self, other: &Real) -> (BigInt, BigInt, i64) {
        let exponent = self.exponent.min(other.exponent);
        let at = |real: &Real| &real.mantissa << real.exponent.abs_diff(exponent);
        (at(self), at(other), exponent)
    }

    pub fn negated(self) -> Real {
        Real { mantissa: -self.mantissa, ..self }
    }

    pub fn plus(&self, other: &Real) -> Real {
        let (a, b, exponent) = self.aligned(other);
        Real::new(a + b, exponent).rounded()
    }

    pub fn minus(&self, other: &Real) -> Real {
        let (a, b, exponent) = self.aligned(other);
        Real::new(a - b, exponent).rounded()
    }

    pub fn times(&self, other: &Real) -> Real {
        Real::new(&self.mantissa * &other.mantissa, self.exponent + other.exponent).rounded()
    }

    /// Nothing where `other` is 0.
    pub fn divided_by(&self, other: &Real) -> Option<Real> {
        if other.is_zero() {
            return None;
        }
        // Two bits more than the result has, and one that says whether anything is left.
        let shift = (BITS + 2 + other.mantissa.bits()).saturating_sub(self.mantissa.bits());
        let dividend = &self.mantissa << shift;
        let quotient = &dividend / &other.mantissa;
        let exact = &quotient * &other.mantissa == dividend;
        let exponent = self.exponent - other.exponent - shift as i64;
        if exact {
            return Some(Real::new(quotient, exponent).rounded());
        }
        let (sign, magnitude) = quotient.into_parts();
        let sign = match sign {
            Sign::NoSign => Sign::Plus,
            sign => sign,
        };
        Some(Real::new(BigInt::from_biguint(sign, (magnitude << 1u8) + 1u8), exponent - 1).rounded())
    }

    /// What is left of a division that rounds towards 0; of one by 0, all.
    pub fn remainder(&self, other: &Real) -> Real {
        let (a, b, exponent) = self.aligned(other);
        if b.sign() == Sign::NoSign { self.clone() } else { Real::new(a % b, exponent).rounded() }
    }

    pub fn compared(&self, other: &Real) -> Ordering {
        let (a, b, _) = self.aligned(other);
        a.cmp(&b)
    }

    /// The number as a value: exact where it is whole, otherwise the nearest of 64 bits. One that was written with a
    /// point keeps it where that loses nothing.
    pub fn to_number(&self) -> Number {
        match self.to_whole() {
            Some(whole) if self.point && whole.bits() <= 53 => Number::Float(self.to_f64()),
            Some(whole) => Number::Int(whole),
            None => Number::Float(self.to_f64()),
        }
    }

    fn to_f64(&self) -> f64 {
        let magnitude = self.mantissa.magnitude();
        let lowest = self.exponent.max(-1074).max(self.exponent + magnitude.bits() as i64 - 53);
        let kept = match lowest - self.exponent {
            shift if shift > 0 => shifted(magnitude, shift as u64),
            _ => magnitude.clone(),
        };
        let kept = kept.iter_u64_digits().next().unwrap_or(0) as f64;
        let half = (lowest / 2).clamp(-1100, 1100) as i32;
        let rest = (lowest - i64::from(half)).clamp(-1100, 1100) as i32;
        let unsigned = kept * 2f64.powi(half) * 2f64.powi(rest);
        if self.mantissa.sign() == Sign::Minus { -unsigned } else { unsigned }
    }
}

/// `number / 2^shift`, rounded half to even.
fn shifted(number: &BigUint, shift: u64) -> BigUint {
    let kept = number >> shift;
    let half = shift.checked_sub(1).is_some_and(|bit| number.bit(bit));
    let exact = number.trailing_zeros().is_none_or(|zeros| zeros + 1 >= shift);
    if half && (!exact || kept.bit(0)) { kept + 1u8 } else { kept }
}

impl std::fmt::Display for Real {
    /// In full, with as few digits as tell it from its neighbours of 512 bits.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(whole) = self.to_whole() {
            return write!(f, "{whole}");
        }
        if self.mantissa.sign() == Sign::Minus {
            f.write_str("-")?;
        }
        let magnitude = self.mantissa.magnitude();
        let below = self.exponent.unsigned_abs();
        let bits = magnitude.bits();
        let ten = BigUint::from(10u8);
        // A first guess at the power of ten, one too small at most by what the rounding loses.
        let top = ((bits as f64 - below as f64 - 1.0) * std::f64::consts::LOG10_2).floor() as i64;
        for places in -top - 1..=-top + 170 {
            let (scale, denominator) = match u32::try_from(places) {
                Ok(places) => (ten.pow(places), BigUint::from(1u8)),
                Err(_) => (BigUint::from(1u8), ten.pow(places.unsigned_abs() as u32)),
            };
            let numerator = magnitude * &scale;
            let unit = denominator << below;
            let digits = (&numerator + (&unit >> 1u8)) / &unit;
            let scaled = &digits * &unit;
            let off = if scaled > numerator { scaled - &numerator } else { &numerator - scaled };
            // Nearer than half a step of 512 bits.
            if off << (BITS + 1) < scale << bits && digits.bits() > 0 {
                return write_decimal(f, &digits.to_string(), places);
            }
        }
        write!(f, "{}", self.to_f64().abs())
    }
}

/// Writes `digits · 10^-places`.
fn write_decimal(f: &mut std::fmt::Formatter<'_>, digits: &str, places: i64) -> std::fmt::Result {
    let Ok(places) = usize::try_from(places) else {
        return write!(f, "{digits}{}", "0".repeat(places.unsigned_abs() as usize));
    };
    match digits.len().checked_sub(places) {
        Some(point) if point > 0 => {
            let (before, after) = digits.split_at(point);
            match after {
                "" => f.write_str(before),
                after => write!(f, "{before}.{after}"),
            }
        }
        _ => write!(f, "0.{}{digits}", "0".repeat(places - digits.len())),
    }
}
