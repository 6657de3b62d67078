//! `authorized_key`: one key that may log in as a user. Keys of others in the same file stay as they are.

use super::*;
use crate::base::shell;
use crate::common_methods;

pub const KIND: Kind = Kind { name: "authorized_key", attributes: &["key", "ensure"], build, join: None };

/// The fact: the home of a user, and what is in its `~/.ssh/authorized_keys`.
pub const KEYS: &str = "authorized_keys";

#[derive(Debug)]
struct AuthorizedKey {
    common: Common,
    user: String,
    /// The whole line: options, type, body, comment.
    line: String,
    /// The base64 part, which tells a key from every other.
    body: String,
    present: bool,
}

fn build(from: &Attributes<'_>) -> Result<Arc<dyn Resource>, Problem> {
    const EXPECTED: &str = "expected a line of authorized_keys, such as `ssh-ed25519 AAAA… somebody@example.com`";
    let user = from.name;
    if user.starts_with('-') || user.contains([':', '/', '\n']) {
        return Err(from.problem("this is no user").expected("expected the name of a user"));
    }
    let line = from.line("key")?.ok_or_else(|| from.problem("`key` is missing").expected(EXPECTED))?;
    let line = line.trim().to_owned();
    let Some((kind, body)) = parts(&line) else {
        return Err(from.problem("`key` is no public key").expected(EXPECTED));
    };
    let tail: String = body.chars().skip(body.len().saturating_sub(12)).collect();
    Ok(Arc::new(AuthorizedKey {
        common: from.common(format!("{user}: {kind} …{tail}"))?,
        user: user.to_owned(),
        body: body.to_owned(),
        present: from.present()?,
        line,
    }))
}

/// Type and body of the key in a line, past the options, which may hold quoted blanks.
fn parts(line: &str) -> Option<(&str, &str)> {
    let mut quoted = false;
    let mut words = line.split(|c: char| {
        quoted ^= c == '"';
        c.is_ascii_whitespace() && !quoted
    });
    let is_type = |word: &&str| {
        ["ssh-", "ecdsa-", "sk-ssh-", "sk-ecdsa-"].iter().any(|start| word.starts_with(start)) && !word.contains('=')
    };
    let kind = words.by_ref().find(is_type)?;
    let body = words.find(|word| !word.is_empty())?;
    let base64 = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
    (body.len() >= 32 && body.starts_with("AAAA") && body.chars().all(base64)).then_some((kind, body))
}

impl Resource for AuthorizedKey {
    common_methods!("authorized_key");

    fn requests(&self) -> Vec<Request> {
        vec![self.request()]
    }

    fn wanted(&self) -> Plain {
        let mut wanted = Plain::map();
        wanted.set("user", &self.user);
        wanted.set("key", &self.line);
        wanted.set("ensure", if self.present { "present" } else { "absent" });
        wanted
    }

    fn compare(&self, facts: &Facts, ahead: &Ahead, force: bool) -> Result<Vec<Change>, Problem> {
        let fields = facts.known(&self.request()).map_err(|words| path::unknown(self, &words))?;
        let exists = fields.bytes("account") == Some(b"present");
        if !exists && !self.present {
            return Ok(Vec::new());
        }
        if !exists && !ahead.has(&Brought::User(self.user.clone())) && !ahead.any_package() {
            let what = format!("authorized_key `{}`: `{}` is no user of the node", self.name(), self.user);
            return Err(
                path::placed(self, Problem::new(what)).help(format!("declare user(\"{}\") before it", self.user))
            );
        }
        let there = self.there(fields);
        let done = match self.present {
            true => there.as_slice() == [self.line.clone()],
            false => there.is_empty(),
        };
        if done && !(force && self.present) {
            return Ok(Vec::new());
        }
        let verb = match (self.present, there.is_empty()) {
            (true, true) => Verb::Create,
            (true, false) => Verb::Change,
            (false, _) => Verb::Remove,
        };
        let wanted = if self.present { self.line.as_str() } else { "" };
        let before = (!there.is_empty()).then(|| there.join("\n"));
        let after = self.present.then(|| self.line.clone());
        Ok(vec![Change {
            verb,
            title: format!("{} a key of {}", if self.present { "set" } else { "remove" }, self.user),
            diff: Diff::default().attribute("key", before, after),
            action: Action::script(format!("authorize {}\n", shell::join([self.user.as_str(), &self.body, wanted]))),
            guards_access: !self.present || facts.ssh_user == self.user,
            judged_then: (!exists).then(|| format!("`{}` must come with an earlier operation", self.user)),
            ..Change::default()
        }])
    }

    fn settle(&self, facts: &mut Facts) {
        let mut fields = facts.known(&self.request()).cloned().unwrap_or_default();
        if fields.bytes("account") != Some(b"present") && !self.present {
            return;
        }
        fields.set("account", "present");
        let content = fields.text("content").unwrap_or_default();
        let others = content.lines().filter(|line| !self.is_ours(line));
        let mut after: String = others.map(|line| format!("{line}\n")).collect();
        if self.present {
            after.push_str(&format!("{}\n", self.line));
        }
        fields.set("content", after);
        facts.insert(self.request(), Answer::Known(fields));
    }
}

impl AuthorizedKey {
    fn request(&self) -> Request {
        Request::new(KEYS, [self.user.as_str()])
    }

    fn is_ours(&self, line: &str) -> bool {
        !line.trim_start().starts_with('#') && line.split_ascii_whitespace().any(|word| word == self.body)
    }

    fn there(&self, fields: &Fields) -> Vec<String> {
        let content = fields.text("content").unwrap_or_default();
        content.lines().filter(|line| self.is_ours(line)).map(|line| line.trim().to_owned()).collect()
    }
}
