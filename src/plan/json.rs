//! A plan as data: what `--output json` prints and what `.runs/<timestamp>/plan.json` keeps.
//!
//! Contents stand as their digests, so that no secret lies in a plan file; text from a script is masked.

use super::{NodePlan, Operation, Plan};
use crate::base::{Mask, Plain, digest};
use crate::resource::{Diff, Upload, Verb};
use std::collections::BTreeSet;

/// The version of the shape below; it grows when a reader would have to change.
pub const VERSION: i64 = 1;

impl Plan {
    /// `{version, nodes: [{node, operations: […], problems: […]}], batches: [{batch, roles, nodes, hooks}], max_failures}`.
    pub fn to_plain(&self, mask: &Mask) -> Plain {
        let nodes: Plain = self.nodes.iter().map(|node| node.to_plain(mask)).collect();
        let working: BTreeSet<&str> = self.working().collect();
        Plain::from_iter([
            ("version", Plain::Int(VERSION)),
            ("nodes", nodes),
            ("batches", self.roll.to_plain(mask, &|node| working.contains(node))),
            ("max_failures", Plain::from(self.roll.most_failures.map(Plain::from))),
        ])
    }
}

impl NodePlan {
    pub fn to_plain(&self, mask: &Mask) -> Plain {
        let operations: Plain = self.operations.iter().map(|o| o.to_plain(mask)).collect();
        let problems: Plain = self.problems.iter().map(|p| Plain::Str(mask.apply(&p.what))).collect();
        Plain::from_iter([("node", Plain::from(&self.node)), ("operations", operations), ("problems", problems)])
    }
}

impl Operation {
    pub fn to_plain(&self, mask: &Mask) -> Plain {
        let masked = |text: &str| Plain::Str(mask.apply(text));
        Plain::from_iter([
            ("id", Plain::from(self.id)),
            ("module", Plain::from(&self.module)),
            ("resource", masked(&self.resource())),
            ("verb", Plain::from(verb(self.verb))),
            ("title", masked(&self.title)),
            ("diff", diff(&self.diff, mask)),
            ("command", masked(&self.action.script)),
            ("uploads", self.action.uploads.iter().map(upload).collect()),
            ("triggered_by", self.triggered_by.iter().map(|id| masked(id)).collect()),
            ("judged_then", Plain::from(self.judged_then.as_deref().map(&masked))),
            ("owed", Plain::from(self.owed.as_deref().map(&masked))),
            ("place", Plain::from(self.place.map(|place| place.to_string()))),
        ])
    }
}

pub(super) fn verb(verb: Verb) -> &'static str {
    match verb {
        Verb::Create => "create",
        Verb::Change => "change",
        Verb::Remove => "remove",
        Verb::Run => "run",
    }
}

pub(super) fn upload(upload: &Upload) -> Plain {
    Plain::from_iter([
        ("sha256", Plain::from(upload.content.sha256())),
        ("size", Plain::from(upload.content.size())),
        ("beside", Plain::from(upload.beside.as_deref().map(Plain::from))),
    ])
}

pub(super) fn diff(diff: &Diff, mask: &Mask) -> Plain {
    let masked = |text: &Option<String>| Plain::from(text.as_deref().map(|t| mask.apply(t)));
    let attributes = diff
        .attributes
        .iter()
        .map(|a| {
            Plain::from_iter([
                ("name", Plain::from(&a.name)),
                ("before", masked(&a.before)),
                ("after", masked(&a.after)),
            ])
        })
        .collect();
    let text = diff.text.as_ref().map(|text| {
        Plain::from_iter([
            ("before_sha256", Plain::from(digest::sha256(text.before.as_bytes()))),
            ("after_sha256", Plain::from(digest::sha256(text.after.as_bytes()))),
        ])
    });
    Plain::from_iter([("attributes", attributes), ("text", Plain::from(text))])
}
