//! A layer as its file says it: values, and the tags that tell the merge what to do with them.

use super::{Entry, Kind, Value, merge};
use crate::base::{Place, Result};
use indexmap::IndexMap;
use std::sync::Arc;

/// A value of one layer. Cloning is cheap: what is inside is shared.
#[derive(Clone, Debug)]
pub struct Tagged {
    pub tag: Option<Tag>,
    pub node: Node,
    pub place: Place,
}

/// What a tag says, and where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tag {
    pub strategy: Strategy,
    pub place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strategy {
    Replace,
    Append,
    Merge,
    Delete,
}

impl Strategy {
    pub const ALL: [Strategy; 4] = [Strategy::Replace, Strategy::Append, Strategy::Merge, Strategy::Delete];

    /// The tag as a person writes it.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Replace => "!replace",
            Strategy::Append => "!append",
            Strategy::Merge => "!merge",
            Strategy::Delete => "!delete",
        }
    }
}

/// What a tag stands before. A subtree with no tag in it is a [`Value`] already, so the merge shares it as it is.
#[derive(Clone, Debug)]
pub enum Node {
    Plain(Value),
    List(Arc<Vec<Tagged>>),
    Map(Arc<Members>),
    /// What a bare `!delete` stands before.
    Nothing,
}

pub type Members = IndexMap<Arc<str>, Member>;

/// A value of a mapping, with the place of its key.
#[derive(Clone, Debug)]
pub struct Member {
    pub key: Place,
    pub value: Tagged,
}

impl From<Value> for Tagged {
    fn from(value: Value) -> Tagged {
        Tagged { tag: None, place: value.place, node: Node::Plain(value) }
    }
}

impl Tagged {
    /// Makes a list; one with no tag inside becomes plain.
    pub fn list(items: Vec<Tagged>, place: Place) -> Tagged {
        if items.iter().all(Tagged::is_plain) {
            let items = items.into_iter().filter_map(Tagged::into_plain).collect();
            return Value { kind: Kind::List(Arc::new(items)), place }.into();
        }
        Tagged { tag: None, node: Node::List(Arc::new(items)), place }
    }

    /// Makes a mapping; one with no tag inside becomes plain.
    pub fn map(members: Members, place: Place) -> Tagged {
        if members.values().all(|member| member.value.is_plain()) {
            let entry = |(name, member): (Arc<str>, Member)| {
                Some((name, Entry { key: member.key, value: member.value.into_plain()? }))
            };
            let map = members.into_iter().filter_map(entry).collect();
            return Value { kind: Kind::Map(Arc::new(map)), place }.into();
        }
        Tagged { tag: None, node: Node::Map(Arc::new(members)), place }
    }

    pub fn tagged(self, tag: Option<Tag>) -> Tagged {
        Tagged { tag, ..self }
    }

    fn is_plain(&self) -> bool {
        self.tag.is_none() && matches!(self.node, Node::Plain(_))
    }

    fn into_plain(self) -> Option<Value> {
        match self.node {
            Node::Plain(value) if self.tag.is_none() => Some(value),
            _ => None,
        }
    }

    /// The value, where neither it nor anything in it has a tag.
    pub fn plain(&self) -> Option<&Value> {
        match &self.node {
            Node::Plain(value) if self.tag.is_none() => Some(value),
            _ => None,
        }
    }

    /// True for a mapping, whatever tag stands before it.
    pub fn is_map(&self) -> bool {
        matches!(&self.node, Node::Map(_) | Node::Plain(Value { kind: Kind::Map(_), .. }))
    }

    /// True for a list, whatever tag stands before it.
    pub fn is_list(&self) -> bool {
        matches!(&self.node, Node::List(_) | Node::Plain(Value { kind: Kind::List(_), .. }))
    }

    /// The value under `key`, where this is a mapping that has one.
    pub fn get(&self, key: &str) -> Option<Member> {
        match &self.node {
            Node::Map(map) => map.get(key).cloned(),
            Node::Plain(value) => {
                let entry = value.map()?.get(key)?;
                Some(Member { key: entry.key, value: entry.value.clone().into() })
            }
            _ => None,
        }
    }

    /// The keys of a mapping with their values, in order; nothing for anything else.
    pub fn members(&self) -> Members {
        match &self.node {
            Node::Map(map) => (**map).clone(),
            Node::Plain(Value { kind: Kind::Map(map), .. }) => map
                .iter()
                .map(|(name, entry)| (name.clone(), Member { key: entry.key, value: entry.value.clone().into() }))
                .collect(),
            _ => Members::new(),
        }
    }

    /// The items of a list, in order; nothing for anything else.
    pub fn items(&self) -> Vec<Tagged> {
        match &self.node {
            Node::List(list) => (**list).clone(),
            Node::Plain(Value { kind: Kind::List(list), .. }) => list.iter().cloned().map(Tagged::from).collect(),
            _ => Vec::new(),
        }
    }

    /// This mapping with only the keys that `keep` wants, tags and order kept.
    pub fn filtered(&self, mut keep: impl FnMut(&str) -> bool) -> Tagged {
        let mut members = self.members();
        members.retain(|name, _| keep(name));
        Tagged::map(members, self.place).tagged(self.tag)
    }

    /// The value as if this were merged over nothing: tags inside act at once. `None` where a `!delete` leaves
    /// nothing.
    ///
    /// # Errors
    /// As for [`merge()`].
    pub fn settle(&self) -> Result<Option<Value>> {
        merge(None, self)
    }
}
