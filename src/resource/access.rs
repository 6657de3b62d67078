//! Owner, group and mode as they are wanted.

use super::attributes::Attributes;
use super::path::{self, Found, mode_text};
use super::{Attribute, Fields};
use crate::base::{Plain, Problem, shell};

/// The attributes that go with [`Access`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// `None`: the user that the session runs as, which is root but on a transport without sudo.
    pub owner: Option<String>,
    pub group: Option<String>,
    pub mode: u32,
}

impl Access {
    /// Reads `owner`, `group` and `mode`.
    ///
    /// # Errors
    /// One of them has no meaning.
    pub fn read(from: &Attributes<'_>, default_mode: u32) -> Result<Access, Problem> {
        Ok(Access {
            owner: from.account("owner")?,
            group: from.account("group")?,
            mode: from.mode("mode")?.unwrap_or(default_mode),
        })
    }

    fn owner<'a>(&'a self, found: &'a Found) -> &'a str {
        self.owner.as_deref().unwrap_or_else(|| named(&found.me.0))
    }

    fn group<'a>(&'a self, found: &'a Found) -> &'a str {
        self.group.as_deref().unwrap_or_else(|| named(&found.me.1))
    }

    /// What differs from `there`, the access of something that exists.
    pub fn differs(&self, found: &Found, there: &path::Access) -> Vec<Attribute> {
        let mut out = Vec::new();
        let mut add = |name: &str, before: Option<&String>, after: &str| {
            out.push(Attribute { name: name.to_owned(), before: before.cloned(), after: Some(after.to_owned()) });
        };
        let same = |wanted: &str, name: &Option<String>, number: &Option<String>| {
            name.as_deref() == Some(wanted) || number.as_deref().is_some_and(|number| number == numbered(wanted))
        };
        let (owner, group) = (self.owner(found), self.group(found));
        if !same(owner, &there.owner, &there.uid) {
            add("owner", there.owner.as_ref().or(there.uid.as_ref()), owner);
        }
        if !same(group, &there.group, &there.gid) {
            add("group", there.group.as_ref().or(there.gid.as_ref()), group);
        }
        if there.mode != Some(self.mode) {
            add("mode", there.mode.map(mode_text).as_ref(), &mode_text(self.mode));
        }
        out
    }

    /// All three as attributes of something new.
    pub fn fresh(&self, found: &Found) -> Vec<Attribute> {
        [("owner", self.owner(found)), ("group", self.group(found)), ("mode", &mode_text(self.mode))]
            .map(|(name, after)| Attribute { name: name.to_owned(), before: None, after: Some(after.to_owned()) })
            .to_vec()
    }

    /// `OWNER GROUP MODE`, as the functions of `lib.sh` take them.
    pub fn words(&self, found: &Found) -> String {
        shell::join([self.owner(found), self.group(found), &mode_text(self.mode)])
    }

    /// Writes what a run leaves into the fields of a path.
    pub fn settle(&self, fields: &mut Fields, prefix: &str) {
        fields.set(&format!("{prefix}mode"), mode_text(self.mode));
        for (name, number, wanted, me) in
            [("owner", "uid", &self.owner, "me_uid"), ("group", "gid", &self.group, "me_gid")]
        {
            let me = fields.text(me).unwrap_or_else(|| "0".to_owned());
            let wanted = wanted.as_deref().unwrap_or_else(|| named(&me));
            fields.set(&format!("{prefix}{name}"), wanted);
            fields.set(&format!("{prefix}{number}"), numbered(wanted));
        }
    }

    pub fn wanted(&self, into: &mut Plain) {
        if let Some(owner) = &self.owner {
            into.set("owner", owner);
        }
        if let Some(group) = &self.group {
            into.set("group", group);
        }
        into.set("mode", mode_text(self.mode));
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
