//! `sysctl`: a value in the running kernel, and its line in a file of /etc/sysctl.d.

use super::settle::settle;
use super::*;
use crate::base::shell;
use crate::common_methods;

pub const KIND: Kind = Kind { name: "sysctl", attributes: &["value", "ensure", "file", "now"], build, join: None };

const FILE: &str = "/etc/sysctl.d/90-suil.conf";

#[derive(Debug)]
struct Sysctl {
    common: Common,
    /// `None`: its line is absent; the running value stays what it is.
    value: Option<String>,
    file: String,
    /// Whether the running kernel gets the value too.
    now: bool,
}

fn build(from: &Attributes<'_>) -> Result<Arc<dyn Resource>, Problem> {
    let good = |c: char| c.is_ascii_alphanumeric() || "._-/:@".contains(c);
    if !from.name.chars().all(good) || from.name.split(['.', '/']).any(str::is_empty) {
        return Err(from.problem("this is no key of sysctl").expected("expected a key such as `net.ipv4.ip_forward`"));
    }
    let value = from.text_or_number("value")?;
    if value.as_ref().is_some_and(|value| value.trim().is_empty() || value.contains(['\n', '\r'])) {
        return Err(from.problem("`value` is empty or holds a line break").expected("expected one line"));
    }
    let value = match (from.present()?, value) {
        (true, Some(value)) => Some(normal(&value)),
        (true, None) => return Err(from.problem("`value` is missing").expected("expected `value = …`")),
        (false, _) => None,
    };
    let file = from.text("file")?.unwrap_or_else(|| FILE.to_owned());
    let file = from.absolute("`file`", &file)?;
    Ok(Arc::new(Sysctl { common: from.common(from.name)?, value, file, now: from.boolean("now")?.unwrap_or(true) }))
}

/// One blank between the numbers of a value: the kernel prints tabs where people write blanks.
fn normal(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The key with dots, whichever way it is written: where a slash comes first, slashes part and dots are literal.
fn dotted(key: &str) -> String {
    match key.find(['.', '/']).and_then(|at| key.as_bytes().get(at)) {
        Some(b'/') => swap(key),
        _ => key.to_owned(),
    }
}

fn swap(key: &str) -> String {
    key.chars()
        .map(|c| match c {
            '.' => '/',
            '/' => '.',
            c => c,
        })
        .collect()
}

/// The value that the last line of `key` gives.
fn saved(lines: &str, key: &str) -> Option<String> {
    let lines = lines.lines().rev().map(str::trim).filter(|line| !line.starts_with(['#', ';']));
    lines
        .filter_map(|line| line.split_once('='))
        .find_map(|(name, value)| (dotted(name.trim().trim_start_matches('-').trim()) == key).then(|| normal(value)))
}

impl Resource for Sysctl {
    common_methods!("sysctl");

    fn requests(&self) -> Vec<Request> {
        vec![self.request()]
    }

    fn wanted(&self) -> Plain {
        let mut wanted = Plain::from_iter([("key", Plain::from(self.key())), ("file", Plain::from(&self.file))]);
        match &self.value {
            Some(value) => wanted.set("value", value),
            None => wanted.set("ensure", "absent"),
        }
        wanted
    }

    fn compare(&self, facts: &Facts, ahead: &Ahead, force: bool) -> Result<Vec<Change>, Problem> {
        let fields = facts.known(&self.request()).map_err(|words| path::unknown(self, &words))?;
        let (key, file) = (self.key(), shell::quote(&self.file));
        let saved = saved(&fields.text("lines").unwrap_or_default(), &key);
        let Some(value) = &self.value else {
            return Ok(saved.map(|saved| self.remove(saved)).into_iter().collect());
        };
        let mut diff = Diff::default();
        let mut script = String::new();
        if saved.as_ref() != Some(value) || force {
            diff = diff.attribute("saved", saved, Some(value.clone()));
            script.push_str(&format!("sysctl_save {file} {} {}\n", shell::quote(&key), shell::quote(value)));
        }
        let there = fields.text("state").as_deref() == Some("present");
        let found = fields.text("value").map(|value| normal(&value));
        let mut judged_then = None;
        if self.now && (found.as_ref() != Some(value) || force) {
            if !there && ahead.changed.is_empty() {
                return Err(self.missing());
            }
            judged_then = (!there).then(|| format!("{} must come with what this plan loads", self.proc()));
            diff = diff.attribute("now", found, Some(value.clone()));
            script.push_str(&format!("sysctl_now {} {}\n", shell::quote(&self.proc()), shell::quote(value)));
        }
        if script.is_empty() {
            return Ok(Vec::new());
        }
        let guards = access::guards_key(&key);
        let undo = fields.text("value").filter(|_| guards && self.now);
        Ok(vec![Change {
            guards_access: guards,
            undo: undo.map(|old| format!("sysctl_now {} {}", shell::quote(&self.proc()), shell::quote(&normal(&old)))),
            title: format!("set {key} to {value}"),
            diff,
            action: Action::script(script),
            judged_then,
            brings: vec![Brought::Path(self.file.clone())],
            ..Change::default()
        }])
    }

    fn settle(&self, facts: &mut Facts) {
        settle(facts, &self.request(), &[("state", "present")], |fields| {
            let key = self.key();
            let lines = fields.text("lines").unwrap_or_default();
            let others = lines.lines().filter(|line| saved(line, &key).is_none());
            let mut lines: String = others.map(|line| format!("{line}\n")).collect();
            if let Some(value) = &self.value {
                lines.push_str(&format!("{key} = {value}\n"));
                if self.now {
                    fields.set("state", "present");
                    fields.set("value", value.as_str());
                }
            }
            fields.set("lines", lines);
        });
    }
}

impl Sysctl {
    fn key(&self) -> String {
        dotted(&self.common.name)
    }

    fn proc(&self) -> String {
        format!("/proc/sys/{}", swap(&self.key()))
    }

    fn request(&self) -> Request {
        Request::new("sysctl", [self.key().as_str(), &self.proc(), &self.file])
    }

    fn remove(&self, saved: String) -> Change {
        Change {
            verb: Verb::Remove,
            title: format!("remove {} from {}", self.key(), self.file),
            diff: Diff::default().attribute("saved", Some(saved), None),
            action: Action::script(format!("sysctl_save {} {}\n", shell::quote(&self.file), shell::quote(&self.key()))),
            ..Change::default()
        }
    }

    fn missing(&self) -> Problem {
        let problem = Problem::new(format!("sysctl `{}`: the kernel of the node has no such key", self.name())).help(
            "load the kernel module that brings it first, or set `now = False` to save it for the next boot only",
        );
        match self.common.place {
            Some(place) => problem.at(place),
            None => problem,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_with_slashes_and_dots_are_one_key() {
        assert_eq!(dotted("net/ipv4/ip_forward"), "net.ipv4.ip_forward");
        assert_eq!(dotted("net/ipv4/conf/eth0.1/rp_filter"), "net.ipv4.conf.eth0/1.rp_filter");
        assert_eq!(swap(&dotted("net.ipv4.conf.eth0/1.rp_filter")), "net/ipv4/conf/eth0.1/rp_filter");
    }

    #[test]
    fn the_last_line_of_a_key_counts_and_comments_do_not() {
        let lines = "#vm.x=1\nvm.x = 2\n-vm/x=3\t4 \n;vm.x=5\nvm.xx=6\n";
        assert_eq!(saved(lines, "vm.x").as_deref(), Some("3 4"));
        assert_eq!(saved(lines, "vm.y"), None);
    }
}
