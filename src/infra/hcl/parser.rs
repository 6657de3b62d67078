//! Makes trees of tokens, by the grammar of HCL 2.

mod body;
mod expression;
mod strings;

use super::lexer::{Kind, Span, Token, tokens};
use super::source::Source;
use super::tree::Body;
use crate::base::{Problem, Problems};

/// How deep values, blocks and operators may be nested.
pub(super) const DEPTH: usize = 128;

/// A problem in a tree; boxed, as most trees have none.
pub(super) type Parsed<T> = Result<T, Box<Problem>>;

struct Parser<'a> {
    source: &'a Source,
    tokens: Vec<Token>,
    at: usize,
    /// False within brackets, where newlines do not count.
    newlines: bool,
    depth: usize,
    problems: Problems,
    last: Span,
}

/// Reads a file: what could be read of it, and what could not.
pub(super) fn parse(source: &Source) -> (Body, Problems) {
    let mut parser = Parser {
        source,
        tokens: tokens(&source.text),
        at: 0,
        newlines: true,
        depth: 0,
        problems: vec![],
        last: Span::default(),
    };
    let body = parser.body(false);
    (body, parser.problems)
}

impl Parser<'_> {
    /// The index of the token that comes next.
    fn ahead(&self) -> usize {
        let mut at = self.at;
        while !self.newlines && self.tokens.get(at).is_some_and(|token| token.kind == Kind::Newline) {
            at += 1;
        }
        at.min(self.tokens.len().saturating_sub(1))
    }

    fn peek(&self) -> Token {
        self.token(self.ahead())
    }

    fn token(&self, at: usize) -> Token {
        let end = Token { kind: Kind::End, span: Span::default() };
        self.tokens.get(at).or(self.tokens.last()).copied().unwrap_or(end)
    }

    fn kind(&self) -> Kind {
        self.peek().kind
    }

    fn read(&mut self) -> Token {
        let at = self.ahead();
        let token = self.token(at);
        if token.kind != Kind::End {
            self.at = at + 1;
            self.last = token.span;
        }
        token
    }

    fn take(&mut self, kind: Kind) -> Option<Token> {
        (self.kind() == kind).then(|| self.read())
    }

    /// Takes the word `word` where it comes next.
    fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.read();
        }
        found
    }

    fn is_word(&self, word: &str) -> bool {
        let token = self.peek();
        token.kind == Kind::Name && self.source.slice(token.span) == word
    }

    /// Runs `f` with newlines counting or not.
    fn with_newlines<T>(&mut self, newlines: bool, f: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.newlines, newlines);
        let result = f(self);
        self.newlines = before;
        result
    }

    /// Runs `f` one level deeper, and refuses what is nested too deep.
    fn deeper<T>(&mut self, f: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEPTH {
            let at = self.peek().span;
            let problem =
                self.source.problem(at, "this is nested too deep", format!("expected at most {DEPTH} levels"));
            return Err(Box::new(problem));
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        result
    }

    /// The problem that the next token is, where `expected` would be right.
    fn unexpected<T>(&self, what: &str, expected: &str) -> Parsed<T> {
        let token = self.peek();
        Err(Box::new(self.refuse(token, what, expected)))
    }

    fn refuse(&self, token: Token, what: &str, expected: &str) -> Problem {
        let text = self.source.slice(token.span);
        match token.kind {
            Kind::Wrong if text.starts_with("/*") => {
                self.source.problem(head(token.span, 2), "this comment never ends", "expected `*/` somewhere after it")
            }
            Kind::Wrong => {
                let problem = self.source.problem(token.span, format!("`{text}` has no meaning here"), expected);
                match text {
                    "'" => problem.help("strings stand in double quotes"),
                    ";" => problem.help("put each attribute on a line of its own"),
                    "&" => problem.help("write `&&` for \"and\""),
                    "|" => problem.help("write `||` for \"or\""),
                    _ => problem,
                }
            }
            Kind::QuotedNewline => self
                .source
                .problem(
                    self.last_open(token),
                    "a string in quotes cannot go on over a line break",
                    "expected its `\"`",
                )
                .help("write `\\n`, or use a here document (`<<EOT`)"),
            Kind::End => self.source.problem(token.span, what, format!("{expected}, found the end of the file")),
            Kind::Newline => self.source.problem(token.span, what, format!("{expected}, found the end of the line")),
            _ => self.source.problem(token.span, what, expected),
        }
    }

    /// The quote that the string before `token` opens with.
    fn last_open(&self, token: Token) -> Span {
        let before = self.tokens.get(..self.ahead()).unwrap_or(&[]).iter().rev();
        before
            .take(64)
            .find(|t| t.kind == Kind::OpenQuote)
            .map_or(token.span, |open| open.span.to(Span { start: token.span.start, end: token.span.start }))
    }
}

/// The first `length` bytes of a stretch.
fn head(span: Span, length: usize) -> Span {
    Span { start: span.start, end: (span.start + length).min(span.end) }
}
