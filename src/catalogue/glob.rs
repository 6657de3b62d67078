//! Name patterns, as a shell's `case` knows them: `*` crosses dots, the whole name must match, case matters.

use crate::base::pattern::{self, Step, class};

/// A parsed pattern: `*`, `?`, `[ab-d]`, `[!ab]`.
pub struct Glob {
    steps: Vec<Step>,
}

impl Glob {
    pub fn new(pattern: &str) -> Glob {
        let chars: Vec<char> = pattern.chars().collect();
        let mut steps = Vec::new();
        let mut at = 0;
        while let Some(&c) = chars.get(at) {
            at += 1;
            match c {
                '*' => steps.push(Step::Any),
                '?' => steps.push(Step::One),
                '[' => match class(&chars, at, &['!']) {
                    Some((step, next)) => {
                        steps.push(step);
                        at = next;
                    }
                    // One that never closes means itself.
                    None => steps.push(Step::Char('[')),
                },
                c => steps.push(Step::Char(c)),
            }
        }
        Glob { steps }
    }

    /// True where `pattern` has a character that makes it more than a name.
    pub fn is_pattern(pattern: &str) -> bool {
        pattern.contains(['*', '?', '['])
    }

    /// True where the whole of `name` matches. Takes time in proportion to the lengths multiplied, whatever the stars.
    pub fn matches(&self, name: &str) -> bool {
        pattern::matches(&self.steps, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_fnmatch_does() {
        let table = [
            ("*", "", true),
            ("*.test", "a.b.test", true),
            ("?????-01", "squid-01", true),
            ("?", "", false),
            ("[ce]*", "eel", true),
            ("[!ce]*", "eel", false),
            ("*-[0-9][1-9].*", "crab-01.x", true),
            ("*-[0-9][1-9].*", "crab-10.x", false),
            ("CRAB*", "crab-01", false),
            ("[]a]", "]", true),
            ("[", "[", true),
            ("a[", "a[", true),
            ("[a-]", "-", true),
            ("*a*b*c", "xxaxxbxxc", true),
            ("*a*b*c", "xxaxxbxx", false),
            ("ü*", "über", true),
        ];
        for (pattern, name, want) in table {
            assert_eq!(Glob::new(pattern).matches(name), want, "{pattern} {name}");
        }
    }

    #[test]
    fn many_stars_take_no_exponential_time() {
        assert!(!Glob::new(&"*a".repeat(200)).matches(&"a".repeat(150)));
    }
}
