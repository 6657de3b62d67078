//! What is known of a node's operating system: the cached answer of the last probe.

use super::hierarchy::release_text;
use crate::base::{Plain, Problem, Result, file};
use std::collections::HashMap;
use std::path::Path;

/// The operating system of a node, as far as it is known.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Probe {
    /// `debian`, `redhat`, …
    pub family: Option<String>,
    /// The major number, or `rolling`; a number or a string, as it was cached.
    pub release: Option<Plain>,
}

impl Probe {
    /// True where the node was asked: its OS layers and the order of its modules are known.
    pub fn is_known(&self) -> bool {
        self.family.is_some()
    }

    /// The release as it stands in a path.
    pub fn release(&self) -> Option<String> {
        self.release.as_ref().map(release_text)
    }

    fn parse(text: &str) -> Result<Probe, String> {
        let facts = match Plain::from_yaml(text)? {
            Plain::Null => return Ok(Probe::default()),
            Plain::Map(map) => map.get("facts").cloned().unwrap_or_default(),
            other => return Err(format!("expected a mapping with `facts`, found {}", other.type_name())),
        };
        if !matches!(facts, Plain::Null | Plain::Map(_)) {
            return Err(format!("expected a mapping under `facts`, found {}", facts.type_name()));
        }
        let field = |name: &str| match facts.get(name) {
            None | Some(Plain::Null) => Ok(None),
            Some(value @ (Plain::Str(_) | Plain::Int(_) | Plain::Float(_))) => match release_text(value) {
                text if text.is_empty() || text.starts_with('.') || text.contains('/') => {
                    Err(format!("expected a plain word under `{name}`, found `{text}`"))
                }
                _ => Ok(Some(value.clone())),
            },
            Some(other) => Err(format!("expected a word under `{name}`, found {}", other.type_name())),
        };
        Ok(Probe { family: field("family")?.as_ref().map(release_text), release: field("release")? })
    }
}

/// Reads the caches of many nodes. Most say the same few things, so each text is parsed once.
#[derive(Debug, Default)]
pub struct Probes {
    parsed: HashMap<String, Probe>,
}

impl Probes {
    /// Reads `facts/<node>/suil.yaml`; a node that was never probed has none.
    ///
    /// # Errors
    /// A cache that cannot be read.
    pub fn read(&mut self, root: &Path, node: &str) -> Result<Probe, Problem> {
        let shown = Path::new("facts").join(node).join("suil.yaml");
        let text = match file::read_text(&root.join(&shown)) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Probe::default()),
            Err(error) => return Err(Problem::io("read", &shown, &error)),
        };
        // The timestamp differs from node to node, and nothing here depends on it.
        let key: String = text.lines().filter(|line| !line.starts_with("timestamp:")).collect::<Vec<_>>().join("\n");
        if let Some(probe) = self.parsed.get(&key) {
            return Ok(probe.clone());
        }
        let probe = Probe::parse(&text).map_err(|words| {
            Problem::new(format!("the cached probe of node `{node}` in `{}` is broken: {words}", shown.display()))
                .help(format!("remove `{}`; the next run asks the node again", shown.display()))
        })?;
        self.parsed.insert(key, probe.clone());
        Ok(probe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_tells_as_much_as_it_holds() {
        let table = [
            ("facts: {family: debian, release: 12}\n", Some("debian"), Some("12")),
            ("facts: {family: debian, release: '12'}\n", Some("debian"), Some("12")),
            ("family: debian\n", None, None),
            ("# emptied\n", None, None),
            ("facts: {family: debian}\n", Some("debian"), None),
            ("facts: {release: 9.10}\n", None, Some("9.1")),
            ("facts: {family: arch, release: rolling}\n", Some("arch"), Some("rolling")),
        ];
        for (text, family, release) in table {
            let probe = Probe::parse(text).expect(text);
            assert_eq!((probe.family.as_deref(), probe.release().as_deref()), (family, release), "{text}");
        }
        for text in ["facts: [debian]\n", "[]\n", "facts: {family: ../x}\n", "facts: {family: [a]}\n"] {
            assert!(Probe::parse(text).is_err(), "{text}");
        }
    }
}
