//! What the parser makes of a file: bodies of attributes and blocks, and expressions.

use super::lexer::Span;

#[derive(Debug, Default)]
pub(super) struct Body {
    pub attributes: Vec<Setting>,
    pub blocks: Vec<Block>,
}

/// `name = expression`
#[derive(Debug)]
pub(super) struct Setting {
    pub name: Span,
    pub expression: Expression,
}

/// `keyword "label" { … }`
#[derive(Debug)]
pub(super) struct Block {
    pub keyword: Span,
    pub labels: Vec<(String, Span)>,
    pub body: Body,
    pub span: Span,
}

#[derive(Debug)]
pub(super) struct Expression {
    pub node: Node,
    pub span: Span,
}

#[derive(Debug)]
pub(super) enum Node {
    Null,
    Bool(bool),
    /// The number is read when it is needed.
    Number,
    /// A name: a variable.
    Name,
    /// A string in quotes with nothing to compute.
    Text(String),
    /// A string of parts.
    Template(Vec<Part>),
    /// A string that is one interpolation and nothing else keeps the type of the value.
    Only(Box<Expression>),
    List(Vec<Expression>),
    Map(Vec<(Expression, Expression)>),
    For(Box<For>),
    If(Box<[Expression; 3]>),
    /// Operators of one precedence, from left to right.
    Chain(Box<Expression>, Vec<(Operator, Expression)>),
    Negate(Box<Expression>),
    Not(Box<Expression>),
    Get(Box<Expression>, Vec<Step>),
    /// A call, by the stretch of its name.
    Call(Span),
    Parentheses(Box<Expression>),
}

#[derive(Debug)]
pub(super) struct For {
    pub key_name: Option<Span>,
    pub value_name: Span,
    pub over: Expression,
    /// The key, where a map is made.
    pub key: Option<Expression>,
    pub value: Expression,
    pub only_if: Option<Expression>,
    pub group: bool,
}

#[derive(Debug)]
pub(super) enum Step {
    /// `.name`
    Name(Span),
    /// `.0`, by the stretch of the number.
    Number(Span),
    /// `[key]`
    Key(Expression),
    /// `.*` or `[*]`, and the steps that each item takes.
    Each(Vec<Step>),
}

#[derive(Debug)]
pub(super) enum Part {
    Text(String),
    Value(Expression),
    If { condition: Expression, yes: Vec<Part>, no: Vec<Part> },
    For { key_name: Option<Span>, value_name: Span, over: Expression, body: Vec<Part> },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operator {
    Or,
    And,
    Same,
    Different,
    Greater,
    AtLeast,
    Less,
    AtMost,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Operator {
    /// How tightly it binds, from 0.
    pub fn level(self) -> u8 {
        match self {
            Operator::Or => 0,
            Operator::And => 1,
            Operator::Same | Operator::Different => 2,
            Operator::Greater | Operator::AtLeast | Operator::Less | Operator::AtMost => 3,
            Operator::Add | Operator::Subtract => 4,
            Operator::Multiply | Operator::Divide | Operator::Remainder => 5,
        }
    }
}
