//! `run` and `put`: what `deploy()` queues.

use super::arguments::Arguments;
use super::builtin::{Body, Builtin, Here};
use super::call::Context;
use super::value::type_name;
use crate::base::{Place, Problem, Problems, shell};
use crate::resource::{Action, Change, Content, Diff, TextDiff, Upload, Verb};
use starlark::environment::GlobalsBuilder;
use starlark::values::Value;
use starlark::values::list::ListRef;
use std::sync::Arc;

/// An operation that `deploy()` asked for.
#[derive(Clone, Debug)]
pub struct Queued {
    pub change: Change,
    /// Where the module's code asked.
    pub place: Option<Place>,
}

pub fn add(builder: &mut GlobalsBuilder) {
    for (name, body) in [("run", run as Body), ("put", put)] {
        builder.set(name, Builtin { name, body });
    }
}

fn context<'h>(args: &Arguments, here: &Here<'_, 'h>) -> Result<&'h Context, Problem> {
    here.context.filter(|context| context.queues).ok_or_else(|| {
        args.problem("only `deploy()` can queue operations").help("in `resources()` use `command(…)` or `file(…)`")
    })
}

/// `run(script, title = …)`; a list of words is one command, each word quoted.
fn run<'v>(mut args: Arguments<'v>, here: Here<'v, '_>) -> Result<Value<'v>, Problems> {
    let context = context(&args, &here)?;
    let given = args.next("script")?;
    let script = match (given.unpack_str(), ListRef::from_value(given)) {
        (Some(text), _) => text.to_owned(),
        (None, Some(words)) => {
            let words: Option<Vec<&str>> = words.iter().map(|word| word.unpack_str()).collect();
            let words = words.filter(|words| !words.is_empty());
            let words = words.ok_or_else(|| args.problem("a word of the command is no string"))?;
            words.into_iter().map(shell::quote).collect::<Vec<_>>().join(" ")
        }
        _ => {
            return Err(args
                .problem(format_args!("its script is {}", type_name(given)))
                .expected("expected a string, or a list of words")
                .into());
        }
    };
    if script.trim().is_empty() {
        return Err(args.problem("its script is empty").into());
    }
    let title = args.text("title")?.unwrap_or_else(|| title(&script));
    let guards_access = args.flag("guards_access")?;
    args.done()?;
    let change = Change {
        verb: Verb::Run,
        title,
        diff: Diff::default(),
        action: Action::script(script),
        judged_then: None,
        brings: Vec::new(),
        guards_access,
    };
    context.queued.borrow_mut().push(Queued { change, place: args.place });
    Ok(Value::new_none())
}

/// `run <first line>`, cut to what fits beside an operation's number.
fn title(script: &str) -> String {
    let mut lines = script.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let first = lines.next().unwrap_or(script.trim());
    let short: String = first.chars().take(72).collect();
    let more = lines.next().is_some() || short.len() < first.len();
    format!("run {short}{}", if more { " …" } else { "" })
}

/// `put(path, content | source = | template =, owner =, group =, mode =, title =)`: writes a file, unasked.
fn put<'v>(mut args: Arguments<'v>, here: Here<'v, '_>) -> Result<Value<'v>, Problems> {
    let context = context(&args, &here)?;
    let path = args.next("path")?;
    let Some(path) = path.unpack_str().filter(|path| path.starts_with('/') && !path.contains('\0')) else {
        return Err(args.problem("its path is no absolute path").expected("expected a string like `/etc/motd`").into());
    };
    let content = match args.next_or_none("content").filter(|v| !v.is_none()) {
        Some(value) => match value.unpack_str() {
            Some(text) => Content::Bytes(Arc::from(text.as_bytes())),
            None => return Err(args.problem(format_args!("its content is {}", type_name(value))).into()),
        },
        None => match (args.text("source")?, args.text("template")?) {
            (Some(source), _) => context.source(&source).map_err(|p| super::thing::at(p, &args))?,
            (None, Some(template)) => {
                let text = context.render(&template, context.config().plain.clone());
                Content::Bytes(Arc::from(text.map_err(|p| super::thing::at(p, &args))?.as_bytes()))
            }
            (None, None) => return Err(args.problem("its content is missing").into()),
        },
    };
    let owner = args.text("owner")?.unwrap_or_else(|| "root".to_owned());
    let group = args.text("group")?.unwrap_or_else(|| "root".to_owned());
    let mode = match args.take("mode").filter(|v| !v.is_none()) {
        None => "0644".to_owned(),
        Some(value) => mode(value).ok_or_else(|| {
            args.problem(format_args!("mode {} is not octal", value.to_repr()))
                .expected("expected a mode like `\"0644\"`")
        })?,
    };
    let title = args.text("title")?.unwrap_or_else(|| format!("write {path}"));
    args.done()?;
    let target = shell::quote(path);
    let who = shell::quote(&format!("{owner}:{group}"));
    let script = format!(
        "target=$(readlink -f -- {target} 2>/dev/null) || target={target}\n\
         chown -- {who} \"$1\"\nchmod -- {mode} \"$1\"\nmv -f -- \"$1\" \"${{target:-{target}}}\"\n"
    );
    let text = match &content {
        Content::Bytes(bytes) => std::str::from_utf8(bytes).ok().map(str::to_owned),
        Content::File { .. } => None,
    };
    let change = Change {
        verb: Verb::Change,
        title,
        diff: Diff { attributes: Vec::new(), text: text.map(|after| TextDiff { before: String::new(), after }) },
        action: Action { script, uploads: vec![Upload { content, beside: Some(path.to_owned()) }] },
        judged_then: None,
        brings: vec![crate::resource::Brought::Path(path.to_owned())],
        guards_access: false,
    };
    context.queued.borrow_mut().push(Queued { change, place: args.place });
    Ok(Value::new_none())
}

/// A mode as four octal digits; a number means itself, so `0o644` is right and `644` is what it is in Starlark.
fn mode(value: Value) -> Option<String> {
    match (value.unpack_str(), value.unpack_i32()) {
        (Some(text), _) => crate::module::schema::text::mode(text),
        (None, Some(n)) if (0..=0o7777).contains(&n) => Some(format!("{n:04o}")),
        _ => None,
    }
}
