//! What Jinja2 has and the engine lacks, written in the engine's own words before it reads the template: `%` behind a
//! text, and `varargs` and `kwargs` of a macro. Lines stay where they are.

use std::borrow::Cow;

/// What stands for `%`.
pub const PERCENT: &str = "__percent";
/// What makes a macro take any arguments.
pub const VARIED: &str = "__varied";

/// A change of the text at a byte: so many bytes away, these words there.
struct Edit {
    at: usize,
    away: usize,
    words: String,
}

/// A template as the engine reads it, and how to get back from there.
pub struct Dialect<'a> {
    pub text: Cow<'a, str>,
    edits: Vec<Edit>,
}

impl<'a> Dialect<'a> {
    /// Takes a text with LF at the ends of lines.
    pub fn of(text: &'a str) -> Dialect<'a> {
        if !text.contains('%') || !text.contains('{') {
            return Dialect { text: Cow::Borrowed(text), edits: Vec::new() };
        }
        let mut edits = edits(text);
        edits.sort_by_key(|edit| edit.at);
        if edits.is_empty() {
            return Dialect { text: Cow::Borrowed(text), edits };
        }
        let mut out = String::with_capacity(text.len() + 64);
        let mut done = 0;
        for edit in &edits {
            out.push_str(text.get(done..edit.at).unwrap_or_default());
            out.push_str(&edit.words);
            done = edit.at + edit.away;
        }
        out.push_str(text.get(done..).unwrap_or_default());
        Dialect { text: Cow::Owned(out), edits }
    }

    /// The column that the author wrote, of a column of the engine's text.
    pub fn column(&self, line: u32, column: u32) -> u32 {
        let start =
            |text: &str| text.split_inclusive('\n').take(line.saturating_sub(1) as usize).map(str::len).sum::<usize>();
        let column = column as usize;
        let first = start(&self.text);
        let (mut shift, mut ahead) = (0, 0);
        for edit in &self.edits {
            let at = edit.at + shift;
            let more = edit.words.len() - edit.away;
            shift += more;
            let Some(before) = self.text.get(first..at) else { continue };
            let here = before.chars().count() + 1;
            if before.contains('\n') || here >= column {
                break;
            }
            if column < here + edit.words.len() {
                return (here - ahead) as u32;
            }
            ahead += more;
        }
        (column - ahead) as u32
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Word,
    Text,
    Sign,
}

#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    kind: Kind,
    at: usize,
    text: &'a str,
}

impl Token<'_> {
    fn is(&self, sign: &str) -> bool {
        self.kind == Kind::Sign && self.text == sign
    }

    fn end(&self) -> usize {
        self.at + self.text.len()
    }
}

/// A macro that has begun: its name, where its arguments end, whether it has any, whether it names the rest.
struct Open<'a> {
    name: &'a str,
    close: usize,
    empty: bool,
    varied: bool,
}

/// The block that was opened last and never closed, and where it begins.
pub fn unclosed(text: &str) -> Option<(String, usize)> {
    let mut open: Vec<(String, usize)> = Vec::new();
    each(text, |tag| {
        let mut words = tag.tokens.iter().skip_while(|t| t.is("-") || t.is("+"));
        let word = words.next().filter(|_| tag.block).map_or("", |t| t.text);
        match word.strip_prefix("end") {
            Some(_) => {
                open.pop();
            }
            None if word == "set" && tag.tokens.iter().any(|t| t.is("=")) => {}
            None if BLOCKS.contains(&word) => open.push((word.to_owned(), tag.start)),
            None => {}
        }
    });
    open.pop()
}

/// What needs an `end…`.
const BLOCKS: [&str; 9] = ["if", "for", "macro", "call", "filter", "set", "with", "block", "autoescape"];

/// `{{ … }}` or `{% … %}`.
struct Tag<'a> {
    block: bool,
    start: usize,
    end: usize,
    tokens: Vec<Token<'a>>,
}

/// Calls `see` with every tag that is no comment and is not in a raw block.
fn each<'a>(text: &'a str, mut see: impl FnMut(Tag<'a>)) {
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('{')) {
        let start = at + found;
        let rest = text.get(start..).unwrap_or_default();
        if rest.starts_with("{#") {
            at = rest.find("#}").map_or(text.len(), |end| start + end + 2);
            continue;
        }
        if !rest.starts_with("{{") && !rest.starts_with("{%") {
            at = start + 1;
            continue;
        }
        let block = rest.starts_with("{%");
        let (tokens, end) = tokens(text, start + 2, if block { "%}" } else { "}}" });
        at = end;
        let raw = |t: &&Token| !t.is("-") && !t.is("+");
        if block && tokens.iter().find(raw).is_some_and(|t| t.text == "raw") {
            at = text.get(end..).and_then(|rest| rest.find("endraw")).map_or(text.len(), |found| end + found);
            at = text.get(at..).and_then(|rest| rest.find("%}")).map_or(text.len(), |found| at + found + 2);
            continue;
        }
        see(Tag { block, start, end, tokens });
    }
}

fn edits(text: &str) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut macros: Vec<Open> = Vec::new();
    each(text, |Tag { block, end, tokens, .. }| {
        percents(&tokens, &mut edits);
        if let Some(open) = macros.last_mut() {
            open.varied |= tokens.iter().any(|t| t.kind == Kind::Word && ["varargs", "kwargs"].contains(&t.text));
        }
        let mut tokens = tokens.iter().skip_while(|t| t.is("-") || t.is("+"));
        match tokens.next().filter(|t| block && t.kind == Kind::Word).map(|t| t.text) {
            Some("macro") => {
                let name = tokens.next().map_or("", |t| t.text);
                let rest: Vec<&Token> = tokens.collect();
                let close = rest.iter().rev().find(|t| t.is(")")).map_or(0, |t| t.at);
                macros.push(Open { name, close, empty: rest.get(1).is_some_and(|t| t.is(")")), varied: false });
            }
            Some("endmacro") => {
                if let Some(open) = macros.pop().filter(|open| open.varied && open.close > 0) {
                    let comma = if open.empty { "" } else { ", " };
                    edits.push(Edit { at: open.close, away: 0, words: format!("{comma}varargs=(), kwargs={{}}") });
                    let tight = text.get(..end).is_some_and(|text| text.ends_with("-%}"));
                    let (name, tight) = (open.name, if tight { "-" } else { "" });
                    let words = format!("{{% set {name} = {VARIED}({name}) {tight}%}}");
                    edits.push(Edit { at: end, away: 0, words });
                }
            }
            _ => {}
        }
    });
    edits
}

/// The tokens up to `close`, and where the text goes on behind it.
fn tokens<'a>(text: &'a str, from: usize, close: &str) -> (Vec<Token<'a>>, usize) {
    let mut out = Vec::new();
    let mut depth = 0usize;
    let mut at = from;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if depth == 0 && rest.starts_with(close) {
            return (out, at + close.len());
        }
        let Some(c) = rest.chars().next() else { break };
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let (kind, length) = match c {
            '"' | '\'' => (Kind::Text, quoted(rest, c)),
            c if c.is_alphanumeric() || c == '_' => {
                (Kind::Word, rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len()))
            }
            _ if rest.starts_with("//") || rest.starts_with("**") => (Kind::Sign, 2),
            c => {
                match c {
                    '(' | '[' | '{' => depth += 1,
                    ')' | ']' | '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                (Kind::Sign, c.len_utf8())
            }
        };
        out.push(Token { kind, at, text: rest.get(..length).unwrap_or(rest) });
        at += length.max(1);
    }
    (out, text.len())
}

/// The length of the text in quotes at the start of `rest`.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// `"…" % operand` and `(…) % operand` become a filter.
fn percents(tokens: &[Token], edits: &mut Vec<Edit>) {
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.is("%")) {
        let Some(left) = at.checked_sub(1).and_then(|at| tokens.get(at)) else { continue };
        let first = match left.kind {
            Kind::Text => Some(at - 1),
            _ if left.is(")") => group(tokens, at - 1),
            _ => None,
        };
        let Some(first) = first else { continue };
        let before = first.checked_sub(1).and_then(|at| tokens.get(at));
        let bound = before.is_some_and(|t| match t.kind {
            // A call, or a name before a text, which is no expression at all.
            Kind::Word => !WORDS.contains(&t.text),
            Kind::Text => true,
            Kind::Sign => ["*", "/", "//", "%", "**", "-", "+", ")", "]"].contains(&t.text) && !plus(t),
        });
        if bound {
            continue;
        }
        if let Some(last) = operand(tokens, at + 1) {
            edits.push(Edit { at: token.at, away: 1, words: format!("|{PERCENT}(") });
            edits.push(Edit { at: last, away: 0, words: ")".to_owned() });
        }
    }
}

/// Words that an expression follows.
const WORDS: [&str; 14] =
    ["if", "else", "elif", "in", "and", "or", "not", "is", "print", "set", "call", "filter", "for", "do"];

/// `+` binds weaker than `%`, and so leaves the left side alone.
fn plus(token: &Token) -> bool {
    token.is("+") || token.is("-")
}

/// Where the group that ends at `close` begins; none where it is a call.
fn group(tokens: &[Token], close: usize) -> Option<usize> {
    let mut depth = 0usize;
    for at in (0..=close).rev() {
        let token = tokens.get(at)?;
        if token.is(")") || token.is("]") || token.is("}") {
            depth += 1;
        } else if token.is("(") || token.is("[") || token.is("{") {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

/// Where the operand that starts with token `at` ends: a name, a literal or a group with what follows it, filters too.
fn operand(tokens: &[Token], at: usize) -> Option<usize> {
    let mut at = at;
    while tokens.get(at).is_some_and(plus) {
        at += 1;
    }
    let first = tokens.get(at)?;
    let mut last = match first.kind {
        Kind::Sign => closing(tokens, at)?,
        _ => at,
    };
    while let Some(next) = tokens.get(last + 1) {
        last = match () {
            () if next.is(".") || next.is("|") => tokens.get(last + 2).map(|_| last + 2)?,
            () if next.is("(") || next.is("[") => closing(tokens, last + 1)?,
            () => break,
        };
    }
    tokens.get(last).map(Token::end)
}

/// Where the bracket at `open` closes; none where there is no bracket.
fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        if token.is("(") || token.is("[") || token.is("{") {
            depth += 1;
        } else if token.is(")") || token.is("]") || token.is("}") {
            depth = depth.saturating_sub(1);
        }
        if depth == 0 {
            return (at > open).then_some(at);
        }
    }
    None
}
