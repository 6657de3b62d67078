//! Scalars: plain text resolved, quoted text kept, secrets recognised, and nothing refused as a value.

use super::super::super::scalar::{Refusal, resolve};
use super::super::super::tagged::Strategy;
use super::super::super::value::{Resolved, Scalar};
use super::super::super::{Kind, Tagged, Value};
use super::super::secret;
use super::tags::{Mark, Standard};
use super::{Builder, NO_VALUE, stand_in};
use crate::base::{Place, Problem};
use granit_parser::ScalarStyle;
use std::sync::Arc;

impl Builder<'_> {
    pub(super) fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        mark: Option<Mark>,
        place: Place,
        key: Option<Place>,
    ) -> Tagged {
        // The parser gives `~` for what is not there at all, and an empty text where a tag stands before it.
        let plain = style == ScalarStyle::Plain;
        let written = if plain && place.width == 0 && (text == "~" || text.is_empty()) { "" } else { text };
        match mark {
            Some(Mark::Secret(marker, at)) => self.inline_secret(&marker, at, plain && written.is_empty()),
            Some(Mark::Strategy(tag)) if plain && written.is_empty() => {
                if tag.strategy == Strategy::Delete {
                    return Self::nothing(tag);
                }
                self.bare(key, tag.place);
                stand_in(place)
            }
            // On a list item a tag never acts, and the text behind it stays text: conformance case 214.
            Some(Mark::Strategy(_)) if plain && key.is_none() => {
                let scalar = Scalar { text: Arc::from(written), plain, resolved: Resolved::Str };
                self.apply(mark, Value { kind: Kind::Scalar(scalar), place }.into())
            }
            Some(Mark::Bad | Mark::Open(_)) => stand_in(place),
            Some(Mark::Strategy(_)) | None => {
                let value = self.untagged(written, plain, place, key);
                self.apply(mark, value)
            }
            Some(Mark::Lookup(_)) => {
                let scalar = Scalar { text: Arc::from(written), plain: false, resolved: Resolved::Str };
                let node = Value { kind: Kind::Scalar(scalar), place }.into();
                self.apply(mark, node)
            }
            Some(Mark::Standard(standard, at)) => self.standard(standard, written, place, at),
        }
    }

    fn untagged(&mut self, text: &str, plain: bool, place: Place, key: Option<Place>) -> Tagged {
        if !plain {
            return self.text(text, place);
        }
        let resolved = match resolve(text) {
            Ok(Resolved::Null) => {
                self.bare(key, place);
                return stand_in(place);
            }
            Ok(resolved) => resolved,
            Err(refusal) => {
                let path = self.key();
                self.problem(refused(refusal, &path, text, place));
                return stand_in(place);
            }
        };
        Value { kind: Kind::Scalar(Scalar { text: Arc::from(text), plain: true, resolved }), place }.into()
    }

    /// Text in quotes or a block: a secret where it starts like one.
    fn text(&mut self, text: &str, place: Place) -> Tagged {
        let kind = if secret::is_marker(text) {
            match secret::cipher(text) {
                Ok(cipher) => Kind::Secret(Arc::new(cipher)),
                Err(found) => {
                    self.bad_secret(&found, place);
                    return stand_in(place);
                }
            }
        } else {
            Kind::Scalar(Scalar { text: Arc::from(text), plain: false, resolved: Resolved::Str })
        };
        Value { kind, place }.into()
    }

    fn inline_secret(&mut self, marker: &str, place: Place, alone: bool) -> Tagged {
        if !alone {
            self.trailing(place, "more text");
            return stand_in(place);
        }
        match secret::cipher(marker) {
            Ok(cipher) => Value { kind: Kind::Secret(Arc::new(cipher)), place }.into(),
            Err(found) => {
                self.bad_secret(&found, place);
                stand_in(place)
            }
        }
    }

    fn bad_secret(&mut self, found: &str, place: Place) {
        let key = self.key();
        self.problem(
            Problem::new(format!("the secret `{key}` cannot be read"))
                .at(place)
                .expected(format!("expected `!ENC[<base64>]`, found {found}"))
                .help("`suil encrypt` writes such a marker; text that only looks like one cannot start with `!ENC[`"),
        );
    }

    /// A key or an item with nothing under it.
    fn bare(&mut self, key: Option<Place>, place: Place) {
        let path = self.key();
        let item = key.is_none() && !path.is_empty();
        let what = if item { "item" } else { "key" };
        self.problem(
            Problem::new(format!("the {what} `{path}` {NO_VALUE}")).at(key.unwrap_or(place)).expected(
                "expected a value: `{}` for an empty mapping, `[]` for an empty list, `!delete` to remove it",
            ),
        );
    }

    fn standard(&mut self, standard: Standard, text: &str, place: Place, at: Place) -> Tagged {
        let resolved = match (standard, resolve(text)) {
            (Standard::Str, _) => Some(Resolved::Str),
            (Standard::Int, Ok(found @ Resolved::Int(_))) => Some(found),
            (Standard::Float, Ok(found @ Resolved::Float(_))) => Some(found),
            (Standard::Float, Ok(Resolved::Int(n))) => Some(Resolved::Float(n as f64)),
            (Standard::Bool, Ok(found @ Resolved::Bool(_))) => Some(found),
            _ => None,
        };
        let Some(resolved) = resolved else {
            let key = self.key();
            self.problem(
                Problem::new(format!("the tag before `{key}` is not the kind of its value"))
                    .at(at)
                    .expected("expected a value that reads as its tag says"),
            );
            return stand_in(place);
        };
        if resolved == Resolved::Str {
            return self.text(text, place);
        }
        Value { kind: Kind::Scalar(Scalar { text: Arc::from(text), plain: true, resolved }), place }.into()
    }
}

/// The problem of a scalar that suil does not take.
pub fn refused(refusal: Refusal, path: &str, text: &str, place: Place) -> Problem {
    match refusal {
        Refusal::NotANumber => Problem::new(format!("`{path}` is not a number"))
            .at(place)
            .expected("expected a value that is equal to itself: `.nan` makes every comparison differ")
            .help(format!("write \"{text}\" in quotes if text is meant")),
        Refusal::TooLarge => Problem::new(format!("`{path}` is a whole number beyond 64 bits"))
            .at(place)
            .expected(format!("expected a number from {} to {}", i64::MIN, i64::MAX))
            .help("write it in quotes if text is meant"),
    }
}
