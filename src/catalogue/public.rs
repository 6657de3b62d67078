//! What may be shown of an entry: every secret as its digest.

use super::build::Catalogue;
use super::entry::Entry;
use crate::base::{Plain, Problem, Problems, Result, problem};
use crate::data::secret::Vault;
use crate::data::{Kind, Value};

/// Returns `value` with every secret as its digest, or as `secret (no key)` where no key is set at all. `path` is the
/// dotted path of the value on the node, for messages.
///
/// # Errors
/// Every secret that the keys of the run do not open, with its node and path.
pub fn public(value: &Value, vault: &Vault, node: &str, path: &str) -> Result<Plain> {
    let mut walk = Walk { vault, node, problems: Problems::new() };
    let plain = walk.plain(value, path);
    if walk.problems.is_empty() { Ok(plain) } else { Err(walk.problems) }
}

struct Walk<'a> {
    vault: &'a Vault,
    node: &'a str,
    problems: Problems,
}

impl Walk<'_> {
    fn plain(&mut self, value: &Value, path: &str) -> Plain {
        match &value.kind {
            Kind::Scalar(scalar) => scalar.to_plain(),
            Kind::List(list) => {
                (0..).zip(list.iter()).map(|(at, item): (usize, _)| self.plain(item, &format!("{path}.{at}"))).collect()
            }
            Kind::Map(map) => {
                let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                map.iter().map(|(key, slot)| (key.to_string(), self.plain(&slot.value, &below(key)))).collect()
            }
            Kind::Secret(cipher) => match self.vault.public(cipher, path, value.place) {
                Ok(text) => Plain::Str(text),
                Err(problem) => {
                    self.problems.push(self.named(problem));
                    Plain::Null
                }
            },
            Kind::Lookup(lookup) => Plain::Str(format!("!LOOKUP {}", lookup.field)),
        }
    }

    fn named(&self, problem: Problem) -> Problem {
        problem.note(format!("it is part of the data of node `{}`", self.node))
    }
}

impl Entry {
    /// The entry before any module code, in the shape of the conformance corpus.
    ///
    /// # Errors
    /// Every secret that the keys of the run do not open.
    pub fn public(&self, vault: &Vault) -> Result<Plain> {
        let mut problems = Problems::new();
        let mut shown = |path: &str, value: Value| {
            public(&value, vault, &self.name, path).map_err(|more| problems.extend(more)).unwrap_or_default()
        };
        let deployment = self.deployment().map_or_else(Plain::map, |value| shown("deployment", value));
        let data: Plain =
            self.data().into_iter().map(|(key, slot)| (key.to_string(), shown(&key, slot.value))).collect();
        let plain = Plain::from_iter([
            ("name", Plain::from(&*self.name)),
            ("role", Plain::from(&*self.role)),
            ("family", self.probe.family.as_deref().into()),
            ("release", self.probe.release.clone().unwrap_or_default()),
            ("provisional", self.provisional.into()),
            ("modules", self.modules.iter().map(Plain::from).collect()),
            ("deployment", deployment),
            ("data", data),
        ]);
        if problems.is_empty() { Ok(plain) } else { Err(problems) }
    }
}

impl Catalogue {
    /// The merged data of all entries: `{"nodes": […]}`, in the shape of the conformance corpus.
    ///
    /// # Errors
    /// Every secret that the keys of the run do not open, once.
    pub fn merged(&self, vault: &Vault) -> Result<Plain> {
        let mut problems = Problems::new();
        let mut nodes = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            match entry.public(vault) {
                Ok(node) => nodes.push(node),
                Err(more) => problems.extend(more),
            }
        }
        problem::sort(&mut problems);
        if problems.is_empty() { Ok(Plain::from_iter([("nodes", Plain::List(nodes))])) } else { Err(problems) }
    }
}
