//! Operators between two values.

use super::{Computed, Evaluator};
use crate::infra::hcl::number::Real;
use crate::infra::hcl::tree::{Expression, Operator};
use std::cmp::Ordering;

impl Evaluator<'_> {
    pub(super) fn chain(&mut self, first: &Expression, rest: &[(Operator, Expression)]) -> Option<Computed> {
        let mut left = self.value(first);
        let mut left_span = first.span;
        for (operator, operand) in rest {
            let right = self.value(operand);
            let sides = (left?, right?);
            let result = match operator {
                Operator::Same => Computed::Bool(sides.0 == sides.1),
                Operator::Different => Computed::Bool(sides.0 != sides.1),
                Operator::And | Operator::Or => {
                    let (Some(a), Some(b)) = (sides.0.to_bool(), sides.1.to_bool()) else {
                        let (span, value) = match sides.0.to_bool() {
                            None => (left_span, &sides.0),
                            Some(_) => (operand.span, &sides.1),
                        };
                        let what = format!("`{}` cannot take {}", sign(*operator), value.type_name());
                        return self.fail(span, what, "expected a boolean");
                    };
                    Computed::Bool(if *operator == Operator::And { a && b } else { a || b })
                }
                _ => {
                    let (Some(a), Some(b)) = (sides.0.to_real(), sides.1.to_real()) else {
                        let (span, value) = match sides.0.to_real() {
                            None => (left_span, &sides.0),
                            Some(_) => (operand.span, &sides.1),
                        };
                        let what = format!("`{}` cannot take {}", sign(*operator), value.type_name());
                        return self.fail(span, what, "expected a number");
                    };
                    let Some(result) = computed(*operator, &a, &b) else {
                        return self.fail(operand.span, "a division by 0", "expected another number");
                    };
                    match result.map(Real::checked) {
                        Outcome::Bool(b) => Computed::Bool(b),
                        Outcome::Number(Ok(number)) => Computed::Number(number),
                        Outcome::Number(Err(_)) => {
                            return self.fail(
                                left_span.to(operand.span),
                                "the result is too long",
                                "expected smaller numbers",
                            );
                        }
                    }
                }
            };
            left = Some(result);
            left_span = left_span.to(operand.span);
        }
        left
    }
}

enum Outcome<T> {
    Bool(bool),
    Number(T),
}

impl Outcome<Real> {
    fn map<T>(self, f: impl FnOnce(Real) -> T) -> Outcome<T> {
        match self {
            Outcome::Bool(b) => Outcome::Bool(b),
            Outcome::Number(number) => Outcome::Number(f(number)),
        }
    }
}

/// The result of an operator on numbers; nothing where it divides by 0.
fn computed(operator: Operator, a: &Real, b: &Real) -> Option<Outcome<Real>> {
    let order = || a.compared(b);
    Some(match operator {
        Operator::Greater => Outcome::Bool(order() == Ordering::Greater),
        Operator::AtLeast => Outcome::Bool(order() != Ordering::Less),
        Operator::Less => Outcome::Bool(order() == Ordering::Less),
        Operator::AtMost => Outcome::Bool(order() != Ordering::Greater),
        Operator::Subtract => Outcome::Number(a.minus(b)),
        Operator::Multiply => Outcome::Number(a.times(b)),
        Operator::Divide => Outcome::Number(a.divided_by(b)?),
        Operator::Remainder => Outcome::Number(a.remainder(b)),
        _ => Outcome::Number(a.plus(b)),
    })
}

fn sign(operator: Operator) -> &'static str {
    match operator {
        Operator::Or => "||",
        Operator::And => "&&",
        Operator::Same => "==",
        Operator::Different => "!=",
        Operator::Greater => ">",
        Operator::AtLeast => ">=",
        Operator::Less => "<",
        Operator::AtMost => "<=",
        Operator::Add => "+",
        Operator::Subtract => "-",
        Operator::Multiply => "*",
        Operator::Divide => "/",
        Operator::Remainder => "%",
    }
}
