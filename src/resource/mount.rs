//! `mount`: a line of /etc/fstab, and whether it is mounted now.

use super::settle::settle;
use super::*;
use crate::base::shell;
use crate::common_methods;

pub const KIND: Kind =
    Kind { name: "mount", attributes: &["ensure", "source", "type", "options", "dump", "pass"], build, join: None };

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ensure {
    Mounted,
    /// In /etc/fstab; mounted or not.
    Present,
    Absent,
}

#[derive(Debug)]
struct Mount {
    common: Common,
    ensure: Ensure,
    /// The line of /etc/fstab; empty where it is absent.
    line: String,
}

fn build(from: &Attributes<'_>) -> Result<Arc<dyn Resource>, Problem> {
    let name = from.absolute("path", from.name)?;
    let ensure = match from.choice("ensure", &["mounted", "present", "absent"])? {
        "mounted" => Ensure::Mounted,
        "present" => Ensure::Present,
        _ => Ensure::Absent,
    };
    let word = |key: &str| match from.line(key)? {
        Some(text) if text.is_empty() => Err(from.problem(&format!("`{key}` is empty")).expected("expected a word")),
        text => Ok(text.map(|text| escape(&text))),
    };
    let missing =
        |key: &str| from.problem(&format!("`{key}` is missing")).expected(format!("expected `{key} = \"…\"`"));
    let line = if ensure == Ensure::Absent {
        String::new()
    } else {
        let source = word("source")?.ok_or_else(|| missing("source"))?;
        let kind = word("type")?.ok_or_else(|| missing("type"))?;
        let options = word("options")?.unwrap_or_else(|| "defaults".to_owned());
        let (dump, pass) = (from.number("dump")?.unwrap_or(0), from.number("pass")?.unwrap_or(0));
        format!("{source} {} {kind} {options} {dump} {pass}", escape(&name))
    };
    Ok(Arc::new(Mount { common: from.common(name)?, ensure, line }))
}

/// A word as /etc/fstab and /proc/mounts write it.
fn escape(word: &str) -> String {
    word.chars()
        .map(|c| match c {
            ' ' => "\\040".to_owned(),
            '\t' => "\\011".to_owned(),
            '\n' => "\\012".to_owned(),
            '\\' => "\\134".to_owned(),
            c => c.to_string(),
        })
        .collect()
}

impl Resource for Mount {
    common_methods!("mount");

    fn requests(&self) -> Vec<Request> {
        vec![self.request()]
    }

    fn wanted(&self) -> Plain {
        let ensure = match self.ensure {
            Ensure::Mounted => "mounted",
            Ensure::Present => "present",
            Ensure::Absent => "absent",
        };
        Plain::from_iter([
            ("path", Plain::from(self.name())),
            ("ensure", Plain::from(ensure)),
            ("fstab", Plain::from(&self.line)),
        ])
    }

    fn compare(&self, facts: &Facts, _ahead: &Ahead, force: bool) -> Result<Vec<Change>, Problem> {
        let fields = facts.known(&self.request()).map_err(|words| path::unknown(self, &words))?;
        let saved = fields.text("saved").map(|line| normal(&line)).filter(|line| !line.is_empty());
        let mounted = fields.text("now").is_some_and(|line| !line.is_empty());
        let wanted = Some(self.line.clone()).filter(|line| !line.is_empty());
        let mut diff = Diff::default();
        if saved != wanted {
            diff = diff.attribute("/etc/fstab", saved.clone(), wanted);
        }
        let yes_no = |yes: bool| Some(if yes { "yes" } else { "no" }.to_owned());
        let (shall, shall_not) = (self.ensure == Ensure::Mounted, self.ensure == Ensure::Absent);
        if (shall && !mounted) || (shall_not && mounted) {
            diff = diff.attribute("mounted", yes_no(mounted), yes_no(shall));
        }
        if diff.attributes.is_empty() && (shall_not || !force) {
            return Ok(Vec::new());
        }
        let point = [self.name(), &escape(self.name())].map(shell::quote).join(" ");
        let (verb, title, script) = match self.ensure {
            Ensure::Absent => (Verb::Remove, "unmount", format!("mount_remove {point}\n")),
            Ensure::Present => {
                (Verb::Change, "enter the mount", format!("mount_save {point} {}\n", shell::quote(&self.line)))
            }
            Ensure::Mounted => {
                let save = format!("mount_save {point} {}\n", shell::quote(&self.line));
                (Verb::Change, "mount", format!("{save}mount_now {}\n", shell::quote(self.name())))
            }
        };
        Ok(vec![Change {
            verb: if saved.is_none() && !shall_not { Verb::Create } else { verb },
            title: format!("{title} {}", self.name()),
            diff,
            action: Action::script(script),
            brings: if shall_not { Vec::new() } else { vec![Brought::Path(self.name().to_owned())] },
            ..Change::default()
        }])
    }

    fn settle(&self, facts: &mut Facts) {
        settle(facts, &self.request(), &[], |fields| {
            fields.set("saved", self.line.as_str());
            match self.ensure {
                Ensure::Mounted => fields.set("now", self.line.as_str()),
                Ensure::Absent => fields.set("now", ""),
                Ensure::Present => {}
            }
        });
    }
}

impl Mount {
    fn request(&self) -> Request {
        Request::new("mount", [escape(&self.common.name).as_str()])
    }
}

/// One blank between the words, and the two numbers that may be left out.
fn normal(line: &str) -> String {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    while (4..6).contains(&words.len()) {
        words.push("0");
    }
    words.join(" ")
}
