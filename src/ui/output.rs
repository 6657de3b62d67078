//! The three forms of a result: text for people, JSON and YAML for programs.

use crate::base::{Plain, Problem};

/// The form of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
pub enum Output {
    #[default]
    Text,
    Json,
    Yaml,
}

/// Prints a result: `text` for people, or `value`, which is only built where a program asks for it.
///
/// # Errors
/// The output cannot be written.
pub fn show(output: Output, text: impl FnOnce() -> String, value: impl FnOnce() -> Plain) -> Result<(), Problem> {
    super::out(&match output {
        Output::Text => text(),
        Output::Json => value().to_json() + "\n",
        Output::Yaml => value().to_yaml(),
    })
}

/// `{key: [items…]}`, written item by item, so that ten thousand nodes need the memory of their text at most, and of
/// one where the listing is streamed. Text is YAML here.
pub struct Listing {
    json: bool,
    key: &'static str,
    buffer: String,
    empty: bool,
    /// So many bytes are gathered before they are printed.
    gather: usize,
}

impl Listing {
    /// A listing that prints nothing before it is finished: there may still be problems.
    pub fn whole(output: Output, key: &'static str) -> Listing {
        Listing { json: output == Output::Json, key, buffer: String::new(), empty: true, gather: usize::MAX }
    }

    /// A listing that prints as it grows.
    pub fn streamed(output: Output, key: &'static str) -> Listing {
        Listing { gather: 64 * 1024, ..Listing::whole(output, key) }
    }

    /// Adds an item.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn add(&mut self, item: Plain) -> Result<(), Problem> {
        let (head, tail) = self.frame();
        let text = self.text(vec![item]);
        let bare = text.strip_prefix(&head).and_then(|text| text.strip_suffix(tail)).unwrap_or(&text);
        self.buffer.push_str(match (self.empty, self.json) {
            (true, _) => &head,
            (false, true) => ",\n",
            (false, false) => "",
        });
        self.buffer.push_str(bare);
        self.empty = false;
        if self.buffer.len() >= self.gather {
            super::out_bytes(self.buffer.as_bytes())?;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Prints what is left.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn finish(mut self) -> Result<(), Problem> {
        let end = if self.empty { self.text(Vec::new()) } else { self.frame().1.to_owned() };
        self.buffer.push_str(&end);
        super::out_bytes(self.buffer.as_bytes())
    }

    /// What stands around the items is what stands around one.
    fn frame(&self) -> (String, &'static str) {
        match self.json {
            true => (format!("{{\n  \"{}\": [\n", self.key), "\n  ]\n}\n"),
            false => (format!("{}:\n", self.key), ""),
        }
    }

    fn text(&self, items: Vec<Plain>) -> String {
        let value = Plain::from_iter([(self.key, Plain::List(items))]);
        if self.json { value.to_json() + "\n" } else { value.to_yaml() }
    }
}
