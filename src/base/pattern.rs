//! What patterns are made of: steps over characters, and a matcher whose time no pattern can blow up.

/// One step of a pattern over a name.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// `*`: any number of characters.
    Any,
    /// `?`
    One,
    Char(char),
    /// `[a-z]`
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Step {
    /// True where the step stands for this one character. [`Step::Any`] stands for any number and is asked elsewhere.
    pub fn takes(&self, c: char) -> bool {
        match self {
            Step::Any | Step::One => true,
            Step::Char(own) => *own == c,
            Step::Class { negated, ranges } => ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated,
        }
    }
}

/// True where the steps match the whole of `name`.
pub fn matches(steps: &[Step], name: &str) -> bool {
    let chars: Vec<char> = name.chars().collect();
    spans(steps, &chars, |step| *step == Step::Any, |step, c| step.takes(*c))
}

/// Matches `things` with `pattern`, of which some stand for any number of things. Takes time in proportion to the lengths
/// multiplied.
pub fn spans<P, T>(pattern: &[P], things: &[T], any: impl Fn(&P) -> bool, takes: impl Fn(&P, &T) -> bool) -> bool {
    let (mut at, mut thing) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        match (pattern.get(at), things.get(thing)) {
            (None, None) => return true,
            (Some(part), _) if any(part) => {
                star = Some((at, thing));
                at += 1;
                continue;
            }
            (Some(part), Some(one)) if takes(part, one) => {
                at += 1;
                thing += 1;
                continue;
            }
            _ => {}
        }
        match star {
            Some((part, from)) if from < things.len() => {
                star = Some((part, from + 1));
                at = part + 1;
                thing = from + 1;
            }
            _ => return false,
        }
    }
}

/// Reads a class whose `[` stands before `at`, and tells where it ends; `None` where it never closes. One of `negations`
/// at its start turns it round.
pub fn class(chars: &[char], mut at: usize, negations: &[char]) -> Option<(Step, usize)> {
    let negated = chars.get(at).is_some_and(|c| negations.contains(c));
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
