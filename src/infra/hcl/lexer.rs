//! Cuts the text of a file into tokens, in one pass.
//!
//! Strings and here documents are cut into their literal stretches and the sequences between them; whether newlines
//! count is for the parser to say, which knows what bracket it is in.

/// A stretch of the text, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub fn to(self, end: Span) -> Span {
        Span { start: self.start, end: end.end.max(self.start) }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Number,
    Name,
    Newline,
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    OpenParen,
    CloseParen,
    Dot,
    Comma,
    Star,
    Slash,
    Percent,
    Plus,
    Minus,
    Equal,
    Less,
    Greater,
    Bang,
    Question,
    Colon,
    Same,
    Different,
    AtLeast,
    AtMost,
    And,
    Or,
    Scope,
    Ellipsis,
    Arrow,
    OpenQuote,
    CloseQuote,
    OpenHeredoc,
    CloseHeredoc,
    /// A stretch between quotes, with its escapes.
    Quoted,
    /// A stretch of a here document: at most one line.
    Plain,
    /// `${`
    Interpolation,
    /// `%{`
    Directive,
    /// The `}` of either.
    EndSequence,
    /// A line break between quotes.
    QuotedNewline,
    /// What no rule takes.
    Wrong,
    End,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub span: Span,
}

enum Mode {
    /// Code; `depth` counts the braces open in it, and a sequence of a template ends at the brace too many.
    Code {
        depth: usize,
        sequence: bool,
    },
    Quotes,
    Heredoc {
        marker: Span,
        line_start: bool,
    },
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    tokens: Vec<Token>,
    modes: Vec<Mode>,
}

/// The tokens of `text`, the last of which is [`Kind::End`].
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        at,
        tokens: Vec::with_capacity(text.len() / 4),
        modes: vec![Mode::Code { depth: 0, sequence: false }],
    };
    while lexer.at < lexer.bytes.len() {
        match lexer.modes.last() {
            Some(Mode::Quotes) => lexer.quotes(),
            Some(Mode::Heredoc { .. }) => lexer.heredoc(),
            Some(Mode::Code { .. }) | None => lexer.code(),
        }
    }
    lexer.tokens.push(Token { kind: Kind::End, span: Span { start: text.len(), end: text.len() } });
    lexer.tokens
}

impl Lexer<'_> {
    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn push(&mut self, kind: Kind, length: usize) {
        let end = (self.at + length).min(self.bytes.len());
        self.tokens.push(Token { kind, span: Span { start: self.at, end } });
        self.at = end;
    }

    /// The length of the line break here, 0 where there is none.
    fn newline(&self) -> usize {
        match (self.byte(0), self.byte(1)) {
            (b'\n', _) => 1,
            (b'\r', b'\n') => 2,
            _ => 0,
        }
    }

    fn wrong(&mut self) {
        let length = self.rest().chars().next().map_or(1, char::len_utf8);
        self.push(Kind::Wrong, length);
    }

    fn code(&mut self) {
        let kind = match (self.byte(0), self.byte(1)) {
            (b' ' | b'\t', _) => {
                self.at += 1;
                return;
            }
            (b'\n', _) | (b'\r', b'\n') => return self.push(Kind::Newline, self.newline()),
            (b'#', _) | (b'/', b'/') => return self.comment(),
            (b'/', b'*') => {
                return match self.rest().get(2..).and_then(|rest| rest.find("*/")) {
                    Some(end) => self.at += end + 4,
                    None => self.push(Kind::Wrong, self.bytes.len()),
                };
            }
            (b'0'..=b'9', _) => return self.number(),
            (b'"', _) => {
                self.push(Kind::OpenQuote, 1);
                return self.modes.push(Mode::Quotes);
            }
            (b'<', b'<') if self.opens_heredoc() => return,
            (b'{', _) => {
                if let Some(Mode::Code { depth, .. }) = self.modes.last_mut() {
                    *depth += 1;
                }
                return self.push(Kind::OpenBrace, 1);
            }
            (b'}', _) => return self.close(1),
            (b'~', b'}') => return self.close(2),
            (b'.', b'.') if self.byte(2) == b'.' => return self.push(Kind::Ellipsis, 3),
            (b'=', b'=') => (Kind::Same, 2),
            (b'!', b'=') => (Kind::Different, 2),
            (b'>', b'=') => (Kind::AtLeast, 2),
            (b'<', b'=') => (Kind::AtMost, 2),
            (b'&', b'&') => (Kind::And, 2),
            (b'|', b'|') => (Kind::Or, 2),
            (b':', b':') => (Kind::Scope, 2),
            (b'=', b'>') => (Kind::Arrow, 2),
            (b'[', _) => (Kind::OpenBracket, 1),
            (b']', _) => (Kind::CloseBracket, 1),
            (b'(', _) => (Kind::OpenParen, 1),
            (b')', _) => (Kind::CloseParen, 1),
            (b'.', _) => (Kind::Dot, 1),
            (b',', _) => (Kind::Comma, 1),
            (b'*', _) => (Kind::Star, 1),
            (b'/', _) => (Kind::Slash, 1),
            (b'%', _) => (Kind::Percent, 1),
            (b'+', _) => (Kind::Plus, 1),
            (b'-', _) => (Kind::Minus, 1),
            (b'=', _) => (Kind::Equal, 1),
            (b'<', _) => (Kind::Less, 1),
            (b'>', _) => (Kind::Greater, 1),
            (b'!', _) => (Kind::Bang, 1),
            (b'?', _) => (Kind::Question, 1),
            (b':', _) => (Kind::Colon, 1),
            _ => {
                let length = name_length(self.rest());
                if length == 0 {
                    return self.wrong();
                }
                (Kind::Name, length)
            }
        };
        self.push(kind.0, kind.1);
    }

    /// Skips a comment up to the end of its line, and leaves the line break.
    fn comment(&mut self) {
        let rest = self.rest();
        let end = rest.find('\n').unwrap_or(rest.len());
        self.at += end;
    }

    fn number(&mut self) {
        let mut length = 1;
        let mut end = 1;
        loop {
            length += match (self.byte(length), self.byte(length + 1), self.byte(length + 2)) {
                (b'0'..=b'9', ..) => 1,
                (b'.', ..) => {
                    // A number never ends in a point, but points may stand in it.
                    length += 1;
                    continue;
                }
                (b'e' | b'E', b'0'..=b'9', _) => 2,
                (b'e' | b'E', b'+' | b'-', b'0'..=b'9') => 3,
                _ => break,
            };
            end = length;
        }
        self.push(Kind::Number, end);
    }

    fn opens_heredoc(&mut self) -> bool {
        let rest = self.rest();
        let flush = usize::from(rest.as_bytes().get(2) == Some(&b'-'));
        let start = 2 + flush;
        let length = rest.get(start..).map_or(0, name_length);
        let line_break = match rest.get(start + length..) {
            Some(after) if after.starts_with('\n') => 1,
            Some(after) if after.starts_with("\r\n") => 2,
            _ => 0,
        };
        if length == 0 || line_break == 0 {
            return false;
        }
        let marker = Span { start: self.at + start, end: self.at + start + length };
        self.push(Kind::OpenHeredoc, start + length + line_break);
        self.modes.push(Mode::Heredoc { marker, line_start: true });
        true
    }

    fn close(&mut self, length: usize) {
        let mut kind = if length == 2 { Kind::EndSequence } else { Kind::CloseBrace };
        if let Some(Mode::Code { depth, sequence }) = self.modes.last_mut() {
            if *sequence && *depth == 0 {
                kind = Kind::EndSequence;
                self.modes.pop();
            } else {
                *depth = depth.saturating_sub(1);
            }
        }
        self.push(kind, length);
    }

    /// Takes what starts with `$` or `%` in a string: an escape, a sequence, or the character itself.
    fn sequence(&mut self, literal: Kind) {
        let sign = self.byte(0);
        if let Some(Mode::Heredoc { line_start, .. }) = self.modes.last_mut() {
            *line_start = false;
        }
        if matches!((self.byte(1), self.byte(2)), (b'$' | b'%', b'{') if self.byte(1) == sign) {
            return self.push(literal, 3);
        }
        if self.byte(1) != b'{' {
            return self.push(literal, 1);
        }
        let kind = if sign == b'$' { Kind::Interpolation } else { Kind::Directive };
        self.push(kind, if self.byte(2) == b'~' { 3 } else { 2 });
        self.modes.push(Mode::Code { depth: 0, sequence: true });
    }

    fn quotes(&mut self) {
        match self.byte(0) {
            b'"' => {
                self.push(Kind::CloseQuote, 1);
                self.modes.pop();
            }
            b'$' | b'%' => self.sequence(Kind::Quoted),
            b'\n' | b'\r' => {
                let length = self.rest().bytes().take_while(|b| matches!(b, b'\n' | b'\r')).count();
                self.push(Kind::QuotedNewline, length);
            }
            _ => {
                let mut length = 0;
                loop {
                    let here = self.at + length;
                    match self.bytes.get(here) {
                        None | Some(b'"' | b'$' | b'%' | b'\n' | b'\r') => break,
                        Some(b'\\') => match self.text.get(here + 1..).and_then(|rest| rest.chars().next()) {
                            None | Some('\n' | '\r') => break,
                            Some(c) => length += 1 + c.len_utf8(),
                        },
                        Some(_) => length += 1,
                    }
                }
                match length {
                    0 => self.wrong(),
                    _ => self.push(Kind::Quoted, length),
                }
            }
        }
    }

    fn heredoc(&mut self) {
        let stop = self.rest().bytes().position(|b| matches!(b, b'$' | b'%' | b'\n' | b'\r'));
        let stop = stop.unwrap_or(self.bytes.len() - self.at);
        let ends = match (self.byte(stop), self.byte(stop + 1)) {
            (b'\n', _) => 1,
            (b'\r', b'\n') => 2,
            _ => 0,
        };
        let Some(Mode::Heredoc { marker, line_start }) = self.modes.last_mut() else { return };
        if ends == 0 {
            if stop > 0 {
                *line_start = false;
                return self.push(Kind::Plain, stop);
            }
            return match self.byte(0) {
                b'$' | b'%' => self.sequence(Kind::Plain),
                _ => self.wrong(),
            };
        }
        let whole = std::mem::replace(line_start, true);
        let line = self.text.get(self.at..self.at + stop).unwrap_or("").trim();
        if whole && Some(line) == self.text.get(marker.start..marker.end) {
            self.modes.pop();
            self.push(Kind::CloseHeredoc, stop);
            return self.push(Kind::Newline, ends);
        }
        self.push(Kind::Plain, stop + ends);
    }
}

/// The length of the name that `text` starts with, 0 where it starts with none.
pub(super) fn name_length(text: &str) -> usize {
    let mut chars = text.char_indices();
    match chars.next() {
        Some((_, c)) if c == '_' || unicode_ident::is_xid_start(c) => {}
        _ => return 0,
    }
    let end = chars.find(|(_, c)| *c != '-' && !unicode_ident::is_xid_continue(*c));
    end.map_or(text.len(), |(at, _)| at)
}
