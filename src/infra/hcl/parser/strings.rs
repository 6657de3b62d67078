//! Strings: quotes, here documents, and the sequences in them.

use super::{Parsed, Parser, head};
use crate::infra::hcl::lexer::{Kind, Span, Token};
use crate::infra::hcl::tree::{Expression, Node, Part};

/// A string as it stands: literal stretches and sequences in a row, directives not yet paired.
enum Piece {
    Text(String),
    Value(Expression),
    If(Expression, Span),
    Else(Span),
    EndIf(Span),
    For((Option<Span>, Span), Expression, Span),
    EndFor(Span),
}

impl Parser<'_> {
    pub(super) fn string(&mut self) -> Parsed<Expression> {
        let open = self.read();
        if let Some(text) = self.plain_string()? {
            return Ok(Expression { node: Node::Text(text), span: open.span.to(self.last) });
        }
        let opening = self.source.slice(open.span);
        let flush = opening.starts_with("<<-");
        let close = if open.kind == Kind::OpenQuote { Kind::CloseQuote } else { Kind::CloseHeredoc };
        let mut pieces = self.pieces(open, close)?;
        if flush {
            unindent(&mut pieces);
        }
        let span = open.span.to(self.last);
        if pieces.len() == 1
            && let Some(Piece::Value(value)) = pieces.pop_if(|piece| matches!(piece, Piece::Value(_)))
        {
            return Ok(Expression { node: Node::Only(Box::new(value)), span });
        }
        let mut pieces = pieces.into_iter();
        let parts = self.deeper(|parser| parser.parts(&mut pieces, None).map(|(parts, _)| parts))?;
        Ok(Expression { node: Node::Template(parts), span })
    }

    /// The rest of a string that is one literal stretch: most are.
    fn plain_string(&mut self) -> Parsed<Option<String>> {
        let token = self.token(self.at);
        if token.kind != Kind::Quoted || self.token(self.at + 1).kind != Kind::CloseQuote {
            return Ok(None);
        }
        self.read();
        self.read();
        let mut text = String::with_capacity(token.span.end - token.span.start);
        self.unescape(token.span, &mut text)?;
        Ok(Some(text))
    }

    fn pieces(&mut self, open: Token, close: Kind) -> Parsed<Vec<Piece>> {
        let mut pieces = vec![];
        let mut trim = false;
        loop {
            let token = self.peek();
            let trimmed = std::mem::take(&mut trim);
            match token.kind {
                Kind::Quoted | Kind::Plain => {
                    self.read();
                    let mut text = String::new();
                    if token.kind == Kind::Quoted {
                        self.unescape(token.span, &mut text)?;
                    } else {
                        match self.source.slice(token.span) {
                            "$${" => text.push_str("${"),
                            "%%{" => text.push_str("%{"),
                            plain => text.push_str(plain),
                        }
                    }
                    if trimmed {
                        text = text.trim_start().to_owned();
                    }
                    pieces.push(Piece::Text(text));
                }
                Kind::Interpolation | Kind::Directive => {
                    self.read();
                    if self.source.slice(token.span).ends_with('~')
                        && let Some(Piece::Text(before)) = pieces.last_mut()
                    {
                        before.truncate(before.trim_end().len());
                    }
                    let (piece, end) = self.with_newlines(false, |parser| -> Parsed<_> {
                        let piece = match token.kind {
                            Kind::Directive => parser.directive(token.span)?,
                            _ => Piece::Value(parser.expression()?),
                        };
                        Ok((piece, parser.end_of_sequence(token)?))
                    })?;
                    trim = self.source.slice(end).starts_with('~');
                    pieces.push(piece);
                }
                kind if kind == close => {
                    self.read();
                    return Ok(pieces);
                }
                Kind::End if open.kind == Kind::OpenHeredoc => {
                    let marker = self.source.slice(open.span).trim_start_matches(['<', '-']).trim();
                    let what = "the here document never ends";
                    let expected = format!("expected a line `{marker}` after it, and a line break after that");
                    return Err(Box::new(self.source.problem(open.span, what, expected)));
                }
                Kind::End => {
                    return Err(Box::new(self.source.problem(
                        open.span,
                        "the string is never closed",
                        "expected a `\"` for this",
                    )));
                }
                _ => return self.unexpected("the string cannot hold this", "expected text or `\"`"),
            }
        }
    }

    fn end_of_sequence(&mut self, open: Token) -> Parsed<Span> {
        match self.kind() {
            Kind::EndSequence => Ok(self.read().span),
            Kind::End => {
                Err(Box::new(self.source.problem(open.span, "the sequence is never closed", "expected a `}` for this")))
            }
            _ => {
                let sign = if open.kind == Kind::Directive { '%' } else { '$' };
                let token = self.peek();
                let problem = self.refuse(token, "the sequence goes on after its value", "expected `}`");
                Err(Box::new(problem.help(format!("write `{sign}{sign}{{` where the text itself is meant"))))
            }
        }
    }

    fn directive(&mut self, open: Span) -> Parsed<Piece> {
        const WORDS: &str = "expected `if`, `else`, `endif`, `for` or `endfor`";
        let Some(word) = self.take(Kind::Name) else { return self.unexpected("this directive has no name", WORDS) };
        let span = open.to(word.span);
        Ok(match self.source.slice(word.span) {
            "if" => Piece::If(self.expression()?, span),
            "else" => Piece::Else(span),
            "endif" => Piece::EndIf(span),
            "for" => {
                let names = self.for_names()?;
                Piece::For(names, self.expression()?, span)
            }
            "endfor" => Piece::EndFor(span),
            other => {
                let what = format!("unknown directive `{other}`");
                return Err(Box::new(self.source.problem(word.span, what, WORDS)));
            }
        })
    }

    /// Pairs directives: takes parts up to the directive that ends the one before, which is handed back.
    fn parts(
        &mut self,
        pieces: &mut std::vec::IntoIter<Piece>,
        within: Option<(&str, Span)>,
    ) -> Parsed<(Vec<Part>, Option<Piece>)> {
        let mut parts = vec![];
        loop {
            let Some(piece) = pieces.next() else {
                return match within {
                    None => Ok((parts, None)),
                    Some((word, span)) => {
                        let what = format!("the directive `{word}` is never ended");
                        Err(Box::new(self.source.problem(
                            span,
                            what,
                            format!("expected `%{{ end{word} }}` after this"),
                        )))
                    }
                };
            };
            match piece {
                Piece::Text(text) => match parts.last_mut() {
                    Some(Part::Text(before)) => before.push_str(&text),
                    _ => parts.push(Part::Text(text)),
                },
                Piece::Value(value) => parts.push(Part::Value(value)),
                Piece::If(condition, span) => {
                    let (yes, end) = self.deeper(|parser| parser.parts(pieces, Some(("if", span))))?;
                    let mut no = vec![];
                    if let Some(Piece::Else(at)) = end {
                        let (more, end) = self.deeper(|parser| parser.parts(pieces, Some(("if", span))))?;
                        if let Some(Piece::Else(again)) = end {
                            let problem = self.source.problem(again, "a second `else`", "expected `%{ endif }`");
                            return Err(Box::new(problem.note_at("the first is", self.source.place(at))));
                        }
                        no = more;
                    }
                    parts.push(Part::If { condition, yes, no });
                }
                Piece::For((key_name, value_name), over, span) => {
                    let (body, _) = self.deeper(|parser| parser.parts(pieces, Some(("for", span))))?;
                    parts.push(Part::For { key_name, value_name, over, body });
                }
                Piece::Else(span) | Piece::EndIf(span) | Piece::EndFor(span) => {
                    let fits = match (&piece, within) {
                        (Piece::Else(_) | Piece::EndIf(_), Some((word, _))) => word == "if",
                        (_, Some((word, _))) => word == "for",
                        _ => false,
                    };
                    if fits {
                        return Ok((parts, Some(piece)));
                    }
                    let expected = match within {
                        Some((word, _)) => format!("expected `%{{ end{word} }}` first"),
                        None => "expected a directive that this ends".to_owned(),
                    };
                    return Err(Box::new(self.source.problem(span, "this directive ends nothing", expected)));
                }
            }
        }
    }

    /// Appends a stretch from between quotes, its escapes replaced.
    pub(super) fn unescape(&self, span: Span, out: &mut String) -> Parsed<()> {
        let text = self.source.slice(span);
        match text {
            "$${" => out.push_str("${"),
            "%%{" => out.push_str("%{"),
            _ => {
                let mut rest = text;
                while let Some(at) = rest.find('\\') {
                    let (plain, escape) = rest.split_at(at);
                    out.push_str(plain);
                    let start = span.start + text.len() - escape.len();
                    let length = self.escape(start, escape, out)?;
                    rest = escape.get(length..).unwrap_or("");
                }
                out.push_str(rest);
            }
        }
        Ok(())
    }

    /// Appends what the escape at the start of `text` stands for, and returns the length of the escape.
    fn escape(&self, start: usize, text: &str, out: &mut String) -> Parsed<usize> {
        let selector = text.chars().nth(1).unwrap_or('\\');
        let (plain, digits) = match selector {
            'n' => ('\n', 0),
            'r' => ('\r', 0),
            't' => ('\t', 0),
            '"' => ('"', 0),
            '\\' => ('\\', 0),
            'u' => ('u', 4),
            'U' => ('U', 8),
            other => {
                let span = Span { start, end: start + 1 + other.len_utf8() };
                let what = format!("unknown escape `\\{other}`");
                let expected = "expected one of `\\n`, `\\r`, `\\t`, `\\\"`, `\\\\`, `\\u` or `\\U`";
                let problem = self.source.problem(span, what, expected);
                return Err(Box::new(problem.help(format!("write `\\\\{other}` for a backslash"))));
            }
        };
        if digits == 0 {
            out.push(plain);
            return Ok(2);
        }
        let hex = text.get(2..2 + digits).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
        let Some(code) = hex.and_then(|hex| u32::from_str_radix(hex, 16).ok()) else {
            let what = format!("the escape `\\{selector}` is cut short");
            let span = head(Span { start, end: start + text.len() }, 2);
            return Err(Box::new(self.source.problem(span, what, format!("expected {digits} hexadecimal digits"))));
        };
        match char::from_u32(code) {
            Some(c) => out.push(c),
            None => {
                let span = Span { start, end: start + 2 + digits };
                let what = format!("U+{code:04X} is no character");
                return Err(Box::new(self.source.problem(span, what, "expected the number of a Unicode character")));
            }
        }
        Ok(2 + digits)
    }
}

/// Takes the indentation off the lines of a here document: as much as the line with the least has. A blank line has
/// none to count.
fn unindent(pieces: &mut [Piece]) {
    let mut least = usize::MAX;
    let mut line_start = true;
    let mut leading = vec![];
    for (at, piece) in pieces.iter().enumerate() {
        let text = match piece {
            Piece::Text(text) => Some(text),
            _ => None,
        };
        if std::mem::take(&mut line_start) {
            match text {
                Some(text) if text.ends_with('\n') && text.trim_start().is_empty() => {}
                Some(text) => {
                    least = least.min(text.chars().take_while(|c| c.is_whitespace()).count());
                    leading.push(at);
                }
                None => least = 0,
            }
        }
        line_start = text.is_some_and(|text| text.ends_with('\n'));
    }
    for at in leading {
        if let Some(Piece::Text(text)) = pieces.get_mut(at) {
            let end = text.char_indices().nth(least).map_or(text.len(), |(end, _)| end);
            text.drain(..end);
        }
    }
}
