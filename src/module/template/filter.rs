//! Filters that minijinja lacks, or that differ from Jinja2's.

use super::method::{Side, pad};
use super::{json, printf};
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
    environment.add_filter("truncate", minijinja_contrib::filters::truncate);
    environment.add_filter("striptags", minijinja_contrib::filters::striptags);
    environment.add_filter("filesizeformat", minijinja_contrib::filters::filesizeformat);
    environment.add_function("cycler", minijinja_contrib::globals::cycler);
    environment.add_function("joiner", minijinja_contrib::globals::joiner);
    // Words for a shell, as one argument.
    environment.add_filter("quote", |text: String| crate::base::shell::quote(&text));
}
