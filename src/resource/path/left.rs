//! What a run leaves at a path.

use super::KIND;
use crate::resource::{Answer, Content, Facts, Fields, Request};

/// Applies `change` to everything that is known about `path`, whichever way it was asked for.
pub fn settle(facts: &mut Facts, path: &str, asked: &Request, change: impl Fn(&mut Fields)) {
    if facts.get(asked).is_none() {
        facts.insert(asked.clone(), Answer::Known(Fields::of([("type", "missing")])));
    }
    facts.update(KIND, path, |_, answer| {
        let mut fields = match answer {
            Answer::Known(fields) => std::mem::take(fields),
            Answer::Unknown(_) => Fields::of([("type", "missing")]),
        };
        change(&mut fields);
        *answer = Answer::Known(fields);
    });
}

/// The fields of a path where nothing stands any more.
pub fn missing(before: &Fields) -> Fields {
    let mut fields = Fields::of([("type", "missing")]);
    for name in ["me_uid", "me_gid"] {
        if let Some(value) = before.bytes(name) {
            fields.set(name, value);
        }
    }
    fields
}

/// True where nothing stands at the end of all links.
pub fn is_missing(fields: &Fields) -> bool {
    let missing = Some(b"missing".as_slice());
    fields.bytes("type") == missing || fields.bytes("to_type") == missing
}

/// Sets the type at the end of all links; returns the prefix of the fields that describe it.
pub fn settle_type(fields: &mut Fields, kind: &str) -> &'static str {
    let prefix = if fields.bytes("type") == Some(b"link") { "to_" } else { "" };
    fields.set(&format!("{prefix}type"), kind);
    prefix
}

/// Sets size, digest and (where it can be shown) content.
pub fn settle_content(fields: &mut Fields, prefix: &str, content: &Content) {
    fields.set(&format!("{prefix}size"), content.size().to_string());
    fields.set("sha256", content.sha256());
    match content {
        Content::Bytes(bytes) => fields.set("content", bytes.as_ref()),
        Content::File { .. } => {
            fields.0.remove("content");
        }
    }
}
