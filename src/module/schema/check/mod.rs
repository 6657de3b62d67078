//! Checks a module's slice of the data against its schema, and collects every problem.

mod collection;
mod default;
mod label;
mod scalar;
mod secret;

pub use default::default;

use super::{Field, Fields, Kind, Schema};
use crate::base::nearest::nearest;
use crate::base::{Mask, Place, Plain, Problem, Problems, Result};
use crate::data::{self, Cipher, Resolved, Scalar, Value};
use crate::module::config::{Config, Header, Private, Reveal, Revealed};

/// Deeper data than this is refused rather than followed.
const DEPTH: usize = 64;

/// Returns the config of `module`; without a schema the slice is taken as it is.
pub fn config(
    module: &str,
    schema: Option<&Schema>,
    slice: Option<&Value>,
    header: &Header,
    reveal: &mut Reveal,
) -> Result<Config> {
    Check::new(module, reveal, false).config(schema, slice, header)
}

/// The problems of a slice to which a layer is still to come: everything but what is missing.
pub fn misfits(
    module: &str,
    schema: Option<&Schema>,
    slice: Option<&Value>,
    header: &Header,
    reveal: &mut Reveal,
) -> Problems {
    let mut check = Check::new(module, reveal, false);
    check.partial = true;
    check.config(schema, slice, header).err().unwrap_or_default()
}

/// The same where a string may stand for a secret.
pub fn test_config(module: &str, schema: Option<&Schema>, slice: Option<&Value>, header: &Header) -> Result<Config> {
    let mut refuse = |_: &Cipher, _: Place, path: &str| -> Result<Revealed, Problem> {
        Err(Problem::new(format!("`{path}` is encrypted")).expected("expected a plain string: a test has no key"))
    };
    Check::new(module, &mut refuse, true).config(schema, slice, header)
}

/// A value with its secrets revealed, and the same with their digests.
struct Both {
    plain: Plain,
    public: Plain,
}

impl From<Plain> for Both {
    fn from(plain: Plain) -> Both {
        Both { public: plain.clone(), plain }
    }
}

struct Check<'a, 'r> {
    module: &'a str,
    reveal: &'a mut Reveal<'r>,
    /// A plain string may stand for a secret.
    lenient: bool,
    /// A layer is still to come: what is missing now may be there then.
    partial: bool,
    revealed: bool,
    mask: Mask,
    path: Vec<Step>,
    problems: Problems,
}

/// One step from the module's slice to a value.
enum Step {
    Key(String),
    /// An item of a list, by its `name` where it has one.
    Item {
        index: usize,
        name: Option<String>,
    },
}

impl<'a, 'r> Check<'a, 'r> {
    fn new(module: &'a str, reveal: &'a mut Reveal<'r>, lenient: bool) -> Check<'a, 'r> {
        Check {
            module,
            reveal,
            lenient,
            partial: false,
            revealed: true,
            mask: Mask::new(),
            path: Vec::new(),
            problems: Problems::new(),
        }
    }

    fn config(mut self, schema: Option<&Schema>, slice: Option<&Value>, header: &Header) -> Result<Config> {
        let body = match (schema, slice) {
            (Some(schema), None) => {
                let both = self.fields(&schema.fields, None, None);
                for problem in self.problems.iter_mut().filter(|problem| problem.place.is_none()) {
                    *problem = std::mem::take(problem)
                        .note(format!("node `{}` has no data under `{}:`", header.node, self.module));
                }
                both
            }
            (Some(schema), Some(slice)) => match slice.map() {
                Some(map) => self.fields(&schema.fields, Some(map), Some(slice.place)),
                None => self.not_a_mapping(slice),
            },
            (None, None) => Plain::map().into(),
            (None, Some(slice)) if slice.map().is_some() => self.raw(slice, true),
            (None, Some(slice)) => self.not_a_mapping(slice),
        };
        if let Some(entry) = slice.and_then(Value::map).and_then(|map| map.get("suil")) {
            let text = format!("module `{}`: `suil` is set by the run itself", self.module);
            self.problems.push(Problem::new(text).at(entry.key).expected("expected another key"));
        }
        if !self.problems.is_empty() {
            crate::base::problem::sort(&mut self.problems);
            return Err(self.problems);
        }
        Ok(Config {
            plain: Private(headed(header, body.plain)),
            public: headed(header, body.public),
            revealed: self.revealed,
            mask: self.mask,
        })
    }

    fn not_a_mapping(&mut self, slice: &Value) -> Both {
        let text = format!("module `{}`: its data is {}", self.module, slice.type_name());
        self.problems.push(Problem::new(text).at(slice.place).expected("expected a mapping"));
        Plain::map().into()
    }

    fn fields(&mut self, fields: &Fields, map: Option<&data::Map>, place: Option<Place>) -> Both {
        let mut both = Both { plain: Plain::map(), public: Plain::map() };
        for (name, field) in fields {
            let found = match map.and_then(|map| map.get(name.as_str())) {
                Some(entry) => self.under(Step::Key(name.clone()), |check| check.value(field, &entry.value)),
                None => self.under(Step::Key(name.clone()), |check| check.missing(field, place)),
            };
            if let Some(found) = found {
                both.plain.set(name.as_str(), found.plain);
                both.public.set(name.as_str(), found.public);
            }
        }
        for (key, entry) in map.into_iter().flatten() {
            let header = self.path.is_empty() && &**key == "suil";
            if !header && !fields.contains_key(&**key) {
                self.unknown(key, entry.key, fields);
            }
        }
        both
    }

    fn unknown(&mut self, key: &str, place: Place, fields: &Fields) {
        let parent = match self.path.is_empty() {
            true => String::new(),
            false => format!(" in {}", self.label()),
        };
        let known: Vec<&str> = fields.keys().map(String::as_str).collect();
        let expected = match known.as_slice() {
            [] => "expected no key here".to_owned(),
            [one] => format!("expected `{one}`"),
            many => format!("expected one of `{}`", many.join("`, `")),
        };
        let problem = Problem::new(format!("module `{}`: unknown key `{key}`{parent}", self.module));
        let problem = problem.at(place).expected(expected);
        self.problems.push(match nearest(key, known) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem,
        });
    }

    fn missing(&mut self, field: &Field, place: Option<Place>) -> Option<Both> {
        if let Some(default) = &field.default {
            return Some(default.clone().into());
        }
        if field.optional {
            return Some(Plain::Null.into());
        }
        if self.partial {
            return None;
        }
        // An object whose every field can be left out is complete without a word.
        if let Kind::Object(fields) = &field.kind
            && fields.values().all(|field| field.optional || field.default.is_some())
        {
            return Some(self.fields(fields, None, place));
        }
        let problem = self.problem("is missing").expected(format!("expected {}", field.kind.words()));
        let problem = match place {
            Some(place) => problem.at(place),
            None => problem,
        };
        self.problems.push(ruled(problem, field));
        None
    }

    fn value(&mut self, field: &Field, value: &Value) -> Option<Both> {
        if let data::Kind::Scalar(Scalar { resolved: Resolved::Null, .. }) = &value.kind
            && !matches!(field.kind, Kind::Any)
        {
            if field.optional {
                return Some(Plain::Null.into());
            }
            return self.wrong(field, value, "is nothing");
        }
        if let (data::Kind::Secret(_), false) = (&value.kind, matches!(field.kind, Kind::Secret | Kind::Any)) {
            let problem = self.problem("is a secret, but its type is not").at(value.place);
            let problem = problem.expected(format!("expected {}", field.kind.words()));
            let problem = problem.help("declare it as `t.secret()` in the rule, or write the value in the open");
            self.problems.push(ruled(problem, field));
            return None;
        }
        if let data::Kind::Lookup(lookup) = &value.kind {
            let problem = self.problem(&format!("still is a lookup of `{}`", lookup.field)).at(value.place);
            self.problems.push(ruled(problem, field));
            return None;
        }
        match &field.kind {
            Kind::Any => Some(self.raw(value, false)),
            Kind::Secret => self.secret(field, value),
            Kind::List { item, length, unique } => self.list(field, value, item, *length, *unique),
            Kind::Map { key, value: rule } => self.map(field, value, key.as_deref(), rule),
            Kind::Object(fields) => match value.map() {
                Some(map) => Some(self.fields(fields, Some(map), Some(value.place))),
                None => self.mistyped(field, value),
            },
            _ => self.scalar(field, value),
        }
    }

    fn mistyped(&mut self, field: &Field, value: &Value) -> Option<Both> {
        self.wrong(field, value, &format!("is {}", value.type_name()))
    }

    fn wrong(&mut self, field: &Field, value: &Value, words: &str) -> Option<Both> {
        let problem = self.problem(words).at(value.place).expected(format!("expected {}", field.kind.words()));
        self.problems.push(ruled(problem, field));
        None
    }

    fn under<T>(&mut self, step: Step, f: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step);
        let result = f(self);
        self.path.pop();
        result
    }
}

fn ruled(problem: Problem, field: &Field) -> Problem {
    match field.place {
        Some(place) => problem.note_at("rule:", place),
        None => problem,
    }
}

fn headed(header: &Header, body: Plain) -> Plain {
    let mut out = Plain::from_iter([("suil", header.to_plain())]);
    if let Plain::Map(map) = body {
        for (key, value) in map {
            out.set(key, value);
        }
    }
    out
}
