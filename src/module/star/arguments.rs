//! The arguments of one call, checked with messages that name what the function knows.

use super::value::type_name;
use crate::base::nearest::nearest;
use crate::base::{Place, Problem};
use indexmap::IndexMap;
use starlark::values::Value;

/// What a call was given. A function takes what it knows and then calls [`Arguments::done`].
pub struct Arguments<'v> {
    /// The function, as the code calls it: `t.int`, `file`.
    pub function: String,
    pub positional: Vec<Value<'v>>,
    pub named: IndexMap<String, Value<'v>>,
    pub place: Option<Place>,
    known: Vec<&'static str>,
}

impl<'v> Arguments<'v> {
    pub fn new(
        function: String,
        positional: Vec<Value<'v>>,
        named: IndexMap<String, Value<'v>>,
        place: Option<Place>,
    ) -> Arguments<'v> {
        Arguments { function, positional, named, place, known: Vec::new() }
    }

    /// A problem at the place of the call.
    pub fn problem(&self, text: impl std::fmt::Display) -> Problem {
        let problem = Problem::new(format!("`{}`: {text}", self.function));
        match self.place {
            Some(place) => problem.at(place),
            None => problem,
        }
    }

    /// Takes the named argument `name`.
    pub fn take(&mut self, name: &'static str) -> Option<Value<'v>> {
        self.known.push(name);
        self.named.shift_remove(name)
    }

    /// Takes the next positional argument, or else the named one.
    pub fn next(&mut self, name: &'static str) -> Result<Value<'v>, Problem> {
        match self.next_or_none(name) {
            Some(value) => Ok(value),
            None => Err(self.problem(format_args!("`{name}` is missing"))),
        }
    }

    pub fn next_or_none(&mut self, name: &'static str) -> Option<Value<'v>> {
        if self.positional.is_empty() { self.take(name) } else { Some(self.positional.remove(0)) }
    }

    /// Takes a named text.
    pub fn text(&mut self, name: &'static str) -> Result<Option<String>, Problem> {
        self.typed(name, "a string", |v| v.unpack_str().map(str::to_owned))
    }

    /// Takes a named boolean; `false` where it is not given.
    pub fn flag(&mut self, name: &'static str) -> Result<bool, Problem> {
        Ok(self.typed(name, "True or False", |v| v.unpack_bool())?.unwrap_or(false))
    }

    /// Takes a named argument of one type; `None` counts as not given.
    pub fn typed<T>(
        &mut self,
        name: &'static str,
        expected: &str,
        unpack: impl FnOnce(Value<'v>) -> Option<T>,
    ) -> Result<Option<T>, Problem> {
        match self.take(name) {
            None => Ok(None),
            Some(value) if value.is_none() => Ok(None),
            Some(value) => match unpack(value) {
                Some(it) => Ok(Some(it)),
                None => Err(self
                    .problem(format_args!("`{name}` is {}", type_name(value)))
                    .expected(format!("expected {expected}"))),
            },
        }
    }

    /// Refuses what was not taken.
    pub fn done(&self) -> Result<(), Problem> {
        if let Some(value) = self.positional.first() {
            return Err(self.problem(format_args!("{} is one argument too many", value.to_repr())));
        }
        match self.named.keys().next() {
            None => Ok(()),
            Some(name) => {
                let mut known = self.known.clone();
                known.sort_unstable();
                known.dedup();
                let problem = self.problem(format_args!("unknown argument `{name}`"));
                let problem = match known.is_empty() {
                    true => problem,
                    false => problem.expected(format!("expected one of `{}`", known.join("`, `"))),
                };
                Err(match nearest(name, known.iter().copied()) {
                    Some(near) => problem.help(format!("did you mean `{near}`?")),
                    None => problem,
                })
            }
        }
    }
}
