//! `put`: a file that `deploy()` writes.

use super::arguments::Arguments;
use super::builtin::Here;
use super::deploy::{Queued, context};
use super::thing::at;
use super::value::type_name;
use crate::base::{Plain, Problem, Problems, shell};
use crate::module::schema::text;
use crate::resource::{Action, Brought, Change, Content, Diff, TextDiff, Upload, Verb};
use starlark::values::Value;
use std::sync::Arc;

/// Larger texts are not shown in the plan.
const SHOWN: u64 = 256 << 10;

/// `put(path, content | source = | template =, owner =, group =, mode =, title =)`
///
/// Writes the file whatever is there: what is there is not known here. Without owner, group and mode a file that is
/// there keeps its own.
pub fn put<'v>(mut args: Arguments<'v>, here: Here<'v, '_>) -> Result<Value<'v>, Problems> {
    let context = context(&args, &here)?;
    let path = args.next("path")?;
    let Some(path) = path.unpack_str().filter(|path| text::is_path(path)) else {
        let problem = args.problem(format_args!("{} is no absolute path", path.to_repr()));
        return Err(problem.expected("expected a string like `/etc/motd`").into());
    };
    let content = content(&mut args, &here)?;
    let access = access(&mut args)?;
    let title = args.text("title")?.unwrap_or_else(|| format!("write {path}"));
    args.done()?;
    let target = shell::quote(path);
    // A symlink is written through, as the resource `file` does.
    let script = format!(
        "trap 'rm -f -- \"$1\"' EXIT\ntrap 'exit 1' HUP INT TERM\n\
         put_file \"$1\" \"$(readlink -f -- {target} || printf %s {target})\" {access}\n"
    );
    let shown = match &content {
        Content::Bytes(bytes) if content.size() <= SHOWN => String::from_utf8(bytes.to_vec()).ok(),
        _ => None,
    };
    let change = Change {
        verb: Verb::Change,
        title,
        diff: Diff {
            text: shown.map(|after| TextDiff { before: String::new(), after, shared: false }),
            ..Diff::default()
        },
        action: Action { script, uploads: vec![Upload { content, beside: Some(path.to_owned()) }], layer: None },
        brings: vec![Brought::Path(path.to_owned())],
        ..Change::default()
    };
    context.queued.borrow_mut().push(Queued { change, place: args.place });
    Ok(Value::new_none())
}

fn content<'v>(args: &mut Arguments<'v>, here: &Here<'v, '_>) -> Result<Content, Problems> {
    let context = context(args, here)?;
    let given = args.next_or_none("content").filter(|v| !v.is_none());
    let (source, template) = (args.text("source")?, args.text("template")?);
    let text = match (given, source, template) {
        (Some(value), None, None) => match value.unpack_str() {
            Some(text) => text.to_owned(),
            None => {
                let problem = args.problem(format_args!("its content is {}", type_name(value)));
                return Err(problem.expected("expected a string").into());
            }
        },
        (None, Some(source), None) => return Ok(context.source(&source).map_err(|p| at(p, args))?),
        (None, None, Some(template)) => {
            context.render(&template, Plain::clone(&context.config().plain)).map_err(|p| at(p, args))?
        }
        (None, None, None) => return Err(args.problem("its content is missing").into()),
        _ => {
            let problem = args.problem("its content is given twice");
            return Err(problem.expected("expected only one of `content`, `source`, `template`").into());
        }
    };
    Ok(Content::Bytes(Arc::from(text.as_bytes())))
}

/// The words that `put_file` takes: owner, group and mode, or `-` for what is there.
fn access(args: &mut Arguments) -> Result<String, Problem> {
    let owner = args.text("owner")?;
    let group = args.text("group")?;
    let mode = match args.take("mode").filter(|v| !v.is_none()) {
        None => None,
        Some(value) => Some(mode(value).ok_or_else(|| {
            args.problem(format_args!("mode {} is not octal", value.to_repr()))
                .expected("expected a mode like `\"0644\"`")
        })?),
    };
    if owner.is_none() && group.is_none() && mode.is_none() {
        return Ok("-".to_owned());
    }
    let root = || "root".to_owned();
    let words = [owner.unwrap_or_else(root), group.unwrap_or_else(root), mode.unwrap_or_else(|| "0644".to_owned())];
    Ok(shell::join(words.iter().map(String::as_str)))
}

/// A mode as octal digits; a number means itself, so `0o644` is right and `644` is what it is in Starlark.
fn mode(value: Value) -> Option<String> {
    match (value.unpack_str(), value.unpack_i32()) {
        (Some(text), _) => text::mode(text),
        (None, Some(n)) if (0..=0o7777).contains(&n) => Some(format!("{n:04o}")),
        _ => None,
    }
}
