//! `line`: one line in a file that others own too.

use super::edit::{Edit, Rewrite, joined, lines, new_line, text};
use super::*;
use crate::base::shell;
use crate::common_methods;
use regex::bytes::Regex;

pub const KIND: Kind = Kind {
    name: "line",
    attributes: &["line", "match", "after", "at", "ensure", "validate", "create"],
    build,
    join: None,
};

/// The first line that matches `pattern` (or is the line) is the place of the line; where there is none it is
/// entered behind the last line that matches `after`, or at the start or the end. Absent: all of them go.
#[derive(Debug)]
struct Line {
    common: Common,
    edit: Edit,
    line: String,
    pattern: Option<Regex>,
    after: Option<Regex>,
    start: bool,
    present: bool,
}

fn build(from: &Attributes<'_>) -> Result<Arc<dyn Resource>, Problem> {
    let present = from.present()?;
    let edit = Edit::read(from)?;
    let pattern = regex(from, "match")?;
    let line = from.line("line")?;
    if line.is_none() && (present || pattern.is_none()) {
        return Err(from.problem("`line` is missing").expected("expected the line as it shall stand in the file"));
    }
    let line = line.unwrap_or_default();
    // Two claims on the same place of a file are the same resource, so that they can be seen to differ.
    let key = pattern.as_ref().map_or(line.as_str(), Regex::as_str);
    Ok(Arc::new(Line {
        common: from.common(format!("{}: {key}", edit.path))?,
        after: regex(from, "after")?,
        start: from.choice("at", &["end", "start"])? == "start",
        edit,
        line,
        pattern,
        present,
    }))
}

fn regex(from: &Attributes<'_>, key: &str) -> Result<Option<Regex>, Problem> {
    let Some(pattern) = from.text(key)? else { return Ok(None) };
    Regex::new(&pattern).map(Some).map_err(|error| {
        let words = error.to_string();
        let words = words.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        from.problem(&format!("`{key}` is no regular expression: {words}")).expected("expected a regular expression")
    })
}

impl Resource for Line {
    common_methods!("line");

    fn requests(&self) -> Vec<Request> {
        self.edit.requests()
    }

    fn wanted(&self) -> Plain {
        let mut wanted = Plain::map();
        wanted.set("path", &self.edit.path);
        wanted.set("ensure", if self.present { "present" } else { "absent" });
        wanted.set("line", &self.line);
        if let Some(pattern) = &self.pattern {
            wanted.set("match", pattern.as_str());
        }
        wanted
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

impl Line {
    fn is_ours(&self, line: &[u8]) -> bool {
        // Absent means the line, or what matches; an absent empty line would mean every blank one.
        let same = line == self.line.as_bytes() && (self.present || self.pattern.is_none() || !self.line.is_empty());
        same || self.pattern.as_ref().is_some_and(|pattern| pattern.is_match(line))
    }
}

impl Rewrite for Line {
    fn rewrite(&self, before: &[u8]) -> Result<Vec<u8>, String> {
        let (mut lines, end) = lines(before);
        let ours = lines.iter().position(|line| self.is_ours(text(line)));
        let wanted = new_line(self.line.as_bytes(), end);
        match ours {
            None if !self.present => return Ok(before.to_vec()),
            _ if !self.present => lines.retain(|line| !self.is_ours(text(line))),
            Some(at) => match lines.get_mut(at) {
                Some(line) if text(line) != self.line.as_bytes() => *line = wanted,
                _ => return Ok(before.to_vec()),
            },
            None => {
                let behind = |after: &Regex| lines.iter().rposition(|line| after.is_match(text(line)));
                let at = match self.after.as_ref().and_then(behind) {
                    Some(at) => at + 1,
                    None if self.start => 0,
                    None => lines.len(),
                };
                lines.insert(at, wanted);
            }
        }
        Ok(joined(&lines, end))
    }

    fn title(&self) -> String {
        let path = &self.edit.path;
        match (self.present, &self.pattern) {
            (true, _) => format!("set a line in {path}"),
            (false, _) => format!("remove a line from {path}"),
        }
    }

    fn present(&self) -> bool {
        self.present
    }

    fn deferred(&self) -> String {
        let pattern = |regex: &Option<Regex>| regex.as_ref().map(|regex| regex.as_str().to_owned()).unwrap_or_default();
        let at = if self.start { "start" } else { "end" };
        let words = [self.line.as_str(), &pattern(&self.pattern), &pattern(&self.after), at];
        format!("with_line {{path}} {}", shell::join(words))
    }
}
