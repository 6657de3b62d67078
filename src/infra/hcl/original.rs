//! Where the original's reader, python-hcl2 7.2.1, made something else of a file of variables.
//!
//! Only of what Terraform can read: the rest fails to render anyhow. What the original made of a value is told where
//! it can be said for certain.

use super::super::{Number, Value};
use super::Attribute;
use super::eval::{Computed, Evaluator};
use super::lexer::{Kind, Span, tokens};
use super::parser;
use super::source::Source;
use super::tree::{Body, Expression, Node, Part};
use crate::base::{FileId, Place};

/// A stretch of a file that the original read otherwise.
#[derive(Clone, PartialEq, Debug)]
pub struct Difference {
    /// The variable that it is in; none where the whole file is concerned.
    pub variable: Option<String>,
    pub cause: Cause,
    pub place: Place,
    /// What Terraform and suil read this stretch as; none where it is no value.
    pub value: Option<Value>,
    /// What the original made of this stretch, where that is known.
    pub original: Option<Value>,
}

/// Why the original read something else.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Cause {
    ByteOrderMark,
    Name,
    Comment,
    Backslash,
    UnicodeEscape,
    DoubledSign,
    Template,
    Expression,
    Exponent,
    Infinity,
    HereDocument,
}

impl Cause {
    /// True where the original could not read the file at all, so that it made no other value of it.
    pub(super) fn refused(self) -> bool {
        matches!(self, Cause::ByteOrderMark | Cause::Name | Cause::Comment)
    }

    /// What the original did, in a few words.
    pub fn text(self) -> &'static str {
        match self {
            Cause::ByteOrderMark => "the original could not read a file that starts with a byte order mark",
            Cause::Name => "the original could not read a name with letters other than those of ASCII",
            Cause::Comment => "the original could not read a comment next to a `=`",
            Cause::Backslash => {
                "the original made a tab or a line break of `\\\\t`, `\\\\n` or `\\\\r`, and kept the backslash"
            }
            Cause::UnicodeEscape => "the original kept `\\u` and `\\U` as they are",
            Cause::DoubledSign => "the original kept `$${` and `%%{` as they are",
            Cause::Template => "the original kept a sequence in a string as text, or could not read it",
            Cause::Expression => "the original made text of an expression",
            Cause::Exponent => "the original made text, or another key, of a number with `e`",
            Cause::Infinity => "the original made infinity of a number beyond 64 bits",
            Cause::HereDocument => "the original dropped the end of a here document and replaced escapes in it",
        }
    }
}

/// Lists where the original read a file of variables otherwise than Terraform does, in the order of the file.
pub fn original(file: FileId) -> Vec<Difference> {
    let source = Source::new(file);
    let (body, _) = parser::parse(&source);
    differences(&source, &body).into_iter().map(|(_, difference)| difference).collect()
}

/// The same of a file that is parsed already, with the stretches.
pub(super) fn differences(source: &Source, body: &Body) -> Vec<(Span, Difference)> {
    let mut reader = Reader { source, evaluator: Evaluator::new(source), variable: None, found: vec![] };
    if source.text.starts_with('\u{feff}') {
        reader.add(Cause::ByteOrderMark, Span::default(), None);
    }
    let comments = comments(source);
    for setting in &body.attributes {
        reader.variable = Some(source.slice(setting.name).to_owned());
        reader.name(setting.name);
        let within = setting.name.to(setting.expression.span);
        for comment in comments.iter().filter(|at| (within.start..within.end).contains(&at.start)) {
            reader.add(Cause::Comment, *comment, None);
        }
        reader.value(&setting.expression);
    }
    reader.found
}

impl Attribute {
    /// Why the original read this variable otherwise, of what [`original`] found in its file.
    pub fn differs<'a>(&self, found: &'a [Difference]) -> Option<&'a Difference> {
        found.iter().find(|one| one.variable.as_deref().is_none_or(|name| name == self.name))
    }
}

/// The comments next to a `=`.
fn comments(source: &Source) -> Vec<Span> {
    if !source.text.contains("/*") {
        return vec![];
    }
    let tokens = tokens(&source.text);
    let pairs = tokens.iter().zip(tokens.iter().skip(1));
    let gaps = pairs
        .filter(|(token, next)| [token.kind, next.kind].iter().any(|kind| matches!(kind, Kind::Equal | Kind::Colon)));
    let gaps = gaps.map(|(token, next)| Span { start: token.span.end, end: next.span.start });
    gaps.filter(|gap| source.slice(*gap).contains("/*")).collect()
}

struct Reader<'a> {
    source: &'a Source,
    evaluator: Evaluator<'a>,
    variable: Option<String>,
    found: Vec<(Span, Difference)>,
}

impl Reader<'_> {
    fn add(&mut self, cause: Cause, span: Span, original: Option<Value>) {
        let place = self.source.place(span);
        let variable = self.variable.clone();
        self.found.push((span, Difference { variable, cause, place, value: None, original }));
    }

    /// The same for a stretch that is a value.
    fn add_value(&mut self, cause: Cause, expression: &Expression, original: Option<Value>) {
        let value = self.evaluator.value(expression).map(Computed::into_value);
        let (variable, place) = (self.variable.clone(), self.source.place(expression.span));
        self.found.push((expression.span, Difference { variable, cause, place, value, original }));
    }

    fn name(&mut self, span: Span) {
        if !self.source.slice(span).is_ascii() {
            self.add(Cause::Name, span, None);
        }
    }

    fn value(&mut self, expression: &Expression) {
        let span = expression.span;
        match &expression.node {
            Node::Null | Node::Bool(_) | Node::Name | Node::Call(_) => {}
            Node::Number => self.number(expression),
            Node::Text(text) => self.string(text, expression),
            Node::Template(parts) => match parts.as_slice() {
                [] => self.string("", expression),
                [Part::Text(text)] => self.string(text, expression),
                _ => self.add_value(Cause::Template, expression, None),
            },
            Node::Only(_) => self.add_value(Cause::Template, expression, None),
            Node::List(items) => items.iter().for_each(|item| self.value(item)),
            Node::Map(items) => {
                for (key, item) in items {
                    match &key.node {
                        Node::Name => self.name(key.span),
                        Node::Number if self.source.slice(key.span).contains(['e', 'E']) => {
                            self.add(Cause::Exponent, key.span, None);
                        }
                        _ => self.value(key),
                    }
                    self.value(item);
                }
            }
            // A minus that touches its number is part of the number.
            Node::Negate(inner) if matches!(inner.node, Node::Number) && inner.span.start == span.start + 1 => {
                self.number(expression);
            }
            Node::Negate(_)
            | Node::Not(_)
            | Node::For(_)
            | Node::If(_)
            | Node::Chain(..)
            | Node::Get(..)
            | Node::Parentheses(_) => self.add_value(Cause::Expression, expression, None),
        }
    }

    fn number(&mut self, expression: &Expression) {
        let text = self.source.slice(expression.span);
        if text.contains('e') {
            let original = Value::Str(format!("${{{text}}}"));
            self.add_value(Cause::Exponent, expression, Some(original));
        } else if text.contains(['E', '.']) && text.parse::<f64>().is_ok_and(f64::is_infinite) {
            let original = Value::Number(Number::Float(f64::INFINITY));
            self.add_value(Cause::Infinity, expression, Some(original));
        }
    }

    fn string(&mut self, plain: &str, expression: &Expression) {
        let span = expression.span;
        let written = self.source.slice(span);
        if written.starts_with("<<") {
            if !plain.is_empty() || self.is_swallowed(span) {
                let known = is_known(written) && !plain.is_empty();
                let original = known.then(|| Value::Str(replaced(plain.trim_end_matches(['\n', '\t', ' ']))));
                self.add_value(Cause::HereDocument, expression, original);
            }
            return;
        }
        let inner = written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(written);
        let original = replaced(inner);
        if original == plain {
            return;
        }
        let cause = if ["\\\\n", "\\\\r", "\\\\t"].iter().any(|pair| inner.contains(pair)) {
            Cause::Backslash
        } else if inner.contains("$${") || inner.contains("%%{") {
            Cause::DoubledSign
        } else {
            Cause::UnicodeEscape
        };
        self.add_value(cause, expression, Some(Value::Str(original)));
    }

    /// True where an empty here document would take the text up to the next line with the same marker.
    fn is_swallowed(&self, span: Span) -> bool {
        let marker = self.source.slice(span).trim_start_matches(['<', '-']).lines().next().unwrap_or("").trim();
        let after = self.source.text.get(span.end..).unwrap_or("");
        after.lines().skip(1).any(|line| line.trim() == marker)
    }
}

/// True for a here document of which it is certain what the original made: one that keeps its indentation, with a marker
/// that it took.
fn is_known(written: &str) -> bool {
    let marker = written.trim_start_matches('<').lines().next().unwrap_or_default().trim();
    let inside = written.get(written.find('\n').unwrap_or_default()..).unwrap_or_default();
    // It took the text up to the last line that begins with the marker, and CRLF as LF.
    marker.len() > 1
        && !marker.starts_with('-')
        && inside.matches(marker).count() == 1
        && !written.contains(['\r', '$', '%'])
}

/// The escapes as the original replaced them: one kind after the other, so that a backslash that was escaped still
/// makes an escape of what follows.
fn replaced(text: &str) -> String {
    let text = text.replace("\\n", "\n").replace("\\r", "\r").replace("\\t", "\t");
    text.replace("\\\"", "\"").replace("\\\\", "\\")
}
