//! A data file as the language server for YAML sees it: YAML 1.2, and a tag is nothing but a form.

use std::path::Path;
use suil::base::Plain;
use suil::data::tagged::Node;
use suil::data::{Kind, Resolved, Scalar, Tagged, Value, load};

/// # Panics
/// suil itself refuses the text.
pub fn seen(text: &str) -> Plain {
    let file = load(Path::new("file.yaml"), text.as_bytes()).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
    file.map_or_else(Plain::map, |file| tagged(&file))
}

fn tagged(value: &Tagged) -> Plain {
    match &value.node {
        // A tagged scalar is text.
        Node::Plain(Value { kind: Kind::Scalar(scalar), .. }) if value.tag.is_some() => Plain::from(&*scalar.text),
        Node::Plain(value) => plain(value),
        Node::List(list) => list.iter().map(tagged).collect(),
        Node::Map(map) => map.iter().map(|(key, member)| (&**key, tagged(&member.value))).collect(),
        Node::Nothing => Plain::from(""),
    }
}

fn plain(value: &Value) -> Plain {
    match &value.kind {
        Kind::Scalar(scalar) => of(scalar),
        Kind::List(list) => list.iter().map(plain).collect(),
        Kind::Map(map) => map.iter().map(|(key, entry)| (&**key, plain(&entry.value))).collect(),
        Kind::Secret(cipher) => Plain::List(vec![Plain::from(&cipher.base64)]),
        Kind::Lookup(lookup) => Plain::from_iter([("field", Plain::from(&lookup.field))]),
    }
}

fn of(scalar: &Scalar) -> Plain {
    match scalar.resolved {
        Resolved::Null => Plain::Null,
        Resolved::Bool(flag) if matches!(&*scalar.text.to_lowercase(), "true" | "false") => Plain::from(flag),
        Resolved::Int(number) => Plain::from(number),
        Resolved::Float(number) => Plain::from(number),
        Resolved::Bool(_) | Resolved::Str => Plain::from(&*scalar.text),
    }
}
