//! Edits inside a file that others own too: the file keeps its owner and mode, and everything else in it.

use super::access;
use super::file::{judge, shown, staged};
use super::path::{self, Found, Type, Want};
use super::*;
use crate::base::shell;
use std::borrow::Cow;

/// What `line` and `block` share.
#[derive(Debug)]
pub struct Edit {
    pub path: String,
    pub validate: Option<String>,
    /// Make the file where there is none.
    pub create: bool,
}

/// How the content of a file becomes the wanted one.
pub trait Rewrite {
    /// The new content; the same where nothing differs.
    ///
    /// # Errors
    /// What is wrong with the content that is there.
    fn rewrite(&self, before: &[u8]) -> Result<Vec<u8>, String>;

    /// One line that starts with a verb.
    fn title(&self) -> String;

    /// True where the edit wants something to be there, and not to be gone.
    fn present(&self) -> bool;

    /// The same edit as a call of a function of `lib.sh`, for a file that does not exist yet: it takes the path of
    /// the file, and prints what the file shall hold.
    fn deferred(&self) -> String;
}

impl Edit {
    /// Reads `validate` and `create`.
    ///
    /// # Errors
    /// One of them, or the path, has no meaning.
    pub fn read(from: &Attributes<'_>) -> Result<Edit, Problem> {
        let validate = from.text("validate")?;
        if validate.as_ref().is_some_and(|command| !command.contains("%s")) {
            return Err(from
                .problem("`validate` does not name the staged file")
                .expected("expected a command with `%s` for the path of the staged file"));
        }
        Ok(Edit { path: from.absolute("path", from.name)?, validate, create: from.boolean("create")?.unwrap_or(false) })
    }

    pub fn requests(&self) -> Vec<Request> {
        vec![self.request(), path::request(path::parent(&self.path), Want::Nothing)]
    }

    fn request(&self) -> Request {
        path::request(&self.path, Want::Content)
    }

    pub fn compare(
        &self,
        resource: &(impl Resource + Rewrite),
        facts: &Facts,
        ahead: &Ahead,
        force: bool,
    ) -> Result<Vec<Change>, Problem> {
        let found = Found::read(facts, &self.request()).map_err(|words| path::unknown(resource, &words))?;
        let before = match found.followed().0 {
            Type::File => match (&found.content, &found.sha256) {
                (Some(content), Some(_)) => content.as_slice(),
                // An earlier operation puts there what is too large to be looked into.
                _ if ahead.has(&Brought::Path(self.path.clone())) => return Ok(vec![self.deferred(resource)]),
                _ => {
                    let what = format!("{} bytes are too much to be edited", found.size);
                    return Err(path::unknown(resource, &what));
                }
            },
            Type::Missing if !resource.present() => return Ok(Vec::new()),
            Type::Missing if self.create => &[],
            Type::Missing if ahead.any_package() => return Ok(vec![self.deferred(resource)]),
            Type::Missing => {
                let what = format!("{} `{}`: `{}` does not exist", resource.kind(), resource.name(), self.path);
                return Err(path::placed(resource, Problem::new(what))
                    .help("declare the file before it, or set `create = True`"));
            }
            other => return Err(path::in_the_way(resource, &found.kind, other)),
        };
        let after = resource.rewrite(before).map_err(|what| {
            path::placed(resource, Problem::new(format!("{} `{}`: {what}", resource.kind(), resource.name())))
        })?;
        let fresh = *found.followed().0 == Type::Missing;
        if after == before && !fresh && !force {
            return Ok(Vec::new());
        }
        let real = path::written(resource, &self.path, &found)?;
        let judged = if fresh { path::parent_is_there(resource, &self.path, facts, ahead)? } else { None };
        Ok(vec![Change { judged_then: judged.or(self.judged()), ..self.change(resource, &found, real, before, after) }])
    }

    fn change(&self, resource: &impl Rewrite, found: &Found, real: &str, before: &[u8], after: Vec<u8>) -> Change {
        let fresh = *found.followed().0 == Type::Missing;
        let target = shell::quote(real);
        let through = match found.kind {
            Type::Link => format!(" through the symlink to {real}"),
            _ => String::new(),
        };
        let seen = if fresh { "missing" } else { found.sha256.as_deref().unwrap_or("missing") };
        let mut script = staged();
        script.push_str(&format!("unchanged {target} {seen}\n"));
        if let Some(command) = &self.validate {
            script.push_str(&judge(real, command));
        }
        script.push_str(&format!("put_file \"$1\" {target} - - -\n"));
        let text = shown(before).zip(shown(&after)).map(|(before, after)| TextDiff { before, after, shared: true });
        Change {
            verb: if fresh { Verb::Create } else { Verb::Change },
            title: format!("{}{through}", resource.title()),
            diff: Diff { attributes: Vec::new(), text },
            action: Action {
                script,
                uploads: vec![Upload { content: Content::Bytes(after.into()), beside: Some(real.to_owned()) }],
                layer: None,
            },
            brings: vec![Brought::Path(self.path.clone())],
            guards_access: access::guards(&self.path),
            undo: None,
            judged_then: None,
        }
    }

    /// The edit of a file that an earlier operation brings.
    fn deferred(&self, resource: &impl Rewrite) -> Change {
        let path = shell::quote(&self.path);
        let mut script = format!(
            "[ -f {path} ] || fail {}\ntarget=$(readlink -f -- {path})\nset -- \"$target.suil-$$\"\n{}",
            shell::quote(&format!("{} did not come with a package", self.path)),
            staged()
        );
        script.push_str(&format!("{} >\"$1\"\n", resource.deferred().replace("{path}", "\"$target\"")));
        if let Some(command) = &self.validate {
            script.push_str(&judge(&self.path, command));
        }
        script.push_str("put_file \"$1\" \"$target\" - - -\n");
        Change {
            verb: Verb::Change,
            title: resource.title(),
            diff: Diff::default().attribute("content", None, Some(resource.title())),
            action: Action::script(script),
            judged_then: Some(format!("{} must come with an earlier operation", self.path)),
            brings: vec![Brought::Path(self.path.clone())],
            guards_access: access::guards(&self.path),
            undo: None,
        }
    }

    fn judged(&self) -> Option<String> {
        self.validate.as_ref().map(|command| format!("validated by `{command}`"))
    }

    pub fn settle(&self, resource: &impl Rewrite, facts: &mut Facts) {
        path::settle(facts, &self.path, &self.request(), |fields| {
            let missing = path::is_missing(fields);
            if missing && !resource.present() {
                return;
            }
            let before = fields.bytes("content").unwrap_or_default().to_vec();
            let Ok(after) = resource.rewrite(&before) else { return };
            let prefix = path::settle_type(fields, "file");
            if missing {
                let access = access::Access { owner: None, group: None, mode: None, default_mode: 0o644, whole: true };
                access.settle(fields, prefix, true);
            }
            path::settle_content(fields, prefix, &Content::Bytes(after.into()));
        });
    }
}

/// The lines of a file with their ends, each as it is, and what ends a new line in it.
pub fn lines(content: &[u8]) -> (Vec<Cow<'_, [u8]>>, &'static [u8]) {
    let lines: Vec<Cow<'_, [u8]>> = content.split_inclusive(|byte| *byte == b'\n').map(Cow::Borrowed).collect();
    let end: &[u8] = if lines.first().is_some_and(|line| line.ends_with(b"\r\n")) { b"\r\n" } else { b"\n" };
    (lines, end)
}

/// A line without its end.
pub fn text(line: &[u8]) -> &[u8] {
    match line.strip_suffix(b"\n") {
        Some(line) => line.strip_suffix(b"\r").unwrap_or(line),
        None => line,
    }
}

/// A new line.
pub fn new_line<'a>(text: &[u8], end: &[u8]) -> Cow<'a, [u8]> {
    Cow::Owned([text, end].concat())
}

/// The lines in a row; a last line that had no end gets one where something comes behind it.
pub fn joined<'a>(lines: impl IntoIterator<Item = &'a Cow<'a, [u8]>>, end: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for line in lines {
        if !out.is_empty() && !out.ends_with(b"\n") {
            out.extend_from_slice(end);
        }
        out.extend_from_slice(line);
    }
    out
}
