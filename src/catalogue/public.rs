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
    let plain = walk.plain(value, &Trail { above: None, step: Step::Key(path) });
    if walk.problems.is_empty() { Ok(plain) } else { Err(walk.problems) }
}

struct Walk<'a> {
    vault: &'a Vault,
    node: &'a str,
    problems: Problems,
}

/// The way to a value. It lives on the stack: only a secret ever asks for its text.
struct Trail<'a> {
    above: Option<&'a Trail<'a>>,
    step: Step<'a>,
}

enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl Trail<'_> {
    fn text(&self) -> String {
        let above = self.above.map(Trail::text).unwrap_or_default();
        let dot = if above.is_empty() { "" } else { "." };
        match self.step {
            Step::Key(key) => format!("{above}{dot}{key}"),
            Step::Index(at) => format!("{above}{dot}{at}"),
        }
    }
}

impl Walk<'_> {
    fn plain(&mut self, value: &Value, trail: &Trail) -> Plain {
        match &value.kind {
            Kind::Scalar(scalar) => scalar.to_plain(),
            Kind::List(list) => {
                let item = |(at, item)| self.plain(item, &Trail { above: Some(trail), step: Step::Index(at) });
                list.iter().enumerate().map(item).collect()
            }
            Kind::Map(map) => {
                let mut below =
                    |key: &str, value| self.plain(value, &Trail { above: Some(trail), step: Step::Key(key) });
                map.iter().map(|(key, slot)| (key.to_string(), below(key, &slot.value))).collect()
            }
            Kind::Secret(cipher) => match self.vault.public(cipher, &trail.text(), value.place) {
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
    /// The merged data of each entry, in the shape of the conformance corpus's `nodes`, one after the other: the
    /// whole of a large workspace need not stand in memory.
    ///
    /// # Errors
    /// Every secret that the keys of the run do not open, once, before the first entry is made.
    pub fn merged_entries<'a>(&'a self, vault: &'a Vault) -> Result<impl Iterator<Item = Plain> + 'a> {
        let sealed = self.entries.iter().filter(|entry| entry.has_secrets());
        let mut problems: Problems = sealed.filter_map(|entry| entry.public(vault).err()).flatten().collect();
        problem::sort(&mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(self.entries.iter().map(|entry| entry.public(vault).unwrap_or_default()))
    }

    /// The merged data of all entries: `{"nodes": […]}`, in the shape of the conformance corpus.
    ///
    /// # Errors
    /// Every secret that the keys of the run do not open, once.
    pub fn merged(&self, vault: &Vault) -> Result<Plain> {
        let nodes = self.merged_entries(vault)?.collect();
        Ok(Plain::from_iter([("nodes", Plain::List(nodes))]))
    }
}
