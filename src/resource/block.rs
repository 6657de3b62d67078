//! `block`: a marked block of lines in a file that others own too.

use super::edit::{Edit, Rewrite, joined, lines, new_line, text};
use super::*;
use crate::base::shell;
use crate::common_methods;

pub const KIND: Kind = Kind {
    name: "block",
    attributes: &["marker", "content", "comment", "at", "ensure", "validate", "create"],
    build,
    join: None,
};

#[derive(Debug)]
struct Block {
    common: Common,
    edit: Edit,
    begin: String,
    end: String,
    content: Vec<u8>,
    start: bool,
    present: bool,
}

fn build(from: &Attributes<'_>) -> Result<Arc<dyn Resource>, Problem> {
    let present = from.present()?;
    let edit = Edit::read(from)?;
    let marker = from.line("marker")?.unwrap_or_else(|| "suil".to_owned());
    let comment = from.line("comment")?.unwrap_or_else(|| "#".to_owned());
    let content = match (&from.content, from.text("content")?) {
        (Some(Content::Bytes(bytes)), _) => bytes.to_vec(),
        (Some(Content::File { .. }), _) => {
            return Err(from.problem("a block cannot be streamed").expected("expected a short text"));
        }
        (None, Some(text)) => text.into_bytes(),
        (None, None) if present => {
            return Err(from.problem("`content` is missing").expected("expected the lines of the block"));
        }
        (None, None) => Vec::new(),
    };
    let (begin, end) = (format!("{comment} BEGIN {marker}"), format!("{comment} END {marker}"));
    if lines(&content).0.iter().any(|line| text(line) == begin.as_bytes() || text(line) == end.as_bytes()) {
        return Err(from.problem("its content holds its own marker").expected("expected another `marker`"));
    }
    Ok(Arc::new(Block {
        common: from.common(format!("{}: {marker}", edit.path))?,
        start: from.choice("at", &["end", "start"])? == "start",
        edit,
        begin,
        end,
        content,
        present,
    }))
}

impl Resource for Block {
    common_methods!("block");

    fn requests(&self) -> Vec<Request> {
        self.edit.requests()
    }

    fn wanted(&self) -> Plain {
        let mut wanted = Plain::map();
        wanted.set("path", &self.edit.path);
        wanted.set("ensure", if self.present { "present" } else { "absent" });
        if self.present {
            wanted.set("sha256", crate::base::digest::sha256(&self.content));
        }
        wanted
    }

    fn texts(&self) -> Vec<(String, String)> {
        let text = super::file::shown(&self.content).filter(|_| self.present);
        text.map(|text| (self.name().to_owned(), text)).into_iter().collect()
    }

    fn compare(&self, facts: &Facts, ahead: &Ahead, force: bool) -> Result<Vec<Change>, Problem> {
        self.edit.compare(self, facts, ahead, force)
    }

    fn claim(&self) -> Option<(&str, Claim)> {
        Some((&self.edit.path, Claim::Part))
    }

    fn settle(&self, facts: &mut Facts) {
        self.edit.settle(self, facts);
    }
}

impl Rewrite for Block {
    fn rewrite(&self, before: &[u8]) -> Result<Vec<u8>, String> {
        let (there, line_end) = lines(before);
        let (begin, end) = (self.begin.as_bytes(), self.end.as_bytes());
        let (inside, _) = lines(&self.content);
        let wanted: Vec<&[u8]> = match self.present {
            true => [begin].into_iter().chain(inside.iter().map(|line| text(line))).chain([end]).collect(),
            false => Vec::new(),
        };
        let places = |marker: &[u8]| {
            there.iter().enumerate().filter(|(_, line)| text(line) == marker).map(|(at, _)| at).collect::<Vec<_>>()
        };
        let (head, tail) = match (places(begin).as_slice(), places(end).as_slice()) {
            ([from], [to]) if from < to => {
                let block = there.get(*from..=*to).unwrap_or_default();
                if block.iter().map(|line| text(line)).eq(wanted.iter().copied()) {
                    return Ok(before.to_vec());
                }
                (there.get(..*from), there.get(to + 1..))
            }
            ([], []) if !self.present => return Ok(before.to_vec()),
            ([], []) if self.start => (None, Some(there.as_slice())),
            ([], []) => (Some(there.as_slice()), None),
            _ => {
                let path = &self.edit.path;
                return Err(format!("`{path}` has not one `{}` and then one `{}`", self.begin, self.end));
            }
        };
        let wanted: Vec<_> = wanted.into_iter().map(|line| new_line(line, line_end)).collect();
        let [head, tail] = [head, tail].map(Option::unwrap_or_default);
        Ok(joined(head.iter().chain(&wanted).chain(tail), line_end))
    }

    fn title(&self) -> String {
        let path = &self.edit.path;
        if self.present { format!("set a block in {path}") } else { format!("remove a block from {path}") }
    }

    fn present(&self) -> bool {
        self.present
    }

    fn deferred(&self) -> String {
        let inside: Vec<_> = lines(&self.content).0.iter().map(|line| new_line(text(line), b"\n")).collect();
        let content = String::from_utf8_lossy(&joined(&inside, b"\n")).into_owned();
        let (present, at) = (if self.present { "present" } else { "absent" }, if self.start { "start" } else { "end" });
        let words = [self.begin.as_str(), &self.end, &content, present, at];
        format!("with_block {{path}} {}", shell::join(words))
    }
}
