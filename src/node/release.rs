//! Which system a node runs, from its os-release. The file is read as data, never run by a shell.

use crate::base::Plain;
use std::collections::BTreeMap;

/// The release of a system: its major number, or that it has none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Release {
    Number(i64),
    /// A rolling or unversioned system: Arch, Tumbleweed, Debian testing and sid.
    Rolling,
}

impl From<Release> for Plain {
    fn from(release: Release) -> Plain {
        match release {
            Release::Number(n) => Plain::Int(n),
            Release::Rolling => Plain::from("rolling"),
        }
    }
}

impl std::fmt::Display for Release {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Release::Number(n) => write!(f, "{n}"),
            Release::Rolling => f.write_str("rolling"),
        }
    }
}

const FAMILIES: &[(&str, &[&str])] = &[
    ("debian", &["debian", "ubuntu", "raspbian", "devuan", "linuxmint"]),
    ("redhat", &["rhel", "fedora", "centos", "rocky", "almalinux", "ol", "amzn"]),
    ("suse", &["suse", "opensuse", "opensuse-leap", "opensuse-tumbleweed", "sles", "sled"]),
    ("alpine", &["alpine", "postmarketos"]),
    ("arch", &["arch", "archlinux", "archarm", "manjaro"]),
];

/// Returns the family of a system by its `ID`, then by each word of `ID_LIKE`, nearest first.
pub fn family(id: &str, like: &str) -> Option<&'static str> {
    let named = |word: &str| FAMILIES.iter().find(|(_, ids)| ids.contains(&word)).map(|(family, _)| *family);
    named(id).or_else(|| like.split_whitespace().find_map(named))
}

/// The names of the families, for messages.
pub(super) fn families() -> String {
    FAMILIES.iter().map(|(family, _)| format!("`{family}`")).collect::<Vec<_>>().join(", ")
}

/// Returns the release: the major number of `VERSION_ID`. Rolling systems may have a date there.
pub(super) fn release(family: &str, id: &str, version: &str) -> Release {
    if family == "arch" || id == "opensuse-tumbleweed" {
        return Release::Rolling;
    }
    let major: String = version.chars().take_while(char::is_ascii_digit).collect();
    major.parse().map_or(Release::Rolling, Release::Number)
}

/// Reads the assignments of an os-release as a shell would: comments, quotes, escapes, the last one wins.
pub(super) fn assignments(bytes: &[u8]) -> BTreeMap<String, String> {
    let text = String::from_utf8_lossy(bytes);
    text.lines().filter_map(assignment).collect()
}

fn assignment(line: &str) -> Option<(String, String)> {
    let line = line.trim_end().trim_start();
    let (key, value) = line.split_once('=')?;
    let good = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    (!key.is_empty() && key.chars().all(good)).then(|| (key.to_owned(), unquoted(value)))
}

fn unquoted(value: &str) -> String {
    let mut out = String::new();
    let mut quote = None;
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if c == open => quote = None,
            (Some('\''), _) => out.push(c),
            (None, '\\') => out.extend(chars.next()),
            (Some(_), '\\') => match chars.next() {
                Some(next @ ('"' | '$' | '`' | '\\')) => out.push(next),
                Some(next) => out.extend(['\\', next]),
                None => out.push('\\'),
            },
            // Unquoted text ends at a blank.
            (None, c) if c.is_whitespace() => break,
            _ => out.push(c),
        }
    }
    out
}
