//! The three forms of a result: text for people, JSON and YAML for programs.
//!
//! A form for programs is one document, whatever happens: what the command shows is kept until it has ended, and then
//! printed with `version` before it and every problem and warning of the command behind it. docs/output.md lists all
//! shapes.

use super::problem::folded;
use crate::base::problem::Kind;
use crate::base::{Mask, Place, Plain, Problem};
use base64::prelude::{BASE64_STANDARD, Engine};
use std::sync::{Mutex, MutexGuard, PoisonError};
use zeroize::Zeroizing;

/// The version of every shape; it grows when a reader would have to change.
pub const VERSION: i64 = 1;

/// The form of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
pub enum Output {
    #[default]
    Text,
    Json,
    Yaml,
}

/// What a command has to tell a program, until it ends.
struct Kept {
    form: Output,
    result: Option<Plain>,
    /// A listing is open: its items are printed, what stands behind them is not.
    open: Option<Output>,
    problems: Vec<Plain>,
}

/// One process is one command, and any room of it may have something to say at any time, as on stderr.
static KEPT: Mutex<Kept> = Mutex::new(Kept { form: Output::Text, result: None, open: None, problems: Vec::new() });

fn kept() -> MutexGuard<'static, Kept> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets the form in which the command that now begins tells how it ended.
pub fn set_form(form: Output) {
    kept().form = form;
}

/// Prints a result: `text` for people, at once; `value`, which is only built where a program asks for it, is printed by
/// [`end`].
///
/// # Errors
/// The output cannot be written.
pub fn show(output: Output, text: impl FnOnce() -> String, value: impl FnOnce() -> Plain) -> Result<(), Problem> {
    if output == Output::Text {
        return super::out(&text());
    }
    let value = value();
    let mut kept = kept();
    kept.form = output;
    kept.result = Some(value);
    Ok(())
}

/// Prints a document that has a shape of its own, and is no result of suil: a JSON Schema, settings of an editor.
///
/// # Errors
/// The output cannot be written.
pub fn document(output: Output, value: &Plain) -> Result<(), Problem> {
    super::out(&match output {
        Output::Text | Output::Json => value.to_json() + "\n",
        Output::Yaml => value.to_yaml(),
    })
}

/// Prints `{version, value, encoding, problems}` for a program that asked for a plaintext. `encoding` is `text`, or
/// `base64` where the plaintext is no UTF-8. Nothing of it is kept, and every buffer is zeroed.
///
/// # Errors
/// The output cannot be written.
pub fn reveal(form: Output, plaintext: &[u8]) -> Result<(), Problem> {
    kept().open = Some(form);
    super::out_bytes(&revealed(form, plaintext))
}

/// What stands before `problems`.
fn revealed(form: Output, plaintext: &[u8]) -> Zeroizing<Vec<u8>> {
    let coded;
    let (encoding, text) = match std::str::from_utf8(plaintext) {
        Ok(text) => ("text", text),
        Err(_) => {
            coded = Zeroizing::new(BASE64_STANDARD.encode(plaintext));
            ("base64", coded.as_str())
        }
    };
    let (head, tail) = match form {
        Output::Json => {
            (format!("{{\n  \"version\": {VERSION},\n  \"value\": \""), format!("\",\n  \"encoding\": \"{encoding}\""))
        }
        _ => (format!("version: {VERSION}\nvalue: \""), format!("\"\nencoding: {encoding}\n")),
    };
    // Room for every byte as `\u0000`: a vector that grows leaves copies behind.
    let mut out = Zeroizing::new(Vec::with_capacity(text.len() * 6 + head.len() + tail.len()));
    out.extend_from_slice(head.as_bytes());
    text.chars().for_each(|c| escape(c, &mut out));
    out.extend_from_slice(tail.as_bytes());
    out
}

/// Writes a character so that it stands in a quoted string of JSON and of YAML: what YAML takes for no character, or for
/// the end of a line, is escaped, too.
fn escape(c: char, out: &mut Vec<u8>) {
    let code = u32::from(c);
    let odd = matches!(code, 0x7f..=0x9f | 0x2028 | 0x2029 | 0xfeff | 0xfffe | 0xffff);
    if code < 0x20 || odd || matches!(c, '"' | '\\') {
        out.extend_from_slice(b"\\u");
        let digits = [12, 8, 4, 0].map(|shift| char::from_digit(code >> shift & 0xf, 16).unwrap_or('0'));
        digits.iter().for_each(|digit| out.push(*digit as u8));
    } else {
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// Keeps problems for a program that reads the result; text for people has them on stderr.
pub(super) fn keep(problems: &[Problem], mask: &Mask) {
    let mut kept = kept();
    if kept.form != Output::Text {
        kept.problems.extend(folded(problems.to_vec()).iter().map(|p| problem(p, mask)));
    }
}

/// Prints what programs are told, once the command has ended. A command that has no result and no problem says nothing.
///
/// # Errors
/// The output cannot be written.
pub fn end() -> Result<(), Problem> {
    let mut kept = kept();
    let (form, open, result) = (kept.form, kept.open.take(), kept.result.take());
    let problems = Plain::List(std::mem::take(&mut kept.problems));
    drop(kept);
    let none = problems.as_list().is_none_or(<[Plain]>::is_empty);
    let text = match (form, open) {
        (Output::Text, _) => return Ok(()),
        (_, Some(form)) => Listing::tail(form, problems),
        (_, None) if result.is_none() && none => return Ok(()),
        (form, None) => written(form, &whole(result.unwrap_or_else(Plain::map), problems)),
    };
    super::out_bytes(text.as_bytes())
}

/// `version` first, `problems` last.
fn whole(result: Plain, problems: Plain) -> Plain {
    let mut out = Plain::from_iter([("version", Plain::Int(VERSION))]);
    match result {
        Plain::Map(map) => map.into_iter().for_each(|(key, value)| out.set(key, value)),
        other => out.set("result", other),
    }
    out.set("problems", problems);
    out
}

fn written(form: Output, value: &Plain) -> String {
    match form {
        Output::Json => value.to_json() + "\n",
        Output::Text | Output::Yaml => value.to_yaml(),
    }
}

/// `{what, severity, kind, file, line, column, expected, notes: [{text, file, line, column}], help}`.
pub fn problem(problem: &Problem, mask: &Mask) -> Plain {
    let show = |text: &str| Plain::from(mask.apply(text));
    let note = |note: &crate::base::Note| {
        std::iter::once(("text", show(&note.text))).chain(place(note.place)).collect::<Plain>()
    };
    let severity = if problem.kind == Kind::Warning { "warning" } else { "error" };
    let head = [("what", show(&problem.what)), ("severity", severity.into()), ("kind", word(problem.kind).into())];
    let tail = [
        ("expected", problem.expected.as_deref().map_or(Plain::Null, show)),
        ("notes", problem.notes.iter().map(note).collect()),
        ("help", problem.help.as_deref().map_or(Plain::Null, show)),
    ];
    head.into_iter().chain(place(problem.place)).chain(tail).collect()
}

fn place(place: Option<Place>) -> [(&'static str, Plain); 3] {
    [
        ("file", Plain::from(place.map(|p| p.path().display().to_string()))),
        ("line", Plain::from(place.map(|p| p.line))),
        ("column", Plain::from(place.map(|p| p.column))),
    ]
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Failed => "failed",
        Kind::Refused => "refused",
        Kind::Usage => "usage",
        Kind::Interrupted => "interrupted",
        Kind::Warning => "warning",
    }
}

/// `{version, key: [items…], problems}`, written item by item, so that ten thousand nodes need the memory of their text
/// at most, and of one where the listing is streamed. Text is the list alone, in YAML.
pub struct Listing {
    output: Output,
    key: &'static str,
    buffer: String,
    empty: bool,
    /// So many bytes are gathered before they are printed.
    gather: usize,
}

impl Listing {
    /// A listing that prints nothing before it is finished: there may still be problems.
    pub fn whole(output: Output, key: &'static str) -> Listing {
        Listing { output, key, buffer: String::new(), empty: true, gather: usize::MAX }
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
        let item = self.bare(vec![item]);
        let between = match (self.empty, self.output) {
            (true, _) => self.head(),
            (false, Output::Json) => ",\n".to_owned(),
            (false, _) => String::new(),
        };
        self.buffer.push_str(&between);
        self.buffer.push_str(&item);
        self.empty = false;
        if self.buffer.len() >= self.gather {
            super::out_bytes(self.buffer.as_bytes())?;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Prints what is left; what stands behind the items is printed by [`end`].
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn finish(mut self) -> Result<(), Problem> {
        if self.empty {
            return show(
                self.output,
                || written(self.output, &Plain::from_iter([(self.key, Plain::List(Vec::new()))])),
                || Plain::from_iter([(self.key, Plain::List(Vec::new()))]),
            );
        }
        if self.output == Output::Json {
            self.buffer.push_str("\n  ]");
        }
        if self.output != Output::Text {
            kept().open = Some(self.output);
        }
        super::out_bytes(self.buffer.as_bytes())
    }

    fn head(&self) -> String {
        let key = self.key;
        match self.output {
            Output::Text => format!("{key}:\n"),
            Output::Yaml => format!("version: {VERSION}\n{key}:\n"),
            Output::Json => format!("{{\n  \"version\": {VERSION},\n  \"{key}\": [\n"),
        }
    }

    fn tail(form: Output, problems: Plain) -> String {
        let text = written(form, &Plain::from_iter([("problems", problems)]));
        match (form, text.strip_prefix("{\n")) {
            (Output::Json, Some(rest)) => format!(",\n{rest}"),
            _ => text,
        }
    }

    /// The text of items without what stands around them, which is what stands around none.
    fn bare(&self, items: Vec<Plain>) -> String {
        let text = written(self.output, &Plain::from_iter([(self.key, Plain::List(items))]));
        let (head, tail) = match self.output {
            Output::Json => (format!("{{\n  \"{}\": [\n", self.key), "\n  ]\n}\n"),
            _ => (format!("{}:\n", self.key), ""),
        };
        text.strip_prefix(&head).and_then(|text| text.strip_suffix(tail)).unwrap_or(&text).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMS: [Output; 2] = [Output::Json, Output::Yaml];

    fn read(form: Output, text: &str) -> Plain {
        let read = if form == Output::Json { Plain::from_json(text) } else { Plain::from_yaml(text) };
        read.unwrap_or_else(|e| panic!("{form:?}: {e}\n{text}"))
    }

    #[test]
    fn a_plaintext_comes_back_byte_for_byte_whatever_it_is() {
        let all: Vec<u8> = (0..=255).collect();
        let texts =
            ["", "a", "line\n", "\"'\\ \u{0}\u{7f}\u{85}\u{2028}\u{feff}\u{ffff}ключ😀", "yes", "0644", "- a: b #c"];
        for plaintext in texts.iter().map(|text| text.as_bytes()).chain([all.as_slice(), &[0xff]]) {
            for form in FORMS {
                let head = revealed(form, plaintext);
                let text =
                    String::from_utf8(head.to_vec()).expect("UTF-8") + &Listing::tail(form, Plain::List(Vec::new()));
                let told = read(form, &text);
                let value = told.get("value").and_then(Plain::as_str).expect("a value");
                let found = match told.get("encoding").and_then(Plain::as_str) {
                    Some("base64") => BASE64_STANDARD.decode(value).expect("base64"),
                    _ => value.as_bytes().to_vec(),
                };
                assert_eq!(found, plaintext, "{form:?}: {text}");
                assert_eq!(told.get("problems"), Some(&Plain::List(Vec::new())));
            }
        }
    }

    #[test]
    fn a_listing_is_the_same_document_as_one_that_was_built_at_once() {
        let problems = || Plain::List(vec![problem(&Problem::new("it \"failed\""), &Mask::new())]);
        let items = [Plain::from("a"), Plain::from_iter([("b", Plain::List(Vec::new()))]), Plain::Null];
        for form in FORMS {
            let mut listing = Listing::whole(form, "nodes");
            for item in &items {
                listing.add(item.clone()).expect("added");
            }
            let end = if form == Output::Json { "\n  ]" } else { "" };
            let text = format!("{}{end}{}", listing.buffer, Listing::tail(form, problems()));
            let whole = whole(Plain::from_iter([("nodes", items.iter().cloned().collect::<Plain>())]), problems());
            assert_eq!(text, written(form, &whole));
        }
    }

    #[test]
    fn version_stands_first_and_problems_last() {
        let keys = |value: &Plain| value.as_map().into_iter().flatten().map(|(key, _)| key.clone()).collect::<Vec<_>>();
        for result in [
            Plain::from_iter([("a", Plain::Null), ("version", Plain::Int(1))]),
            Plain::from_iter([("version", Plain::Int(1)), ("a", Plain::Null)]),
        ] {
            assert_eq!(keys(&whole(result, Plain::List(Vec::new()))), ["version", "a", "problems"]);
        }
    }
}
