//! Expressions.

use super::{Parsed, Parser};
use crate::infra::hcl::lexer::{Kind, Span, Token};
use crate::infra::hcl::tree::{Expression, For, Node, Operator, Step};

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        self.deeper(Self::conditional)
    }

    fn conditional(&mut self) -> Parsed<Expression> {
        let condition = self.operators()?;
        if self.take(Kind::Question).is_none() {
            return Ok(condition);
        }
        let yes = self.expression()?;
        if self.take(Kind::Colon).is_none() {
            return self.unexpected("the conditional has no second value", "expected `:` and the value for \"false\"");
        }
        let no = self.expression()?;
        let span = condition.span.to(no.span);
        Ok(Expression { node: Node::If(Box::new([condition, yes, no])), span })
    }

    fn operators(&mut self) -> Parsed<Expression> {
        let first = self.operand()?;
        let mut rest = vec![];
        while let Some(operator) = operator(self.kind()) {
            self.read();
            rest.push((operator, self.operand()?));
        }
        Ok(grouped(0, first, rest))
    }

    /// A term and the steps that lead from it.
    fn operand(&mut self) -> Parsed<Expression> {
        let term = self.term()?;
        let steps = self.steps()?;
        if steps.is_empty() {
            return Ok(term);
        }
        let span = term.span.to(self.last);
        Ok(Expression { node: Node::Get(Box::new(term), steps), span })
    }

    fn steps(&mut self) -> Parsed<Vec<Step>> {
        let mut steps = vec![];
        loop {
            match self.kind() {
                Kind::Dot => {
                    self.read();
                    let token = self.peek();
                    steps.push(match token.kind {
                        Kind::Star => {
                            self.read();
                            let each = self.plain_steps()?;
                            Step::Each(each)
                        }
                        _ => self.plain_step(token)?,
                    });
                }
                Kind::OpenBracket => {
                    self.read();
                    if self.take(Kind::Star).is_some() {
                        if self.take(Kind::CloseBracket).is_none() {
                            return self.unexpected("`[*` is not closed", "expected `]`");
                        }
                        let each = self.deeper(Self::steps)?;
                        steps.push(Step::Each(each));
                        continue;
                    }
                    let key = self.with_newlines(false, |parser| {
                        let key = parser.expression()?;
                        match parser.take(Kind::CloseBracket) {
                            Some(_) => Ok(key),
                            None => parser.unexpected("the index is not closed", "expected `]`"),
                        }
                    })?;
                    steps.push(Step::Key(key));
                }
                _ => return Ok(steps),
            }
        }
    }

    /// The steps after `.*`, which are names and numbers alone.
    fn plain_steps(&mut self) -> Parsed<Vec<Step>> {
        let mut steps = vec![];
        while self.take(Kind::Dot).is_some() {
            let token = self.peek();
            steps.push(self.plain_step(token)?);
        }
        Ok(steps)
    }

    fn plain_step(&mut self, token: Token) -> Parsed<Step> {
        match token.kind {
            Kind::Name => {
                self.read();
                Ok(Step::Name(token.span))
            }
            Kind::Number if !self.source.slice(token.span).contains('.') => {
                self.read();
                Ok(Step::Number(token.span))
            }
            Kind::Number => self.unexpected("two indexes in a row need brackets", "expected one whole number"),
            _ => self.unexpected("nothing is named after the point", "expected the name of an attribute"),
        }
    }

    fn term(&mut self) -> Parsed<Expression> {
        let token = self.peek();
        let span = token.span;
        match token.kind {
            Kind::Number => {
                self.read();
                Ok(Expression { node: Node::Number, span })
            }
            Kind::Name => {
                self.read();
                if matches!(self.kind(), Kind::OpenParen | Kind::Scope) {
                    return self.call(span);
                }
                let node = match self.source.slice(span) {
                    "true" => Node::Bool(true),
                    "false" => Node::Bool(false),
                    "null" => Node::Null,
                    _ => Node::Name,
                };
                Ok(Expression { node, span })
            }
            Kind::OpenQuote | Kind::OpenHeredoc => self.string(),
            Kind::OpenParen => {
                self.read();
                self.with_newlines(false, |parser| {
                    let inner = parser.expression()?;
                    match parser.take(Kind::CloseParen) {
                        Some(close) => {
                            Ok(Expression { node: Node::Parentheses(Box::new(inner)), span: span.to(close.span) })
                        }
                        None => parser.unexpected("the parenthesis is not closed", "expected `)`"),
                    }
                })
            }
            Kind::Minus | Kind::Bang => {
                self.read();
                let operand = Box::new(self.deeper(Self::operand)?);
                let span = span.to(operand.span);
                let node = if token.kind == Kind::Minus { Node::Negate(operand) } else { Node::Not(operand) };
                Ok(Expression { node, span })
            }
            Kind::OpenBracket => self.list(),
            Kind::OpenBrace => self.map(),
            _ => self.unexpected("a value is missing here", "expected a value"),
        }
    }

    fn call(&mut self, name: Span) -> Parsed<Expression> {
        let mut name = name;
        while self.take(Kind::Scope).is_some() {
            match self.take(Kind::Name) {
                Some(token) => name = name.to(token.span),
                None => return self.unexpected("no function is named after `::`", "expected a name"),
            }
        }
        if self.take(Kind::OpenParen).is_none() {
            return self.unexpected("the function is not called", "expected `(`");
        }
        self.with_newlines(false, |parser| {
            loop {
                if parser.take(Kind::CloseParen).is_some() {
                    break;
                }
                parser.expression()?;
                if parser.take(Kind::Comma).is_some() {
                    continue;
                }
                if parser.take(Kind::Ellipsis).is_some() {
                    parser.take(Kind::Comma);
                }
                match parser.take(Kind::CloseParen) {
                    Some(_) => break,
                    None => return parser.unexpected("the arguments are not closed", "expected `,` or `)`"),
                }
            }
            Ok(Expression { node: Node::Call(name), span: name.to(parser.last) })
        })
    }

    fn list(&mut self) -> Parsed<Expression> {
        let open = self.read().span;
        self.with_newlines(false, |parser| {
            if parser.is_word("for") {
                return parser.for_expression(open, Kind::CloseBracket);
            }
            let mut items = vec![];
            loop {
                if parser.take(Kind::CloseBracket).is_some() {
                    break;
                }
                items.push(parser.expression()?);
                if parser.take(Kind::Comma).is_some() {
                    continue;
                }
                match parser.kind() {
                    Kind::CloseBracket => {}
                    Kind::End => return parser.never_closed(open, "list", "]"),
                    _ => return parser.unexpected("a comma is missing between the items", "expected `,` or `]`"),
                }
            }
            Ok(Expression { node: Node::List(items), span: open.to(parser.last) })
        })
    }

    fn map(&mut self) -> Parsed<Expression> {
        let open = self.read().span;
        if self.with_newlines(false, |parser| parser.is_word("for")) {
            return self.with_newlines(false, |parser| parser.for_expression(open, Kind::CloseBrace));
        }
        self.with_newlines(true, |parser| {
            let mut items = vec![];
            loop {
                if parser.take(Kind::Newline).is_some() {
                    continue;
                }
                if parser.take(Kind::CloseBrace).is_some() {
                    break;
                }
                if parser.kind() == Kind::End {
                    return parser.never_closed(open, "map", "}");
                }
                let key = parser.expression()?;
                if parser.take(Kind::Equal).is_none() && parser.take(Kind::Colon).is_none() {
                    return parser.unexpected("the key has no value", "expected `=` and a value");
                }
                let value = parser.expression()?;
                items.push((key, value));
                match parser.kind() {
                    Kind::Comma | Kind::Newline => {
                        parser.read();
                    }
                    Kind::CloseBrace => {}
                    Kind::End => return parser.never_closed(open, "map", "}"),
                    _ => {
                        return parser
                            .unexpected("a comma is missing between the keys", "expected `,`, `}` or a new line");
                    }
                }
            }
            Ok(Expression { node: Node::Map(items), span: open.to(parser.last) })
        })
    }

    fn never_closed<T>(&self, open: Span, thing: &str, close: &str) -> Parsed<T> {
        let what = format!("the {thing} is never closed");
        Err(Box::new(self.source.problem(open, what, format!("expected a `{close}` for this"))))
    }

    fn for_expression(&mut self, open: Span, close: Kind) -> Parsed<Expression> {
        self.read();
        let (key_name, value_name) = self.for_names()?;
        let over = self.expression()?;
        if self.take(Kind::Colon).is_none() {
            return self.unexpected("the `for` says not what to make", "expected `:`");
        }
        let mut key = None;
        let mut value = self.expression()?;
        if self.take(Kind::Arrow).is_some() {
            key = Some(std::mem::replace(&mut value, self.expression()?));
        }
        let group = self.take(Kind::Ellipsis);
        let only_if = if self.take_word("if") { Some(self.expression()?) } else { None };
        if self.take(close).is_none() {
            let expected = if close == Kind::CloseBrace { "expected `}`" } else { "expected `]`" };
            return self.unexpected("the `for` goes on after its end", expected);
        }
        let wrong = match (close, &key, group) {
            (Kind::CloseBrace, None, _) => {
                Some((value.span, "a `for` that makes a map needs keys", "expected `key => value`"))
            }
            (Kind::CloseBracket, Some(key), _) => {
                Some((key.span, "a `for` that makes a list has no keys", "expected a value alone"))
            }
            (Kind::CloseBracket, _, Some(dots)) => {
                Some((dots.span, "a `for` that makes a list groups nothing", "expected `]`"))
            }
            _ => None,
        };
        if let Some((span, what, expected)) = wrong {
            return Err(Box::new(self.source.problem(span, what, expected)));
        }
        let group = group.is_some();
        let made = For { key_name, value_name, over, key, value, only_if, group };
        Ok(Expression { node: Node::For(Box::new(made)), span: open.to(self.last) })
    }

    /// The names of a `for`, up to its `in`.
    pub(super) fn for_names(&mut self) -> Parsed<(Option<Span>, Span)> {
        let expected = "expected a name, as in `for item in list`";
        let Some(first) = self.take(Kind::Name) else { return self.unexpected("the `for` names nothing", expected) };
        let mut names = (None, first.span);
        if self.take(Kind::Comma).is_some() {
            match self.take(Kind::Name) {
                Some(second) => names = (Some(first.span), second.span),
                None => return self.unexpected("the `for` names only one of two", expected),
            }
        }
        match self.take_word("in") {
            true => Ok(names),
            false => self.unexpected("the `for` says not what to go through", "expected `in`"),
        }
    }
}

/// Groups a row of operands by how tightly the operators between them bind.
fn grouped(level: u8, first: Expression, rest: Vec<(Operator, Expression)>) -> Expression {
    if rest.is_empty() || level > 5 {
        return first;
    }
    let mut left = first;
    let mut inner = vec![];
    let mut chain: Vec<(Operator, Expression)> = vec![];
    let mut head: Option<Expression> = None;
    let mut before = None;
    for (operator, operand) in rest {
        if operator.level() != level {
            inner.push((operator, operand));
            continue;
        }
        let done = grouped(level + 1, std::mem::replace(&mut left, operand), std::mem::take(&mut inner));
        match before.replace(operator) {
            None => head = Some(done),
            Some(operator) => chain.push((operator, done)),
        }
    }
    let done = grouped(level + 1, left, inner);
    match (head, before) {
        (Some(head), Some(operator)) => {
            let span = head.span.to(done.span);
            chain.push((operator, done));
            Expression { node: Node::Chain(Box::new(head), chain), span }
        }
        _ => done,
    }
}

fn operator(kind: Kind) -> Option<Operator> {
    Some(match kind {
        Kind::Or => Operator::Or,
        Kind::And => Operator::And,
        Kind::Same => Operator::Same,
        Kind::Different => Operator::Different,
        Kind::Greater => Operator::Greater,
        Kind::AtLeast => Operator::AtLeast,
        Kind::Less => Operator::Less,
        Kind::AtMost => Operator::AtMost,
        Kind::Plus => Operator::Add,
        Kind::Minus => Operator::Subtract,
        Kind::Star => Operator::Multiply,
        Kind::Slash => Operator::Divide,
        Kind::Percent => Operator::Remainder,
        _ => return None,
    })
}
