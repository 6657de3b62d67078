//! Name patterns, as a shell's `case` knows them: `*` crosses dots, the whole name must match, case matters.

/// One step of a pattern.
enum Step {
    Any,
    One,
    Char(char),
    Class { negated: bool, ranges: Vec<(char, char)> },
}

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
                '[' => match class(&chars, at) {
                    Some((step, next)) => {
                        steps.push(step);
                        at = next;
                    }
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
        let name: Vec<char> = name.chars().collect();
        let (mut step, mut at) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        loop {
            match (self.steps.get(step), name.get(at)) {
                (None, None) => return true,
                (Some(Step::Any), _) => {
                    star = Some((step, at));
                    step += 1;
                    continue;
                }
                (Some(one), Some(&c)) if one.takes(c) => {
                    step += 1;
                    at += 1;
                    continue;
                }
                _ => {}
            }
            match star {
                Some((star_step, star_at)) if star_at < name.len() => {
                    star = Some((star_step, star_at + 1));
                    step = star_step + 1;
                    at = star_at + 1;
                }
                _ => return false,
            }
        }
    }
}

impl Step {
    fn takes(&self, c: char) -> bool {
        match self {
            Step::Any => false,
            Step::One => true,
            Step::Char(own) => *own == c,
            Step::Class { negated, ranges } => ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated,
        }
    }
}

/// Reads a class whose `[` stands before `at`; `None` where it never closes, and the bracket means itself.
fn class(chars: &[char], mut at: usize) -> Option<(Step, usize)> {
    let negated = chars.get(at) == Some(&'!');
    at += usize::from(negated);
    let first = at;
    let mut ranges = Vec::new();
    loop {
        let &low = chars.get(at)?;
        if low == ']' && at > first {
            return Some((Step::Class { negated, ranges }, at + 1));
        }
        match (chars.get(at + 1), chars.get(at + 2)) {
            (Some('-'), Some(&high)) if high != ']' => {
                ranges.push((low, high));
                at += 3;
            }
            _ => {
                ranges.push((low, low));
                at += 1;
            }
        }
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
