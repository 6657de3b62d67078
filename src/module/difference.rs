//! Compares the facts that must hold with those that were read.

use crate::base::Plain;

/// One leaf of `expected` that the facts do not have.
#[derive(Clone, PartialEq, Debug)]
pub struct Difference {
    pub path: Vec<String>,
    pub expected: Plain,
    /// `None` where there is no such fact.
    pub found: Option<Plain>,
}

impl Difference {
    pub fn to_plain(&self) -> Plain {
        Plain::from_iter([
            ("path", self.path.iter().map(Plain::from).collect()),
            ("expected", self.expected.clone()),
            ("found", self.found.clone().unwrap_or_default()),
        ])
    }
}

/// Returns what differs, in the order of `expected`. Only the keys that `expected` names are compared; an expected
/// nothing is the same as a fact that is not there.
pub fn differences(expected: &Plain, facts: &Plain) -> Vec<Difference> {
    let mut out = Vec::new();
    compare(expected, Some(facts), &mut Vec::new(), &mut out);
    out
}

fn compare(expected: &Plain, found: Option<&Plain>, path: &mut Vec<String>, out: &mut Vec<Difference>) {
    match (expected, found) {
        (Plain::Null, None) => {}
        (Plain::Map(map), found)
            if !map.is_empty() && found.is_none_or(|f| matches!(f, Plain::Map(_) | Plain::Null)) =>
        {
            for (key, value) in map {
                path.push(key.clone());
                compare(value, found.and_then(|f| f.get(key)), path, out);
                path.pop();
            }
        }
        // An expected empty mapping names no key, so any mapping will do.
        (Plain::Map(map), Some(Plain::Map(_))) if map.is_empty() => {}
        (Plain::Int(a), Some(Plain::Float(b))) if *a as f64 == *b => {}
        (Plain::Float(a), Some(Plain::Int(b))) if *a == *b as f64 => {}
        (expected, found) if Some(expected) == found => {}
        (expected, found) => {
            out.push(Difference { path: path.clone(), expected: expected.clone(), found: found.cloned() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn yaml(text: &str) -> Plain {
        Plain::from_yaml(text).expect("yaml")
    }

    #[test]
    fn only_what_is_expected_is_compared() {
        let expected = yaml("{units: {surf: active, foam: active}, files: {/a: null, /b: null}, n: 1}");
        let facts = yaml("{units: {surf: active, foam: dead, other: dead}, files: {/a: null}, n: 1.0, more: 1}");
        let found: Vec<String> = differences(&expected, &facts).iter().map(|d| d.path.join(".")).collect();
        assert_eq!(found, ["units.foam"]);
    }

    #[test]
    fn a_fact_that_is_not_there_is_a_difference_of_each_leaf() {
        let found = differences(&yaml("{a: {b: 1, c: null, d: {e: 2}}}"), &Plain::Null);
        let paths: Vec<String> = found.iter().map(|d| d.path.join(".")).collect();
        assert_eq!(paths, ["a.b", "a.d.e"]);
        assert!(found.iter().all(|d| d.found.is_none()));
    }
}
