//! The schema as JSON Schema for layers: each holds a part of the config, under tags.

use super::{Field, Fields, Kind, Range, Schema, Version, json};
use crate::base::Plain;
use crate::data::schema as form;

impl Schema {
    /// Returns the schema of the module's slice in a data file. Its references are those of
    /// [`crate::data::schema::definitions`].
    pub fn to_layer(&self) -> Plain {
        form::closed(fields(&self.fields))
    }
}

fn fields(fields: &Fields) -> Plain {
    fields.iter().map(|(name, field)| (name.as_str(), of(field))).collect()
}

fn of(field: &Field) -> Plain {
    json::described(kind(&field.kind), field)
}

fn kind(kind: &Kind) -> Plain {
    match kind {
        Kind::Any => Plain::map(),
        Kind::Bool => form::boolean(),
        Kind::Int(range) => ranged(form::integer(), range),
        Kind::Float(range) => ranged(form::number(), range),
        Kind::Port => ranged(form::integer(), &Range { min: Some(1), max: Some(65535) }),
        Kind::String { pattern, length } => {
            let mut out = form::text();
            if let Some(pattern) = pattern {
                out.set("pattern", format!("^$|(?:{pattern})"));
            }
            if let Some(max) = length.max {
                out.set("maxLength", max);
            }
            out
        }
        Kind::Enum(choices) => {
            // Under a tag a number is the text of it.
            let texts = choices.iter().filter(|choice| choice.as_str().is_none()).map(super::shown).map(Plain::Str);
            let all = choices.iter().cloned().chain(texts).collect::<Plain>();
            form::either([Plain::from_iter([("enum", all)]), form::removed()])
        }
        Kind::List { item, .. } => {
            let mut items = of(item);
            // `!delete [name]` names the items that go.
            if matches!(item.kind, Kind::Object(_)) {
                items.set("maxLength", 255);
            }
            form::list(items)
        }
        Kind::Map { key, value } => {
            let mut rest = Plain::from_iter([("additionalProperties", of(value))]);
            if let Some(key) = key {
                rest.set("propertyNames", of(key));
            }
            form::mapping(rest)
        }
        Kind::Object(below) => form::closed(fields(below)),
        Kind::Secret => form::secret(),
        Kind::Path => form::types(&["string"], "^$|^/"),
        Kind::Hostname => formats(&["hostname"]),
        Kind::Mode => form::types(&["string", "integer"], "^((0o)?[0-7]{1,5})?$"),
        Kind::Ip(Version::V4) => formats(&["ipv4"]),
        Kind::Ip(Version::V6) => formats(&["ipv6"]),
        Kind::Ip(Version::Any) => formats(&["ipv4", "ipv6"]),
        Kind::Cidr(_) => form::types(&["string"], "^$|^[0-9a-fA-F:.]+/[0-9]{1,3}$"),
    }
}

fn formats(names: &[&str]) -> Plain {
    let one = |name: &&str| Plain::from_iter([("type", Plain::from("string")), ("format", Plain::from(*name))]);
    form::either(names.iter().map(one).chain([form::removed()]))
}

fn ranged<T: Copy + Into<Plain>>(mut out: Plain, range: &Range<T>) -> Plain {
    if let Some(min) = range.min {
        out.set("minimum", min);
    }
    if let Some(max) = range.max {
        out.set("maximum", max);
    }
    out
}
