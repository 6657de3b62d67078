//! Checks a module's slice of the data against its schema, and collects every problem.

use super::{Field, Fields, Kind, Range, Schema, shown, text};
use crate::base::nearest::nearest;
use crate::base::{FileId, Mask, Place, Plain, Problem, Problems, Result};
use crate::data::{self, Cipher, Resolved, Scalar, Value};
use crate::module::config::{Config, Header, Reveal, Revealed};
use std::sync::{Arc, OnceLock};
use zeroize::Zeroizing;

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

/// The same where a string may stand for a secret.
pub fn test_config(module: &str, schema: Option<&Schema>, slice: Option<&Value>, header: &Header) -> Result<Config> {
    let mut refuse = |_: &Cipher, _: Place, path: &str| -> Result<Revealed, Problem> {
        Err(Problem::new(format!("`{path}` is encrypted")).expected("expected a plain string: a test has no key"))
    };
    Check::new(module, &mut refuse, true).config(schema, slice, header)
}

/// Checks a default against its own rule.
///
/// # Errors
/// What was expected.
pub fn default(field: &Field, plain: &Plain) -> Result<Plain, String> {
    if let (Kind::Mode, Plain::Int(_)) = (&field.kind, plain) {
        // 0o644 and 420 are one number in Starlark, so a number does not say what was meant.
        return Err("a mode in quotes, such as `\"0644\"`".to_owned());
    }
    static NOWHERE: OnceLock<FileId> = OnceLock::new();
    let place = Place::start(*NOWHERE.get_or_init(|| FileId::new("default", "")));
    let mut refuse = |_: &Cipher, _: Place, _: &str| -> Result<Revealed, Problem> { Err(Problem::new("a secret")) };
    let mut check = Check::new("", &mut refuse, true);
    let both = check.value(field, &value_of(plain, place));
    match (check.problems.into_iter().next(), both) {
        (None, Some(both)) => Ok(both.plain),
        (Some(problem), _) => {
            let expected = problem.expected.unwrap_or_else(|| field.kind.words());
            let expected = expected.strip_prefix("expected ").unwrap_or(&expected);
            Err(expected.split(", found").next().unwrap_or(expected).to_owned())
        }
        (None, None) => Err(field.kind.words()),
    }
}

/// A plain value as data, as if it were written at `place`.
fn value_of(plain: &Plain, place: Place) -> Value {
    let scalar = |text: String, resolved: Resolved| {
        data::Kind::Scalar(Scalar { text: Arc::from(text), plain: resolved != Resolved::Str, resolved })
    };
    let kind = match plain {
        Plain::Null => scalar("null".to_owned(), Resolved::Null),
        Plain::Bool(b) => scalar(b.to_string(), Resolved::Bool(*b)),
        Plain::Int(n) => scalar(n.to_string(), Resolved::Int(*n)),
        Plain::Float(x) => scalar(x.to_string(), Resolved::Float(*x)),
        Plain::Str(text) => scalar(text.clone(), Resolved::Str),
        Plain::List(items) => data::Kind::List(Arc::new(items.iter().map(|item| value_of(item, place)).collect())),
        Plain::Map(map) => {
            let entry = |(key, value): (&String, &Plain)| {
                (Arc::from(key.as_str()), data::value::Entry { key: place, value: value_of(value, place) })
            };
            data::Kind::Map(Arc::new(map.iter().map(entry).collect()))
        }
    };
    Value { kind, place }
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
            plain: headed(header, body.plain),
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
            if !fields.contains_key(&**key) && !(self.path.is_empty() && &**key == "suil") {
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

    fn scalar(&mut self, field: &Field, value: &Value) -> Option<Both> {
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

    fn list(&mut self, field: &Field, value: &Value, item: &Field, length: Range<i64>, unique: bool) -> Option<Both> {
        let Some(items) = value.list() else { return self.mistyped(field, value) };
        if !length.has(items.len() as i64) {
            let words = format!("expected a list{}, found {}", length.count("item"), items.len());
            let problem = self.problem("is too short or too long").at(value.place).expected(words);
            self.problems.push(ruled(problem, field));
        }
        let (mut plain, mut public) = (Vec::with_capacity(items.len()), Vec::with_capacity(items.len()));
        for (index, entry) in items.iter().enumerate() {
            let name = entry.get("name").and_then(Value::scalar).map(|name| name.text.to_string());
            let Some(both) = self.under(Step::Item { index, name }, |check| check.value(item, entry)) else { continue };
            if unique && let Some(first) = plain.iter().position(|earlier| *earlier == both.plain) {
                let problem = self.problem("names an item twice").at(entry.place).expected("expected each item once");
                let problem = match items.get(first) {
                    Some(earlier) => problem.note_at("first", earlier.place),
                    None => problem,
                };
                self.problems.push(ruled(problem, field));
            }
            plain.push(both.plain);
            public.push(both.public);
        }
        Some(Both { plain: Plain::List(plain), public: Plain::List(public) })
    }

    fn map(&mut self, field: &Field, value: &Value, key: Option<&Field>, rule: &Field) -> Option<Both> {
        let Some(map) = value.map() else { return self.mistyped(field, value) };
        let mut both = Both { plain: Plain::map(), public: Plain::map() };
        for (name, entry) in map {
            self.path.push(Step::Key(name.to_string()));
            if let Some(key) = key {
                self.value(key, &value_of(&Plain::from(&**name), entry.key));
            }
            let found = self.value(rule, &entry.value);
            self.path.pop();
            if let Some(found) = found {
                both.plain.set(&**name, found.plain);
                both.public.set(&**name, found.public);
            }
        }
        Some(both)
    }

    fn secret(&mut self, field: &Field, value: &Value) -> Option<Both> {
        match &value.kind {
            data::Kind::Secret(cipher) => Some(self.reveal(cipher, value.place)),
            data::Kind::Scalar(scalar) if self.lenient => {
                let plaintext = Zeroizing::new(scalar.text.to_string());
                Some(self.plaintext(&plaintext))
            }
            // Its text is not repeated: it may be the secret itself, in the open by mistake.
            data::Kind::Scalar(_) => {
                let problem = self.problem("is in the open, but it is a secret").at(value.place);
                let problem = problem.expected(format!("expected {}", field.kind.words()));
                self.problems.push(ruled(problem.help("`suil encrypt` makes one"), field));
                None
            }
            _ => self.mistyped(field, value),
        }
    }

    fn reveal(&mut self, cipher: &Cipher, place: Place) -> Both {
        let path = self.dotted();
        match (self.reveal)(cipher, place, &path) {
            Ok(Revealed::Plaintext(plaintext)) => self.plaintext(&plaintext),
            Ok(Revealed::Marker(marker)) => {
                self.revealed = false;
                Both { plain: Plain::Null, public: Plain::Str(marker) }
            }
            Err(problem) => {
                self.problems.push(match problem.place {
                    Some(_) => problem,
                    None => problem.at(place),
                });
                Plain::Null.into()
            }
        }
    }

    fn plaintext(&mut self, plaintext: &str) -> Both {
        self.mask.add(plaintext);
        let digest = format!("sha256:{}", crate::base::digest::sha256(plaintext.as_bytes()));
        Both { plain: Plain::from(plaintext), public: Plain::Str(digest) }
    }

    /// Takes a value as it is. Secrets are revealed where the module has no schema at all.
    fn raw(&mut self, value: &Value, secrets: bool) -> Both {
        if self.path.len() >= DEPTH {
            let problem = self.problem("is nested too deep").at(value.place);
            self.problems.push(problem.expected(format!("expected at most {DEPTH} levels")));
            return Plain::Null.into();
        }
        match &value.kind {
            data::Kind::Scalar(scalar) => scalar.to_plain().into(),
            data::Kind::Lookup(lookup) => Plain::Str(format!("!LOOKUP {}", lookup.field)).into(),
            data::Kind::Secret(cipher) if secrets => self.reveal(cipher, value.place),
            data::Kind::Secret(_) => {
                let problem = self.problem("is a secret inside a value of any type").at(value.place);
                let problem = problem.expected("expected a value in the open");
                self.problems.push(problem.help("declare it as `t.secret()` in the schema"));
                Plain::Null.into()
            }
            data::Kind::List(items) => {
                let (mut plain, mut public) = (Vec::new(), Vec::new());
                for (index, item) in items.iter().enumerate() {
                    let both = self.under(Step::Item { index, name: None }, |check| check.raw(item, secrets));
                    plain.push(both.plain);
                    public.push(both.public);
                }
                Both { plain: Plain::List(plain), public: Plain::List(public) }
            }
            data::Kind::Map(map) => {
                let mut both = Both { plain: Plain::map(), public: Plain::map() };
                for (key, entry) in map.iter() {
                    let found = self.under(Step::Key(key.to_string()), |check| check.raw(&entry.value, secrets));
                    both.plain.set(&**key, found.plain);
                    both.public.set(&**key, found.public);
                }
                both
            }
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

    fn under<T>(&mut self, step: Step, f: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step);
        let result = f(self);
        self.path.pop();
        result
    }

    /// "module `accounts`: `uid` of `deploy` <words>"
    fn problem(&self, words: &str) -> Problem {
        Problem::new(format!("module `{}`: {} {words}", self.module, self.label()))
    }

    fn label(&self) -> String {
        let name = |at: usize| match self.path.get(at) {
            Some(Step::Key(key)) => Some(key.clone()),
            Some(Step::Item { name: Some(name), .. }) => Some(name.clone()),
            Some(Step::Item { index, .. }) => match at.checked_sub(1).and_then(|at| self.path.get(at)) {
                Some(Step::Key(key)) => Some(format!("{key}[{index}]")),
                _ => Some(format!("[{index}]")),
            },
            None => None,
        };
        let last = self.path.len().wrapping_sub(1);
        match (self.path.last(), name(last), last.checked_sub(1).and_then(name)) {
            (Some(Step::Key(_)), Some(own), Some(parent)) => format!("`{own}` of `{parent}`"),
            (_, Some(own), _) => format!("`{own}`"),
            _ => "its data".to_owned(),
        }
    }

    /// `users.deploy.password`, `tags.0`
    fn dotted(&self) -> String {
        let steps = self.path.iter().map(|step| match step {
            Step::Key(key) => key.clone(),
            Step::Item { index, .. } => index.to_string(),
        });
        std::iter::once(self.module.to_owned()).chain(steps).collect::<Vec<_>>().join(".")
    }
}

/// Whether a scalar is the choice: by its source text where the choice is a string.
fn means(choice: &Plain, scalar: &Scalar) -> bool {
    match choice {
        Plain::Str(text) => **text == *scalar.text,
        other => *other == scalar.to_plain(),
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
