//! Errors of a template become problems at the template's line. The values it was given never show.

use crate::base::nearest::nearest;
use crate::base::{FileId, Place, Problem};
use minijinja::value::{Value, ValueKind};
use minijinja::{Error, ErrorKind};

/// The text of a template, by its name.
pub type Sources<'a> = &'a dyn Fn(&str) -> Option<FileId>;

/// More names than this are not listed.
const NAMES: usize = 40;

/// What went wrong in a template: `before` tells the template's name in front of the words, `vars` holds the names that
/// the template knows.
pub fn problem(error: &Error, before: impl Fn(&str) -> String, sources: Sources, vars: &Value) -> Problem {
    let chain = chain(error);
    // The innermost error with a line is where the author has to look.
    let inner = chain.iter().rev().find(|e| e.line().is_some()).copied().unwrap_or(error);
    let name = undefined(inner).or_else(|| chain.iter().find_map(|e| undefined(e)));
    // What the engine has no words for is told as it stands in the template.
    let name = match name {
        Some(name) if !name.contains("(...)") => Some(name),
        name => expression(sources, inner).filter(|text| name.is_none() || !text.starts_with(['.', '['])).or(name),
    };
    let words = match &name {
        Some(name) => format!("`{name}` is undefined"),
        None => words(chain.last().copied().unwrap_or(error)),
    };
    let mut problem = Problem::new(format!("{}{words}", before(inner.name().unwrap_or("?"))));
    problem.place = place(sources, inner, name.as_deref());
    if let Some(name) = &name {
        problem = known(problem, name, vars);
    } else if let Some(remedy) = chain.iter().find_map(|e| remedy(e)) {
        problem = problem.help(remedy);
    }
    for outer in chain.iter().take_while(|e| !std::ptr::eq(**e, inner)) {
        if let Some(at) = place(sources, outer, None) {
            problem = problem.note_at("included at", at);
        }
    }
    problem
}

/// The error and the template errors that caused it, outermost first.
fn chain(error: &Error) -> Vec<&Error> {
    let mut chain = vec![error];
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        chain.extend(cause.downcast_ref::<Error>());
        next = cause.source();
    }
    chain
}

/// The expression that is undefined.
fn undefined(error: &Error) -> Option<String> {
    let detail = error.detail()?;
    let end = detail.find("` is undefined")?;
    let start = detail.get(..end)?.rfind('`')?;
    detail.get(start + 1..end).map(str::to_owned)
}

/// The same from the source, where a filter met something undefined: what stands before it.
fn expression(sources: Sources, error: &Error) -> Option<String> {
    if error.kind() != ErrorKind::UndefinedError || error.detail().is_some_and(|d| !d.contains("(...)")) {
        return None;
    }
    let text = sources(error.name()?)?.text();
    let source = text.get(error.range()?)?;
    // The range of a filter begins behind the bar; what it was given stands before it.
    let ahead = text.get(..error.range()?.start)?.trim_end();
    let source = match ahead.strip_suffix('|') {
        Some(ahead) => ahead.rsplit(['{', '%', '|']).next()?.trim_start_matches('-'),
        None => source,
    };
    let before = source.split('|').next()?.trim();
    (!before.is_empty() && !before.contains('\n')).then(|| before.to_owned())
}

fn words(error: &Error) -> String {
    let detail = error.detail().unwrap_or_default();
    match (error.kind(), detail) {
        (ErrorKind::OutOfFuel, _) => "it runs without end".to_owned(),
        (kind, "") => kind.to_string(),
        (ErrorKind::UnknownFilter, detail) => match detail.strip_prefix("filter ").and_then(|d| d.split_once(" is ")) {
            Some((name, _)) => format!("there is no filter `{name}`"),
            None => detail.to_owned(),
        },
        (ErrorKind::UnknownFunction, detail) => match detail.split_once(" is unknown") {
            Some((name, _)) => format!("there is no function `{name}`"),
            None => detail.to_owned(),
        },
        // The engine would tell the numbers.
        (_, detail) if detail.starts_with("unable to calculate") => "the result is out of range".to_owned(),
        (ErrorKind::UnknownTest, detail) => match detail.strip_prefix("test ").and_then(|d| d.split_once(" is ")) {
            Some((name, _)) => format!("there is no test `{name}`"),
            None => detail.to_owned(),
        },
        (_, detail) => match detail.strip_prefix("cannot convert ").and_then(|rest| rest.split_once(" to ")) {
            Some((found, "i64" | "u64" | "usize" | "u32" | "i32" | "i128" | "u128")) => {
                format!("expected a whole number, found a {found}")
            }
            Some((found, "f64")) => format!("expected a number, found a {found}"),
            _ => detail.to_owned(),
        },
    }
}

/// What to write instead of something that Jinja2 has and this engine has not.
fn remedy(error: &Error) -> Option<&'static str> {
    let detail = error.detail()?;
    let changes = [" append", " extend", " update", " insert", " pop", " remove"];
    match error.kind() {
        ErrorKind::UnknownMethod if changes.iter().any(|method| detail.ends_with(method)) => {
            Some("a template changes no list or mapping: build it in `resources()`, or add lists with `+`")
        }
        _ if detail.contains("use % operator on unsupported types string") => Some("write `'…' | format(…)`"),
        _ => None,
    }
}

fn place(sources: Sources, error: &Error, name: Option<&str>) -> Option<Place> {
    let file = sources(error.name()?)?;
    let text = file.text();
    let Some(range) = error.range().filter(|range| text.get(range.clone()).is_some()) else {
        return Some(Place { file, line: error.line()? as u32, column: 1, width: 0 });
    };
    let expression = text.get(range.clone()).unwrap_or_default();
    // The range may cover a filter's arguments too; the caret belongs under the name.
    let (start, end) = match name.and_then(|name| Some((expression.find(name)?, name.len()))) {
        Some((at, length)) => (range.start + at, range.start + at + length),
        None => (range.start, range.end),
    };
    let before = text.get(..start)?;
    let line = before.matches('\n').count() as u32 + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() as u32 + 1;
    let width = text.get(start..end)?.lines().next().map_or(0, |line| line.chars().count()) as u32;
    Some(Place { file, line, column, width })
}

/// Names the keys that exist where the undefined one was looked for.
fn known(problem: Problem, name: &str, vars: &Value) -> Problem {
    let has = |map: &Value, key: &str| map.get_item(&Value::from(key)).is_ok_and(|item| !item.is_undefined());
    let whole = if has(vars, "config") { None } else { name.strip_prefix("config.") };
    let steps = steps(whole.unwrap_or(name));
    // A name of the template itself, or what no keys lead to.
    let own = steps.len() > 1 && steps.first().is_some_and(|first| !has(vars, first));
    if own || name.contains(['(', '{']) || name.contains("...") || name.starts_with(['[', '\'', '"', '.']) {
        return problem;
    }
    let mut here = vars.clone();
    for step in &steps {
        match (here.kind(), step.parse::<usize>()) {
            (ValueKind::Map, _) if has(&here, step) => {
                here = here.get_item(&Value::from(*step)).unwrap_or_default();
                continue;
            }
            (ValueKind::Map, _) => {}
            (ValueKind::Seq, Ok(at)) => {
                let length = here.len().unwrap_or(0);
                if at < length {
                    here = here.get_item(&Value::from(at)).unwrap_or_default();
                    continue;
                }
                return problem.expected(match length {
                    0 => "expected no index: the list is empty".to_owned(),
                    length => format!("expected an index below {length}"),
                });
            }
            _ => return problem,
        }
        let keys: Vec<String> = here.try_iter().into_iter().flatten().map(|key| key.to_string()).collect();
        let problem = match keys.as_slice() {
            [] => problem.expected("expected no name: there is none here"),
            [one] => problem.expected(format!("expected `{one}`")),
            many if many.len() > NAMES => problem,
            many => problem.expected(format!("expected one of `{}`", many.join("`, `"))),
        };
        return match nearest(step, keys.iter().map(String::as_str)) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem.help(format!("give a default where it may be missing: `{{{{ {name} | default(…) }}}}`")),
        };
    }
    problem
}

/// `a.b['c'][0]` as the keys a, b, c, 0.
fn steps(name: &str) -> Vec<&str> {
    name.split(['.', '[']).map(|step| step.trim_end_matches(']').trim_matches(['\'', '"'])).collect()
}
