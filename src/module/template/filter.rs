//! Filters that minijinja lacks, or that differ from Jinja2's.

use super::method::{Side, pad};
use super::{json, number, printf};
use minijinja::value::{Kwargs, Rest, Value};
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
    environment.add_filter("wordwrap", minijinja_contrib::filters::wordwrap);
    environment.add_filter("truncate", truncate);
    environment.add_filter("int", number::int);
    environment.add_filter("float", number::float);
    environment.add_filter("string", |value: Value| match number::fraction(&value) {
        Some(x) => number::repr(x),
        None => value.to_string(),
    });
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
