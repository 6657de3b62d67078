//! Where the secrets of a file stand, byte by byte, for those who write them anew and leave all else as it is.

use super::super::{Cipher, Plaintext};
use super::build::Builder;
use super::build::tags::Mark;
use super::secret;
use crate::base::{Place, Problem};
use granit_parser::{ScalarStyle, Span};
use std::ops::Range;

/// How a view shows a secret: this tag, or, under another tag, text that starts with it and a blank.
pub const OPEN: &str = "!SECRET";

/// What a file is read as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reading {
    /// As a data file.
    Data,
    /// As the view of one, in which secrets may stand in plain text.
    View,
}

/// A secret where it stands in a file.
#[derive(Debug)]
pub struct Spot {
    /// The dotted path of its key; items of lists count from 0.
    pub key: String,
    pub place: Place,
    pub secret: Secret,
    pub style: Style,
    /// True where another tag stands before it.
    pub tagged: bool,
    /// True between brackets or braces, where no block can stand.
    pub flow: bool,
    /// The bytes of the value, from its tag, quote or block header to its last character; other tags and anchors are
    /// outside.
    pub value: Range<usize>,
    /// The bytes between `!ENC[` and `]`, white space included; `None` where escapes hide them.
    pub inside: Option<Range<usize>>,
}

/// What stands there.
#[derive(Debug)]
pub enum Secret {
    Sealed(Cipher),
    Open(Plaintext),
}

/// How it is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// As a tag.
    Inline,
    Quoted,
    Block,
}

impl Builder<'_> {
    /// Notes the place of a scalar that is a secret. What is wrong with it is told by those who build it.
    pub(super) fn spot(&mut self, text: &str, style: ScalarStyle, mark: Option<&Mark>, span: &Span) {
        let (Some(reading), Some(scalar)) = (self.reading(), span.byte_range()) else { return };
        let tag = span.tag_span().and_then(|tag| tag.byte_range());
        let (secret, style, tagged, range) = match (mark, style) {
            (Some(Mark::Secret(marker, _)), _) => {
                let (Ok(cipher), Some(tag)) = (secret::cipher(marker), tag) else { return };
                (Secret::Sealed(cipher), Style::Inline, false, tag)
            }
            (Some(Mark::Open(place)), style) => {
                let Some(tag) = tag else { return };
                if style == ScalarStyle::Plain {
                    self.plain_secret(*place);
                    return;
                }
                (Secret::Open(Plaintext::new(text.as_bytes().to_vec())), written(style), false, tag.start..scalar.end)
            }
            (_, ScalarStyle::Plain) => return,
            (mark, style) => {
                let open = text.strip_prefix(OPEN).and_then(|rest| rest.strip_prefix(' '));
                let secret = match (secret::is_marker(text), open) {
                    (true, _) => match secret::cipher(text) {
                        Ok(cipher) => Secret::Sealed(cipher),
                        Err(_) => return,
                    },
                    (false, Some(open)) if reading == Reading::View => {
                        Secret::Open(Plaintext::new(open.as_bytes().to_vec()))
                    }
                    _ => return,
                };
                (secret, written(style), mark.is_some(), scalar)
            }
        };
        let place = match (style, mark) {
            (Style::Inline, Some(Mark::Secret(_, place))) => *place,
            _ => self.place(span),
        };
        let (source, before) = (self.source(), self.before());
        let inside = inside(source, range.clone(), &secret);
        // Blank lines below a block belong to its span, and are none of its value.
        let end = match (&inside, style) {
            (Some(inside), Style::Block) => inside.end + 1,
            _ => range.start + source.get(range.clone()).unwrap_or_default().trim_end().len(),
        };
        let start = match (style, mark) {
            (Style::Block, Some(Mark::Open(_))) => range.start,
            (Style::Block, _) => header(source, before..range.start).unwrap_or(range.start),
            _ => range.start,
        };
        self.note(Spot {
            key: self.key(),
            place,
            secret,
            style,
            tagged,
            flow: self.in_flow(),
            value: start..end,
            inside,
        });
    }

    fn plain_secret(&mut self, place: Place) {
        self.problem(
            Problem::new(format!("a value behind `{OPEN}` is not in quotes"))
                .at(place)
                .expected(format!("expected `{OPEN} \"…\"`, or a block: `{OPEN} |`"))
                .help("quotes keep blanks, `#` and `: ` of a secret as they are"),
        );
    }
}

fn written(style: ScalarStyle) -> Style {
    match style {
        ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
        _ => Style::Quoted,
    }
}

/// The bytes between the brackets; `None` where escapes hide them.
fn inside(source: &str, range: Range<usize>, secret: &Secret) -> Option<Range<usize>> {
    let Secret::Sealed(cipher) = secret else { return None };
    let text = source.get(range.clone())?;
    let open = text.find("!ENC[")? + "!ENC[".len();
    let close = open + text.get(open..)?.find(']')?;
    let bare: String = text.get(open..close)?.chars().filter(|c| !c.is_whitespace()).collect();
    (bare == cipher.base64).then_some(range.start + open..range.start + close)
}

/// Where the header of a block starts (`|`, `>`). `gap` reaches from the end of what was read before to the first
/// character of the block.
fn header(source: &str, gap: Range<usize>) -> Option<usize> {
    let text = source.get(gap.clone())?.trim_end();
    let mut at = text.rfind('\n').map_or(0, |at| at + 1);
    // Nothing but indicators, an anchor and a tag can stand before the header on its line.
    loop {
        let word = text.get(at..)?;
        let blanks = word.len() - word.trim_start().len();
        at += blanks;
        let word = text.get(at..)?.split([' ', '\t']).next().filter(|word| !word.is_empty())?;
        if word.starts_with(['|', '>']) {
            return Some(gap.start + at);
        }
        at += word.len();
    }
}

#[cfg(test)]
mod tests;
