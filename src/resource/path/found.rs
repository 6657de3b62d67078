//! What was found at a path, read from the fields of an answer.

use super::mode_text;
use crate::resource::{Facts, Fields, Request};

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
