//! A plan in a file, to be applied later: what it would do and what it rests on, as digests.
//!
//! Nothing is performed from the file. Whoever applies it makes the plan again and proves it equal to the saved one,
//! operation by operation; [`moved`] says what stands in the way.

pub mod moved;
mod node;
mod read;
mod step;

pub use node::{Asked, Node, Part, Value, View};
pub use read::OWN;
pub use step::Step;

use crate::base::{Mask, Plain, digest};
use std::collections::BTreeMap;

/// The version of the shape below; it grows when a reader would have to change.
pub const VERSION: i64 = 1;

/// A plan as it stands in a file.
#[derive(Clone, Debug, Default)]
pub struct Saved {
    /// The version of the suil that made it.
    pub suil: String,
    pub made: Made,
    pub chosen: Chosen,
    /// The code of every module that the plan is about.
    pub modules: BTreeMap<String, Code>,
    /// The nodes that were planned, in the order of the catalogue.
    pub nodes: Vec<Node>,
    /// Selected nodes that could not be planned, and why: the plan is not about them.
    pub left_out: BTreeMap<String, String>,
}

/// When, by whom and how a plan was made.
#[derive(Clone, Debug, Default)]
pub struct Made {
    /// As `2026-11-30T02:54:46Z`.
    pub at: String,
    /// `user@host: suil …`, as the lock of a node says it.
    pub by: String,
}

/// What was asked for. Applying the plan asks for the same.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    pub roles: Vec<String>,
    pub nodes: Vec<String>,
    pub modules: Vec<String>,
    pub force: bool,
}

/// What a module is made of.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Code {
    pub signature: String,
    /// Path in the module and digest of each file that the signature counts.
    pub files: BTreeMap<String, String>,
}

impl Saved {
    /// The whole file as data, with its own digest at the end.
    pub fn to_plain(&self, mask: &Mask) -> Plain {
        let words = |all: &[String]| all.iter().map(|word| Plain::Str(mask.apply(word))).collect::<Plain>();
        let modules = self.modules.iter().map(|(name, code)| (name.clone(), code.to_plain())).collect();
        let left_out = self.left_out.iter().map(|(node, why)| (node.clone(), Plain::Str(mask.apply(why)))).collect();
        let mut plain = Plain::from_iter([
            ("version", Plain::Int(VERSION)),
            ("suil", Plain::from(&self.suil)),
            (
                "made",
                Plain::from_iter([("at", Plain::from(&self.made.at)), ("by", Plain::Str(mask.apply(&self.made.by)))]),
            ),
            (
                "selection",
                Plain::from_iter([
                    ("roles", words(&self.chosen.roles)),
                    ("nodes", words(&self.chosen.nodes)),
                    ("modules", words(&self.chosen.modules)),
                    ("force", Plain::Bool(self.chosen.force)),
                ]),
            ),
            ("modules", modules),
            ("nodes", self.nodes.iter().map(Node::to_plain).collect()),
            ("left_out", left_out),
        ]);
        plain.set("sha256", seal(&plain));
        plain
    }

    /// All operations of all nodes.
    pub fn operations(&self) -> usize {
        self.nodes.iter().map(|node| node.operations.len()).sum()
    }
}

impl Code {
    fn to_plain(&self) -> Plain {
        let files = self.files.iter().map(|(path, digest)| (path.clone(), Plain::from(digest))).collect();
        Plain::from_iter([("signature", Plain::from(&self.signature)), ("files", files)])
    }
}

/// The digest of a document, whatever the order of its keys and however it is laid out.
pub(super) fn seal(document: &Plain) -> String {
    digest::sha256(sorted(document).to_json_line().as_bytes())
}

fn sorted(value: &Plain) -> Plain {
    match value {
        Plain::List(items) => items.iter().map(sorted).collect(),
        Plain::Map(map) => {
            let sorted: BTreeMap<&String, Plain> = map.iter().map(|(key, value)| (key, sorted(value))).collect();
            sorted.into_iter().map(|(key, value)| (key.clone(), value)).collect()
        }
        other => other.clone(),
    }
}

/// Enough of a digest to tell that a value moved; only whole ones prove that an operation is the same.
pub(super) fn short(bytes: &[u8]) -> String {
    digest::sha256(bytes).chars().take(16).collect()
}

#[cfg(test)]
mod tests;
