//! As much of JSON Schema as suil prints.

use regex::Regex;
use suil::base::Plain;

/// Where `value` breaks the schema: dotted paths, sorted. What fails every branch of an `anyOf` fails at the value.
pub fn faults(schema: &Plain, value: &Plain) -> Vec<String> {
    let mut found = Vec::new();
    Check { root: schema, found: &mut found }.value(schema, value, "");
    found.sort();
    found.dedup();
    found
}

struct Check<'a> {
    root: &'a Plain,
    found: &'a mut Vec<String>,
}

impl Check<'_> {
    fn value(&mut self, schema: &Plain, value: &Plain, at: &str) {
        for (keyword, rule) in schema.as_map().expect("a schema") {
            if !self.keyword(keyword, rule, schema, value, at) {
                self.found.push(at.to_owned());
            }
        }
    }

    fn fits(&self, schema: &Plain, value: &Plain) -> bool {
        let mut found = Vec::new();
        Check { root: self.root, found: &mut found }.value(schema, value, "x");
        found.is_empty()
    }

    /// False where the value itself breaks the rule; what is wrong below it is told of there.
    fn keyword(&mut self, keyword: &str, rule: &Plain, schema: &Plain, value: &Plain, at: &str) -> bool {
        let below = |key: &str| if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") };
        match (keyword, value) {
            ("$ref", _) => {
                let path: Vec<&str> = rule.as_str().expect("a reference").split('/').skip(1).collect();
                let schema = self.root.at(&path).unwrap_or_else(|| panic!("{rule:?} leads nowhere")).clone();
                self.value(&schema, value, at);
                true
            }
            ("type", _) => {
                let one = [rule.clone()];
                rule.as_list().unwrap_or(&one).iter().any(|name| is(name.as_str().expect("a type"), value))
            }
            ("enum", _) => rule.as_list().expect("a list").contains(value),
            ("anyOf", _) => rule.as_list().expect("a list").iter().any(|schema| self.fits(schema, value)),
            ("pattern", Plain::Str(text)) => {
                Regex::new(rule.as_str().expect("a text")).expect("a pattern").is_match(text)
            }
            ("maxLength", Plain::Str(text)) => text.chars().count() as i64 <= rule.as_int().expect("a number"),
            ("minimum", Plain::Int(number)) => *number >= rule.as_int().expect("a number"),
            ("maximum", Plain::Int(number)) => *number <= rule.as_int().expect("a number"),
            ("minItems", Plain::List(list)) => list.len() as i64 >= rule.as_int().expect("a number"),
            ("maxItems", Plain::List(list)) => list.len() as i64 <= rule.as_int().expect("a number"),
            ("items", Plain::List(list)) => {
                for (n, item) in list.iter().enumerate() {
                    self.value(rule, item, &below(&n.to_string()));
                }
                true
            }
            ("properties", Plain::Map(map)) => {
                for (key, value) in map {
                    if let Some(schema) = rule.get(key) {
                        self.value(schema, value, &below(key));
                    }
                }
                true
            }
            ("additionalProperties", Plain::Map(map)) => {
                let known = schema.get("properties");
                for (key, value) in map.iter().filter(|(key, _)| known.and_then(|known| known.get(key)).is_none()) {
                    match rule {
                        Plain::Bool(false) => self.found.push(below(key)),
                        schema => self.value(schema, value, &below(key)),
                    }
                }
                true
            }
            ("propertyNames", Plain::Map(map)) => map.keys().all(|key| self.fits(rule, &Plain::from(key))),
            ("required", Plain::Map(map)) => {
                let missing = rule.as_list().into_iter().flatten().filter_map(Plain::as_str);
                self.found.extend(missing.filter(|key| !map.contains_key(*key)).map(below));
                true
            }
            ("$schema" | "title" | "description" | "default" | "format" | "$defs", _) => true,
            (
                "pattern"
                | "maxLength"
                | "minimum"
                | "maximum"
                | "minItems"
                | "maxItems"
                | "items"
                | "properties"
                | "additionalProperties"
                | "propertyNames"
                | "required",
                _,
            ) => true,
            (other, _) => panic!("`{other}` is a keyword that this check does not know"),
        }
    }
}

fn is(name: &str, value: &Plain) -> bool {
    matches!(
        (name, value),
        ("null", Plain::Null)
            | ("boolean", Plain::Bool(_))
            | ("integer", Plain::Int(_))
            | ("number", Plain::Int(_) | Plain::Float(_))
            | ("string", Plain::Str(_))
            | ("array", Plain::List(_))
            | ("object", Plain::Map(_))
    )
}
