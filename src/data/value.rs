//! The tree that data files become.

use crate::base::{Place, Plain};
use indexmap::IndexMap;
use std::sync::Arc;

/// A value and where a person wrote it. Cloning is cheap: what is inside is shared.
#[derive(Clone, Debug)]
pub struct Value {
    pub kind: Kind,
    pub place: Place,
}

#[derive(Clone, Debug)]
pub enum Kind {
    Scalar(Scalar),
    List(Arc<Vec<Value>>),
    Map(Arc<Map>),
    /// `!ENC[…]`, not decrypted.
    Secret(Arc<Cipher>),
    /// `!LOOKUP {…}`, not expanded.
    Lookup(Arc<Lookup>),
}

/// A mapping in the order of its first writing.
pub type Map = IndexMap<Arc<str>, Entry>;

/// A value of a mapping, with the place of its key.
#[derive(Clone, Debug)]
pub struct Entry {
    pub key: Place,
    pub value: Value,
}

/// A scalar: what it resolves to as YAML 1.1, and the text as it was written, so that a schema has the last word.
#[derive(Clone, Debug)]
pub struct Scalar {
    /// The source text, without quotes and with escapes resolved.
    pub text: Arc<str>,
    /// False where it was quoted or a block: then it is a string whatever it looks like.
    pub plain: bool,
    pub resolved: Resolved,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Resolved {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str,
}

/// The ciphertext of a secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cipher {
    /// The base64 between `!ENC[` and `]`, white space removed.
    pub base64: String,
}

/// A parsed `!LOOKUP`.
#[derive(Clone, PartialEq, Debug)]
pub struct Lookup {
    /// The dotted path to read on each node.
    pub field: String,
    /// A glob over node names.
    pub nodes: String,
    pub role: Option<String>,
    pub ip: Option<Ip>,
    /// Checked when the file is loaded: `{value}`, `{node}`, `{role}`, `{{` and `}}` only.
    pub format: Option<String>,
    pub self_: SelfRule,
    pub from: From,
    /// False: finding nothing gives an empty list.
    pub required: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ip {
    V4,
    V6,
    Any,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SelfRule {
    Include,
    Exclude,
    Only,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum From {
    Data,
    Facts,
}

impl Value {
    pub fn map(&self) -> Option<&Map> {
        match &self.kind {
            Kind::Map(map) => Some(map),
            _ => None,
        }
    }

    pub fn list(&self) -> Option<&[Value]> {
        match &self.kind {
            Kind::List(list) => Some(list),
            _ => None,
        }
    }

    pub fn scalar(&self) -> Option<&Scalar> {
        match &self.kind {
            Kind::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// The value under `key`, where this is a mapping that has one.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.map()?.get(key).map(|entry| &entry.value)
    }

    /// The text of a scalar that is neither null nor of another type than string.
    pub fn as_str(&self) -> Option<&str> {
        self.scalar().filter(|s| s.resolved == Resolved::Str).map(|s| &*s.text)
    }

    /// The word a person uses for the type.
    pub fn type_name(&self) -> &'static str {
        match &self.kind {
            Kind::Scalar(s) => match s.resolved {
                Resolved::Null => "nothing",
                Resolved::Bool(_) => "a boolean",
                Resolved::Int(_) => "a whole number",
                Resolved::Float(_) => "a number",
                Resolved::Str => "a string",
            },
            Kind::List(_) => "a list",
            Kind::Map(_) => "a mapping",
            Kind::Secret(_) => "a secret",
            Kind::Lookup(_) => "a lookup",
        }
    }

    /// Returns the tree without places. `secret` says what stands for a secret; a lookup that is still there
    /// becomes the text `!LOOKUP <field>`.
    pub fn to_plain(&self, secret: &mut dyn FnMut(&Cipher, Place) -> Plain) -> Plain {
        match &self.kind {
            Kind::Scalar(s) => s.to_plain(),
            Kind::List(list) => list.iter().map(|item| item.to_plain(secret)).collect(),
            Kind::Map(map) => map.iter().map(|(k, e)| (k.to_string(), e.value.to_plain(secret))).collect(),
            Kind::Secret(cipher) => secret(cipher, self.place),
            Kind::Lookup(lookup) => Plain::Str(format!("!LOOKUP {}", lookup.field)),
        }
    }
}

impl Scalar {
    pub fn to_plain(&self) -> Plain {
        match self.resolved {
            Resolved::Null => Plain::Null,
            Resolved::Bool(b) => Plain::Bool(b),
            Resolved::Int(n) => Plain::Int(n),
            Resolved::Float(x) => Plain::Float(x),
            Resolved::Str => Plain::Str(self.text.to_string()),
        }
    }
}
