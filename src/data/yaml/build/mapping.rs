//! Mappings: keys, merge keys (`<<`), and keys that are refused.

use super::super::super::Tagged;
use super::super::super::scalar::{is_date, resolve};
use super::super::super::tagged::{Member, Members};
use super::super::super::value::Resolved;
use super::super::anchor::Anchored;
use super::scalars::refused;
use super::tags::Mark;
use super::{Builder, Pulled, Step};
use crate::base::{Place, Problem};
use granit_parser::{Event, ScalarStyle};
use std::sync::Arc;

/// A key as it was written.
struct Key {
    text: Arc<str>,
    place: Place,
    /// A plain `<<`.
    merge: bool,
    /// It was reported; its value is read and dropped.
    bad: bool,
}

impl<'a> Builder<'a> {
    /// Builds a mapping whose start was read. Merged keys come first and the mapping's own keys win, as YAML 1.1
    /// readers do it.
    pub(super) fn mapping(&mut self, place: Place, depth: usize) -> Option<Anchored> {
        let mut own = Members::new();
        let mut merged: Option<(Place, Members)> = None;
        let (mut size, mut deepest) = (1, 0);
        loop {
            let (event, span) = self.pull()?;
            if event == Event::MappingEnd {
                break;
            }
            let key = self.key_of((event, span), depth)?;
            self.path.push(Step::Key(key.text.clone()));
            let first = match (&merged, key.merge) {
                (Some((at, _)), true) => Some(*at),
                _ => own.get(&key.text).filter(|_| !key.merge && !key.bad).map(|member| member.key),
            };
            if let Some(first) = first {
                self.duplicate(&key, first);
            }
            let pulled = self.pull()?;
            let value = self.value(pulled, depth, Some(key.place))?;
            size += value.size;
            deepest = deepest.max(value.depth);
            if key.merge && first.is_none() {
                merged = Some((key.place, self.sources(&value.node, key.place)));
            } else if !key.bad && first.is_none() {
                own.insert(key.text, Member { key: key.place, value: value.node });
            }
            self.path.pop();
        }
        let mut members = merged.map(|(_, members)| members).unwrap_or_default();
        members.extend(own);
        Some(Anchored { node: Tagged::map(members, place), size, depth: deepest + 1 })
    }

    /// The keys that a `<<` brings: of several mappings the first that has a key wins.
    fn sources(&mut self, value: &Tagged, key: Place) -> Members {
        let sources = if value.is_list() { value.items() } else { vec![value.clone()] };
        let mut members = Members::new();
        for source in sources {
            if !source.is_map() {
                let found = source.plain().map_or("a tag", |value| value.type_name());
                self.problem(
                    Problem::new("`<<` takes a mapping, or a list of mappings")
                        .at(key)
                        .expected(format!("expected `<<: *anchor`, found {found}"))
                        .help("write \"<<\" in quotes for a key of that name"),
                );
                continue;
            }
            for (name, member) in source.members() {
                members.entry(name).or_insert(member);
            }
        }
        members
    }

    fn duplicate(&mut self, key: &Key, first: Place) {
        let path = self.key();
        let problem = Problem::new(format!("the key `{path}` is written twice"))
            .at(key.place)
            .expected("expected each key once in a mapping")
            .note_at("it is written first at", first);
        self.problem(if key.merge { problem.help("write one `<<: [*a, *b]`; the first wins") } else { problem });
    }

    fn key_of(&mut self, pulled: Pulled<'a>, depth: usize) -> Option<Key> {
        let (event, span) = pulled;
        let place = self.place(&span);
        let bad = Key { text: Arc::from("?"), place, merge: false, bad: true };
        match event {
            Event::Scalar(text, style, id, tag) => {
                let mark = self.mark(tag.as_deref(), &span);
                if let Some(mark) = &mark {
                    self.tagged_key(mark, &text);
                }
                let plain = style == ScalarStyle::Plain;
                let refused = mark.is_some() || !self.usable(&text, plain, place);
                let text: Arc<str> = Arc::from(&*text);
                let node =
                    super::super::super::value::Scalar { text: text.clone(), plain: false, resolved: Resolved::Str };
                let node = super::super::super::Value { kind: super::super::super::Kind::Scalar(node), place };
                self.anchors.define(id, Anchored { node: node.into(), size: 1, depth: 0 });
                Some(Key { merge: plain && &*text == "<<", text, place, bad: refused })
            }
            Event::Alias(id) => {
                let name = self.anchors.get(id).and_then(|a| a.node.plain()?.scalar().cloned());
                match name {
                    Some(scalar) if self.usable(&scalar.text, scalar.plain, place) => {
                        Some(Key { text: scalar.text, place, merge: false, bad: false })
                    }
                    Some(_) => Some(bad),
                    None => {
                        self.bad_key(place, "an alias of something else");
                        Some(bad)
                    }
                }
            }
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                let found = if matches!(event, Event::SequenceStart(..)) { "a list" } else { "a mapping" };
                self.bad_key(place, found);
                self.value((event, span), depth, None)?;
                Some(bad)
            }
            event => {
                self.value((event, span), depth, None)?;
                Some(bad)
            }
        }
    }

    fn tagged_key(&mut self, mark: &Mark, text: &str) {
        let place = match mark {
            Mark::Strategy(tag) => tag.place,
            Mark::Lookup(place) | Mark::Open(place) | Mark::Secret(_, place) | Mark::Standard(_, place) => *place,
            Mark::Bad => return,
        };
        self.problem(
            Problem::new(format!("a tag stands before the key `{text}`"))
                .at(place)
                .expected("expected the tag behind the colon")
                .help(format!("write `{text}: !tag value`")),
        );
    }

    fn bad_key(&mut self, place: Place, found: &str) {
        let path = self.key();
        let what =
            if path.is_empty() { "a key is no text".to_owned() } else { format!("a key of `{path}` is no text") };
        self.problem(
            Problem::new(what)
                .at(place)
                .expected(format!("expected a word, found {found}"))
                .help("put a key that is text in quotes"),
        );
    }

    /// Whole numbers are keys by their text. Everything else that YAML 1.1 does not read as a string is refused: two
    /// tools would read two keys.
    fn usable(&mut self, text: &str, plain: bool, place: Place) -> bool {
        if !plain {
            return true;
        }
        let found = match resolve(text) {
            Ok(Resolved::Str) if is_date(text) => "a date",
            Ok(Resolved::Str | Resolved::Int(_)) => return true,
            Ok(Resolved::Null) => "nothing",
            Ok(Resolved::Bool(_)) => "a boolean",
            Ok(Resolved::Float(_)) => "a number",
            Err(refusal) => {
                let path = self.key();
                self.problem(refused(refusal, &path, text, place));
                return false;
            }
        };
        let path = self.key();
        let of = if path.is_empty() { String::new() } else { format!(" of `{path}`") };
        self.problem(
            Problem::new(format!("the key `{text}`{of} is not text"))
                .at(place)
                .expected(format!("expected a word; YAML reads this as {found}"))
                .help(format!("write \"{text}\" in quotes")),
        );
        false
    }
}
