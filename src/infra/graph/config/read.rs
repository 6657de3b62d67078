//! Texts of the configuration, each with its place.

use super::super::template;
use super::Text;
use crate::base::{FileId, Place};
use crate::data::{Resolved, Value};
use crate::infra::reader::Reader;

impl Reader<'_> {
    /// A text. Numbers count as they are written: `tool_version: 1.10` is `1.10`.
    pub fn text(&mut self, key: &str) -> Option<Text> {
        let value = self.value(key)?;
        let text = self.text_of(key, value, "expected a text")?;
        Some(text)
    }

    /// A text that may be a template.
    pub fn template(&mut self, key: &str) -> Option<Text> {
        let text = self.text(key)?;
        self.checked(key, text)
    }

    /// The text that a value is.
    pub fn text_of(&mut self, key: &str, value: &Value, expected: &str) -> Option<Text> {
        match value.scalar().filter(|scalar| scalar.resolved != Resolved::Null) {
            Some(scalar) => Some(Text { text: scalar.text.to_string(), at: value.place.into() }),
            None => {
                self.wrong(key, value, expected);
                None
            }
        }
    }

    /// The text that a value is, which may be a template.
    pub fn template_of(&mut self, key: &str, value: &Value, expected: &str) -> Option<Text> {
        let text = self.text_of(key, value, expected)?;
        self.checked(key, text)
    }

    fn checked(&mut self, key: &str, text: Text) -> Option<Text> {
        match template::check(&text.text) {
            Ok(()) => Some(text),
            Err(words) => {
                let place = self.place_of(key, &text);
                self.fault(
                    key,
                    format!("is no template: {words}"),
                    place,
                    "expected a text with `{{ .Path }}` and the like",
                );
                None
            }
        }
    }

    /// The place of a text under `key`, or the key's own.
    fn place_of(&self, key: &str, text: &Text) -> Place {
        let entry = self.map().and_then(|map| map.get(key)).or_else(|| self.map().and_then(|map| map.values().next()));
        let file = entry.map_or_else(|| FileId::new(&text.at.file, ""), |entry| entry.key.file);
        Place { file, line: text.at.line, column: text.at.column, width: 0 }
    }

    /// A list of texts.
    pub fn texts(&mut self, key: &str) -> Option<Vec<Text>> {
        let value = self.value(key)?;
        let Some(list) = value.list() else {
            self.wrong(key, value, "expected a list of texts");
            return None;
        };
        Some(list.iter().filter_map(|item| self.text_of(key, item, "expected a text in this list")).collect())
    }

    /// A list of texts that may be templates.
    pub fn templates(&mut self, key: &str) -> Vec<Text> {
        let texts = self.texts(key).unwrap_or_default();
        texts.into_iter().filter_map(|text| self.checked(key, text)).collect()
    }
}
