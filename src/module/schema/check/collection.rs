//! Lists and mappings of one type of value.

use super::default::value_of;
use super::{Both, Check, Step, ruled};
use crate::base::Plain;
use crate::data::Value;
use crate::module::schema::{Field, Range};

impl Check<'_, '_> {
    pub fn list(
        &mut self,
        field: &Field,
        value: &Value,
        item: &Field,
        length: Range<i64>,
        unique: bool,
    ) -> Option<Both> {
        let Some(items) = value.list() else { return self.mistyped(field, value) };
        if !length.has(items.len() as i64) {
            let words = format!("expected a list{}, found {}", length.count("item"), items.len());
            let problem = self.problem("is too short or too long").at(value.place).expected(words);
            self.problems.push(ruled(problem, field));
        }
        let (mut plain, mut public) = (Vec::with_capacity(items.len()), Vec::with_capacity(items.len()));
        for (index, entry) in items.iter().enumerate() {
            let name = entry.get("name").and_then(Value::scalar).map(|name| name.text.to_string());
            let Some(both) = self.under(Step::Item { index, name }, |check| check.value(item, entry)) else { continue };
            if unique && let Some(first) = plain.iter().position(|earlier| *earlier == both.plain) {
                let problem = self.problem("names an item twice").at(entry.place).expected("expected each item once");
                let problem = match items.get(first) {
                    Some(earlier) => problem.note_at("first", earlier.place),
                    None => problem,
                };
                self.problems.push(ruled(problem, field));
            }
            plain.push(both.plain);
            public.push(both.public);
        }
        Some(Both { plain: Plain::List(plain), public: Plain::List(public) })
    }

    pub fn map(&mut self, field: &Field, value: &Value, key: Option<&Field>, rule: &Field) -> Option<Both> {
        let Some(map) = value.map() else { return self.mistyped(field, value) };
        let mut both = Both { plain: Plain::map(), public: Plain::map() };
        for (name, entry) in map {
            self.path.push(Step::Key(name.to_string()));
            if let Some(key) = key {
                self.value(key, &value_of(&Plain::from(&**name), entry.key));
            }
            let found = self.value(rule, &entry.value);
            self.path.pop();
            if let Some(found) = found {
                both.plain.set(&**name, found.plain);
                both.public.set(&**name, found.public);
            }
        }
        Some(both)
    }
}
