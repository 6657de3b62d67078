//! Versions as Semantic Versioning 2.0 has them.

use std::cmp::Ordering;
use std::fmt;

/// A version. What stands behind a `+` does not count.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Version {
    numbers: [u64; 3],
    /// The parts of what stands behind a `-`; none of a stable one.
    pre: Vec<Part>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Part {
    // A number is before any word.
    Number(u64),
    Word(String),
}

impl Version {
    /// Reads `1.2.3-rc.1+build`, with a `v` before it or without.
    pub fn read(text: &str) -> Option<Version> {
        let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
        let (text, build) = text.split_once('+').map_or((text, None), |(text, build)| (text, Some(build)));
        let (core, pre) = text.split_once('-').map_or((text, None), |(core, pre)| (core, Some(pre)));
        let mut numbers = core.split('.').map(number);
        let three = [numbers.next()??, numbers.next()??, numbers.next()??];
        if numbers.next().is_some() || build.is_some_and(|build| !build.split('.').all(is_word)) {
            return None;
        }
        let pre = pre.map_or(Some(Vec::new()), |pre| pre.split('.').map(part).collect())?;
        Some(Version { numbers: three, pre })
    }

    pub fn is_stable(&self) -> bool {
        self.pre.is_empty()
    }
}

fn number(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if plain { text.parse().ok() } else { None }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

fn part(text: &str) -> Option<Part> {
    match text.bytes().all(|b| b.is_ascii_digit()) {
        true if !text.is_empty() => number(text).map(Part::Number),
        _ => is_word(text).then(|| Part::Word(text.to_owned())),
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Version) -> Ordering {
        self.numbers.cmp(&other.numbers).then_with(|| match (self.pre.is_empty(), other.pre.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => self.pre.cmp(&other.pre),
        })
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Version) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(f, "{major}.{minor}.{patch}")?;
        for (at, part) in self.pre.iter().enumerate() {
            f.write_str(if at == 0 { "-" } else { "." })?;
            match part {
                Part::Number(n) => write!(f, "{n}")?,
                Part::Word(word) => f.write_str(word)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn versions_have_the_order_of_the_standard() {
        let texts = [
            "0.9.9",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "1.0.0",
            "v1.0.1",
            "1.2.0",
            "1.10.0",
            "2.0.0",
        ];
        let read: Vec<Version> = texts.iter().map(|text| Version::read(text).expect(text)).collect();
        assert!(read.is_sorted_by(|a, b| a < b), "{read:?}");
        assert_eq!(Version::read("1.0.0+a.1"), Version::read("v1.0.0+b"));
        assert_eq!(read[6].to_string(), "1.0.0-beta.11");
    }

    #[test]
    fn what_is_no_version_is_none() {
        for text in [
            "",
            "v",
            "1",
            "1.2",
            "1.2.3.4",
            "01.2.3",
            "1.2.x",
            "main",
            "1.2.3-",
            "1.2.3-a..b",
            "1.2.3-01",
            "1.2.3+",
            "99999999999999999999.0.0",
            "release-1.2.3",
        ] {
            assert_eq!(Version::read(text), None, "{text}");
        }
    }
}
