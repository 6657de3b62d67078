//! `user`: a local account, its groups and its password hash.

use super::group::{check_name, must_be_local, number};
use super::settle::settle;
use super::*;
use crate::base::{digest, shell};
use crate::common_methods;

pub const KIND: Kind = Kind {
    name: "user",
    attributes: &[
        "ensure",
        "uid",
        "group",
        "groups",
        "only_groups",
        "comment",
        "home",
        "shell",
        "password",
        "system",
        "create_home",
        "remove_home",
    ],
    build,
    join: None,
};

struct User {
    common: Common,
    present: bool,
    uid: Option<i64>,
    group: Option<String>,
    groups: Option<Vec<String>>,
    /// Whether `groups` are all that there may be.
    only_groups: bool,
    comment: Option<String>,
    home: Option<String>,
    shell: Option<String>,
    /// The hash, as /etc/shadow holds it.
    password: Option<String>,
    system: bool,
    create_home: bool,
    remove_home: bool,
}

impl std::fmt::Debug for User {
    /// Never the hash.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "User({})", self.common.name)
    }
}

fn build(from: &Attributes<'_>) -> Result<Arc<dyn Resource>, Problem> {
    check_name(from)?;
    let no_colon = |key: &str| match from.line(key)? {
        Some(text) if text.contains(':') => {
            Err(from.problem(&format!("`{key}` holds a colon")).expected("expected text without colons"))
        }
        text => Ok(text),
    };
    let path = |key: &str| no_colon(key)?.map(|path| from.absolute(&format!("`{key}`"), &path)).transpose();
    let groups = from.list("groups")?;
    if let Some(bad) = groups.iter().flatten().find(|name| name.is_empty() || name.contains([',', ':', '\n'])) {
        return Err(from
            .problem(&format!("`groups` names `{}`", bad.escape_debug()))
            .expected("expected names of groups"));
    }
    let password = no_colon("password")?;
    if let Some(hash) = &password
        && !hash.starts_with(['$', '!', '*', '_'])
    {
        return Err(from
            .problem("`password` is no hash")
            .expected("expected a hash as `openssl passwd -6` prints it, `!` or `*`"));
    }
    let system = from.boolean("system")?.unwrap_or(false);
    Ok(Arc::new(User {
        common: from.common(from.name)?,
        present: from.present()?,
        uid: number(from, "uid")?,
        group: from.account("group")?,
        groups,
        only_groups: from.boolean("only_groups")?.unwrap_or(false),
        comment: no_colon("comment")?,
        home: path("home")?,
        shell: path("shell")?,
        password,
        system,
        create_home: from.boolean("create_home")?.unwrap_or(!system),
        remove_home: from.boolean("remove_home")?.unwrap_or(false),
    }))
}

impl Resource for User {
    common_methods!("user");

    fn requests(&self) -> Vec<Request> {
        vec![self.request()]
    }

    fn wanted(&self) -> Plain {
        let mut wanted = Plain::from_iter([
            ("name", Plain::from(self.name())),
            ("ensure", Plain::from(if self.present { "present" } else { "absent" })),
        ]);
        if let Some(uid) = self.uid {
            wanted.set("uid", uid);
        }
        let texts = [("group", &self.group), ("comment", &self.comment), ("home", &self.home), ("shell", &self.shell)];
        for (name, text) in texts {
            if let Some(text) = text {
                wanted.set(name, text);
            }
        }
        if let Some(groups) = &self.groups {
            wanted.set("groups", groups.iter().map(Plain::from).collect::<Plain>());
            wanted.set("only_groups", self.only_groups);
        }
        if let Some(hash) = &self.password {
            wanted.set("password", format!("sha256:{}", digest::sha256(hash.as_bytes())));
        }
        wanted
    }

    fn compare(&self, facts: &Facts, _ahead: &Ahead, force: bool) -> Result<Vec<Change>, Problem> {
        let fields = facts.known(&self.request()).map_err(|words| path::unknown(self, &words))?;
        let there = fields.text("state").as_deref() == Some("present");
        if !self.present {
            return Ok(if there { vec![self.remove(fields, facts)?] } else { Vec::new() });
        }
        let account = self.account(fields, there);
        let password = self.password_differs(fields, there)?;
        let mut changes = Vec::new();
        if !there || !account.attributes.is_empty() || force {
            must_be_local(self, fields)?;
            changes.push(self.set(account, there));
        }
        if let Some(hash) = self.password.as_ref().filter(|_| password || force) {
            must_be_local(self, fields)?;
            changes.push(self.set_password(hash, there));
        }
        for change in &mut changes {
            change.guards_access = there && facts.ssh_user == self.common.name;
        }
        Ok(changes)
    }

    fn settle(&self, facts: &mut Facts) {
        settle(facts, &self.request(), &[("state", "absent")], |fields| {
            if !self.present {
                *fields = Fields::of([("state", "absent")]);
                return;
            }
            let fresh = fields.text("state").as_deref() != Some("present");
            fields.set("state", "present");
            fields.set("source", "files");
            if fresh {
                fields.set("home", format!("/home/{}", self.common.name));
                fields.set("group", self.common.name.as_str());
            }
            if let Some(uid) = self.uid {
                fields.set("uid", uid.to_string());
            }
            let texts =
                [("group", &self.group), ("comment", &self.comment), ("home", &self.home), ("shell", &self.shell)];
            for (name, text) in texts {
                if let Some(text) = text {
                    fields.set(name, text.as_str());
                }
            }
            if let Some(group) = self.group.as_ref().filter(|group| group.bytes().all(|b| b.is_ascii_digit())) {
                fields.set("gid", group.as_str());
            }
            if let Some(groups) = &self.groups {
                let mut all = if self.only_groups { Vec::new() } else { groups_of(fields) };
                all.extend(groups.iter().filter(|name| !all.contains(name)).cloned().collect::<Vec<_>>());
                fields.set("groups", all.join("\n"));
                fields.0.remove("id");
            }
            if let Some(hash) = &self.password {
                fields.set("password", digest::sha256(hash.as_bytes()));
            }
        });
    }
}

impl User {
    fn request(&self) -> Request {
        Request::new("user", [self.common.name.as_str()])
    }

    /// What differs beside the password.
    fn account(&self, fields: &Fields, there: bool) -> Diff {
        let mut diff = Diff::default();
        let mut add = |name: &str, before: Option<String>, after: &str| {
            let before = before.filter(|_| there);
            diff.attributes.push(Attribute { name: name.to_owned(), before, after: Some(after.to_owned()) });
        };
        if let Some(uid) = self.uid.map(|uid| uid.to_string())
            && fields.text("uid").as_ref() != Some(&uid)
        {
            add("uid", fields.text("uid"), &uid);
        }
        if let Some(group) = &self.group
            && fields.text("group").as_ref() != Some(group)
            && fields.text("gid").as_ref() != Some(group)
        {
            add("group", fields.text("group"), group);
        }
        if let Some(wanted) = &self.groups {
            let found = groups_of(fields);
            // The primary group counts: nobody is in it twice.
            let primary = fields.text("group");
            let missing = wanted.iter().any(|name| !found.contains(name) && Some(name) != primary.as_ref());
            let extra =
                self.only_groups && found.iter().any(|name| !wanted.contains(name) && Some(name) != primary.as_ref());
            if missing || extra {
                let mut after = if self.only_groups { Vec::new() } else { found.clone() };
                after.extend(wanted.iter().filter(|name| !after.contains(name)).cloned().collect::<Vec<_>>());
                add("groups", Some(found.join(", ")), &after.join(", "));
            }
        }
        for (name, text) in [("comment", &self.comment), ("home", &self.home), ("shell", &self.shell)] {
            if let Some(text) = text
                && fields.text(name).unwrap_or_default() != *text
            {
                add(name, fields.text(name), text);
            }
        }
        diff
    }

    /// # Errors
    /// What the node has could not be read.
    fn password_differs(&self, fields: &Fields, there: bool) -> Result<bool, Problem> {
        let Some(hash) = &self.password else { return Ok(false) };
        if !there {
            return Ok(true);
        }
        match fields.text("password").as_deref() {
            Some("unreadable") | None if fields.text("source").as_deref() == Some("directory") => Ok(true),
            Some("unreadable") | None => Err(path::unknown(self, "/etc/shadow cannot be read")),
            Some(found) => Ok(found != digest::sha256(hash.as_bytes())),
        }
    }

    fn set(&self, diff: Diff, there: bool) -> Change {
        let yes = |yes: bool| yes.then(|| "yes".to_owned());
        let mut words = vec![
            ("uid", self.uid.map(|uid| uid.to_string())),
            ("group", self.group.clone()),
            ("groups", self.groups.as_ref().map(|groups| groups.join(","))),
            ("comment", self.comment.clone()),
            ("home", self.home.clone()),
            ("shell", self.shell.clone()),
        ];
        // A user who is there is told what differs and nothing else; under force there is nothing that differs.
        let differs = |name: &str| diff.attributes.iter().any(|attribute| attribute.name == name);
        if there && !diff.attributes.is_empty() {
            words.retain(|(name, _)| differs(name));
        }
        words.push(("only_groups", yes(self.only_groups && (!there || differs("groups")))));
        if !there {
            words.push(("system", yes(self.system)));
            words.push(("create_home", Some(if self.create_home { "yes" } else { "no" }.to_owned())));
        }
        let words: Vec<String> =
            words.into_iter().filter_map(|(key, value)| value.map(|value| format!("{key}={value}"))).collect();
        let script = shell::join(["user_set", self.name()].into_iter().chain(words.iter().map(String::as_str)));
        let mut brings = vec![Brought::User(self.name().to_owned())];
        if !there {
            brings.extend(self.group.is_none().then(|| Brought::Group(self.name().to_owned())));
            let home = self.home.clone().unwrap_or_else(|| format!("/home/{}", self.name()));
            brings.extend(self.create_home.then_some(Brought::Path(home)));
        }
        Change {
            verb: if there { Verb::Change } else { Verb::Create },
            title: format!("{} user {}", if there { "change" } else { "create" }, self.name()),
            diff,
            action: Action::script(format!("{script}\n")),
            brings,
            ..Change::default()
        }
    }

    /// The hash goes by a file of the session's private folder: an argument list is open to everybody on the node.
    fn set_password(&self, hash: &str, there: bool) -> Change {
        let line = format!("{}:{hash}\n", self.name());
        let digest = digest::sha256(hash.as_bytes());
        let after = format!("sha256 {}", digest.get(..12).unwrap_or(&digest));
        Change {
            verb: Verb::Change,
            title: format!("set the password of {}", self.name()),
            diff: Diff::default().attribute("password", there.then(|| "another one".to_owned()), Some(after)),
            action: Action {
                script: "user_password \"$1\"\n".to_owned(),
                uploads: vec![Upload { content: Content::Bytes(line.into_bytes().into()), beside: None }],
                layer: None,
            },
            ..Change::default()
        }
    }

    fn remove(&self, fields: &Fields, facts: &Facts) -> Result<Change, Problem> {
        must_be_local(self, fields)?;
        let home = if self.remove_home { "yes" } else { "no" };
        let mut diff = Diff::default().attribute("uid", fields.text("uid"), None);
        if self.remove_home {
            diff = diff.attribute("home", fields.text("home"), None);
        }
        Ok(Change {
            verb: Verb::Remove,
            title: format!("remove user {}", self.name()),
            diff,
            action: Action::script(format!("user_remove {} {home}\n", self.name())),
            guards_access: facts.ssh_user == self.common.name,
            ..Change::default()
        })
    }
}

/// The supplementary groups: by name from the local files, or what `id` says of a user of a directory.
fn groups_of(fields: &Fields) -> Vec<String> {
    match fields.text("id") {
        Some(line) => id_groups(&line),
        None => fields.text("groups").unwrap_or_default().lines().map(str::to_owned).collect(),
    }
}

/// The names after `groups=` of a line of `id`. They may hold blanks, commas and backslashes: only a closing bracket
/// before the next number ends one.
fn id_groups(line: &str) -> Vec<String> {
    let Some((_, mut rest)) = line.trim_end().split_once(" groups=") else { return Vec::new() };
    let mut names = Vec::new();
    loop {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, after) = rest.split_at(digits);
        let Some(open) = after.strip_prefix('(') else {
            // A number that has no name.
            if !number.is_empty() {
                names.push(number.to_owned());
            }
            match after.strip_prefix(',') {
                Some(next) if !number.is_empty() => rest = next,
                _ => return names,
            }
            continue;
        };
        let end = open
            .match_indices("),")
            .map(|(at, _)| at)
            .find(|at| open.get(at + 2..).is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit())));
        match end {
            Some(at) => {
                names.push(open.get(..at).unwrap_or_default().to_owned());
                rest = open.get(at + 2..).unwrap_or_default();
            }
            None => {
                names.push(open.trim_end_matches(')').to_owned());
                return names;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_directory_are_read_whole() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/open/O04-busybox-stat-and-id");
        let text = std::fs::read_to_string(format!("{folder}/input/directory-users.txt")).expect("the case");
        let expect = std::fs::read_to_string(format!("{folder}/expect.json")).expect("the case");
        let expect = Plain::from_json(&expect).expect("json");
        let line = text.lines().find(|line| line.starts_with("uid=")).expect("a line of id");
        let names: Vec<Plain> = id_groups(line).into_iter().map(Plain::from).collect();
        assert_eq!(expect.get("groups").and_then(Plain::as_list), Some(names.as_slice()));
    }

    #[test]
    fn a_missing_list_of_groups_and_numbers_without_a_name_are_no_trouble() {
        assert!(id_groups("uid=0(root) gid=0(root)").is_empty());
        assert_eq!(
            id_groups("uid=1 gid=2 groups=3,4(four),5"),
            ["3", "4(four)", "5"].map(|s| s.replace("4(four)", "four"))
        );
    }
}
