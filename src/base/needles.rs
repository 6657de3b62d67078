//! Many words that are looked for in many texts, most of which hold none of them.

use std::collections::HashMap;
use std::sync::OnceLock;

/// So few words are looked for one by one: that is as fast.
const FEW: usize = 8;
/// How many bytes at the start of a word tell where it may be.
const HEAD: usize = 3;

/// Says in one pass over a text whether it holds one of many words. Of the words it keeps no more than where each begins
/// in a table, so that secrets are nowhere twice.
#[derive(Default)]
pub struct Needles {
    heads: OnceLock<Heads>,
}

struct Heads {
    /// One bit for each slot.
    bits: Vec<u64>,
    /// The numbers of the words of a slot.
    slots: HashMap<u16, Vec<usize>>,
}

impl Needles {
    /// The words are others now.
    pub fn forget(&mut self) {
        self.heads.take();
    }

    /// True where `text` holds one of `words`, read by `of`. The words are those of the last time, unless
    /// [`Needles::forget`] was called; each has at least three bytes.
    pub fn are_in<T>(&self, text: &str, words: &[T], of: impl Fn(&T) -> &str) -> bool {
        if words.len() <= FEW {
            return words.iter().any(|word| text.contains(of(word)));
        }
        let heads = self.heads.get_or_init(|| Heads::new(words.iter().map(&of)));
        let bytes = text.as_bytes();
        bytes.windows(HEAD).enumerate().any(|(at, head)| {
            let slot = slot(head);
            let rest = || bytes.get(at..).unwrap_or_default();
            let begins = |word: &usize| words.get(*word).is_some_and(|word| rest().starts_with(of(word).as_bytes()));
            heads.has(slot) && heads.slots.get(&slot).is_some_and(|words| words.iter().any(begins))
        })
    }
}

impl Heads {
    fn new<'a>(words: impl Iterator<Item = &'a str>) -> Heads {
        let mut heads = Heads { bits: vec![0; 1 << 10], slots: HashMap::new() };
        for (number, word) in words.enumerate() {
            let slot = slot(word.as_bytes());
            if let Some(bits) = heads.bits.get_mut(usize::from(slot >> 6)) {
                *bits |= 1 << (slot & 63);
            }
            heads.slots.entry(slot).or_default().push(number);
        }
        heads
    }

    fn has(&self, slot: u16) -> bool {
        self.bits.get(usize::from(slot >> 6)).is_some_and(|bits| bits >> (slot & 63) & 1 == 1)
    }
}

/// A number for the first bytes of a text.
fn slot(bytes: &[u8]) -> u16 {
    let number = bytes.iter().take(HEAD).fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
    (number.wrapping_mul(0x9e37_79b1) >> 16) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_holds_a_word_where_it_does() {
        let mut words: Vec<String> = (0..300).map(|n| format!("word-{n:03}x")).collect();
        let mut needles = Needles::default();
        let holds = |needles: &Needles, words: &[String], text: &str| needles.are_in(text, words, |word| word);
        assert!(holds(&needles, &words, "behind word-299x"));
        assert!(holds(&needles, &words, "word-000x before"));
        for text in ["", "wo", "word-300x", "word-29", "word-299"] {
            assert!(!holds(&needles, &words, text), "{text}");
        }
        words.push("é\u{1f980}".to_owned());
        needles.forget();
        assert!(holds(&needles, &words, "one é\u{1f980} more"));
        assert!(holds(&needles, &words[..3], "word-002x") && !holds(&needles, &words[..3], "word-003x"));
    }
}
