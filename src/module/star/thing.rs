//! A resource as a value of module code.

#![allow(unsafe_code, reason = "the interpreter's derive implements an unsafe marker trait; none is written here")]

use crate::base::{Plain, Problem, Problems};
use crate::resource::{Content, Resource};
use allocative::Allocative;
use starlark::starlark_simple_value;
use starlark::values::list::{AllocList, ListRef};
use starlark::values::{
    NoSerialize, ProvidesStaticType, StarlarkPagablePanic, StarlarkValue, Value, ValueLike, starlark_value,
};
use std::sync::Arc;

use super::arguments::Arguments;
use super::builtin::Here;
use super::story::Made;
use super::value::{to_plain, type_name};

#[derive(Debug, Clone, ProvidesStaticType, NoSerialize, StarlarkPagablePanic, Allocative)]
pub struct Thing {
    #[allocative(skip)]
    pub resource: Arc<dyn Resource>,
}

starlark_simple_value!(Thing);

impl std::fmt::Display for Thing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.resource.id())
    }
}

#[starlark_value(type = "resource")]
impl<'v> StarlarkValue<'v> for Thing {
    fn equals(&self, other: Value<'v>) -> starlark::Result<bool> {
        Ok(other.downcast_ref::<Thing>().is_some_and(|other| Arc::ptr_eq(&self.resource, &other.resource)))
    }
}

/// True for a kind that knows `content`: there `source` and `template` are other ways to give it. For the other kinds
/// `source` is an attribute like any other: a URL, a device.
fn has_content(kind: &str) -> bool {
    crate::resource::build::kind(kind).is_some_and(|kind| kind.attributes.contains(&"content"))
}

/// Declares one resource or, where several names are given, one for each.
pub fn declare<'v>(mut args: Arguments<'v>, here: Here<'v, '_>) -> Result<Value<'v>, Problems> {
    let kind = args.function.clone();
    let Some(context) = here.context else {
        return Err(args
            .problem("a resource cannot be declared while the file loads")
            .help("declare it inside a function that `resources()` calls")
            .into());
    };
    let (names, several) = names(&mut args)?;
    let source = args.named.get("source").and_then(|value| value.unpack_str()).map(str::to_owned);
    let content = content(&kind, &mut args, &here)?;
    let mut attributes = Plain::map();
    let mut problems = Problems::new();
    for (name, value) in &args.named {
        match to_plain(*value) {
            // Not given: the same as not naming it, so that an optional field of the config can be passed on.
            Ok(Plain::Null) => {}
            Ok(plain) => attributes.set(name.as_str(), plain),
            Err(found) => problems.push(
                args.problem(format_args!("`{name}` cannot be {found}"))
                    .expected("expected a string, a number, a boolean, a list, a mapping or a resource"),
            ),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut made = Vec::new();
    for name in names {
        match context.build(&kind, &name, &attributes, content.clone(), args.place) {
            Ok(resource) => {
                if let Some(story) = &context.story {
                    let (calls, content) = (here.calls.clone(), content.clone());
                    let (source, hidden) = (source.clone(), attributes.get("diff") == Some(&Plain::Bool(false)));
                    story.borrow_mut().made.push(Made {
                        resource: Arc::clone(&resource),
                        calls,
                        content,
                        source,
                        hidden,
                    });
                }
                made.push(Thing { resource });
            }
            Err(problem) => problems.push(match (problem.place, args.place) {
                (None, Some(place)) => problem.at(place),
                _ => problem,
            }),
        }
    }
    match made.len() {
        _ if !problems.is_empty() => Err(problems),
        1 if !several => made.pop().map(|thing| here.heap.alloc(thing)).ok_or_else(Problems::new),
        _ => Ok(here.heap.alloc(AllocList(made))),
    }
}

/// The names: one text, several texts, or a list of texts. The second is true where a list is the answer.
fn names(args: &mut Arguments) -> Result<(Vec<String>, bool), Problem> {
    let mut values = std::mem::take(&mut args.positional);
    if values.is_empty() {
        values.extend(args.take("name"));
    }
    let mut several = values.len() > 1;
    let mut names = Vec::new();
    for value in values {
        let list = ListRef::from_value(value).map(|list| list.iter().collect::<Vec<_>>());
        several |= list.is_some();
        for item in list.unwrap_or_else(|| vec![value]) {
            match item.unpack_str() {
                Some(text) => names.push(text.to_owned()),
                None => {
                    return Err(args
                        .problem(format_args!("its name is {}", type_name(item)))
                        .expected("expected a string"));
                }
            }
        }
    }
    if names.is_empty() && !several {
        return Err(args.problem("its name is missing").help(format!("write `{}(\"…\")`", args.function)));
    }
    Ok((names, several))
}

fn content<'v>(kind: &str, args: &mut Arguments<'v>, here: &Here<'v, '_>) -> Result<Option<Content>, Problems> {
    let Some(context) = here.context else { return Ok(None) };
    if !has_content(kind) {
        return Ok(None);
    }
    let given = |name: &str| args.named.get(name).is_some_and(|v| !v.is_none());
    let ways: Vec<&str> = ["content", "source", "template"].into_iter().filter(|name| given(name)).collect();
    if ways.len() > 1 {
        return Err(args
            .problem(format_args!("`{}` are given together", ways.join("` and `")))
            .expected("expected only one of `content`, `source`, `template`")
            .into());
    }
    let text = args.text("content")?;
    let source = args.text("source")?;
    let template = args.text("template")?;
    let vars = args.take("vars");
    if template.is_none() && vars.is_some_and(|v| !v.is_none()) {
        return Err(args.problem("`vars` is given without `template`").into());
    }
    if let Some(text) = text {
        return Ok(Some(Content::Bytes(Arc::from(text.as_bytes()))));
    }
    if let Some(source) = source {
        return Ok(Some(context.source(&source).map_err(|p| at(p, args))?));
    }
    let Some(template) = template else { return Ok(None) };
    let vars = match vars.filter(|v| !v.is_none()) {
        None => Plain::clone(&context.config().plain),
        Some(value) => to_plain(value).map_err(|found| args.problem(format_args!("`vars` cannot be {found}")))?,
    };
    let text = context.render(&template, vars).map_err(|p| at(p, args))?;
    Ok(Some(Content::Bytes(Arc::from(text.as_bytes()))))
}

/// Gives a problem the place of the call, where it has none of its own.
pub fn at(problem: Problem, args: &Arguments) -> Problem {
    match (problem.place, args.place) {
        (None, Some(place)) => problem.at(place),
        (Some(_), Some(place)) => problem.note_at(format!("`{}` is called at", args.function), place),
        _ => problem,
    }
}
