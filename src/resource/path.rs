//! What stands at a path: the facts that files, directories, links, lines and blocks share.

use super::fact::{Answer, Facts, Fields, Request};
use super::{Action, Ahead, Brought, Change, Content, Diff, Resource, Verb};
use crate::base::{Problem, shell};
use std::fmt::Write;

pub const KIND: &str = "path";

/// How much is wanted to be known about the bytes of a file.
#[derive(Clone, Copy, Debug)]
pub enum Want<'a> {
    /// Nothing: a folder, a link, something to be removed.
    Nothing,
    /// The content whatever it is, up to 1 MiB: something is edited in it.
    Content,
    /// The digest, and the content where the digest is another one: it is shown as a diff.
    Differing(&'a str),
    /// The digest only.
    Digest(&'a str),
}

/// Returns the request for `path`.
pub fn request(path: &str, want: Want<'_>) -> Request {
    let want = match want {
        Want::Nothing => "-".to_owned(),
        Want::Content => "+".to_owned(),
        Want::Differing(sha256) => sha256.to_owned(),
        Want::Digest(sha256) => format!("={sha256}"),
    };
    Request { kind: KIND, args: vec![path.to_owned(), want] }
}

/// Turns the raw answer of `facts_path` into fields by name: `type`, `mode`, `uid`, `gid`, `owner`, `group`, `size`,
/// `mtime`, the same with `to_` for what a link leads to, `target`, `real`, `sha256`, `content`, `me_uid`, `me_gid`.
pub fn refine(raw: Fields) -> Answer {
    let mut fields = Fields::default();
    for (name, value) in &raw.0 {
        let outcome = match name.as_str() {
            "stat" => stat(&mut fields, "", value),
            "to_stat" if value.is_empty() => {
                fields.set("to_type", "missing");
                Ok(())
            }
            "to_stat" => stat(&mut fields, "to_", value),
            "uid" | "gid" => {
                fields.set(&format!("me_{name}"), value.as_slice());
                Ok(())
            }
            "type" if value != b"missing" => Ok(()),
            "sha256" if value.is_empty() => Ok(()),
            _ => {
                fields.set(name, value.as_slice());
                Ok(())
            }
        };
        if let Err(words) = outcome {
            return Answer::Unknown(words);
        }
    }
    match fields.bytes("type") {
        Some(_) => Answer::Known(fields),
        None => Answer::Unknown("the node did not say what stands at the path".to_owned()),
    }
}

/// `81a4:0:0:1234:1796016608:root:root`, where the first is the raw mode in hexadecimal.
fn stat(fields: &mut Fields, prefix: &str, line: &[u8]) -> Result<(), String> {
    let line = String::from_utf8_lossy(line);
    let garbled = || format!("stat gave a line that cannot be read: {line}");
    let parts: Vec<&str> = line.splitn(7, ':').collect();
    let [raw, uid, gid, size, mtime, owner, group] = parts.as_slice() else { return Err(garbled()) };
    let raw = u32::from_str_radix(raw, 16).map_err(|_| garbled())?;
    for number in [uid, gid, size] {
        number.parse::<u64>().map_err(|_| garbled())?;
    }
    mtime.parse::<i64>().map_err(|_| garbled())?;
    let kind = match raw & 0o170_000 {
        0o100_000 => "file",
        0o040_000 => "directory",
        0o120_000 => "link",
        0o010_000 => "fifo",
        0o020_000 => "character device",
        0o060_000 => "block device",
        0o140_000 => "socket",
        _ => return Err(garbled()),
    };
    let mode = mode_text(raw & 0o7777);
    let named = [("type", kind), ("mode", &mode), ("uid", uid), ("gid", gid), ("size", size), ("mtime", mtime)];
    for (name, value) in named {
        fields.set(&format!("{prefix}{name}"), value);
    }
    // `UNKNOWN` is what stat prints for a number that has no name.
    for (name, value) in [("owner", owner), ("group", group)] {
        if *value != "UNKNOWN" {
            fields.set(&format!("{prefix}{name}"), *value);
        }
    }
    Ok(())
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Type {
    Missing,
    File,
    Directory,
    Link,
    /// A socket, a device, …: suil never touches these.
    Other(String),
}

impl Type {
    fn of(word: &str) -> Type {
        match word {
            "missing" => Type::Missing,
            "file" => Type::File,
            "directory" => Type::Directory,
            "link" => Type::Link,
            other => Type::Other(other.to_owned()),
        }
    }

    /// `a directory`, as a message calls it.
    pub fn noun(&self) -> String {
        match self {
            Type::Missing => "nothing".to_owned(),
            Type::File => "a file".to_owned(),
            Type::Directory => "a directory".to_owned(),
            Type::Link => "a symlink".to_owned(),
            Type::Other(word) => format!("a {word}"),
        }
    }
}

/// Owner, group and mode of one inode.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Access {
    pub mode: Option<u32>,
    pub uid: Option<String>,
    pub gid: Option<String>,
    pub owner: Option<String>,
    pub group: Option<String>,
}

impl Access {
    /// Name and number of the owner or the group; of the mode its text, twice.
    pub fn part(&self, name: &str) -> (Option<String>, Option<String>) {
        match name {
            "owner" => (self.owner.clone(), self.uid.clone()),
            "group" => (self.group.clone(), self.gid.clone()),
            _ => (self.mode.map(mode_text), self.mode.map(mode_text)),
        }
    }
}

/// What was found at a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    pub kind: Type,
    pub access: Access,
    /// Where a symlink points, as it is written in the link.
    pub target: Option<String>,
    /// The path at the end of all links.
    pub real: Option<String>,
    /// Type and access of what a symlink leads to.
    pub to: Option<(Type, Access)>,
    pub sha256: Option<String>,
    pub content: Option<Vec<u8>>,
    pub size: u64,
    /// The user and the group that the session runs as.
    pub me: (String, String),
}

impl Found {
    /// Reads the answer to [`request`].
    ///
    /// # Errors
    /// The node's words where it is unknown.
    pub fn read(facts: &Facts, request: &Request) -> Result<Found, String> {
        let fields = facts.known(request)?;
        let kind = fields.text("type").ok_or("the answer has no type")?;
        let to = fields.text("to_type").map(|kind| (Type::of(&kind), access(fields, "to_")));
        let size = fields.text(if to.is_some() { "to_size" } else { "size" });
        let me = |name| fields.text(name).unwrap_or_else(|| "0".to_owned());
        Ok(Found {
            kind: Type::of(&kind),
            access: access(fields, ""),
            target: fields.text("target"),
            real: fields.text("real").filter(|real| !real.is_empty()),
            to,
            sha256: fields.text("sha256"),
            content: fields.bytes("content").map(<[u8]>::to_vec),
            size: size.and_then(|size| size.parse().ok()).unwrap_or(0),
            me: (me("me_uid"), me("me_gid")),
        })
    }

    /// Type and access at the end of all links.
    pub fn followed(&self) -> (&Type, &Access) {
        match (&self.kind, &self.to) {
            (Type::Link, Some((kind, access))) => (kind, access),
            _ => (&self.kind, &self.access),
        }
    }
}

fn access(fields: &Fields, prefix: &str) -> Access {
    let text = |name: &str| fields.text(&format!("{prefix}{name}"));
    Access {
        mode: text("mode").and_then(|mode| u32::from_str_radix(&mode, 8).ok()),
        uid: text("uid"),
        gid: text("gid"),
        owner: text("owner"),
        group: text("group"),
    }
}

/// The folder that holds `path`.
pub fn parent(path: &str) -> &str {
    match path.rfind('/') {
        None | Some(0) => "/",
        Some(end) => path.get(..end).unwrap_or("/"),
    }
}

/// A problem at the place of `resource`.
pub fn placed(resource: &dyn Resource, problem: Problem) -> Problem {
    match resource.place() {
        Some(place) => problem.at(place),
        None => problem,
    }
}

/// A fact is unknown, so nothing is decided on it.
pub fn unknown(resource: &dyn Resource, words: &str) -> Problem {
    placed(resource, Problem::new(format!("{} `{}`: its state is unknown", resource.kind(), resource.name())))
        .note(format!("the node said: {words}"))
}

/// Something of another type stands at the path. It is never removed for the sake of the new.
pub fn in_the_way(resource: &dyn Resource, here: &Type, there: &Type) -> Problem {
    let what = match here {
        Type::Link => format!("is a symlink to {}", there.noun()),
        here => format!("is {}", here.noun()),
    };
    placed(resource, Problem::new(format!("{} `{}`: the path {what}", resource.kind(), resource.name())))
        .expected(format!("expected a {} or nothing there", resource.kind()))
        .help("suil removes nothing of another type: move it away on the node, or name another path")
}

/// The path that is written when `path` is: the end of its links.
///
/// # Errors
/// A link leads nowhere, into a folder that is missing or in a circle.
pub fn written<'a>(resource: &dyn Resource, path: &'a str, found: &'a Found) -> Result<&'a str, Problem> {
    match (&found.kind, &found.real) {
        (Type::Link, Some(real)) => Ok(real),
        (Type::Link, None) => {
            let target = found.target.as_deref().unwrap_or_default();
            let what = format!("{} `{}`: the path is a symlink that leads nowhere", resource.kind(), resource.name());
            Err(placed(resource, Problem::new(what)).note(format!("it points to `{target}`")))
        }
        _ => Ok(path),
    }
}

/// Checks that the folder of a path is there, or that something earlier brings it. Returns what can only be judged
/// when the operation runs.
///
/// # Errors
/// The folder is missing, or something else stands there.
pub fn parent_is_there(
    resource: &dyn Resource,
    path: &str,
    facts: &Facts,
    ahead: &Ahead,
) -> Result<Option<String>, Problem> {
    let folder = parent(path);
    let found = Found::read(facts, &request(folder, Want::Nothing)).map_err(|words| unknown(resource, &words))?;
    match found.followed().0 {
        Type::Directory => Ok(None),
        _ if ahead.has(&Brought::Path(folder.to_owned())) => Ok(None),
        Type::Missing if ahead.any_package() => Ok(Some(format!("{folder} must come with a package"))),
        Type::Missing => {
            let what = format!("{} `{}`: `{folder}` does not exist", resource.kind(), resource.name());
            Err(placed(resource, Problem::new(what)).help(format!("declare directory(\"{folder}\") before it")))
        }
        other => {
            let what = format!("{} `{}`: `{folder}` is {}", resource.kind(), resource.name(), other.noun());
            Err(placed(resource, Problem::new(what)).expected("expected a directory there"))
        }
    }
}

/// The change that removes a file or a symlink.
pub fn removal(path: &str, kind: &Type) -> Change {
    Change {
        verb: Verb::Remove,
        title: format!("remove {path}"),
        diff: Diff::default().attribute("ensure", Some(kind.noun()), Some("absent".to_owned())),
        action: Action::script(format!("rm -f -- {}\n", shell::quote(path))),
        guards_access: super::access::guards(path),
        ..Change::default()
    }
}

/// Applies `change` to everything that is known about `path`, whichever way it was asked for.
pub fn settle(facts: &mut Facts, path: &str, asked: &Request, change: impl Fn(&mut Fields)) {
    if facts.get(asked).is_none() {
        facts.insert(asked.clone(), Answer::Known(Fields::of([("type", "missing")])));
    }
    facts.update(KIND, path, |_, answer| {
        let mut fields = match answer {
            Answer::Known(fields) => std::mem::take(fields),
            Answer::Unknown(_) => Fields::of([("type", "missing")]),
        };
        change(&mut fields);
        *answer = Answer::Known(fields);
    });
}

/// The fields of a path where nothing stands any more.
pub fn missing(before: &Fields) -> Fields {
    let mut fields = Fields::of([("type", "missing")]);
    for name in ["me_uid", "me_gid"] {
        if let Some(value) = before.bytes(name) {
            fields.set(name, value);
        }
    }
    fields
}

/// True where nothing stands at the end of all links.
pub fn is_missing(fields: &Fields) -> bool {
    let missing = Some(b"missing".as_slice());
    fields.bytes("type") == missing || fields.bytes("to_type") == missing
}

/// Sets the type at the end of all links; returns the prefix of the fields that describe it.
pub fn settle_type(fields: &mut Fields, kind: &str) -> &'static str {
    let prefix = if fields.bytes("type") == Some(b"link") { "to_" } else { "" };
    fields.set(&format!("{prefix}type"), kind);
    prefix
}

/// Sets size, digest and (where it can be shown) content.
pub fn settle_content(fields: &mut Fields, prefix: &str, content: &Content) {
    fields.set(&format!("{prefix}size"), content.size().to_string());
    fields.set("sha256", content.sha256());
    match content {
        Content::Bytes(bytes) => fields.set("content", bytes.as_ref()),
        Content::File { .. } => {
            fields.0.remove("content");
        }
    }
}

/// Reads an octal mode, with or without `0` or `0o` before it.
pub fn mode(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("0o").or_else(|| text.strip_prefix("0O")).unwrap_or(text);
    let octal = (1..=5).contains(&digits.len()) && digits.bytes().all(|b| (b'0'..=b'7').contains(&b));
    u32::from_str_radix(digits, 8).ok().filter(|mode| octal && *mode <= 0o7777)
}

/// `0644`, and `02775` with a special bit.
pub fn mode_text(mode: u32) -> String {
    let mut text = String::from("0");
    let _ = write!(text, "{mode:03o}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_octal_however_it_is_written() {
        for (text, want) in [
            ("0644", Some(0o644)),
            ("644", Some(0o644)),
            ("0o644", Some(0o644)),
            ("2775", Some(0o2775)),
            ("02775", Some(0o2775)),
            ("0", Some(0)),
            ("0999", None),
            ("u=rw,g=r", None),
            ("", None),
            ("0o", None),
            ("+644", None),
            ("77777", None),
        ] {
            assert_eq!(mode(text), want, "{text}");
        }
        assert_eq!(mode_text(0o644), "0644");
        assert_eq!(mode_text(0o2775), "02775");
        assert_eq!(mode_text(0), "0000");
    }

    #[test]
    fn a_raw_line_becomes_fields_and_a_name_that_is_none_is_left_out() {
        let raw =
            Fields::of([("type", "file"), ("stat", "89ed:7:8:12:-5:UNKNOWN:EXAMPLE\\domain users"), ("uid", "0")]);
        let Answer::Known(fields) = refine(raw) else { panic!("unknown") };
        let want = [
            ("type", "file"),
            ("mode", "04755"),
            ("uid", "7"),
            ("gid", "8"),
            ("size", "12"),
            ("mtime", "-5"),
            ("group", "EXAMPLE\\domain users"),
            ("me_uid", "0"),
        ];
        assert_eq!(fields, Fields::of(want));
    }

    /// The lines of another tool, or of another file, are never taken for the answer.
    #[test]
    fn a_line_that_is_no_stat_line_is_unknown() {
        for line in ["", "drwxr-xr-x 3 root root 4096 Nov 30 02:44 .", "81a4:0:0:x:5:root:root", "f1a4:0:0:1:5:a:b"] {
            let answer = refine(Fields::of([("type", "file"), ("stat", line)]));
            assert!(matches!(answer, Answer::Unknown(_)), "{line}");
        }
    }
}
