//! Owner, group and mode as they are wanted.

use super::attributes::Attributes;
use super::path::{self, Found, mode_text};
use super::{Attribute, Fields};
use crate::base::{Plain, Problem, shell};
use std::borrow::Cow;

/// The wanted owner, group and mode.
///
/// What suil owns whole has all three whatever was there before. Of other things (a folder that a package made, a file
/// of somebody else's content) only what was given is touched, and the defaults are for what suil makes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// Default: the user that the session runs as, which is root but on a transport without sudo.
    pub owner: Option<String>,
    pub group: Option<String>,
    pub mode: Option<u32>,
    pub default_mode: u32,
    pub whole: bool,
}

/// One of the three, as it shall be.
struct Part<'a> {
    name: &'static str,
    number: &'static str,
    wanted: Cow<'a, str>,
    /// False where it is left as it is.
    managed: bool,
}

impl Access {
    /// Reads `owner`, `group` and `mode`.
    ///
    /// # Errors
    /// One of them has no meaning.
    pub fn read(from: &Attributes<'_>, default_mode: u32, whole: bool) -> Result<Access, Problem> {
        Ok(Access {
            owner: from.account("owner")?,
            group: from.account("group")?,
            mode: from.mode("mode")?,
            default_mode,
            whole,
        })
    }

    /// The access of a file in a place where the system allows no other.
    pub fn root(mode: u32) -> Access {
        let root = || Some("root".to_owned());
        Access { owner: root(), group: root(), mode: Some(mode), default_mode: mode, whole: true }
    }

    fn parts<'a>(&'a self, me: (&'a str, &'a str)) -> [Part<'a>; 3] {
        let part = |name, number, given: &'a Option<String>, me: &'a str| Part {
            name,
            number,
            wanted: Cow::Borrowed(given.as_deref().unwrap_or_else(|| named(me))),
            managed: self.whole || given.is_some(),
        };
        let mode = mode_text(self.mode.unwrap_or(self.default_mode));
        let managed = self.whole || self.mode.is_some();
        [
            part("owner", "uid", &self.owner, me.0),
            part("group", "gid", &self.group, me.1),
            Part { name: "mode", number: "mode", wanted: Cow::Owned(mode), managed },
        ]
    }

    fn parts_for<'a>(&'a self, found: &'a Found) -> [Part<'a>; 3] {
        self.parts((&found.me.0, &found.me.1))
    }

    /// What differs from `there`, the access of something that exists.
    pub fn differs(&self, found: &Found, there: &path::Access) -> Vec<Attribute> {
        let differs = |part: Part<'_>| {
            let (name, number) = there.part(part.name);
            let same = name.as_deref() == Some(&part.wanted) || number.as_deref() == Some(numbered(&part.wanted));
            (part.managed && !same).then(|| Attribute {
                name: part.name.to_owned(),
                before: name.or(number),
                after: Some(part.wanted.into_owned()),
            })
        };
        self.parts_for(found).into_iter().filter_map(differs).collect()
    }

    /// All three as attributes of something new.
    pub fn fresh(&self, found: &Found) -> Vec<Attribute> {
        let attribute = |part: Part<'_>| Attribute {
            name: part.name.to_owned(),
            before: None,
            after: Some(part.wanted.into_owned()),
        };
        self.parts_for(found).map(attribute).to_vec()
    }

    /// `OWNER GROUP MODE`, as the functions of `lib.sh` take them. `there`: the access of something that exists.
    pub fn words(&self, found: &Found, there: Option<&path::Access>) -> String {
        let word = |part: Part<'_>| match there.map(|there| there.part(part.name)) {
            Some((_, Some(number))) if !part.managed => number,
            _ => part.wanted.into_owned(),
        };
        let words = self.parts_for(found).map(word);
        shell::join(words.iter().map(String::as_str))
    }

    /// Writes what a run leaves into the fields of a path; `made` where it was not there before.
    pub fn settle(&self, fields: &mut Fields, prefix: &str, made: bool) {
        let me = |name| fields.text(name).unwrap_or_else(|| "0".to_owned());
        let me = (me("me_uid"), me("me_gid"));
        for part in self.parts((&me.0, &me.1)).into_iter().filter(|part| part.managed || made) {
            fields.set(&format!("{prefix}{}", part.number), numbered(&part.wanted));
            fields.set(&format!("{prefix}{}", part.name), part.wanted.as_bytes());
        }
    }

    /// What is managed, as plain data.
    pub fn wanted(&self, into: &mut Plain) {
        for part in self.parts(("0", "0")).into_iter().filter(|part| part.managed) {
            into.set(part.name, part.wanted.into_owned());
        }
    }
}

/// `root` for 0, whatever the system: no other number has a fixed name.
fn named(number: &str) -> &str {
    if number == "0" { "root" } else { number }
}

fn numbered(name: &str) -> &str {
    if name == "root" { "0" } else { name }
}

/// True for paths whose change may cut suil's own access.
pub fn guards(path: &str) -> bool {
    const ROOTS: &[&str] =
        &["/etc/ssh", "/etc/sudoers.d", "/etc/pam.d", "/etc/security", "/etc/nftables.d", "/etc/ufw"];
    const FILES: &[&str] = &["/etc/sudoers", "/etc/passwd", "/etc/shadow", "/etc/group", "/etc/nftables.conf"];
    FILES.contains(&path)
        || path.ends_with("/.ssh")
        || path.ends_with("/authorized_keys")
        || ROOTS.iter().any(|root| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}
