//! Where the plain strings of a file of variables stand, for those who write them anew.

use super::parser;
use super::source::Source;
use super::tree::{Expression, Node, Part};
use crate::base::{FileId, Place, Result};
use std::ops::Range;

/// A string without interpolations, in quotes or as a here document, that is a value: of a variable, in a list, or under
/// a key of a map.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text {
    pub value: String,
    /// The bytes it takes, its quotes or markers with it.
    pub range: Range<usize>,
    /// Where it begins.
    pub place: Place,
    /// The variable that it belongs to.
    pub variable: String,
}

/// Finds the plain strings of a file of variables, in the order of the file.
///
/// Fails with what is no HCL; what a value may hold is not looked at.
pub fn texts(file: FileId) -> Result<Vec<Text>> {
    let source = Source::new(file);
    let (body, problems) = parser::parse(&source);
    let mut found = Vec::new();
    for setting in &body.attributes {
        walk(&source, &setting.expression, source.slice(setting.name), &mut found);
    }
    super::checked(found, problems)
}

fn walk(source: &Source, expression: &Expression, variable: &str, found: &mut Vec<Text>) {
    match &expression.node {
        Node::Template(parts) => {
            let Some(value) = parts.iter().map(text).collect::<Option<String>>() else { return };
            let span = expression.span;
            let place = source.place(span);
            found.push(Text { value, range: span.start..span.end, place, variable: variable.to_owned() });
        }
        Node::Text(value) => {
            let (span, value) = (expression.span, value.clone());
            let place = source.place(span);
            found.push(Text { value, range: span.start..span.end, place, variable: variable.to_owned() });
        }
        Node::List(items) => items.iter().for_each(|item| walk(source, item, variable, found)),
        Node::Map(pairs) => pairs.iter().for_each(|(_, value)| walk(source, value, variable, found)),
        Node::Parentheses(inner) => walk(source, inner, variable, found),
        Node::If(branches) => branches.iter().for_each(|branch| walk(source, branch, variable, found)),
        _ => {}
    }
}

fn text(part: &Part) -> Option<&str> {
    match part {
        Part::Text(text) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_with_their_bytes_and_keys_and_templates_are_not() {
        let text =
            "a = \"x\" # \"y\"\nb = { \"k\" = [\"\\u0041\", 1, (\"q\")], c = \"n-${1}\" }\nd = <<-E\n  l1\n  l2\n  E\n";
        let found = texts(FileId::new("t.tfvars", text)).expect("reads");
        let cut: Vec<_> =
            found.iter().map(|t| (t.value.as_str(), &text[t.range.clone()], t.variable.as_str())).collect();
        assert_eq!(cut[0], ("x", "\"x\"", "a"));
        assert_eq!(cut[1], ("A", "\"\\u0041\"", "b"));
        assert_eq!(cut[2], ("q", "\"q\"", "b"));
        assert_eq!((cut[3].0, cut[3].2), ("l1\nl2\n", "d"));
        assert!(cut[3].1.starts_with("<<-E\n") && cut[3].1.trim_end().ends_with("  E"), "{cut:?}");
        assert_eq!(cut.len(), 4);
        assert_eq!(found[2].place.to_string(), "t.tfvars:2:28");
    }
}
