//! `run` and `layer`: what `deploy()` queues beside files.

use super::arguments::Arguments;
use super::builtin::{Body, Builtin, Here};
use super::call::Context;
use super::value::{to_plain, type_name};
use crate::base::{Place, Problem, Problems, shell};
use crate::resource::{Action, Change, Verb, layer};
use starlark::environment::GlobalsBuilder;
use starlark::values::Value;
use starlark::values::list::ListRef;

/// An operation that `deploy()` asked for.
#[derive(Clone, Debug)]
pub struct Queued {
    pub change: Change,
    /// Where the module's code asked.
    pub place: Option<Place>,
}

/// Adds `run`, `put` and `layer`.
pub fn add(builder: &mut GlobalsBuilder) {
    for (name, body) in [("run", run as Body), ("put", super::put::put), ("layer", layer)] {
        builder.set(name, Builtin { name, body });
    }
}

pub fn context<'h>(args: &Arguments, here: &Here<'_, 'h>) -> Result<&'h Context, Problem> {
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
    let action = Action::script(script);
    let change = Change { verb: Verb::Run, title, action, guards_access, ..Change::default() };
    context.queued.borrow_mut().push(Queued { change, place: args.place });
    Ok(Value::new_none())
}

/// `layer(name, plan)`: applies the saved plan of a Terraform layer, as the collector of layers reported it.
fn layer<'v>(mut args: Arguments<'v>, here: Here<'v, '_>) -> Result<Value<'v>, Problems> {
    let context = context(&args, &here)?;
    let name = args.next("name")?;
    let Some(name) = name.unpack_str().map(str::to_owned) else {
        let problem = args.problem(format_args!("the name of the layer is {}", type_name(name)));
        return Err(problem.expected("expected a string like `network/prod`").into());
    };
    let plan = args.next("plan")?;
    args.done()?;
    let plan = to_plain(plan).map_err(|found| args.problem(format_args!("its plan is {found}")))?;
    let change = layer::change(&name, &plan).ok_or_else(|| {
        args.problem(format_args!("`{name}` has no saved plan"))
            .expected("expected what `facts.layers` says of a layer that is not clean")
    })?;
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
