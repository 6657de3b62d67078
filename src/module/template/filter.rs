//! Filters that minijinja lacks, or that differ from Jinja2's.

use super::method::{Side, pad};
use super::{json, number, printf};
use minijinja::value::{Kwargs, Rest, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind};

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
    environment.add_filter("string", |value: Value| text(&value));
    environment.add_filter("join", join);
    environment.add_filter("striptags", minijinja_contrib::filters::striptags);
    environment.add_filter("filesizeformat", minijinja_contrib::filters::filesizeformat);
    environment.add_function("cycler", super::cycler::cycler);
    environment.add_function("joiner", minijinja_contrib::globals::joiner);
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

/// The text of a value as Jinja2 prints it.
///
/// # Errors
/// It is undefined.
pub fn text(value: &Value) -> Result<String, Error> {
    defined(value)?;
    Ok(match (value.as_str(), number::fraction(value)) {
        (Some(text), _) => text.to_owned(),
        (None, Some(x)) => number::repr(x),
        (None, None) => value.to_string(),
    })
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
        (true, _) => Err(Error::from(ErrorKind::UndefinedError)),
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
            (true, Some(name)) => {
                let words = format!("an item has no `{name}`");
                return Err(Error::new(ErrorKind::UndefinedError, words));
            }
            _ => out.push_str(&text(&item)?),
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
