//! `!LOOKUP {…}`: every option is checked when the file is loaded.

use super::super::value::{From, Ip, Lookup, SelfRule};
use super::super::{Resolved, Tagged, Value};
use crate::base::nearest::nearest;
use crate::base::{Place, Problem, Problems};

/// The keys of a `!LOOKUP`.
pub const OPTIONS: [&str; 8] = ["field", "nodes", "role", "ip", "format", "self", "from", "required"];

/// Reads the mapping behind a `!LOOKUP` at `place`. `key` is where the lookup stands, for the messages.
pub fn parse(node: &Tagged, place: Place, key: &str) -> Result<Lookup, Problems> {
    if !node.is_map() {
        return Err(not_a_mapping(node, place, key).into());
    }
    let mut read = Options { node, key, place, problems: Problems::new() };
    read.unknown();
    let lookup = Lookup {
        field: read.field(),
        nodes: read.text("nodes").unwrap_or_else(|| "*".to_owned()),
        role: read.text("role"),
        ip: read.word("ip", &[("v4", Ip::V4), ("v6", Ip::V6), ("any", Ip::Any)]),
        format: read.format(),
        self_: read
            .word("self", &[("include", SelfRule::Include), ("exclude", SelfRule::Exclude), ("only", SelfRule::Only)])
            .unwrap_or(SelfRule::Include),
        from: read.word("from", &[("data", From::Data), ("facts", From::Facts)]).unwrap_or(From::Data),
        required: read.required(),
    };
    if read.problems.is_empty() { Ok(lookup) } else { Err(read.problems) }
}

fn not_a_mapping(node: &Tagged, place: Place, key: &str) -> Problem {
    let text = node.plain().and_then(Value::scalar).map(|s| s.text.to_string()).filter(|text| !text.is_empty());
    let found = match &text {
        Some(text) => format!("`{text}`"),
        None if node.is_list() => "a list".to_owned(),
        None => "nothing".to_owned(),
    };
    let field = text.unwrap_or_else(|| "module.key".to_owned());
    Problem::new(format!("the lookup at `{key}` has no options"))
        .at(place)
        .expected(format!("expected a mapping, found {found}"))
        .help(format!("write `!LOOKUP {{field: {field}}}`"))
}

struct Options<'a> {
    node: &'a Tagged,
    key: &'a str,
    place: Place,
    problems: Problems,
}

impl Options<'_> {
    fn unknown(&mut self) {
        let members = self.node.members();
        let unknown: Vec<(&str, Place)> =
            members.iter().filter(|(name, _)| !OPTIONS.contains(&&***name)).map(|(n, m)| (&**n, m.key)).collect();
        let Some((first, place)) = unknown.first().copied() else {
            return;
        };
        let names: Vec<&str> = unknown.iter().map(|(name, _)| *name).collect();
        let word = if names.len() == 1 { "option" } else { "options" };
        let mut problem =
            Problem::new(format!("the lookup at `{}` has the unknown {word} `{}`", self.key, names.join(", ")))
                .at(place)
                .expected(format!("expected one of `{}`", OPTIONS.join("`, `")));
        if let Some(near) = nearest(first, OPTIONS) {
            problem = problem.help(format!("did you mean `{near}`?"));
        }
        self.problems.push(problem);
    }

    /// The value of an option, refused where it has a tag.
    fn value(&mut self, option: &str, expected: &str) -> Option<Value> {
        let member = self.node.get(option)?;
        let value = member.value.plain().cloned();
        if value.is_none() {
            self.refuse(option, member.value.place, expected, "a tag");
        }
        value
    }

    fn text(&mut self, option: &str) -> Option<String> {
        let value = self.value(option, "a string")?;
        match value.as_str() {
            Some(text) if !text.is_empty() => return Some(text.to_owned()),
            Some(_) => self.refuse(option, value.place, "a string", "an empty one"),
            None => self.refuse(option, value.place, "a string", value.type_name()),
        }
        None
    }

    fn field(&mut self) -> String {
        if self.node.get("field").is_none() {
            self.problems.push(
                Problem::new(format!("the lookup at `{}` has no `field`", self.key))
                    .at(self.place)
                    .expected("expected `field`: the dotted path to read on each node"),
            );
            return String::new();
        }
        let field = self.text("field").unwrap_or_default();
        if field.split('.').any(str::is_empty) && !field.is_empty() {
            let place = self.node.get("field").map_or(self.place, |member| member.value.place);
            self.refuse("field", place, "a dotted path such as `module.key`", &format!("`{field}`"));
        }
        field
    }

    fn word<T: Copy>(&mut self, option: &str, words: &[(&str, T)]) -> Option<T> {
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let expected = format!("one of `{}`", names.join("`, `"));
        let value = self.value(option, &expected)?;
        let text = value.as_str().unwrap_or_default();
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let found = match value.scalar() {
                Some(scalar) if scalar.resolved == Resolved::Str => format!("`{}`", scalar.text),
                Some(scalar) => format!("`{}`, which is {}", scalar.text, value.type_name()),
                None => value.type_name().to_owned(),
            };
            self.refuse(option, value.place, &expected, &found);
        }
        found.map(|(_, value)| *value)
    }

    fn required(&mut self) -> bool {
        let Some(value) = self.value("required", "`true` or `false`") else {
            return true;
        };
        match value.scalar().map(|scalar| scalar.resolved) {
            Some(Resolved::Bool(required)) => required,
            _ => {
                self.refuse("required", value.place, "`true` or `false`", value.type_name());
                true
            }
        }
    }

    fn format(&mut self) -> Option<String> {
        let format = self.text("format")?;
        let mut rest = &*format;
        while let Some(at) = rest.find(['{', '}']) {
            let (brace, after) = (rest.get(at..).unwrap_or_default(), rest.get(at + 1..).unwrap_or_default());
            let known = ["{{", "}}", "{value}", "{node}", "{role}"].iter().find_map(|known| brace.strip_prefix(known));
            let Some(next) = known else {
                let end = after.find('}').map_or(brace.len(), |end| end + 2);
                let found = format!("`{}`", brace.get(..end).unwrap_or(brace));
                let place = self.node.get("format").map_or(self.place, |member| member.value.place);
                self.refuse("format", place, "`{value}`, `{node}`, `{role}`, `{{` and `}}` only", &found);
                return None;
            };
            rest = next;
        }
        Some(format)
    }

    fn refuse(&mut self, option: &str, place: Place, expected: &str, found: &str) {
        self.problems.push(
            Problem::new(format!("`{option}` of the lookup at `{}` is not usable", self.key))
                .at(place)
                .expected(format!("expected {expected}, found {found}")),
        );
    }
}
