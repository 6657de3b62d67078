//! One operation of a saved plan: all that makes it what it is, as digests.

use super::seal;
use crate::base::{Mask, Plain, digest};
use crate::plan::{Operation, json};

/// An operation as it stands in a file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Step {
    pub module: String,
    /// As in [`Operation::resource`].
    pub resource: String,
    pub title: String,
    /// Of all that the operation does, says and shows; not of its number and not of the place of its code.
    pub sha256: String,
    /// What the digest is made of.
    pub fields: Plain,
}

impl Step {
    /// The script and the diff stand as their digests, made from text in which every secret is covered. `replaces` are
    /// the digests of the contents that are there now: a diff shows neither a binary nor a large one.
    pub fn of(operation: &Operation, replaces: Plain, mask: &Mask) -> Step {
        let masked = |text: &str| Plain::Str(mask.apply(text));
        let title = mask.apply(&operation.title);
        let resource = mask.apply(&operation.resource());
        let fields = Plain::from_iter([
            ("module", Plain::from(&operation.module)),
            ("resource", Plain::from(&resource)),
            ("verb", Plain::from(json::verb(operation.verb))),
            ("title", Plain::from(&title)),
            ("script", Plain::from(digest::sha256(mask.apply(&operation.action.script).as_bytes()))),
            ("uploads", operation.action.uploads.iter().map(json::upload).collect()),
            ("diff", Plain::from(seal(&json::diff(&operation.diff, mask)))),
            ("replaces", replaces),
            ("triggered_by", operation.triggered_by.iter().map(|id| masked(id)).collect()),
            ("judged_then", Plain::from(operation.judged_then.as_deref().map(masked))),
            ("owed", Plain::from(operation.owed.as_deref().map(masked))),
            ("guards_access", Plain::Bool(operation.guards_access)),
        ]);
        Step { module: operation.module.clone(), resource, title, sha256: seal(&fields), fields }
    }

    pub(super) fn to_plain(&self) -> Plain {
        let mut plain = self.fields.clone();
        plain.set("sha256", &self.sha256);
        plain
    }

    /// True where the digest is that of the fields.
    pub(super) fn is_whole(&self) -> bool {
        seal(&self.fields) == self.sha256
    }

    /// The names of the fields in which two operations differ.
    pub fn differing<'a>(&'a self, other: &'a Step) -> impl Iterator<Item = &'a str> {
        let fields = self.fields.as_map().into_iter().flatten();
        fields.filter(|(name, value)| other.fields.get(name) != Some(*value)).map(|(name, _)| name.as_str())
    }

    /// The resources that it is about.
    pub fn resources(&self) -> impl Iterator<Item = &str> {
        self.resource.split(", ")
    }
}
