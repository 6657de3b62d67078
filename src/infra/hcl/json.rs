//! JSON with places, whole numbers of any size, and no key twice: files of variables and of code in JSON.

use super::eval::Computed;
use super::lexer::Span;
use super::number::Real;
use super::parser::{DEPTH, Parsed};
use super::source::Source;
use indexmap::IndexMap;

/// A JSON value and where it stands.
#[derive(Debug)]
pub(super) struct Json {
    pub node: Node,
    pub span: Span,
}

#[derive(Debug)]
pub(super) enum Node {
    Null,
    Bool(bool),
    Number(Real),
    Text(String),
    List(Vec<Json>),
    /// Keys, where they stand, and their values.
    Map(IndexMap<String, (Span, Json)>),
}

impl Json {
    pub fn into_computed(self) -> Computed {
        match self.node {
            Node::Null => Computed::Null,
            Node::Bool(b) => Computed::Bool(b),
            Node::Number(number) => Computed::Number(number),
            Node::Text(text) => Computed::Text(text),
            Node::List(items) => Computed::List(items.into_iter().map(Json::into_computed).collect()),
            Node::Map(map) => {
                Computed::Map(map.into_iter().map(|(key, (_, item))| (key, item.into_computed())).collect())
            }
        }
    }

    /// The maps that this stands for where a body is wanted: one map, or a list of them.
    pub fn bodies(&self) -> Vec<&IndexMap<String, (Span, Json)>> {
        match &self.node {
            Node::Map(map) => vec![map],
            Node::List(items) => items.iter().flat_map(Json::bodies).collect(),
            _ => vec![],
        }
    }
}

struct Reader<'a> {
    source: &'a Source,
    at: usize,
    depth: usize,
}

/// Reads the whole of a file.
pub(super) fn parse(source: &Source) -> Parsed<Json> {
    let at = if source.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut reader = Reader { source, at, depth: 0 };
    let value = reader.value()?;
    reader.blanks();
    match reader.byte() {
        None => Ok(value),
        Some(_) => reader.unexpected("expected nothing after the value"),
    }
}

impl Reader<'_> {
    fn byte(&self) -> Option<u8> {
        self.source.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.byte(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn rest(&self) -> &str {
        self.source.text.get(self.at..).unwrap_or("")
    }

    fn unexpected<T>(&self, expected: &str) -> Parsed<T> {
        let start = self.at;
        let (what, width) = match self.rest().chars().next() {
            None => ("this JSON ends too soon".to_owned(), 0),
            Some(c) if c.is_control() => ("this JSON is broken".to_owned(), 1),
            Some(c) => (format!("`{c}` has no meaning here"), c.len_utf8()),
        };
        Err(Box::new(self.source.problem(Span { start, end: start + width }, what, expected)))
    }

    fn value(&mut self) -> Parsed<Json> {
        self.blanks();
        let start = self.at;
        if self.depth >= DEPTH {
            return self.unexpected(&format!("expected at most {DEPTH} levels"));
        }
        self.depth += 1;
        let node = match self.byte() {
            Some(b'{') => self.map()?,
            Some(b'[') => self.list()?,
            Some(b'"') => Node::Text(self.text()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => {
                let words = [("null", Node::Null), ("true", Node::Bool(true)), ("false", Node::Bool(false))];
                let length = super::lexer::name_length(self.rest());
                let word = self.rest().get(..length).unwrap_or("").to_owned();
                match words.into_iter().find(|(known, _)| *known == word) {
                    Some((_, node)) => {
                        self.at += length;
                        node
                    }
                    None => return self.unexpected("expected a JSON value"),
                }
            }
        };
        self.depth -= 1;
        Ok(Json { node, span: Span { start, end: self.at } })
    }

    fn list(&mut self) -> Parsed<Node> {
        self.at += 1;
        let mut items = vec![];
        self.blanks();
        if self.byte() == Some(b']') {
            self.at += 1;
            return Ok(Node::List(items));
        }
        loop {
            items.push(self.value()?);
            self.blanks();
            match self.byte() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Node::List(items));
                }
                _ => return self.unexpected("expected `,` or `]`"),
            }
        }
    }

    fn map(&mut self) -> Parsed<Node> {
        self.at += 1;
        let mut map: IndexMap<String, (Span, Json)> = IndexMap::new();
        self.blanks();
        if self.byte() == Some(b'}') {
            self.at += 1;
            return Ok(Node::Map(map));
        }
        loop {
            self.blanks();
            let start = self.at;
            if self.byte() != Some(b'"') {
                return self.unexpected("expected a key in double quotes");
            }
            let key = self.text()?;
            let span = Span { start, end: self.at };
            self.blanks();
            if self.byte() != Some(b':') {
                return self.unexpected("expected `:` and a value");
            }
            self.at += 1;
            let item = self.value()?;
            if let Some((first, _)) = map.get(&key) {
                let problem = self.source.problem(span, format!("`{key}` is set twice"), "expected each key once");
                return Err(Box::new(problem.note_at("first set at", self.source.place(*first))));
            }
            map.insert(key, (span, item));
            self.blanks();
            match self.byte() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Node::Map(map));
                }
                _ => return self.unexpected("expected `,` or `}`"),
            }
        }
    }

    fn number(&mut self) -> Parsed<Node> {
        let start = self.at;
        let negative = self.byte() == Some(b'-');
        if negative {
            self.at += 1;
        }
        let digits = |reader: &mut Self| {
            let before = reader.at;
            while reader.byte().is_some_and(|b| b.is_ascii_digit()) {
                reader.at += 1;
            }
            reader.at > before
        };
        let from = self.at;
        let mut whole = digits(self) && !(self.at > from + 1 && self.source.text.as_bytes().get(from) == Some(&b'0'));
        if self.byte() == Some(b'.') {
            self.at += 1;
            whole &= digits(self);
        }
        if matches!(self.byte(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.byte(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            whole &= digits(self);
        }
        let span = Span { start, end: self.at };
        let text = self.source.slice(Span { start: from, end: self.at });
        if !whole {
            let what = format!("`{}` is no number", self.source.slice(span));
            return Err(Box::new(self.source.problem(span, what, "expected a number such as `1.5` or `1e3`")));
        }
        match Real::parse(text) {
            Ok(number) => Ok(Node::Number(if negative { number.negated() } else { number })),
            Err(_) => {
                let expected = "expected a number of at most 20000 digits";
                Err(Box::new(self.source.problem(span, "this number is too long", expected)))
            }
        }
    }

    /// Reads a string; serde_json knows the escapes.
    fn text(&mut self) -> Parsed<String> {
        let start = self.at;
        let bytes = self.source.text.as_bytes();
        let mut end = start + 1;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(b'\n') | None => {
                    let span = Span { start, end: end.min(bytes.len()) };
                    return Err(Box::new(self.source.problem(
                        span,
                        "the string is never closed",
                        "expected a `\"` for this",
                    )));
                }
                Some(_) => end += 1,
            }
        }
        let span = Span { start, end: end + 1 };
        self.at = span.end;
        serde_json::from_str(self.source.slice(span)).map_err(|_| {
            Box::new(self.source.problem(span, "a string that JSON does not know", "expected the escapes of JSON"))
        })
    }
}
