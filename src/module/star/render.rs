//! `render`, `diff`, `touches`, `names`: functions that only compute.

use super::arguments::Arguments;
use super::builtin::{Builtin, Here};
use super::thing::at;
use super::value::{alloc, to_plain};
use crate::base::{Plain, Problem, Problems};
use crate::module::difference::differences;
use starlark::environment::GlobalsBuilder;
use starlark::values::Value;

pub fn add(builder: &mut GlobalsBuilder) {
    for (name, body) in
        [("render", render as super::builtin::Body), ("diff", diff), ("touches", touches), ("names", names)]
    {
        builder.set(name, Builtin { name, body });
    }
}

/// `render(template, vars = config, **more)`
fn render<'v>(mut args: Arguments<'v>, here: Here<'v, '_>) -> Result<Value<'v>, Problems> {
    let Some(context) = here.context else {
        return Err(args.problem("a template cannot be rendered while the file loads").into());
    };
    let name = args.next("template")?;
    let Some(name) = name.unpack_str() else {
        return Err(args.problem("the template's name is no string").into());
    };
    let mut vars = match args.next_or_none("vars") {
        Some(value) => plain(value, &args)?,
        None => Plain::clone(&context.config().plain),
    };
    if !matches!(vars, Plain::Map(_)) {
        return Err(args
            .problem(format_args!("its variables are {}", vars.type_name()))
            .expected("expected a mapping: the config, or a part of it")
            .into());
    }
    for (name, value) in std::mem::take(&mut args.named) {
        vars.set(name, plain(value, &args)?);
    }
    args.done()?;
    let text = context.render(name, vars).map_err(|p| at(p, &args))?;
    Ok(here.heap.alloc(text.as_str()))
}

fn plain(value: Value, args: &Arguments) -> Result<Plain, Problem> {
    to_plain(value).map_err(|found| args.problem(format_args!("cannot use {found}")))
}

/// `diff(expected, facts)`: a list of `{path, expected, found}`, empty where all is as expected.
fn diff<'v>(mut args: Arguments<'v>, here: Here<'v, '_>) -> Result<Value<'v>, Problems> {
    let expected = args.next("expected")?;
    let facts = args.next("facts")?;
    args.done()?;
    let found = differences(&plain(expected, &args)?, &plain(facts, &args)?);
    let list: Plain = found.into_iter().map(|difference| difference.to_plain()).collect();
    Ok(alloc(&list, here.heap))
}

/// The paths of a `diff`.
fn paths(value: Value, args: &Arguments) -> Result<Vec<Vec<String>>, Problem> {
    let wrong =
        || args.problem("its first argument is no diff").expected("expected what `diff(expected, facts)` returns");
    let list = plain(value, args)?;
    let items = list.as_list().ok_or_else(wrong)?;
    items
        .iter()
        .map(|item| {
            let path = item.get("path").and_then(Plain::as_list).ok_or_else(wrong)?;
            Ok(path.iter().map(text).collect())
        })
        .collect()
}

fn text(value: &Plain) -> String {
    match value {
        Plain::Str(text) => text.clone(),
        other => other.to_json_line(),
    }
}

/// The rest of the positional arguments as one path; a list stands for its items.
fn rest(args: &mut Arguments) -> Result<Vec<String>, Problem> {
    let mut path = Vec::new();
    for value in std::mem::take(&mut args.positional) {
        match plain(value, args)? {
            Plain::List(items) => path.extend(items.iter().map(text)),
            other => path.push(text(&other)),
        }
    }
    Ok(path)
}

/// `touches(diff, *path)`: whether something at the path, below it or above it differs.
fn touches<'v>(mut args: Arguments<'v>, here: Here<'v, '_>) -> Result<Value<'v>, Problems> {
    let _ = here;
    let list = args.next("diff")?;
    let paths = paths(list, &args)?;
    let path = rest(&mut args)?;
    args.done()?;
    let hit = paths.iter().any(|found| found.iter().zip(&path).all(|(a, b)| a == b));
    Ok(Value::new_bool(hit))
}

/// `names(diff, *collection)`: the keys under the collection that differ, sorted.
fn names<'v>(mut args: Arguments<'v>, here: Here<'v, '_>) -> Result<Value<'v>, Problems> {
    let list = args.next("diff")?;
    let paths = paths(list, &args)?;
    let collection = rest(&mut args)?;
    args.done()?;
    let mut names: Vec<&str> =
        paths.iter().filter_map(|path| path.strip_prefix(collection.as_slice())?.first().map(String::as_str)).collect();
    names.sort_unstable();
    names.dedup();
    Ok(alloc(&names.into_iter().map(Plain::from).collect(), here.heap))
}
