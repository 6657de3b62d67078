//! A found value as the text that a lookup gives.

use crate::base::{Place, Plain, Problem, Problems, Result};
use crate::data::{Cipher, Kind, Lookup, Resolved, Scalar, Value, value::Ip};
use std::net::IpAddr;
use std::sync::Arc;

/// What the texts of one node are made from.
pub struct About<'a> {
    pub lookup: &'a Lookup,
    pub node: &'a str,
    pub role: &'a str,
    pub marker: Place,
    /// Opens secrets, where the one who asks may know them.
    pub open: Option<&'a Open>,
}

/// Opens a secret of a field, at the place where it is written.
pub type Open = dyn Fn(&Cipher, &str, Place) -> Result<String, Problem> + Send + Sync;

impl About<'_> {
    /// The texts of a found value: a list gives one an item, nothing gives none.
    ///
    /// # Errors
    /// A mapping, a list in a list, another lookup, a secret that may not be known or is not opened.
    pub fn texts(&self, value: &Value) -> Result<Vec<Value>> {
        let mut problems = Problems::new();
        let mut texts = Vec::new();
        let mut take = |item: &Value| match self.text(item) {
            Ok(text) => {
                texts.extend(text.filter(|text| self.is_wanted(text)).map(|text| self.value(&text, item.place)))
            }
            Err(problem) => problems.push(problem),
        };
        match &value.kind {
            Kind::List(items) => items.iter().for_each(take),
            Kind::Scalar(scalar) if scalar.text.is_empty() => {}
            _ => take(value),
        }
        if problems.is_empty() { Ok(texts) } else { Err(problems) }
    }

    fn text(&self, item: &Value) -> Result<Option<Arc<str>>, Problem> {
        match &item.kind {
            Kind::Scalar(scalar) => Ok(match scalar.resolved {
                Resolved::Null => None,
                Resolved::Bool(b) => Some(b.to_string().into()),
                Resolved::Int(_) | Resolved::Float(_) | Resolved::Str => Some(scalar.text.clone()),
            }),
            Kind::Secret(cipher) if let Some(open) = self.open => {
                open(cipher, &self.lookup.field, item.place).map(|text| Some(text.into()))
            }
            Kind::Secret(_) => Err(self
                .refused("a secret", item.place)
                .help("a secret that other nodes need belongs in a layer that they share, their role's say")),
            Kind::Lookup(other) => Err(another(self.lookup, self.node, other, self.marker, item.place)),
            Kind::List(_) | Kind::Map(_) => Err(self
                .refused(item.type_name(), item.place)
                .help("name a field below it, or one that holds a plain value or a list of plain values")),
        }
    }

    fn refused(&self, found: &str, place: Place) -> Problem {
        let what = format!("lookup of `{}` meets {found} on node `{}`", self.lookup.field, self.node);
        Problem::new(what)
            .at(self.marker)
            .expected("expected a field of plain values")
            .note_at("the value is at", place)
    }

    fn is_wanted(&self, text: &str) -> bool {
        let Some(wanted) = self.lookup.ip else { return true };
        let address = text.split_once('%').map_or(text, |(address, _)| address);
        match (wanted, address.parse()) {
            (Ip::V4, Ok(IpAddr::V4(_))) => !text.contains('%'),
            (Ip::V6, Ok(IpAddr::V6(_))) => true,
            (Ip::Any, Ok(address)) => address.is_ipv6() || !text.contains('%'),
            _ => false,
        }
    }

    fn value(&self, text: &Arc<str>, place: Place) -> Value {
        match &self.lookup.format {
            None => {
                let scalar = Scalar { text: text.clone(), plain: true, resolved: Resolved::Str };
                Value { kind: Kind::Scalar(scalar), place }
            }
            Some(format) => plain(&fill(format, text, self.node, self.role), place),
        }
    }
}

/// A string value, whatever its text looks like.
pub fn plain(text: &str, place: Place) -> Value {
    Value { kind: Kind::Scalar(Scalar { text: text.into(), plain: false, resolved: Resolved::Str }), place }
}

/// The problem of a lookup that reads another one.
pub fn another(lookup: &Lookup, node: &str, other: &Lookup, marker: Place, place: Place) -> Problem {
    let what = format!("lookup of `{}` reads another lookup, of `{}`, on node `{node}`", lookup.field, other.field);
    Problem::new(what)
        .at(marker)
        .expected("expected a field that is written out")
        .note_at("the other lookup is at", place)
        .help(format!("look up `{}` here as well", other.field))
}

/// The problem of a lookup that reads a sensitive output: the facts have its digest alone.
pub fn sensitive(lookup: &Lookup, node: &str, layer: &str, output: &str, marker: Place) -> Problem {
    let what = format!("lookup of `{}` reads a sensitive output of Terraform on node `{node}`", lookup.field);
    Problem::new(what)
        .at(marker)
        .expected("expected an output that may be shown")
        .note(format!("the facts hold the digest of output `{output}` of layer `{layer}`, and never its plaintext"))
        .help("let both read the secret from one place: keep it encrypted in the data, and give it to the layer")
}

/// Fills in a format, which was checked when its file was loaded.
fn fill(format: &str, value: &str, node: &str, role: &str) -> String {
    let mut out = String::with_capacity(format.len() + value.len() + node.len());
    let mut rest = format;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, brace) = rest.split_at(at);
        out.push_str(before);
        let names = [("{{", "{"), ("}}", "}"), ("{value}", value), ("{node}", node), ("{role}", role)];
        match names.iter().find(|(name, _)| brace.starts_with(name)) {
            Some((name, text)) => {
                out.push_str(text);
                rest = brace.get(name.len()..).unwrap_or_default();
            }
            None => {
                out.push_str(brace.get(..1).unwrap_or_default());
                rest = brace.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

/// A fact as a value that stands where the marker stands.
pub fn from_plain(value: &Plain, place: Place) -> Value {
    let scalar = |text: String, resolved| Kind::Scalar(Scalar { text: text.into(), plain: false, resolved });
    let kind = match value {
        Plain::Null => scalar(String::new(), Resolved::Null),
        Plain::Bool(b) => scalar(b.to_string(), Resolved::Bool(*b)),
        Plain::Int(n) => scalar(n.to_string(), Resolved::Int(*n)),
        Plain::Float(x) => scalar(x.to_string(), Resolved::Float(*x)),
        Plain::Str(text) => scalar(text.clone(), Resolved::Str),
        Plain::List(list) => Kind::List(Arc::new(list.iter().map(|item| from_plain(item, place)).collect())),
        Plain::Map(map) => Kind::Map(Arc::new(
            map.iter()
                .map(|(key, item)| {
                    (key.as_str().into(), crate::data::Entry { key: place, value: from_plain(item, place) })
                })
                .collect(),
        )),
    };
    Value { kind, place }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_fills_its_names_and_keeps_doubled_braces() {
        let filled = |format: &str| fill(format, "v{node}", "n", "r");
        assert_eq!(filled("{{{value}}} {node}:{role} {{x}}"), "{v{node}} n:r {x}");
        assert_eq!(filled("ü{value}}}"), "üv{node}}");
    }
}
