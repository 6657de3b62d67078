//! Bodies: attributes and blocks.

use super::{Parsed, Parser};
use crate::infra::hcl::lexer::{Kind, Span};
use crate::infra::hcl::tree::{Block, Body, Setting};

enum Item {
    Setting(Setting),
    Block(Block),
}

impl Parser<'_> {
    /// Reads items up to the end of the file, or up to the brace that closes a block.
    pub(super) fn body(&mut self, block: bool) -> Body {
        let mut body = Body::default();
        loop {
            let token = self.peek();
            match token.kind {
                Kind::Newline => {
                    self.read();
                    continue;
                }
                Kind::End => return body,
                Kind::CloseBrace if block => return body,
                _ => {}
            }
            let start = self.at;
            let depth = self.depth;
            match self.item() {
                Ok(Item::Setting(setting)) => body.attributes.push(setting),
                Ok(Item::Block(block)) => body.blocks.push(block),
                Err(problem) => {
                    self.problems.push(*problem);
                    self.newlines = true;
                    self.depth = depth;
                    self.skip_item(start, block);
                }
            }
        }
    }

    fn item(&mut self) -> Parsed<Item> {
        let name = match self.kind() {
            Kind::Name => self.read().span,
            Kind::OpenQuote => {
                return self.unexpected("the name of an attribute cannot stand in quotes", "expected a bare name");
            }
            _ => return self.unexpected("this is neither an attribute nor a block", "expected `name = value`"),
        };
        match self.kind() {
            Kind::Equal => {
                let setting = self.setting(name)?;
                match self.kind() {
                    Kind::Newline | Kind::End => {
                        self.read();
                        Ok(Item::Setting(setting))
                    }
                    Kind::Comma => self.unexpected(
                        "attributes are parted by line breaks, not by commas",
                        "expected the end of the line",
                    ),
                    _ => {
                        let name = self.source.slice(name);
                        let what = format!("the value of `{name}` ends here, but the line goes on");
                        self.unexpected(&what, "expected the end of the line")
                    }
                }
            }
            Kind::OpenQuote | Kind::OpenBrace | Kind::Name => self.block(name).map(Item::Block),
            _ => {
                let what = format!("`{}` is given no value", self.source.slice(name));
                self.unexpected(&what, "expected `=` and a value, or a block in braces")
            }
        }
    }

    fn setting(&mut self, name: Span) -> Parsed<Setting> {
        self.read();
        let expression = self.expression()?;
        Ok(Setting { name, expression })
    }

    fn block(&mut self, keyword: Span) -> Parsed<Block> {
        let mut labels = vec![];
        let open = loop {
            match self.kind() {
                Kind::OpenBrace => break self.read().span,
                Kind::Name => {
                    let span = self.read().span;
                    labels.push((self.source.slice(span).to_owned(), span));
                }
                Kind::OpenQuote => labels.push(self.label()?),
                _ => {
                    let what = format!("the block `{}` is not opened", self.source.slice(keyword));
                    return self.unexpected(&what, "expected a label or `{` on the same line");
                }
            }
        };
        let body = match self.kind() {
            Kind::Newline | Kind::End | Kind::CloseBrace => self.deeper(|parser| Ok(parser.body(true)))?,
            Kind::Name => {
                let name = self.read().span;
                if self.kind() != Kind::Equal {
                    return self.unexpected("a block on one line holds one attribute", "expected `=`");
                }
                Body { attributes: vec![self.setting(name)?], blocks: vec![] }
            }
            _ => return self.unexpected("this is neither an attribute nor a block", "expected `name = value` or `}`"),
        };
        let Some(close) = self.take(Kind::CloseBrace) else {
            if self.kind() == Kind::End {
                let what = format!("the block `{}` is never closed", self.source.slice(keyword));
                return Err(Box::new(self.source.problem(open, what, "expected a `}` for this")));
            }
            return self.unexpected("a block on one line holds one attribute", "expected `}`");
        };
        let block = Block { keyword, labels, body, span: keyword.to(close.span) };
        match self.kind() {
            Kind::Newline | Kind::End => {
                self.read();
                Ok(block)
            }
            _ => self.unexpected("the block ends here, but the line goes on", "expected the end of the line"),
        }
    }

    /// A label in quotes, in which nothing is computed.
    fn label(&mut self) -> Parsed<(String, Span)> {
        let open = self.read().span;
        let mut text = String::new();
        loop {
            let token = self.peek();
            match token.kind {
                Kind::CloseQuote => {
                    self.read();
                    return Ok((text, open.to(token.span)));
                }
                Kind::Quoted => {
                    self.read();
                    self.unescape(token.span, &mut text)?;
                }
                Kind::Interpolation | Kind::Directive => {
                    return self.unexpected("a label cannot be computed", "expected plain text");
                }
                _ => return self.unexpected("the label is never closed", "expected `\"`"),
            }
        }
    }

    /// Goes on after the item that starts at token `start` and could not be read.
    fn skip_item(&mut self, start: usize, block: bool) {
        let stuck = self.at;
        let mut open = 0usize;
        let mut at = start;
        loop {
            match self.token(at).kind {
                Kind::End => break,
                Kind::Newline if open == 0 && at + 1 >= stuck => {
                    at += 1;
                    break;
                }
                Kind::OpenBrace
                | Kind::OpenBracket
                | Kind::OpenParen
                | Kind::OpenQuote
                | Kind::OpenHeredoc
                | Kind::Interpolation
                | Kind::Directive => open += 1,
                Kind::CloseBrace if open == 0 && block && at > start => break,
                Kind::CloseBrace
                | Kind::CloseBracket
                | Kind::CloseParen
                | Kind::CloseQuote
                | Kind::CloseHeredoc
                | Kind::EndSequence => open = open.saturating_sub(1),
                _ => {}
            }
            at += 1;
        }
        self.at = at.max(start + 1).min(self.tokens.len().saturating_sub(1));
    }
}
