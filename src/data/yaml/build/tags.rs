//! The tags that suil knows.

use super::super::super::tagged::{Node, Strategy, Tag};
use super::super::super::{Kind, Tagged, Value};
use super::super::lookup;
use super::super::spot::{OPEN, Reading};
use super::{Builder, stand_in};
use crate::base::nearest::nearest;
use crate::base::{Place, Problem};
use granit_parser::Span;
use std::sync::Arc;

/// What stands before a value.
pub enum Mark {
    Strategy(Tag),
    Lookup(Place),
    /// `!SECRET` of a view.
    Open(Place),
    /// The text of an inline `!ENC[…]`.
    Secret(String, Place),
    /// `!!str` and the like.
    Standard(Standard, Place),
    /// Reported already.
    Bad,
}

/// The tags of YAML itself that a data file can need.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Standard {
    Str,
    Int,
    Float,
    Bool,
    Null,
    List,
    Map,
}

const KNOWN: [&str; 6] = ["!replace", "!append", "!merge", "!delete", "!LOOKUP", "!ENC[…]"];

impl Builder<'_> {
    pub(super) fn mark(&mut self, tag: Option<&granit_parser::Tag>, span: &Span) -> Option<Mark> {
        let tag = tag?;
        let place = span.tag_span().map_or_else(|| self.place(span), |tag| self.place(&tag));
        let range = span.tag_span().and_then(|tag| tag.byte_range());
        let written = range.and_then(|range| self.source.get(range)).map_or_else(|| tag.original(), str::to_owned);
        if let Some(strategy) = Strategy::ALL.into_iter().find(|strategy| strategy.name() == written) {
            return Some(Mark::Strategy(Tag { strategy, place }));
        }
        if written == "!LOOKUP" {
            return Some(Mark::Lookup(place));
        }
        if written == OPEN && self.reading == Some(Reading::View) {
            return Some(Mark::Open(place));
        }
        if written.starts_with("!ENC[") {
            return Some(Mark::Secret(written, place));
        }
        let standard = match tag.core_suffix() {
            Some("str") => Some(Standard::Str),
            Some("int") => Some(Standard::Int),
            Some("float") => Some(Standard::Float),
            Some("bool") => Some(Standard::Bool),
            Some("null") => Some(Standard::Null),
            Some("seq") => Some(Standard::List),
            Some("map") => Some(Standard::Map),
            _ if written == "!" => Some(Standard::Str),
            _ => None,
        };
        if let Some(standard) = standard {
            return Some(Mark::Standard(standard, place));
        }
        self.unknown_tag(&written, place);
        Some(Mark::Bad)
    }

    fn unknown_tag(&mut self, written: &str, place: Place) {
        let mut problem = Problem::new(format!("unknown tag `{written}`"))
            .at(place)
            .expected(format!("expected one of `{}`", KNOWN.join("`, `")));
        let lower = written.to_lowercase();
        let near = nearest(written, KNOWN).or_else(|| {
            let known: Vec<String> = KNOWN.iter().map(|known| known.to_lowercase()).collect();
            let near = nearest(&lower, known.iter().map(String::as_str))?;
            KNOWN.into_iter().find(|known| known.to_lowercase() == near)
        });
        let near = near.or_else(|| lower.starts_with("!enc").then_some("!ENC[…]"));
        if let Some(near) = near {
            problem = problem.help(format!("did you mean `{near}`?"));
        }
        self.problem(problem);
    }

    /// Puts what stands before a list, a mapping or a scalar to it.
    pub(super) fn apply(&mut self, mark: Option<Mark>, node: Tagged) -> Tagged {
        match mark {
            None | Some(Mark::Bad) => node,
            Some(Mark::Strategy(tag)) => node.tagged(Some(tag)),
            Some(Mark::Lookup(place)) => match lookup::parse(&node, place, &self.key()) {
                Ok(lookup) => Value { kind: Kind::Lookup(Arc::new(lookup)), place }.into(),
                Err(problems) => {
                    self.problems.extend(problems);
                    stand_in(place)
                }
            },
            Some(Mark::Secret(_, place) | Mark::Open(place)) => {
                let found = if node.is_list() { "a list" } else { "a mapping" };
                self.trailing(place, found);
                stand_in(place)
            }
            Some(Mark::Standard(standard, place)) => {
                let fits = standard == Standard::List && node.is_list() || standard == Standard::Map && node.is_map();
                if !fits {
                    let found = if node.is_list() { "a list" } else { "a mapping" };
                    let key = self.key();
                    self.problem(
                        Problem::new(format!("the tag before `{key}` is not the kind of its value"))
                            .at(place)
                            .expected(format!("expected no tag before {found}")),
                    );
                }
                node
            }
        }
    }

    /// A secret with something behind its closing bracket.
    pub(super) fn trailing(&mut self, place: Place, found: &str) {
        let key = self.key();
        let secret = if key.is_empty() { "a secret".to_owned() } else { format!("the secret `{key}`") };
        self.problem(
            Problem::new(format!("{secret} is followed by {found}"))
                .at(place)
                .expected("expected nothing behind `!ENC[…]` but a comment"),
        );
    }

    /// What a bare `!delete` becomes.
    pub(super) fn nothing(tag: Tag) -> Tagged {
        Tagged { tag: Some(tag), node: Node::Nothing, place: tag.place }
    }
}
