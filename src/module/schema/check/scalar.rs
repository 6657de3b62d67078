//! Scalars: the schema has the last word on what the source text means.

use super::{Both, Check, ruled};
use crate::base::Plain;
use crate::base::nearest::nearest;
use crate::data::{Resolved, Scalar, Value};
use crate::module::schema::{Field, Kind, shown, text};

impl Check<'_, '_> {
    pub fn scalar(&mut self, field: &Field, value: &Value) -> Option<Both> {
        let Some(scalar) = value.scalar() else { return self.mistyped(field, value) };
        let text = &*scalar.text;
        let plain = match (&field.kind, scalar.resolved) {
            (Kind::Bool, Resolved::Bool(b)) => Plain::Bool(b),
            (Kind::Int(range), Resolved::Int(n)) => match range.has(n) {
                true => Plain::Int(n),
                false => return self.out_of_range(field, value, &Plain::Int(n)),
            },
            (Kind::Float(range), Resolved::Int(_) | Resolved::Float(_)) => {
                let x = match scalar.resolved {
                    Resolved::Int(n) => n as f64,
                    Resolved::Float(x) => x,
                    _ => return None,
                };
                match range.has(x) {
                    true => Plain::Float(x),
                    false => return self.out_of_range(field, value, &Plain::Float(x)),
                }
            }
            (Kind::Port, Resolved::Int(n)) => match (1..=65535).contains(&n) {
                true => Plain::Int(n),
                false => return self.out_of_range(field, value, &Plain::Int(n)),
            },
            (Kind::String { pattern, length }, _) => {
                let count = text.chars().count() as i64;
                if !length.has(count) {
                    let words = format!("expected a string{}, found {count}", length.count("character"));
                    let problem = self.problem("is too short or too long").at(value.place).expected(words);
                    self.problems.push(ruled(problem, field));
                    return None;
                }
                match pattern {
                    Some(pattern) if !pattern.is_match(text) => {
                        let source = pattern.as_str();
                        let source = source.strip_prefix("^(?:").and_then(|s| s.strip_suffix(")$")).unwrap_or(source);
                        let words = format!("expected a text that matches `{source}`, found `{text}`");
                        let problem = self.problem("does not match its pattern").at(value.place).expected(words);
                        self.problems.push(ruled(problem, field));
                        return None;
                    }
                    _ => Plain::from(text),
                }
            }
            (Kind::Enum(choices), _) => match choices.iter().find(|choice| means(choice, scalar)) {
                Some(choice) => choice.clone(),
                None => {
                    let problem = self.problem(&format!("is `{text}`")).at(value.place);
                    let problem = ruled(problem.expected(format!("expected {}", field.kind.words())), field);
                    let words: Vec<&str> = choices.iter().filter_map(Plain::as_str).collect();
                    self.problems.push(match nearest(text, words) {
                        Some(near) => problem.help(format!("did you mean `{near}`?")),
                        None => problem,
                    });
                    return None;
                }
            },
            (Kind::Path, _) if text::is_path(text) => Plain::from(text),
            (Kind::Hostname, _) if text::is_hostname(text) => Plain::from(text),
            (Kind::Ip(version), _) if text::is_ip(text, *version) => Plain::from(text),
            (Kind::Cidr(version), _) if text::is_cidr(text, *version) => Plain::from(text),
            (Kind::Mode, _) => match text::mode(text) {
                Some(mode) => Plain::Str(mode),
                None => return self.wrong(field, value, &format!("is `{text}`, which is not octal")),
            },
            (Kind::Path | Kind::Hostname | Kind::Ip(_) | Kind::Cidr(_), Resolved::Str) => {
                return self.wrong(field, value, &format!("is `{text}`"));
            }
            _ => return self.mistyped(field, value),
        };
        Some(plain.into())
    }

    fn out_of_range(&mut self, field: &Field, value: &Value, found: &Plain) -> Option<Both> {
        let words = format!("expected {}, found {}", field.kind.words(), shown(found));
        let problem = self.problem("is out of range").at(value.place).expected(words);
        let problem = ruled(problem, field);
        let bound = match (&field.kind, found) {
            (Kind::Int(range), Plain::Int(n)) => {
                Some(if range.max.is_some_and(|max| *n > max) { "max" } else { "min" })
            }
            (Kind::Float(range), Plain::Float(x)) => {
                Some(if range.max.is_some_and(|max| *x > max) { "max" } else { "min" })
            }
            _ => None,
        };
        self.problems.push(match bound {
            Some("max") => problem.help("take another value, or raise `max` in the rule"),
            Some(_) => problem.help("take another value, or lower `min` in the rule"),
            None => problem,
        });
        None
    }
}

/// Whether a scalar is the choice: by its source text where the choice is a string.
fn means(choice: &Plain, scalar: &Scalar) -> bool {
    match choice {
        Plain::Str(text) => **text == *scalar.text,
        other => *other == scalar.to_plain(),
    }
}
