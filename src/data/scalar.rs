//! Plain scalars as YAML 1.1 resolves them, with three rulings: base sixty and dates are text (a port map, a time or
//! a MAC is never a number), `1e3` is a number as in YAML 1.2, and what no other tool reads alike is refused.

use super::Resolved;

/// Why a plain scalar is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// It is not equal to itself, so every diff would be dirty.
    NotANumber,
    /// It does not fit into 64 bits.
    TooLarge,
}

/// Resolves the text of a plain scalar.
///
/// # Errors
/// `.nan`, and whole numbers beyond 64 bits.
pub fn resolve(text: &str) -> Result<Resolved, Refusal> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Resolved::Null),
        "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Ok(Resolved::Bool(true)),
        "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Ok(Resolved::Bool(false)),
        ".nan" | ".NaN" | ".NAN" => return Err(Refusal::NotANumber),
        _ => {}
    }
    let (negative, body) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if matches!(body, ".inf" | ".Inf" | ".INF") {
        return Ok(Resolved::Float(if negative { f64::NEG_INFINITY } else { f64::INFINITY }));
    }
    if !body.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Ok(Resolved::Str);
    }
    if let Some((radix, digits)) = whole(body) {
        return number(negative, radix, digits).map(Resolved::Int);
    }
    Ok(fraction(text, body).map_or(Resolved::Str, Resolved::Float))
}

/// True where the text has the shape of a YAML 1.1 date or timestamp; suil keeps those as text.
pub fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |range: std::ops::Range<usize>| bytes.get(range).is_some_and(|b| b.iter().all(u8::is_ascii_digit));
    let date =
        digits(0..4) && digits(5..7) && digits(8..10) && bytes.get(4) == Some(&b'-') && bytes.get(7) == Some(&b'-');
    date && matches!(bytes.get(10), None | Some(b'T' | b't' | b' ' | b'\t'))
}

/// The radix and the digits of a whole number, sign taken off.
fn whole(body: &str) -> Option<(u32, &str)> {
    let all = |digits: &str, radix: u32| {
        digits.chars().all(|c| c == '_' || c.is_digit(radix)) && digits.chars().any(|c| c != '_')
    };
    if let Some(digits) = body.strip_prefix("0x") {
        return all(digits, 16).then_some((16, digits));
    }
    if let Some(digits) = body.strip_prefix("0b") {
        return all(digits, 2).then_some((2, digits));
    }
    if body.len() > 1 && body.starts_with('0') {
        return all(body, 8).then_some((8, body));
    }
    (body.starts_with(|c: char| c.is_ascii_digit()) && all(body, 10)).then_some((10, body))
}

fn number(negative: bool, radix: u32, digits: &str) -> Result<i64, Refusal> {
    let mut value: i128 = 0;
    for digit in digits.chars().filter_map(|c| c.to_digit(radix)) {
        value = value * i128::from(radix) + i128::from(digit);
        if value > i128::from(u64::MAX) {
            return Err(Refusal::TooLarge);
        }
    }
    i64::try_from(if negative { -value } else { value }).map_err(|_| Refusal::TooLarge)
}

/// `1.5`, `.5`, `1_000.5`, `1.5e+3` as in YAML 1.1; `1e3` and `1.5e3` as in YAML 1.2.
fn fraction(text: &str, body: &str) -> Option<f64> {
    let (mantissa, exponent) = match body.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (body, None),
    };
    let (before, after) = match mantissa.split_once('.') {
        Some((before, after)) => (before, Some(after)),
        None => (mantissa, None),
    };
    let digits = |text: &str| text.chars().all(|c| c == '_' || c.is_ascii_digit());
    let first_is_digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let shaped = digits(before)
        && after.is_none_or(digits)
        && (first_is_digit(before) || before.is_empty() && after.is_some_and(first_is_digit))
        && (after.is_some() || exponent.is_some())
        && exponent.is_none_or(|e| {
            let e = e.strip_prefix(['-', '+']).unwrap_or(e);
            !e.is_empty() && e.bytes().all(|b| b.is_ascii_digit())
        });
    if !shaped {
        return None;
    }
    text.replace('_', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_resolve_as_yaml_1_1_does() {
        for (text, value) in [
            ("0644", 420),
            ("00", 0),
            ("0_7", 7),
            ("-0644", -420),
            ("0x1F", 31),
            ("0xff_ff", 65535),
            ("0b101", 5),
            ("1_000", 1000),
            ("1__0", 10),
            ("10_", 10),
            ("+12", 12),
            ("-0", 0),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775808", i64::MIN),
        ] {
            assert_eq!(resolve(text), Ok(Resolved::Int(value)), "{text}");
        }
    }

    #[test]
    fn fractions_resolve_as_yaml_1_1_does_and_exponents_as_1_2() {
        for (text, value) in [
            ("1.5", 1.5),
            ("-0.25", -0.25),
            (".5", 0.5),
            ("-.5", -0.5),
            ("1.", 1.0),
            ("1_000.5", 1000.5),
            ("10.10", 10.1),
            ("1.5e+3", 1500.0),
            ("1.5E-3", 0.0015),
            (".5e+1", 5.0),
            ("1e3", 1000.0),
            ("1.5e3", 1500.0),
            ("1e+3", 1000.0),
            (".inf", f64::INFINITY),
            ("-.INF", f64::NEG_INFINITY),
        ] {
            assert_eq!(resolve(text), Ok(Resolved::Float(value)), "{text}");
        }
    }

    #[test]
    fn base_sixty_dates_and_lookalikes_are_text() {
        for text in [
            "12:30:45",
            "22:22",
            "0:59",
            "52:54:00:12:34:56",
            "20:30.15",
            "2031-01-02",
            "2031-01-02T03:04:05Z",
            "08",
            "0899",
            "0o17",
            "0x",
            "0b2",
            "0x_",
            "+",
            "-",
            ".",
            "..",
            "1.2.3",
            "1e",
            "e3",
            "._5",
            "y",
            "n",
            "=",
            "<<",
            "nUll",
            "yEs",
            "0.5.6",
            "1:2",
            "1e3.5",
            "+.e3",
            "_1",
        ] {
            assert_eq!(resolve(text), Ok(Resolved::Str), "{text}");
        }
    }

    #[test]
    fn what_no_tool_reads_alike_is_refused() {
        assert_eq!(resolve(".NaN"), Err(Refusal::NotANumber));
        for text in ["18446744073709551616", "-9223372036854775809", "9223372036854775808", &"9".repeat(400)] {
            assert_eq!(resolve(text), Err(Refusal::TooLarge), "{text}");
        }
    }

    #[test]
    fn a_date_is_known_by_its_shape() {
        assert!(
            is_date("2031-01-02") && is_date("2031-01-02 03:04:05") && !is_date("2031-1-2") && !is_date("20310102")
        );
    }
}
