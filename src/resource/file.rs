//! `file`: content, owner, group and mode of a regular file.

use super::access::{self, Access};
use super::path::{self, Found, Type, Want};
use super::*;
use crate::base::shell;

pub const KIND: Kind = Kind {
    name: "file",
    attributes: &["content", "source", "template", "owner", "group", "mode", "ensure", "validate", "diff"],
    build,
    join: None,
};

/// Text beyond this is not shown as a diff. `facts.sh` has the same limit.
const SHOWN: u64 = 64 * 1024;

/// A file that suil owns whole. `cron` and `sudoer` are files of a fixed place and form.
#[derive(Debug)]
pub struct File {
    pub kind: &'static str,
    pub common: Common,
    pub path: String,
    /// `None`: whatever the file holds, so long as it is there.
    pub content: Option<Content>,
    pub sha256: Option<String>,
    pub access: Access,
    pub present: bool,
    pub validate: Option<String>,
    pub shown: bool,
}

fn build(from: &Attributes<'_>) -> Result<Arc<dyn Resource>, Problem> {
    let path = from.absolute("path", from.name)?;
    if path == "/" {
        return Err(from.problem("a file cannot stand at `/`").expected("expected the path of a file"));
    }
    let content = match (&from.content, from.text("content")?) {
        (Some(content), _) => Some(content.clone()),
        (None, Some(text)) => Some(Content::Bytes(text.into_bytes().into())),
        (None, None) => match ["source", "template"].into_iter().find(|key| from.value(key).is_some()) {
            Some(key) => return Err(from.problem(&format!("`{key}` was not found"))),
            None => None,
        },
    };
    let present = from.present()?;
    if !present && content.is_some() {
        return Err(from.problem("it is absent and has a content").expected("expected one of the two"));
    }
    let validate = from.text("validate")?;
    if validate.as_ref().is_some_and(|command| !command.contains("%s")) {
        return Err(from
            .problem("`validate` does not name the staged file")
            .expected("expected a command with `%s` for the path of the staged file"));
    }
    Ok(Arc::new(File {
        sha256: content.as_ref().map(Content::sha256),
        access: Access::read(from, 0o644, content.is_some())?,
        content,
        present,
        validate,
        shown: from.boolean("diff")?.unwrap_or(true),
        common: from.common(path.clone())?,
        kind: "file",
        path,
    }))
}

impl Resource for File {
    fn kind(&self) -> &'static str {
        self.kind
    }

    fn name(&self) -> &str {
        &self.common.name
    }

    fn place(&self) -> Option<Place> {
        self.common.place
    }

    fn needs(&self) -> Vec<Id> {
        self.common.needs.clone()
    }

    fn requests(&self) -> Vec<Request> {
        vec![self.request(), path::request(path::parent(&self.path), Want::Nothing)]
    }

    fn wanted(&self) -> Plain {
        let mut wanted = Plain::map();
        wanted.set("path", &self.path);
        wanted.set("ensure", if self.present { "present" } else { "absent" });
        if self.present {
            wanted.set("sha256", self.sha256.clone());
            self.access.wanted(&mut wanted);
        }
        wanted
    }

    fn texts(&self) -> Vec<(String, String)> {
        let text = match &self.content {
            Some(Content::Bytes(bytes)) if self.shown && bytes.len() as u64 <= SHOWN => shown(bytes),
            _ => None,
        };
        text.map(|text| (self.path.clone(), text)).into_iter().collect()
    }

    fn compare(&self, facts: &Facts, ahead: &Ahead, force: bool) -> Result<Vec<Change>, Problem> {
        let found = Found::read(facts, &self.request()).map_err(|words| path::unknown(self, &words))?;
        if !self.present {
            return self.remove(&found);
        }
        let (kind, there) = found.followed();
        match kind {
            Type::File | Type::Missing => {}
            other => return Err(path::in_the_way(self, &found.kind, other)),
        }
        let fresh = *kind == Type::Missing;
        let content = self.content_differs(&found, fresh);
        let attributes = if fresh { self.access.fresh(&found) } else { self.access.differs(&found, there) };
        if !fresh && !content && attributes.is_empty() && !force {
            return Ok(Vec::new());
        }
        let real = path::written(self, &self.path, &found)?;
        let mut judged = path::parent_is_there(self, &self.path, facts, ahead)?;
        let change = if fresh || content || (force && self.content.is_some()) {
            judged = judged.or_else(|| self.validate.as_ref().map(|command| format!("validated by `{command}`")));
            self.write(&found, real, content, attributes)
        } else {
            Change {
                verb: Verb::Change,
                title: format!("set {} of {}", names(&attributes), self.path),
                diff: Diff { attributes, text: None },
                action: Action::script(format!(
                    "set_access {} {}\n",
                    shell::quote(real),
                    self.access.words(&found, Some(there))
                )),
                ..Change::default()
            }
        };
        Ok(vec![Change {
            judged_then: judged,
            guards_access: access::guards(&self.path),
            brings: self.brings(),
            ..change
        }])
    }

    fn claim(&self) -> Option<(&str, Claim)> {
        let whole = self.content.is_some() || !self.present;
        Some((&self.path, if whole { Claim::Whole } else { Claim::Access }))
    }

    fn settle(&self, facts: &mut Facts) {
        path::settle(facts, &self.path, &self.request(), |fields| {
            if !self.present {
                *fields = path::missing(fields);
                return;
            }
            let made = path::is_missing(fields);
            let prefix = path::settle_type(fields, "file");
            if let Some(content) = &self.content {
                path::settle_content(fields, prefix, content);
            } else if fields.bytes("sha256").is_none() {
                path::settle_content(fields, prefix, &Content::Bytes(Arc::from([])));
            }
            self.access.settle(fields, prefix, made);
        });
    }
}

impl File {
    fn request(&self) -> Request {
        let want = match &self.sha256 {
            None => Want::Nothing,
            Some(sha256) if self.shown => Want::Differing(sha256),
            Some(sha256) => Want::Digest(sha256),
        };
        path::request(&self.path, want)
    }

    fn content_differs(&self, found: &Found, fresh: bool) -> bool {
        match &self.sha256 {
            None => fresh,
            Some(wanted) => found.sha256.as_ref() != Some(wanted),
        }
    }

    fn write(&self, found: &Found, real: &str, differs: bool, mut attributes: Vec<Attribute>) -> Change {
        let (kind, there) = found.followed();
        let fresh = *kind == Type::Missing;
        let empty = Content::Bytes(Arc::from([]));
        let content = self.content.as_ref().unwrap_or(&empty);
        let through = match found.kind {
            Type::Link => format!(" through the symlink to {real}"),
            _ => String::new(),
        };
        let text = if self.shown && differs { text_diff(found, content, fresh) } else { None };
        if text.is_none() && differs {
            let before = found.sha256.as_ref().map(|sha256| summary(found.size, sha256));
            let after = Some(summary(content.size(), &content.sha256()));
            attributes.insert(0, Attribute { name: "content".to_owned(), before, after });
        }
        Change {
            verb: if fresh { Verb::Create } else { Verb::Change },
            title: format!("write {}{through}", self.path),
            diff: Diff { attributes, text },
            action: Action {
                script: put(real, &self.access.words(found, (!fresh).then_some(there)), self.validate.as_deref()),
                uploads: vec![Upload { content: content.clone(), beside: Some(real.to_owned()) }],
                layer: None,
            },
            ..Change::default()
        }
    }

    fn remove(&self, found: &Found) -> Result<Vec<Change>, Problem> {
        match found.kind {
            Type::Missing => return Ok(Vec::new()),
            Type::File | Type::Link => {}
            ref other => return Err(path::in_the_way(self, &found.kind, other)),
        }
        Ok(vec![path::removal(&self.path, &found.kind)])
    }

    fn brings(&self) -> Vec<Brought> {
        let path = self.path.as_str();
        let mut brings = vec![Brought::Path(path.to_owned())];
        if let (Some(unit), true) = (path.rsplit('/').next(), path.contains("/systemd/system/")) {
            brings.push(Brought::Unit(unit.to_owned()));
        }
        brings
    }
}

/// The script that puts the staged upload `$1` in the place of `target`.
pub fn put(target: &str, access: &str, validate: Option<&str>) -> String {
    let mut script = staged();
    if let Some(command) = validate {
        script.push_str(&judge(target, command));
    }
    script.push_str(&format!("put_file \"$1\" {} {access}\n", shell::quote(target)));
    script
}

/// The head of a script with a staged upload: whatever ends the script, the upload does not stay.
pub fn staged() -> String {
    // A trap that runs inside a function would see the arguments of the function.
    "staged=$1\ntrap 'rm -f -- \"$staged\"' EXIT\ntrap 'exit 1' HUP INT TERM\n".to_owned()
}

/// Runs `command` on the staged upload, and ends the script where it refuses it.
pub fn judge(target: &str, command: &str) -> String {
    let staged = command.replace("'%s'", "%s").replace("\"%s\"", "%s").replace("%s", "\"$1\"");
    let words = format!("{target} is left as it was: `{command}` refused the new content");
    // A subshell and no `sh -c`: the command may hold a secret, and arguments can be read by everybody.
    format!("(\nset +eu\n{staged}\n) >&2 || fail {}\n", shell::quote(&words))
}

/// The diff of two texts, where both can be shown.
fn text_diff(found: &Found, content: &Content, fresh: bool) -> Option<TextDiff> {
    let Content::Bytes(after) = content else { return None };
    let before = if fresh { &[] } else { found.content.as_deref()? };
    if after.len() as u64 > SHOWN {
        return None;
    }
    Some(TextDiff { before: shown(before)?, after: shown(after)?, shared: false })
}

/// The text, where it is one.
pub fn shown(bytes: &[u8]) -> Option<String> {
    String::from_utf8(bytes.to_vec()).ok().filter(|text| !text.contains('\0'))
}

fn summary(size: u64, sha256: &str) -> String {
    format!("{size} bytes, sha256 {}", sha256.get(..12).unwrap_or(sha256))
}

/// `owner, mode`
pub fn names(attributes: &[Attribute]) -> String {
    if attributes.is_empty() {
        return "owner, group, mode".to_owned();
    }
    attributes.iter().map(|attribute| attribute.name.as_str()).collect::<Vec<_>>().join(", ")
}
