//! The functions that a template can call.

use super::{Answer, Host, Lookup, Missed, Target, deepformat, json, value};
use crate::base::Problem;
use crate::module::template::{filter, python};
use indexmap::IndexMap;
use minijinja::value::{Kwargs, Rest, Value};
use minijinja::{Environment, Error, ErrorKind, State};
use sha2::Digest;
use std::sync::Arc;

/// The names that are functions and no filters.
pub const NAMES: [&str; 13] = [
    "md5",
    "sha1",
    "sha256",
    "sha512",
    "deepformat",
    "jsonencode",
    "jsondecode",
    "file",
    "variable",
    "output",
    "resource",
    "lookup",
    "throw",
];

fn wrong(words: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, words.into())
}

pub fn add(environment: &mut Environment<'static>, host: &Arc<dyn Host>, missed: &Missed) {
    digest(environment, "md5", |text| format!("{:x}", md5::compute(text)));
    digest(environment, "sha1", |text| crate::base::digest::hex(&sha1::Sha1::digest(text)));
    digest(environment, "sha256", |text| crate::base::digest::sha256(text.as_bytes()));
    digest(environment, "sha512", |text| crate::base::digest::hex(&sha2::Sha512::digest(text)));
    environment.add_function("jsonencode", |args: Rest<Value>, named: Kwargs| {
        let [data] = taken("jsonencode", ["data"], args.0, &named)?;
        json::encode(&data).map_err(|e| in_function("jsonencode", e))
    });
    environment.add_function("jsondecode", |args: Rest<Value>, named: Kwargs| {
        let [data] = taken("jsondecode", ["data"], args.0, &named)?;
        let text = text("jsondecode", "data", &data)?;
        json::decode(&text).map(value::value).map_err(|words| wrong(format!("`jsondecode`: {words}")))
    });
    environment.add_function("deepformat", |args: Rest<Value>, named: Kwargs| {
        let [value, params] = taken("deepformat", ["value", "params"], args.0, &named)?;
        deepformat::deep(&value, &params)
    });
    environment.add_function("throw", |args: Rest<Value>, named: Kwargs| {
        let [message] = taken("throw", ["message"], args.0, &named)?;
        Err::<Value, Error>(wrong(python::text(&message)?))
    });
    let files = Arc::clone(host);
    environment.add_function("file", move |args: Rest<Value>, named: Kwargs| {
        let [path] = taken("file", ["path"], args.0, &named)?;
        files.file(&text("file", "path", &path)?).map_err(|words| wrong(format!("`file`: {words}")))
    });
    let hosts = Arc::clone(host);
    let absent = Arc::clone(missed);
    environment.add_function("lookup", move |state: &State, args: Rest<Value>, named: Kwargs| {
        if args.len() > 1 {
            return Err(wrong(
                "`lookup`: only the field stands without a name; write `role=…` or `nodes=…` before the others",
            ));
        }
        let field = args.0.into_iter().next().map(Ok).unwrap_or_else(|| {
            let given = named.has("field").then(|| named.get::<Value>("field"));
            given.unwrap_or_else(|| Err(wrong("`lookup` needs `field`")))
        })?;
        let field = text("lookup", "field", &field)?;
        let mut keys = IndexMap::new();
        for name in named.args().filter(|name| *name != "field") {
            keys.insert(name.to_owned(), value::plain(&named.peek::<Value>(name)?)?);
        }
        let found = hosts.lookup(&Lookup { field: field.clone(), keys });
        let found = found.map_err(|words| wrong(format!("`lookup`: {words}")))?;
        Ok::<Value, Error>(answer(state, &absent, field, found))
    });
    remote(environment, "variable", "name", host, missed, |host, name, target| host.variable(name, target));
    remote(environment, "output", "name", host, missed, |host, name, target| host.output(name, target));
    remote(environment, "resource", "address", host, missed, |host, name, target| host.resource(name, target));
}

fn digest(environment: &mut Environment<'static>, name: &'static str, of: fn(&str) -> String) {
    environment.add_function(name, move |args: Rest<Value>, named: Kwargs| {
        let [data] = taken(name, ["string"], args.0, &named)?;
        Ok::<String, Error>(of(&text(name, "string", &data)?))
    });
}

type Ask = fn(&dyn Host, &str, &Target) -> Result<Answer, String>;

/// A function that asks about another layer.
fn remote(
    environment: &mut Environment<'static>,
    function: &'static str,
    what: &'static str,
    host: &Arc<dyn Host>,
    missed: &Missed,
    ask: Ask,
) {
    let (host, missed) = (Arc::clone(host), Arc::clone(missed));
    environment.add_function(function, move |state: &State, args: Rest<Value>, named: Kwargs| {
        let part = |name: &str| match named.get::<Option<Value>>(name)?.filter(|v| !v.is_none()) {
            Some(given) => text(function, name, &given).map(Some),
            None => Ok::<Option<String>, Error>(None),
        };
        let target = Target {
            stack: part("stack")?,
            environment: part("environment")?,
            subenvironment: part("subenvironment")?,
            instance: part("instance")?,
        };
        if args.len() > 1 {
            return Err(wrong(format!(
                "`{function}`: only the {what} stands without a name; write `stack=…`, `environment=…`, \
                 `subenvironment=…` or `instance=…` before the others"
            )));
        }
        let [name] = taken(function, [what], args.0, &named)?;
        if target == Target::default() {
            return Err(wrong(format!(
                "`{function}` needs one of `stack=`, `environment=`, `subenvironment=`, `instance=`: the layer to ask"
            )));
        }
        let name = text(function, what, &name)?;
        let found = ask(&*host, &name, &target).map_err(|words| wrong(format!("`{function}`: {words}")))?;
        Ok(answer(state, &missed, name, found))
    });
}

/// The value, or something undefined with a note for the report.
fn answer(state: &State, missed: &Missed, name: String, found: Answer) -> Value {
    match found {
        Answer::Value(found) => value::value(found),
        Answer::Unknown => super::unknown::value(),
        Answer::Absent(words) => {
            let mut missed = missed.lock().unwrap_or_else(|e| e.into_inner());
            missed.entry(state.name().to_owned()).or_default().push((name, words));
            Value::UNDEFINED
        }
    }
}

/// The arguments of `function` by position or by name.
///
/// # Errors
/// One is missing, too many, or of an unknown name.
fn taken<const N: usize>(
    function: &str,
    names: [&str; N],
    args: Vec<Value>,
    named: &Kwargs,
) -> Result<[Value; N], Error> {
    if args.len() > N {
        return Err(wrong(format!(
            "`{function}` takes {N} argument{}, {} are given",
            if N == 1 { "" } else { "s" },
            args.len()
        )));
    }
    let mut args = args.into_iter();
    let mut out = [const { Value::UNDEFINED }; N];
    for (place, name) in out.iter_mut().zip(names) {
        let given = named.get::<Option<Value>>(name)?.filter(|_| named.has(name));
        *place = match (args.next(), given) {
            (Some(_), Some(_)) => return Err(wrong(format!("`{function}`: `{name}` is given twice"))),
            (Some(value), None) | (None, Some(value)) => value,
            (None, None) if named.has(name) => Value::from(()),
            (None, None) => return Err(wrong(format!("`{function}` needs `{name}`"))),
        };
        if place.is_undefined() {
            return Err(filter::undefined(place));
        }
    }
    // `file` of the original takes anything beside its path.
    match named.args().find(|name| !names.contains(name) && !is_target(function, name) && function != "file") {
        Some(name) => Err(wrong(format!("`{function}` has no argument `{name}`"))),
        None => Ok(out),
    }
}

fn is_target(function: &str, name: &str) -> bool {
    ["variable", "output", "resource"].contains(&function)
        && ["stack", "environment", "subenvironment", "instance"].contains(&name)
}

fn text(function: &str, name: &str, value: &Value) -> Result<String, Error> {
    if value.is_undefined() {
        return Err(filter::undefined(value));
    }
    match value.as_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(wrong(format!("`{function}`: `{name}` is a {}, expected a string", value.kind()))),
    }
}

fn in_function(function: &str, error: Error) -> Error {
    match error.detail() {
        Some(detail) => Error::new(error.kind(), format!("`{function}`: {detail}")),
        None => error,
    }
}

/// The problem with what this room knows about it: where a name was looked for in vain, and what is a function.
pub fn told(problem: Problem, missed: &[(String, String)], context: &Value) -> Problem {
    let within =
        |before: &str, after: &str| problem.what.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    if let Some(name) = within("there is no filter `", "`").filter(|name| NAMES.contains(name)) {
        let help = format!("`{name}` is a function: write `{name}(…)`");
        return problem.help(help);
    }
    if problem.help.as_deref().is_some_and(|help| help.starts_with("a template changes no list")) {
        return problem.help("make a new value with `+`, `dict(…)` or `{% set … %}`");
    }
    // What another layer or the host data lack has no name among the variables.
    if problem.what.ends_with("` is undefined") && !["`var.", "`var["].iter().any(|v| problem.what.starts_with(v)) {
        let named = missed.iter().rev().find(|(name, _)| problem.what.contains(name.as_str()));
        if let Some((_, words)) = named.or(missed.last()) {
            return Problem { expected: None, help: None, ..problem }.note(words);
        }
    }
    if let Some(name) = within("`", "` is undefined") {
        let variable = context.get_attr("var").and_then(|var| var.get_item(&Value::from(name)));
        if variable.is_ok_and(|variable| !variable.is_undefined()) {
            let help = format!("did you mean `var.{name}`?");
            return problem.help(help);
        }
    }
    problem
}
