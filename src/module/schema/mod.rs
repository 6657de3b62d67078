//! A module's schema: which keys its slice of the data may have, and of which type each is.

pub mod check;
mod json;
mod layer;
pub mod star;
#[cfg(test)]
mod tests;
pub mod text;

use crate::base::{Place, Plain};
use indexmap::IndexMap;
use std::sync::Arc;

/// The fields of `Config`.
#[derive(Clone, Debug)]
pub struct Schema {
    pub fields: Fields,
}

impl Schema {
    /// Where the rule of a key stands.
    pub fn rule(&self, path: &[&str]) -> Option<Place> {
        let (first, rest) = path.split_first()?;
        let below = |field: &Arc<Field>, key: &&str| match &field.kind {
            Kind::Object(fields) => fields.get(*key).cloned(),
            Kind::List { item, .. } => Some(item.clone()),
            Kind::Map { value, .. } => Some(value.clone()),
            _ => None,
        };
        rest.iter().try_fold(self.fields.get(*first)?.clone(), |field, key| below(&field, key))?.place
    }
}

pub type Fields = IndexMap<String, Arc<Field>>;

/// One rule: a type, and what stands for a key that is not there.
#[derive(Clone, Debug)]
pub struct Field {
    pub kind: Kind,
    pub default: Option<Plain>,
    /// A key that is not there, or is nothing, becomes nothing.
    pub optional: bool,
    pub doc: Option<String>,
    /// Where the rule stands.
    pub place: Option<Place>,
}

#[derive(Clone, Debug)]
pub enum Kind {
    Any,
    Bool,
    Int(Range<i64>),
    Float(Range<f64>),
    String { pattern: Option<regex::Regex>, length: Range<i64> },
    Enum(Vec<Plain>),
    List { item: Arc<Field>, length: Range<i64>, unique: bool },
    Map { key: Option<Arc<Field>>, value: Arc<Field> },
    Object(Fields),
    Secret,
    Path,
    Hostname,
    Mode,
    Ip(Version),
    Cidr(Version),
    Port,
}

/// Both ends included.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Range<T> {
    pub min: Option<T>,
    pub max: Option<T>,
}

impl<T: PartialOrd + Copy + std::fmt::Display> Range<T> {
    pub fn has(&self, value: T) -> bool {
        self.min.is_none_or(|min| value >= min) && self.max.is_none_or(|max| value <= max)
    }

    /// ` from 1 to 9`, ` of at least 1`, or nothing.
    pub fn words(&self) -> String {
        match (self.min, self.max) {
            (Some(min), Some(max)) => format!(" from {min} to {max}"),
            (Some(min), None) => format!(" of at least {min}"),
            (None, Some(max)) => format!(" of at most {max}"),
            (None, None) => String::new(),
        }
    }
}

impl Range<i64> {
    /// ` of at least 2 items`
    pub fn count(&self, noun: &str) -> String {
        match self.max.or(self.min) {
            None => String::new(),
            Some(1) => format!("{} {noun}", self.words()),
            Some(_) => format!("{} {noun}s", self.words()),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    V4,
    V6,
    Any,
}

impl Kind {
    /// What a value must be, as it stands after the word `expected`.
    pub fn words(&self) -> String {
        match self {
            Kind::Any => "a value".to_owned(),
            Kind::Bool => "`true` or `false`".to_owned(),
            Kind::Int(range) => format!("a whole number{}", range.words()),
            Kind::Float(range) => format!("a number{}", range.words()),
            Kind::String { .. } => "a string".to_owned(),
            Kind::Enum(choices) => match choices.as_slice() {
                [one] => format!("`{}`", shown(one)),
                many => format!("one of `{}`", many.iter().map(shown).collect::<Vec<_>>().join("`, `")),
            },
            Kind::List { .. } => "a list".to_owned(),
            Kind::Map { .. } | Kind::Object(_) => "a mapping".to_owned(),
            Kind::Secret => "a secret: `!ENC[…]`".to_owned(),
            Kind::Path => "an absolute path".to_owned(),
            Kind::Hostname => "a host name".to_owned(),
            Kind::Mode => "an octal mode such as `0644`".to_owned(),
            Kind::Ip(Version::V4) => "an IPv4 address".to_owned(),
            Kind::Ip(Version::V6) => "an IPv6 address".to_owned(),
            Kind::Ip(Version::Any) => "an IP address".to_owned(),
            Kind::Cidr(Version::V4) => "an IPv4 network such as `192.0.2.0/24`".to_owned(),
            Kind::Cidr(Version::V6) => "an IPv6 network such as `2001:db8::/32`".to_owned(),
            Kind::Cidr(Version::Any) => "a network such as `192.0.2.0/24`".to_owned(),
            Kind::Port => "a port from 1 to 65535".to_owned(),
        }
    }
}

/// A plain value as a person would write it.
pub fn shown(value: &Plain) -> String {
    match value {
        Plain::Str(text) => text.clone(),
        other => other.to_json_line(),
    }
}
