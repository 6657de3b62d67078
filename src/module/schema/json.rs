//! The schema as JSON Schema, so that editors complete and check the data files.

use super::{Field, Fields, Kind, Range, Schema, Version};
use crate::base::Plain;

impl Schema {
    /// Returns the schema of the module's slice (JSON Schema 2020-12).
    pub fn to_json(&self) -> Plain {
        object(&self.fields)
    }
}

fn object(fields: &Fields) -> Plain {
    let mut out = Plain::from_iter([("type", Plain::from("object"))]);
    out.set("properties", fields.iter().map(|(name, field)| (name.as_str(), of(field))).collect::<Plain>());
    let required: Vec<Plain> = fields.iter().filter(|(_, f)| required(f)).map(|(name, _)| Plain::from(name)).collect();
    if !required.is_empty() {
        out.set("required", required);
    }
    out.set("additionalProperties", false);
    out
}

fn required(field: &Field) -> bool {
    let complete = matches!(&field.kind, Kind::Object(fields) if !fields.values().any(|field| required(field)));
    !field.optional && field.default.is_none() && !complete
}

fn of(field: &Field) -> Plain {
    let mut out = kind(&field.kind);
    // A layer may leave a key to the layers above it, so a nothing is fine where the field is optional.
    if field.optional && !matches!(field.kind, Kind::Any) {
        out = Plain::from_iter([("anyOf", Plain::List(vec![out, typed("null")]))]);
    }
    described(out, field)
}

/// Adds what the field says of itself to the schema of its values.
pub(super) fn described(mut out: Plain, field: &Field) -> Plain {
    if let Some(doc) = &field.doc {
        out.set("description", doc.as_str());
    }
    if let Some(default) = &field.default {
        out.set("default", default.clone());
    }
    out
}

fn kind(kind: &Kind) -> Plain {
    match kind {
        Kind::Any => Plain::map(),
        Kind::Bool => typed("boolean"),
        Kind::Int(range) => ranged(typed("integer"), range, "minimum", "maximum"),
        Kind::Float(range) => ranged(typed("number"), range, "minimum", "maximum"),
        Kind::Port => ranged(typed("integer"), &Range { min: Some(1), max: Some(65535) }, "minimum", "maximum"),
        // A string field keeps the source text, so an unquoted `1.10` or `no` is fine.
        Kind::String { pattern, length } => {
            let types = ["string", "number", "boolean"].into_iter().map(Plain::from).collect::<Plain>();
            let mut out = ranged(Plain::from_iter([("type", types)]), length, "minLength", "maxLength");
            if let Some(pattern) = pattern {
                out.set("pattern", pattern.as_str());
            }
            out
        }
        Kind::Enum(choices) => Plain::from_iter([("enum", Plain::List(choices.clone()))]),
        Kind::List { item, length, unique } => {
            let mut out = ranged(typed("array"), length, "minItems", "maxItems");
            out.set("items", of(item));
            if *unique {
                out.set("uniqueItems", true);
            }
            out
        }
        Kind::Map { key, value } => {
            let mut out = typed("object");
            out.set("additionalProperties", of(value));
            if let Some(key) = key {
                out.set("propertyNames", of(key));
            }
            out
        }
        Kind::Object(fields) => object(fields),
        Kind::Secret => {
            let mut out = typed("string");
            out.set("description", "a secret, `!ENC[…]`");
            out
        }
        Kind::Path => pattern("^/"),
        Kind::Hostname => format("hostname"),
        Kind::Mode => {
            let mut out = Plain::from_iter([("type", ["string", "integer"].into_iter().map(Plain::from).collect())]);
            out.set("pattern", "^(0o)?[0-7]{1,5}$");
            out
        }
        Kind::Ip(Version::V4) => format("ipv4"),
        Kind::Ip(Version::V6) => format("ipv6"),
        Kind::Ip(Version::Any) => Plain::from_iter([("anyOf", Plain::List(vec![format("ipv4"), format("ipv6")]))]),
        Kind::Cidr(_) => pattern("^[0-9a-fA-F:.]+/[0-9]{1,3}$"),
    }
}

fn typed(name: &str) -> Plain {
    Plain::from_iter([("type", Plain::from(name))])
}

fn format(name: &str) -> Plain {
    Plain::from_iter([("type", Plain::from("string")), ("format", Plain::from(name))])
}

fn pattern(pattern: &str) -> Plain {
    Plain::from_iter([("type", Plain::from("string")), ("pattern", Plain::from(pattern))])
}

fn ranged<T: Copy + Into<Plain>>(mut out: Plain, range: &Range<T>, min: &str, max: &str) -> Plain {
    if let Some(value) = range.min {
        out.set(min, value);
    }
    if let Some(value) = range.max {
        out.set(max, value);
    }
    out
}
