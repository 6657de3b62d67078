//! base64 as the original reads it: what is not of the alphabet is skipped, blanks and line ends above all.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use zeroize::Zeroizing;

/// The bytes that `text` stands for. What follows a whole padding is left out.
///
/// # Errors
/// The last group is cut short. The text says how.
pub fn decode(text: &str) -> Result<Zeroizing<Vec<u8>>, &'static str> {
    let mut digits = Zeroizing::new(String::with_capacity(text.len()));
    let (mut pads, mut whole) = (0, false);
    for c in text.chars() {
        match c {
            'A'..='Z' | 'a'..='z' | '0'..='9' | '+' | '/' => {
                pads = 0;
                digits.push(c);
            }
            '=' if digits.len() % 4 >= 2 => {
                pads += 1;
                if digits.len() % 4 + pads >= 4 {
                    whole = true;
                    break;
                }
            }
            _ => {}
        }
    }
    if !digits.len().is_multiple_of(4) && !whole {
        return Err("its base64 is cut short");
    }
    // Bits that no byte takes may be anything.
    let spare = match digits.len() % 4 {
        2 => 4,
        3 => 2,
        _ => 0,
    };
    if spare > 0
        && let Some(last) = digits.pop()
    {
        digits.push(cleared(last, spare));
    }
    STANDARD_NO_PAD.decode(digits.as_bytes()).map(Zeroizing::new).map_err(|_| "it is no base64")
}

/// A digit with its last `bits` set to zero.
fn cleared(digit: char, bits: u8) -> char {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let value = DIGITS.find(digit).unwrap_or(0) >> bits << bits;
    DIGITS.chars().nth(value).unwrap_or(digit)
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn blanks_and_foreign_characters_are_skipped_and_spare_bits_are_of_no_account() {
        for (text, want) in [
            ("aGV sbG8=", &b"hello"[..]),
            ("!aGV\nsbG8=\r\n", b"hello"),
            ("é=aGVsbG8=", b"hello"),
            ("aGVsbG9=", b"hello"),
            ("aGVsbG8=aGVsbG8=", b"hello"),
            ("aG=k=", b"hi"),
            ("aB==", b"h"),
            ("", b""),
            ("====", b""),
        ] {
            assert_eq!(decode(text).expect(text).as_slice(), want, "{text}");
        }
    }

    #[test]
    fn a_group_that_is_cut_short_is_refused() {
        for text in ["a", "aGVsbG8", "aGVsb", "aGV=", "aa="] {
            assert_eq!(decode(text).is_err(), text != "aGV=", "{text}");
        }
    }
}
