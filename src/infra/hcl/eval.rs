//! Computes values of expressions, as Terraform does where no variable and no function may be named.

mod operators;

use super::super::Value;
use super::kind::Type;
use super::lexer::Span;
use super::number::Real;
use super::source::Source;
use super::tree::{Expression, For, Node, Part, Step};
use crate::base::{Problem, Problems};
use indexmap::IndexMap;
use std::collections::HashMap;

/// How many values and characters a file may compute beyond those it is written with: loops within loops would
/// otherwise take all memory from a few lines.
const BUDGET: usize = 2_000_000;

/// A value on its way, its numbers still exact.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Computed {
    Null,
    Bool(bool),
    Number(Real),
    Text(String),
    List(Vec<Computed>),
    Map(IndexMap<String, Computed>),
}

impl Computed {
    pub fn into_value(self) -> Value {
        match self {
            Computed::Null => Value::Null,
            Computed::Bool(b) => Value::Bool(b),
            Computed::Number(number) => Value::Number(number.to_number()),
            Computed::Text(text) => Value::Str(text),
            Computed::List(items) => Value::List(items.into_iter().map(Computed::into_value).collect()),
            Computed::Map(map) => map.into_iter().map(|(key, item)| (key, item.into_value())).collect(),
        }
    }

    fn type_name(&self) -> &'static str {
        match self {
            Computed::Null => "null",
            Computed::Bool(_) => "a boolean",
            Computed::Number(_) => "a number",
            Computed::Text(_) => "a string",
            Computed::List(_) => "a list",
            Computed::Map(_) => "a map",
        }
    }

    pub fn to_text(&self) -> Option<String> {
        match self {
            Computed::Text(text) => Some(text.clone()),
            Computed::Bool(b) => Some(b.to_string()),
            Computed::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    fn to_real(&self) -> Option<Real> {
        match self {
            Computed::Number(number) => Some(number.clone()),
            Computed::Text(text) => numeric(text),
            _ => None,
        }
    }

    fn to_bool(&self) -> Option<bool> {
        match self {
            Computed::Bool(b) => Some(*b),
            Computed::Text(text) => match text.as_str() {
                "true" | "1" => Some(true),
                "false" | "0" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    /// How many values and characters this is, for the budget.
    fn weight(&self) -> usize {
        match self {
            Computed::Text(text) => 1 + text.len(),
            Computed::List(items) => 1 + items.iter().map(Computed::weight).sum::<usize>(),
            Computed::Map(map) => 1 + map.iter().map(|(key, item)| key.len() + item.weight()).sum::<usize>(),
            _ => 1,
        }
    }
}

/// The number that a text is in full, as Terraform converts it.
fn numeric(text: &str) -> Option<Real> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let plain = digits.trim_start_matches('.').starts_with(|c: char| c.is_ascii_digit())
        && digits.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    let number = if plain { Real::parse(digits).ok()? } else { return None };
    Some(if negative { number.negated() } else { number })
}

pub(super) struct Evaluator<'a> {
    source: &'a Source,
    pub problems: Problems,
    names: Vec<(String, Computed)>,
    spent: usize,
    budget: usize,
    /// Texts that stand for expressions, by the stretch of these.
    instead: HashMap<(usize, usize), String>,
}

impl<'a> Evaluator<'a> {
    pub fn new(source: &'a Source) -> Evaluator<'a> {
        let budget = BUDGET + 4 * source.text.len();
        Evaluator { source, problems: vec![], names: vec![], spent: 0, budget, instead: HashMap::new() }
    }

    /// Lets the expression at `span` be `text`, whatever it says.
    pub fn instead(&mut self, span: Span, text: String) {
        self.instead.insert((span.start, span.end), text);
    }

    fn fail<T>(&mut self, span: Span, what: impl Into<String>, expected: impl Into<String>) -> Option<T> {
        let problem = self.source.problem(span, what, expected);
        self.problems.push(problem);
        None
    }

    fn spend(&mut self, span: Span, weight: usize) -> Option<()> {
        let before = self.spent;
        self.spent = before.saturating_add(weight);
        match (before > self.budget, self.spent > self.budget) {
            (true, _) => None,
            (false, true) => self.fail(span, "this file computes too much", "expected loops that end sooner"),
            _ => Some(()),
        }
    }

    /// The value of an expression; nothing where it has none, and why stands in `problems`.
    pub fn value(&mut self, expression: &Expression) -> Option<Computed> {
        let span = expression.span;
        self.spend(span, 1)?;
        if let Some(text) = self.instead.get(&(span.start, span.end)) {
            return Some(Computed::Text(text.clone()));
        }
        match &expression.node {
            Node::Null => Some(Computed::Null),
            Node::Bool(b) => Some(Computed::Bool(*b)),
            Node::Number => self.number(span),
            Node::Name => self.name(span, span),
            Node::Text(text) => {
                self.spend(span, text.len())?;
                Some(Computed::Text(text.clone()))
            }
            Node::Template(parts) => {
                let mut out = String::new();
                self.parts(parts, &mut out)?;
                Some(Computed::Text(out))
            }
            Node::Only(inner) | Node::Parentheses(inner) => self.value(inner),
            Node::List(items) => {
                let values: Vec<_> = items.iter().map(|item| self.value(item)).collect();
                values.into_iter().collect::<Option<_>>().map(Computed::List)
            }
            Node::Map(items) => self.map(items),
            Node::For(made) => self.for_value(made),
            Node::If(three) => self.conditional(three, span),
            Node::Chain(first, rest) => self.chain(first, rest),
            Node::Negate(inner) => {
                let value = self.value(inner)?;
                match value.to_real() {
                    Some(number) => Some(Computed::Number(number.negated())),
                    None => {
                        self.fail(inner.span, format!("`-` cannot negate {}", value.type_name()), "expected a number")
                    }
                }
            }
            Node::Not(inner) => {
                let value = self.value(inner)?;
                match value.to_bool() {
                    Some(b) => Some(Computed::Bool(!b)),
                    None => {
                        self.fail(inner.span, format!("`!` cannot negate {}", value.type_name()), "expected a boolean")
                    }
                }
            }
            Node::Get(from, steps) => {
                let value = match from.node {
                    Node::Name => self.name(from.span, span)?,
                    _ => self.value(from)?,
                };
                self.steps(value, steps)
            }
            Node::Call(name) => {
                let what = format!("function calls are not allowed here: `{}`", self.source.slice(*name));
                self.fail(*name, what, "expected a value: a file of variables calls no functions")
            }
        }
    }

    fn number(&mut self, span: Span) -> Option<Computed> {
        let text = self.source.slice(span);
        let points = text.bytes().filter(|b| *b == b'.').count();
        let powers = text.bytes().filter(|b| matches!(b, b'e' | b'E')).count();
        let after_power = text.split(['e', 'E']).nth(1).is_some_and(|power| power.contains('.'));
        if points > 1 || powers > 1 || after_power {
            return self.fail(span, format!("`{text}` is no number"), "expected a number such as `1.5` or `1e3`");
        }
        match Real::parse(text) {
            Ok(number) => Some(Computed::Number(number)),
            Err(_) => self.fail(span, "this number is too long", "expected a number of at most 20000 digits"),
        }
    }

    /// The value of a name in scope; `whole` is the expression that starts with it.
    fn name(&mut self, span: Span, whole: Span) -> Option<Computed> {
        let name = self.source.slice(span);
        if let Some((_, value)) = self.names.iter().rev().find(|(known, _)| known == name) {
            let value = value.clone();
            self.spend(span, value.weight())?;
            return Some(value);
        }
        let expected = "expected a value: a file of variables names no others";
        let problem = self
            .source
            .problem(span, format!("variables are not allowed here: `{name}`"), expected)
            .help(format!("write `\"{}\"` if the text is meant", self.source.slice(whole).replace('"', "\\\"")));
        self.problems.push(problem);
        None
    }

    fn map(&mut self, items: &[(Expression, Expression)]) -> Option<Computed> {
        let mut map = IndexMap::with_capacity(items.len());
        let mut whole = true;
        for (key, item) in items {
            match (self.key(key), self.value(item)) {
                (Some(key), Some(item)) => {
                    map.insert(key, item);
                }
                _ => whole = false,
            }
        }
        whole.then_some(Computed::Map(map))
    }

    /// The key of a map: a bare word stands for itself.
    fn key(&mut self, key: &Expression) -> Option<String> {
        match &key.node {
            Node::Name | Node::Null | Node::Bool(_) => return Some(self.source.slice(key.span).to_owned()),
            Node::Get(from, _) if matches!(from.node, Node::Name) => {
                let text = self.source.slice(key.span).to_owned();
                return self.fail(
                    key.span,
                    format!("the key `{text}` may be a name or a text"),
                    format!("expected `\"{text}\"`, or a name in parentheses"),
                );
            }
            _ => {}
        }
        let value = self.value(key)?;
        self.key_text(value, key.span)
    }

    fn key_text(&mut self, value: Computed, span: Span) -> Option<String> {
        match value.to_text() {
            Some(text) => Some(text),
            None => self.fail(span, format!("{} cannot be a key", value.type_name()), "expected a string"),
        }
    }

    fn conditional(&mut self, [condition, yes, no]: &[Expression; 3], span: Span) -> Option<Computed> {
        // Both sides have a say in the type, but only the one that is taken may fail.
        let before = self.problems.len();
        let yes_value = self.value(yes);
        let yes_problems = self.problems.split_off(before);
        let no_value = self.value(no);
        let no_problems = self.problems.split_off(before);
        let wanted = match (&yes_value, &no_value) {
            (Some(yes), Some(no)) => match Type::of(yes).common(&Type::of(no)) {
                Some(wanted) => Some(wanted),
                None => {
                    let what = format!("the sides of the conditional differ: {}, {}", yes.type_name(), no.type_name());
                    return self.fail(span, what, "expected two of one type");
                }
            },
            _ => None,
        };
        let value = self.value(condition)?;
        let Some(taken) = value.to_bool() else {
            let what = format!("the condition is {}", value.type_name());
            return self.fail(condition.span, what, "expected a boolean");
        };
        let (result, problems) = if taken { (yes_value, yes_problems) } else { (no_value, no_problems) };
        self.problems.extend(problems);
        match wanted {
            Some(wanted) => result.map(|value| wanted.convert(value)),
            None => result,
        }
    }

    /// The items of a collection with their keys, maps by the order of their keys.
    fn items(&mut self, value: Computed, span: Span) -> Option<Vec<(Computed, Computed)>> {
        match value {
            Computed::List(items) => Some(
                items.into_iter().enumerate().map(|(at, item)| (Computed::Number(Real::whole(at)), item)).collect(),
            ),
            Computed::Map(mut map) => {
                map.sort_keys();
                Some(map.into_iter().map(|(key, item)| (Computed::Text(key), item)).collect())
            }
            other => {
                self.fail(span, format!("`for` cannot go through {}", other.type_name()), "expected a list or a map")
            }
        }
    }

    /// Runs `f` with the names of a loop set.
    fn with_names<T>(
        &mut self,
        (key_name, value_name): (Option<Span>, Span),
        (key, value): (Computed, Computed),
        f: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        let before = self.names.len();
        if let Some(name) = key_name {
            self.names.push((self.source.slice(name).to_owned(), key));
        }
        self.names.push((self.source.slice(value_name).to_owned(), value));
        let result = f(self);
        self.names.truncate(before);
        result
    }

    fn for_value(&mut self, made: &For) -> Option<Computed> {
        let over = self.value(&made.over)?;
        let items = self.items(over, made.over.span)?;
        let mut list = vec![];
        let mut map: IndexMap<String, Computed> = IndexMap::new();
        for item in items {
            self.with_names((made.key_name, made.value_name), item, |run| {
                if let Some(only_if) = &made.only_if {
                    let value = run.value(only_if)?;
                    match value.to_bool() {
                        Some(true) => {}
                        Some(false) => return Some(()),
                        None => {
                            let what = format!("the condition of the `for` is {}", value.type_name());
                            return run.fail(only_if.span, what, "expected a boolean");
                        }
                    }
                }
                let Some(key) = &made.key else {
                    list.push(run.value(&made.value)?);
                    return Some(());
                };
                let value = run.value(key)?;
                let text = run.key_text(value, key.span)?;
                let value = run.value(&made.value)?;
                match map.get_mut(&text) {
                    Some(Computed::List(group)) if made.group => group.push(value),
                    Some(_) => {
                        let what = format!("the `for` makes the key `{text}` twice");
                        return run.fail(key.span, what, "expected a key for each item, or `...` after the value");
                    }
                    None if made.group => drop(map.insert(text, Computed::List(vec![value]))),
                    None => drop(map.insert(text, value)),
                }
                Some(())
            })?;
        }
        if made.key.is_none() {
            return Some(Computed::List(list));
        }
        map.sort_keys();
        Some(Computed::Map(map))
    }

    fn parts(&mut self, parts: &[Part], out: &mut String) -> Option<()> {
        for part in parts {
            match part {
                Part::Text(text) => {
                    self.spend(Span::default(), text.len())?;
                    out.push_str(text);
                }
                Part::Value(expression) => {
                    let value = self.value(expression)?;
                    match value.to_text() {
                        Some(text) => out.push_str(&text),
                        None => {
                            let what = format!("a string cannot hold {}", value.type_name());
                            return self.fail(expression.span, what, "expected a string, a number or a boolean");
                        }
                    }
                }
                Part::If { condition, yes, no } => {
                    let value = self.value(condition)?;
                    match value.to_bool() {
                        Some(true) => self.parts(yes, out)?,
                        Some(false) => self.parts(no, out)?,
                        None => {
                            let what = format!("the condition is {}", value.type_name());
                            return self.fail(condition.span, what, "expected a boolean");
                        }
                    }
                }
                Part::For { key_name, value_name, over, body } => {
                    let value = self.value(over)?;
                    for item in self.items(value, over.span)? {
                        self.with_names((*key_name, *value_name), item, |run| run.parts(body, out))?;
                    }
                }
            }
        }
        Some(())
    }

    fn steps(&mut self, from: Computed, steps: &[Step]) -> Option<Computed> {
        let mut value = from;
        for step in steps {
            value = match step {
                Step::Name(name) => self.attribute(value, *name)?,
                Step::Number(span) => {
                    let key = self.number(*span)?;
                    self.index(value, key, *span)?
                }
                Step::Key(key) => {
                    let index = self.value(key)?;
                    self.index(value, index, key.span)?
                }
                Step::Each(each) => {
                    let items = match value {
                        Computed::Null => vec![],
                        Computed::List(items) => items,
                        other => vec![other],
                    };
                    let items: Option<Vec<_>> = items.into_iter().map(|item| self.steps(item, each)).collect();
                    Computed::List(items?)
                }
            };
        }
        Some(value)
    }

    fn attribute(&mut self, value: Computed, name: Span) -> Option<Computed> {
        let text = self.source.slice(name).to_owned();
        match value {
            Computed::Map(mut map) => match map.swap_remove(&text) {
                Some(item) => Some(item),
                None => self.missing(&text, map.keys(), name),
            },
            other => self.fail(
                name,
                format!("{} has no attribute `{text}`", other.type_name()),
                "expected a map before this",
            ),
        }
    }

    fn index(&mut self, value: Computed, key: Computed, span: Span) -> Option<Computed> {
        match value {
            Computed::List(mut items) => {
                let at =
                    key.to_real().and_then(|number| number.to_whole()).and_then(|whole| usize::try_from(whole).ok());
                match at.filter(|at| *at < items.len()) {
                    Some(at) => Some(items.swap_remove(at)),
                    None => {
                        let expected = match items.len() {
                            0 => "expected no index: the list is empty".to_owned(),
                            count => format!("expected a whole number from 0 to {}", count - 1),
                        };
                        self.fail(span, "the list has no such item", expected)
                    }
                }
            }
            Computed::Map(mut map) => {
                let text = self.key_text(key, span)?;
                match map.swap_remove(&text) {
                    Some(item) => Some(item),
                    None => self.missing(&text, map.keys(), span),
                }
            }
            other => {
                self.fail(span, format!("{} has no items", other.type_name()), "expected a list or a map before this")
            }
        }
    }

    fn missing<'k, T>(&mut self, key: &str, known: impl Iterator<Item = &'k String>, span: Span) -> Option<T> {
        let mut known: Vec<&str> = known.map(String::as_str).collect();
        known.sort_unstable();
        let mut problem: Problem =
            self.source.problem(span, format!("the map has no key `{key}`"), "expected a key of the map");
        if let Some(near) = crate::base::nearest::nearest(key, known.iter().copied()) {
            problem = problem.help(format!("did you mean `{near}`?"));
        }
        self.problems.push(problem);
        None
    }
}
