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

/// Prints `{key: [items…]}` item by item, so that ten thousand nodes need the memory of one. Text is YAML here.
///
/// # Errors
/// The output cannot be written.
pub fn stream(output: Output, key: &str, items: impl Iterator<Item = Plain>) -> Result<(), Problem> {
    let json = output == Output::Json;
    let whole = |items: Vec<Plain>| {
        let value = Plain::from_iter([(key, Plain::List(items))]);
        if json { value.to_json() + "\n" } else { value.to_yaml() }
    };
    // What stands around the items is what stands around one.
    let (head, tail) = match json {
        true => (format!("{{\n  \"{key}\": [\n"), "\n  ]\n}\n"),
        false => (format!("{key}:\n"), ""),
    };
    let mut buffer = String::new();
    let mut first = true;
    for item in items {
        let text = whole(vec![item]);
        let bare = text.strip_prefix(&head).and_then(|text| text.strip_suffix(tail)).unwrap_or(&text);
        buffer.push_str(match (first, json) {
            (true, _) => &head,
            (false, true) => ",\n",
            (false, false) => "",
        });
        buffer.push_str(bare);
        first = false;
        if buffer.len() >= BUFFER {
            super::out_bytes(buffer.as_bytes())?;
            buffer.clear();
        }
    }
    buffer.push_str(&if first { whole(Vec::new()) } else { tail.to_owned() });
    super::out_bytes(buffer.as_bytes())
}

/// So many bytes are gathered before they are written.
const BUFFER: usize = 64 * 1024;
