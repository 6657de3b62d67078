//! What a node owes: reactions that were asked for and not performed yet. The node itself keeps them, in a file that is
//! there only while something is owed, so that whichever machine controls it next finds them.
//!
//! One line each: module, id of the resource, why, with tabs between. `owe` in `collector/lib.sh` writes them.

use super::{Facts, Request};
use crate::base::shell;
use std::collections::BTreeMap;

/// Per module the resources that must still react, and why.
pub type Debts = BTreeMap<String, BTreeMap<String, String>>;

/// The question for all debts of a node.
pub fn request() -> Request {
    Request::new("owed", ["-"])
}

/// What the node says that it owes; `None` where it has no place to keep it.
///
/// # Errors
/// The node's words where that is unknown.
pub fn read(facts: &Facts) -> Result<Option<Debts>, String> {
    let fields = facts.known(&request())?;
    match fields.text("state").as_deref() {
        Some("nowhere") => return Ok(None),
        Some("nothing") => return Ok(Some(Debts::new())),
        _ => {}
    }
    let mut debts = Debts::new();
    for line in fields.text("owed").unwrap_or_default().lines() {
        let mut words = line.splitn(3, '\t').map(open);
        let (Some(module), Some(id), Some(why)) = (words.next(), words.next(), words.next()) else {
            return Err(format!("what it owes has a line that is no debt: `{line}`"));
        };
        debts.entry(module).or_default().insert(id, why);
    }
    Ok(Some(debts))
}

/// A change of what a node owes, written as it performs an operation.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Change {
    lines: String,
}

impl Change {
    /// Owes one more: the module and the id of the resource that must react, and why.
    pub fn owe(&mut self, module: &str, id: &str, why: &str) {
        self.lines.push_str(&format!("{}\t{}\t{}\n", shut(module), shut(id), shut(why)));
    }

    /// It has reacted.
    pub fn pay(&mut self, module: &str, id: &str) {
        self.lines.push_str(&format!("{}\t{}\t\n", shut(module), shut(id)));
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The text for the node; empty where nothing changes.
    pub fn script(&self) -> String {
        match self.is_empty() {
            true => String::new(),
            false => format!("owe {}\n", shell::quote(&self.lines)),
        }
    }
}

/// Writes a word so that no tab and no line end is in it.
fn shut(word: &str) -> String {
    word.replace('\\', r"\\").replace('\t', r"\t").replace('\n', r"\n").replace('\r', r"\r")
}

fn open(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    let mut chars = word.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('t')) => out.push('\t'),
            ('\\', Some('n')) => out.push('\n'),
            ('\\', Some('r')) => out.push('\r'),
            ('\\', Some(other)) => out.push(other),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::{Answer, Fields};

    #[test]
    fn names_with_tabs_and_line_ends_come_back_as_they_were() {
        let id = "file /a\tb\nc\\t\r";
        let mut change = Change::default();
        change.owe("web", id, "why\nnot");
        assert!(change.script().starts_with("owe 'web\tfile /a\\tb\\nc\\\\t\\r\twhy\\nnot\n'"), "{}", change.script());
        let mut facts = Facts::default();
        let fields = Fields::of([("state", "something"), ("owed", change.lines.as_str())]);
        facts.insert(request(), Answer::Known(fields));
        let debts = read(&facts).expect("known").expect("a place");
        assert_eq!(debts["web"][id], "why\nnot");
    }

    #[test]
    fn what_cannot_be_read_is_not_taken_for_nothing() {
        assert!(read(&Facts::default()).is_err());
        let mut facts = Facts::default();
        facts.insert(request(), Answer::Known(Fields::of([("state", "something"), ("owed", "half a line\n")])));
        assert!(read(&facts).is_err());
        facts.insert(request(), Answer::Known(Fields::of([("state", "nowhere")])));
        assert_eq!(read(&facts), Ok(None));
    }
}
