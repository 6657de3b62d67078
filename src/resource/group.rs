//! `group`: a local group, its number, and its members where they are named.

use super::settle::settle;
use super::*;
use crate::base::shell;
use crate::common_methods;

pub const KIND: Kind = Kind { name: "group", attributes: &["ensure", "gid", "system", "members"], build, join: None };

#[derive(Debug)]
struct Group {
    common: Common,
    present: bool,
    gid: Option<i64>,
    system: bool,
    /// `None`: whoever is in it.
    members: Option<Vec<String>>,
}

fn build(from: &Attributes<'_>) -> Result<Arc<dyn Resource>, Problem> {
    check_name(from)?;
    let members = from.list("members")?.map(|mut members| {
        members.sort();
        members.dedup();
        members
    });
    Ok(Arc::new(Group {
        common: from.common(from.name)?,
        present: from.present()?,
        gid: number(from, "gid")?,
        system: from.boolean("system")?.unwrap_or(false),
        members,
    }))
}

/// Checks that every tool takes the name of an account.
///
/// # Errors
/// It would be read as an option, or break the files that hold accounts.
pub fn check_name(from: &Attributes<'_>) -> Result<(), Problem> {
    let good = |c: char| c.is_ascii_alphanumeric() || "_-.$".contains(c);
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    if from.name.starts_with(first) && from.name.chars().all(good) && from.name.len() <= 32 {
        return Ok(());
    }
    Err(from
        .problem("this is no name of an account")
        .expected("expected at most 32 letters, digits, `_`, `-` and `.`, a letter first"))
}

/// A uid or a gid.
///
/// # Errors
/// The number is out of range.
pub fn number(from: &Attributes<'_>, key: &str) -> Result<Option<i64>, Problem> {
    match from.number(key)? {
        Some(number) if !(0..=4_294_967_294).contains(&number) => Err(from
            .problem(&format!("`{key}` is out of range"))
            .expected(format!("expected a whole number from 0 to 4294967294, found {number}"))),
        number => Ok(number),
    }
}

impl Resource for Group {
    common_methods!("group");

    fn requests(&self) -> Vec<Request> {
        vec![self.request()]
    }

    fn wanted(&self) -> Plain {
        let mut wanted = Plain::from_iter([
            ("name", Plain::from(self.name())),
            ("ensure", Plain::from(if self.present { "present" } else { "absent" })),
        ]);
        if let Some(gid) = self.gid {
            wanted.set("gid", gid);
        }
        if let Some(members) = &self.members {
            wanted.set("members", members.iter().map(Plain::from).collect::<Plain>());
        }
        wanted
    }

    fn compare(&self, facts: &Facts, _ahead: &Ahead, force: bool) -> Result<Vec<Change>, Problem> {
        let fields = facts.known(&self.request()).map_err(|words| path::unknown(self, &words))?;
        let there = fields.text("state").as_deref() == Some("present");
        let mut diff = Diff::default();
        if !self.present {
            return Ok(if there { vec![self.remove(fields)?] } else { Vec::new() });
        }
        if let Some(gid) = self.gid.map(|gid| gid.to_string())
            && fields.text("gid").as_ref() != Some(&gid)
        {
            diff = diff.attribute("gid", fields.text("gid"), Some(gid));
        }
        let mut found = members(fields);
        found.sort();
        if let Some(wanted) = self.members.as_ref().filter(|wanted| **wanted != found) {
            let before = there.then(|| found.join(", "));
            diff = diff.attribute("members", before, Some(wanted.join(", ")));
        }
        if there && diff.attributes.is_empty() && !force {
            return Ok(Vec::new());
        }
        self.must_be_local(fields)?;
        let gid = self.gid.map(|gid| gid.to_string()).unwrap_or_default();
        let mut words = vec!["group_set", self.name(), &gid, if self.system { "yes" } else { "no" }];
        let joined = self.members.as_ref().map(|members| members.join(","));
        words.extend(joined.as_deref());
        Ok(vec![Change {
            verb: if there { Verb::Change } else { Verb::Create },
            title: format!("{} group {}", if there { "change" } else { "create" }, self.name()),
            diff,
            action: Action::script(format!("{}\n", shell::join(words))),
            brings: vec![Brought::Group(self.name().to_owned())],
            guards_access: there && access::GROUPS.contains(&self.name()),
            ..Change::default()
        }])
    }

    fn settle(&self, facts: &mut Facts) {
        settle(facts, &self.request(), &[("state", "absent")], |fields| {
            if !self.present {
                *fields = Fields::of([("state", "absent")]);
                return;
            }
            fields.set("state", "present");
            fields.set("source", "files");
            if let Some(gid) = self.gid {
                fields.set("gid", gid.to_string());
            }
            if let Some(members) = &self.members {
                fields.set("members", members.join(","));
            }
        });
    }
}

impl Group {
    fn request(&self) -> Request {
        Request::new("group", [self.common.name.as_str()])
    }

    fn must_be_local(&self, fields: &Fields) -> Result<(), Problem> {
        must_be_local(self, fields)
    }

    fn remove(&self, fields: &Fields) -> Result<Change, Problem> {
        self.must_be_local(fields)?;
        Ok(Change {
            verb: Verb::Remove,
            title: format!("remove group {}", self.name()),
            diff: Diff::default().attribute("gid", fields.text("gid"), None),
            action: Action::script(format!("group_remove {}\n", self.name())),
            guards_access: access::GROUPS.contains(&self.name()),
            ..Change::default()
        })
    }
}

/// Refuses to change an account that stands in a directory.
pub fn must_be_local(resource: &dyn Resource, fields: &Fields) -> Result<(), Problem> {
    if fields.text("source").as_deref() != Some("directory") {
        return Ok(());
    }
    let problem = Problem::new(format!(
        "{} `{}` comes from a directory (LDAP, SSSD or the like) and differs from what is wanted",
        resource.kind(),
        resource.name()
    ))
    .help("change it in the directory, or take the attribute that differs out of the data");
    Err(match resource.place() {
        Some(place) => problem.at(place),
        None => problem,
    })
}

fn members(fields: &Fields) -> Vec<String> {
    let members = fields.text("members").unwrap_or_default();
    members.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}
