//! From parser events to the tree. A problem is noted and the reading goes on, so that one run tells them all; only
//! broken syntax ends it.

mod mapping;
mod scalars;
pub(super) mod tags;

use super::super::value::{Resolved, Scalar};
use super::super::{Kind, Tagged, Value};
use super::anchor::{Anchored, Anchors};
use super::spot::{Reading, Spot};
use super::{MAX_DEPTH, MAX_PROBLEMS, syntax};
use crate::base::{FileId, Place, Problem, Problems};
use granit_parser::{Event, Parser, Span, StrInput, StructureStyle};
use std::sync::{Arc, LazyLock};
use tags::Mark;

pub struct Builder<'a> {
    file: FileId,
    source: &'a str,
    parser: Parser<'a, StrInput<'a>>,
    problems: Problems,
    anchors: Anchors,
    path: Vec<Step>,
    /// `None` where nobody asks for the places of secrets.
    reading: Option<Reading>,
    spots: Vec<Spot>,
    /// Where the last event ends, and the one before it.
    ends: (usize, usize),
    /// How many collections in brackets are open.
    flow: usize,
}

/// How the problem of a bare key ends.
const NO_VALUE: &str = "has no value";

/// One step of a key path.
enum Step {
    Key(Arc<str>),
    Item(usize),
}

/// What a parser's event becomes.
type Pulled<'a> = (Event<'a>, Span);

impl<'a> Builder<'a> {
    /// `masked` is what the parser reads, `source` what the person wrote; they have the same length.
    pub fn new(file: FileId, source: &'a str, masked: &'a str) -> Builder<'a> {
        let mut options = granit_parser::Options::default();
        options.set_emit_comments(false);
        options.emit_unresolved_aliases = true;
        options.flow_nesting_limit = MAX_DEPTH;
        options.block_nesting_limit = MAX_DEPTH;
        let parser = Parser::new_from_str_with_options(masked, options);
        Builder {
            file,
            source,
            parser,
            problems: Problems::new(),
            anchors: Anchors::default(),
            path: Vec::new(),
            reading: None,
            spots: Vec::new(),
            ends: (0, 0),
            flow: 0,
        }
    }

    /// Reads the file for the secrets in it.
    pub fn spots(mut self, reading: Reading) -> (Vec<Spot>, Problems) {
        self.reading = Some(reading);
        self.read();
        (self.spots, self.problems)
    }

    /// Reads the one document of the file.
    pub fn document(mut self) -> (Option<Tagged>, Problems) {
        let root = self.read();
        (root, self.problems)
    }

    fn read(&mut self) -> Option<Tagged> {
        let (mut root, mut seen) = (None, false);
        loop {
            let (event, span) = self.pull()?;
            match event {
                Event::StreamStart | Event::DocumentEnd => {}
                Event::StreamEnd => return root,
                Event::DocumentStart(..) if seen => {
                    let at = self.place(&span);
                    self.problem(
                        Problem::new("a second document starts here")
                            .at(at)
                            .expected("expected one document in a file")
                            .help("move it to a file of its own"),
                    );
                    return None;
                }
                Event::DocumentStart(..) => seen = true,
                Event::Scalar(text, style, 0, None)
                    if style == granit_parser::ScalarStyle::Plain && is_nothing(&text) => {}
                event => root = Some(self.value((event, span), 0, None)?.node),
            }
        }
    }

    /// The next event; `None` ends the reading.
    fn pull(&mut self) -> Option<Pulled<'a>> {
        if self.problems.len() >= MAX_PROBLEMS {
            return None;
        }
        match self.parser.next_event()? {
            Ok(pulled) => {
                self.flow = match &pulled.0 {
                    Event::SequenceStart(StructureStyle::Flow, ..) | Event::MappingStart(StructureStyle::Flow, ..) => {
                        self.flow + 1
                    }
                    Event::SequenceStart(..) | Event::MappingStart(..) if self.flow > 0 => self.flow + 1,
                    Event::SequenceEnd | Event::MappingEnd => self.flow.saturating_sub(1),
                    _ => self.flow,
                };
                self.ends = (pulled.1.end.byte_offset().unwrap_or_default(), self.ends.0);
                Some(pulled)
            }
            Err(error) => {
                // A line that breaks behind a tag reads as a tag with no value first.
                self.problems.retain(|p| {
                    !(p.what.ends_with(NO_VALUE) && p.place.is_some_and(|at| at.line as usize == error.marker().line()))
                });
                self.problem(syntax::problem(self.file, self.source, &error));
                None
            }
        }
    }

    /// Builds the value that `pulled` begins. `key` is the place of its key.
    fn value(&mut self, pulled: Pulled<'a>, depth: usize, key: Option<Place>) -> Option<Anchored> {
        let (event, span) = pulled;
        let place = self.place(&span);
        let (anchored, id) = match event {
            Event::Scalar(text, style, id, tag) => {
                let mark = self.mark(tag.as_deref(), &span);
                self.spot(&text, style, mark.as_ref(), &span);
                (leaf(self.scalar(&text, style, mark, place, key)), id)
            }
            Event::SequenceStart(_, id, tag) => {
                let mark = self.mark(tag.as_deref(), &span);
                self.nests(depth, place)?;
                let built = self.sequence(place, depth + 1)?;
                (self.collection(built, mark), id)
            }
            Event::MappingStart(_, id, tag) => {
                let mark = self.mark(tag.as_deref(), &span);
                self.nests(depth, place)?;
                let built = self.mapping(place, depth + 1)?;
                (self.collection(built, mark), id)
            }
            Event::Alias(id) => (self.alias(id, &span, depth)?, 0),
            Event::UnresolvedAlias(name) => {
                self.problem(
                    Problem::new(format!("unknown alias `{name}`"))
                        .at(place)
                        .expected(format!("expected an anchor `&{name}` further up in this file"))
                        .note("anchors never cross files"),
                );
                (leaf(stand_in(place)), 0)
            }
            _ => return None,
        };
        self.anchors.define(id, anchored.clone());
        Some(anchored)
    }

    fn sequence(&mut self, place: Place, depth: usize) -> Option<Anchored> {
        let mut items = Vec::new();
        let (mut size, mut deepest) = (1, 0);
        loop {
            let (event, span) = self.pull()?;
            if event == Event::SequenceEnd {
                return Some(Anchored { node: Tagged::list(items, place), size, depth: deepest + 1 });
            }
            self.path.push(Step::Item(items.len()));
            let item = self.value((event, span), depth, None)?;
            self.path.pop();
            size += item.size;
            deepest = deepest.max(item.depth);
            items.push(item.node);
        }
    }

    fn alias(&mut self, id: usize, span: &Span, depth: usize) -> Option<Anchored> {
        let place = self.place(span);
        let written = span.byte_range().and_then(|range| self.source.get(range)).unwrap_or_default();
        let name = written.trim_start_matches('*').to_owned();
        let Some(anchored) = self.anchors.get(id).cloned() else {
            self.problem(
                Problem::new(format!("the anchor `{name}` contains itself"))
                    .at(place)
                    .expected("expected an anchor whose value ends before this line"),
            );
            return Some(leaf(stand_in(place)));
        };
        if depth + anchored.depth > MAX_DEPTH {
            self.nests(MAX_DEPTH, place)?;
        }
        if !self.anchors.spend(anchored.size) {
            self.problem(
                Problem::new(format!("the alias `{name}` makes the file too large"))
                    .at(place)
                    .expected(format!("expected aliases that stand for at most {} values in all", super::MAX_ALIASED)),
            );
            return None;
        }
        Some(anchored)
    }

    fn nests(&mut self, depth: usize, place: Place) -> Option<()> {
        if depth < MAX_DEPTH {
            return Some(());
        }
        self.problem(
            Problem::new("the values nest too deep").at(place).expected(format!("expected at most {MAX_DEPTH} levels")),
        );
        None
    }

    /// A list or a mapping with what stands before it.
    fn collection(&mut self, built: Anchored, mark: Option<Mark>) -> Anchored {
        let node = self.apply(mark, built.node);
        Anchored { node, ..built }
    }

    /// The key path of the value that is being read.
    pub(super) fn key(&self) -> String {
        let step = |step: &Step| match step {
            Step::Key(key) => key.to_string(),
            Step::Item(index) => index.to_string(),
        };
        self.path.iter().map(step).collect::<Vec<_>>().join(".")
    }

    pub(super) fn source(&self) -> &str {
        self.source
    }

    pub(super) fn reading(&self) -> Option<Reading> {
        self.reading
    }

    /// True between brackets or braces.
    pub(super) fn in_flow(&self) -> bool {
        self.flow > 0
    }

    /// Where the event before the present one ends.
    pub(super) fn before(&self) -> usize {
        self.ends.1
    }

    pub(super) fn note(&mut self, spot: Spot) {
        self.spots.push(spot);
    }

    pub(super) fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    pub(super) fn place(&self, span: &Span) -> Place {
        let one_line = span.start.line() == span.end.line();
        let width = if one_line { span.end.col().saturating_sub(span.start.col()) } else { 0 };
        Place { width: width as u32, ..syntax::place(self.file, &span.start) }
    }
}

fn is_nothing(text: &str) -> bool {
    super::super::scalar::resolve(text) == Ok(Resolved::Null)
}

fn leaf(node: Tagged) -> Anchored {
    Anchored { node, size: 1, depth: 0 }
}

/// Stands for a value that has a problem; it never leaves the loader.
fn stand_in(place: Place) -> Tagged {
    static EMPTY: LazyLock<Arc<str>> = LazyLock::new(|| Arc::from(""));
    let scalar = Scalar { text: EMPTY.clone(), plain: false, resolved: Resolved::Str };
    Value { kind: Kind::Scalar(scalar), place }.into()
}

#[cfg(test)]
mod tests;
