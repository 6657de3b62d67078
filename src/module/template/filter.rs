//! Filters that minijinja lacks, or that differ from Jinja2's.

use super::method::{Side, pad};
use super::{json, number, printf, python};
use minijinja::value::{Kwargs, Rest, Value, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, State};
use std::borrow::Cow;

pub fn add(environment: &mut Environment<'static>) {
    environment.add_filter("tojson", |value: Value, indent: Option<usize>, named: Kwargs| {
        let indent = match named.get::<Option<usize>>("indent")? {
            Some(indent) => Some(indent),
            None => indent,
        };
        named.assert_all_used()?;
        json::text(&value, indent.map(|indent| indent.min(16)))
    });
    environment.add_filter("format", |pattern: String, args: Rest<Value>, named: Kwargs| {
        let text = printf::format(&pattern, &args, |name| named.get::<Value>(name).ok())?;
        named.assert_all_used()?;
        Ok::<String, Error>(text)
    });
    environment.add_filter("center", |text: String, width: Option<usize>| {
        let width = width.unwrap_or(80);
        if width > 1 << 20 {
            return Err(Error::new(ErrorKind::InvalidOperation, "the width is too large"));
        }
        Ok(pad(&text, width, ' ', Side::Both))
    });
    environment.add_filter("wordcount", minijinja_contrib::filters::wordcount);
    environment.add_filter("wordwrap", wordwrap);
    environment.add_filter("truncate", truncate);
    environment.add_filter("int", number::int);
    environment.add_filter("float", number::float);
    environment.add_filter("string", |value: Value| python::text(&value));
    environment.add_filter("join", join);
    environment.add_filter("striptags", minijinja_contrib::filters::striptags);
    environment.add_filter("filesizeformat", minijinja_contrib::filters::filesizeformat);
    environment.add_function("cycler", super::cycler::cycler);
    environment.add_function("joiner", minijinja_contrib::globals::joiner);
    environment.add_filter("forceescape", |value: Value| {
        Ok::<Value, Error>(Value::from_safe_string(escaped(&python::text(&value)?)))
    });
    environment.add_filter("dictsort", dictsort);
    environment.add_filter("default", default);
    environment.add_filter("d", default);
    environment.add_filter("indent", indent);
    environment.add_function("dict", dict);
    for name in ["escape", "e"] {
        environment.add_filter(name, |value: Value| match value.is_safe() {
            true => Ok(value),
            false => Ok::<Value, Error>(Value::from_safe_string(escaped(&python::text(&value)?))),
        });
    }
    environment.add_filter("urlencode", urlencode);
    environment.add_filter("sort", sort);
    environment.add_filter("sum", sum);
    environment.add_filter("selectattr", |state: &mut State, value: Value, args: Rest<ValueOrKwargs>| {
        by_attribute(state, value, args, minijinja::filters::selectattr)
    });
    environment.add_filter("rejectattr", |state: &mut State, value: Value, args: Rest<ValueOrKwargs>| {
        by_attribute(state, value, args, minijinja::filters::rejectattr)
    });
    environment.add_test("callable", callable);
    environment.add_test("integer", |value: Value| number::is_whole(&value));
    environment.add_test("number", |value: Value| {
        matches!(value.kind(), ValueKind::Number | ValueKind::Bool) || number::is_whole(&value)
    });
    environment.add_test("sequence", |value: Value| {
        matches!(value.kind(), ValueKind::Seq | ValueKind::Map | ValueKind::String)
    });
    environment.add_test("iterable", |value: Value| {
        defined(&value)?;
        Ok::<bool, Error>(!value.is_none() && value.try_iter().is_ok())
    });
    // Words for a shell, as one argument.
    environment.add_filter("quote", |text: String| crate::base::shell::quote(&text));
}

/// `truncate(length = 255, killwords = False, end = "...", leeway = 5)`
fn truncate(text: String, args: Rest<Value>, named: Kwargs) -> Result<String, Error> {
    fn option<T: TryFrom<Value, Error = Error>>(args: &[Value], at: usize) -> Result<Option<T>, Error> {
        args.get(at).cloned().map(T::try_from).transpose()
    }
    let args = args.0;
    let length = named.get::<Option<usize>>("length")?.or(option(&args, 0)?).unwrap_or(255);
    let killwords = named.get::<Option<bool>>("killwords")?.or(option(&args, 1)?).unwrap_or(false);
    let end = named.get::<Option<String>>("end")?.or(args.get(2).map(Value::to_string));
    let end = end.unwrap_or_else(|| "...".to_owned());
    let leeway = named.get::<Option<usize>>("leeway")?.or(option(&args, 3)?).unwrap_or(5);
    named.assert_all_used()?;
    if text.chars().count() <= length.saturating_add(leeway) {
        return Ok(text);
    }
    let kept: String = text.chars().take(length.saturating_sub(end.chars().count())).collect();
    let kept = if killwords { kept.as_str() } else { kept.rsplit_once(' ').map_or(kept.as_str(), |(words, _)| words) };
    Ok(format!("{kept}{end}"))
}

/// The error about something undefined, which knows where it comes from.
pub fn undefined(value: &Value) -> Error {
    value.get_attr("").err().unwrap_or_else(|| Error::from(ErrorKind::UndefinedError))
}

/// Refuses a value that is undefined, or a list with one inside: nothing of them may be printed as nothing.
pub fn defined(value: &Value) -> Result<(), Error> {
    fn inside(value: &Value, depth: usize) -> bool {
        match value.kind() {
            ValueKind::Undefined => true,
            ValueKind::Seq if depth > 0 => {
                value.try_iter().is_ok_and(|mut items| items.any(|item| inside(&item, depth - 1)))
            }
            _ => false,
        }
    }
    match (value.is_undefined(), inside(value, 4)) {
        (true, _) => Err(undefined(value)),
        (false, true) => Err(Error::new(ErrorKind::UndefinedError, "an item of the list is undefined")),
        (false, false) => Ok(()),
    }
}

/// `join(separator = "", attribute = none)`
fn join(value: Value, separator: Option<String>, attribute: Option<String>, named: Kwargs) -> Result<String, Error> {
    let separator = named.get::<Option<String>>("d")?.or(separator).unwrap_or_default();
    let attribute = named.get::<Option<String>>("attribute")?.or(attribute);
    named.assert_all_used()?;
    defined(&value)?;
    if let Some(word) = value.as_str() {
        return Ok(word.chars().map(String::from).collect::<Vec<_>>().join(&separator));
    }
    let mut out = String::new();
    for (at, item) in value.try_iter()?.enumerate() {
        if at > 0 {
            out.push_str(&separator);
        }
        let steps = attribute.iter().flat_map(|path| path.split('.'));
        let item = steps.into_iter().try_fold(item, |item, step| item.get_attr(step))?;
        match (item.is_undefined(), &attribute) {
            (true, Some(_)) => return Err(lacking()),
            _ => out.push_str(&python::text(&item)?),
        }
    }
    Ok(out)
}

/// `wordwrap(width = 79, break_long_words = True, wrapstring = "\n", break_on_hyphens = True)`
fn wordwrap(value: Value, args: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    let names = ["width", "break_long_words", "wrapstring", "break_on_hyphens"];
    let mut pairs: Vec<(&str, Value)> = names.into_iter().zip(args.0).collect();
    for name in names {
        if let Some(value) = named.get::<Option<Value>>(name)? {
            pairs.push((name, value));
        }
    }
    named.assert_all_used()?;
    minijinja_contrib::filters::wordwrap(&value, pairs.into_iter().collect())
}

/// `default(value = "", boolean = False)`
fn default(value: Value, args: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    if args.len() > 2 {
        return Err(Error::from(ErrorKind::TooManyArguments));
    }
    let other = named.get::<Option<Value>>("default_value")?.or(args.first().cloned());
    let boolean = named.get::<Option<Value>>("boolean")?.or(args.get(1).cloned());
    named.assert_all_used()?;
    match value.is_undefined() || boolean.is_some_and(|boolean| boolean.is_true()) && !value.is_true() {
        true => Ok(other.unwrap_or_else(|| Value::from(""))),
        false => Ok(value),
    }
}

/// `dictsort(case_sensitive = False, by = "key", reverse = False)`
fn dictsort(value: Value, args: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    let names = ["case_sensitive", "by", "reverse"];
    if args.len() > names.len() {
        return Err(Error::from(ErrorKind::TooManyArguments));
    }
    defined(&value)?;
    let mut pairs: Vec<(&str, Value)> = names.into_iter().zip(args.0).collect();
    for name in names {
        if let Some(value) = named.get::<Option<Value>>(name)? {
            pairs.push((name, value));
        }
    }
    named.assert_all_used()?;
    minijinja::filters::dictsort(&value, pairs.into_iter().collect())
}

/// `indent(width = 4, first = False, blank = False)`; the width may be the text itself.
fn indent(value: Value, args: Rest<Value>, named: Kwargs) -> Result<String, Error> {
    let option = |name: &str, at: usize| Ok::<_, Error>(named.get::<Option<Value>>(name)?.or(args.get(at).cloned()));
    let width = option("width", 0)?;
    let first = option("first", 1)?.is_some_and(|value| value.is_true());
    let blank = option("blank", 2)?.is_some_and(|value| value.is_true());
    named.assert_all_used()?;
    let lead = match &width {
        Some(width) => match width.as_str() {
            Some(text) => text.to_owned(),
            None => " ".repeat(usize::try_from(width.clone())?.min(1 << 12)),
        },
        None => "    ".to_owned(),
    };
    let text = python::text(&value)?;
    // As Jinja2 has it: a newline at the end is a line of its own, an empty one.
    let mut lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let mut out = String::new();
    if first {
        out.push_str(&lead);
    }
    out.push_str(lines.next().unwrap_or_default());
    for line in lines {
        out.push('\n');
        if blank || !line.is_empty() {
            out.push_str(&lead);
        }
        out.push_str(line);
    }
    Ok(out)
}

/// `dict(mapping or pairs, name = value, …)`
fn dict(args: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    let wrong = |text: &'static str| Error::new(ErrorKind::InvalidOperation, text);
    let mut pairs = Vec::new();
    if args.len() > 1 {
        return Err(Error::from(ErrorKind::TooManyArguments));
    }
    if let Some(first) = args.first() {
        defined(first)?;
        for item in first.try_iter()? {
            if first.kind() == ValueKind::Map {
                let value = first.get_item(&item)?;
                pairs.push((item, value));
                continue;
            }
            match <[Value; 2]>::try_from(item.try_iter()?.collect::<Vec<Value>>()) {
                Ok([key, value]) => pairs.push((key, value)),
                Err(_) => return Err(wrong("`dict` takes a mapping or pairs")),
            }
        }
    }
    for name in named.args() {
        pairs.push((Value::from(name), named.peek(name)?));
    }
    Ok(Value::from_pairs(pairs))
}

/// True for a function, a macro or a method.
fn callable(value: Value) -> bool {
    let is_macro = || value.as_object().is_some_and(|object| format!("{object:?}").starts_with("<macro "));
    match value.kind() {
        ValueKind::Plain => !number::is_whole(&value),
        ValueKind::Map => value.len() == Some(3) && is_macro(),
        _ => false,
    }
}

/// A text, or a mapping as `name=value&…` with `+` for a blank.
fn urlencode(value: Value) -> Result<String, Error> {
    let encoded = |value: &Value| minijinja::filters::urlencode(&Value::from(python::text(value)?));
    defined(&value)?;
    if value.kind() != ValueKind::Map {
        return match value.kind() {
            ValueKind::Seq => minijinja::filters::urlencode(&value),
            _ => encoded(&value),
        };
    }
    let mut pairs = Vec::new();
    for key in value.try_iter()? {
        let pair = format!("{}={}", encoded(&key)?, encoded(&value.get_item(&key)?)?);
        pairs.push(pair.replace('/', "%2F").replace("%20", "+"));
    }
    Ok(pairs.join("&"))
}

/// `sort(reverse = False, case_sensitive = False, attribute = none)`; the attribute may be an index.
fn sort(state: &mut State, value: Value, args: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    let names = ["reverse", "case_sensitive", "attribute"];
    if args.len() > names.len() {
        return Err(Error::from(ErrorKind::TooManyArguments));
    }
    let mut pairs: Vec<(&str, Value)> = names.into_iter().zip(args.0).collect();
    for name in names {
        if let Some(value) = named.get::<Option<Value>>(name)? {
            pairs.push((name, value));
        }
    }
    named.assert_all_used()?;
    for (_, value) in pairs.iter_mut().filter(|(name, value)| *name == "attribute" && value.is_integer()) {
        *value = Value::from(value.to_string());
    }
    minijinja::filters::sort(state, value, pairs.into_iter().collect())
}

/// What a filter that looks for an attribute says.
fn lacking() -> Error {
    Error::new(ErrorKind::UndefinedError, "an item has no such attribute")
}

/// Refuses items without the attribute.
fn having(value: &Value, attribute: &Value) -> Result<(), Error> {
    let path = attribute.to_string();
    for item in value.try_iter()? {
        let step = |item: Value, step: &str| match step.parse::<usize>() {
            Ok(at) if item.kind() == ValueKind::Seq => item.get_item(&Value::from(at)),
            _ => item.get_item(&Value::from(step)),
        };
        if path.split('.').try_fold(item, step)?.is_undefined() {
            return Err(lacking());
        }
    }
    Ok(())
}

/// `sum(attribute = none, start = 0)`
fn sum(state: &State, value: Value, args: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    let attribute = named.get::<Option<Value>>("attribute")?.or(args.first().cloned()).filter(|name| !name.is_none());
    let start = named.get::<Option<Value>>("start")?.or(args.get(1).cloned());
    named.assert_all_used()?;
    defined(&value)?;
    let mut pairs: Vec<(&str, Value)> = start.map(|start| ("start", start)).into_iter().collect();
    if let Some(attribute) = attribute {
        having(&value, &attribute)?;
        pairs.push(("attribute", Value::from(attribute.to_string())));
    }
    minijinja::filters::sum(state, value, None, None, pairs.into_iter().collect())
}

type Select =
    fn(&mut State, Value, Cow<'_, str>, Option<Cow<'_, str>>, Rest<ValueOrKwargs>) -> Result<Vec<Value>, Error>;

/// Without a test, or with one that is about values, every item needs the attribute.
fn by_attribute(
    state: &mut State,
    value: Value,
    args: Rest<ValueOrKwargs>,
    select: Select,
) -> Result<Vec<Value>, Error> {
    let mut args = args.0.into_iter();
    let attribute = args.next().map(ValueOrKwargs::into_value);
    let attribute = attribute.ok_or_else(|| Error::from(ErrorKind::MissingArgument))?;
    let test = args.next().map(ValueOrKwargs::into_value);
    defined(&value)?;
    if test.is_none() {
        having(&value, &attribute)?;
    }
    let test = test.map(|test| Cow::Owned(test.to_string()));
    select(state, value, Cow::Owned(attribute.to_string()), test, Rest(args.collect()))
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\'' => out.push_str("&#39;"),
            '"' => out.push_str("&#34;"),
            c => out.push(c),
        }
    }
    out
}
