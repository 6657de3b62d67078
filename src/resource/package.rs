//! `package`: present, absent, purged, the latest, or of a version, by the node's own tool.

use super::installed::{Installed, State, version_fits};
use super::settle::settle;
use super::*;
use crate::common_methods;

pub const KIND: Kind = Kind { name: "package", attributes: &["ensure", "version", "allow"], build, join: Some(join) };

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ensure {
    Present,
    Latest,
    Absent,
    /// Absent, and its configuration files too.
    Purged,
}

/// What a transaction may do beside what is asked for.
const ALLOW: &[&str] = &["removals", "downgrades", "held", "repair"];

#[derive(Debug)]
struct Package {
    common: Common,
    ensure: Ensure,
    version: Option<String>,
    allow: Vec<String>,
}

fn build(from: &Attributes<'_>) -> Result<Arc<dyn Resource>, Problem> {
    check_word(from, "the name", from.name)?;
    let version = from.text("version")?;
    if let Some(version) = &version {
        check_word(from, "`version`", version)?;
    }
    let ensure = match from.choice("ensure", &["present", "absent", "latest", "purged"])? {
        "absent" => Ensure::Absent,
        "purged" => Ensure::Purged,
        "latest" => Ensure::Latest,
        _ => Ensure::Present,
    };
    if version.is_some() && ensure != Ensure::Present {
        return Err(from
            .problem("it has a `version` and another `ensure` than present")
            .expected("expected one of the two"));
    }
    let allow = from.list("allow")?.unwrap_or_default();
    if let Some(unknown) = allow.iter().find(|word| !ALLOW.contains(&word.as_str())) {
        let problem = from
            .problem(&format!("`allow` names `{unknown}`"))
            .expected(format!("expected some of {}", ALLOW.join(", ")));
        return Err(attributes::suggest(problem, unknown, ALLOW));
    }
    Ok(Arc::new(Package { common: from.common(from.name)?, ensure, version, allow }))
}

/// Names and versions stand as bare words in scripts.
fn check_word(from: &Attributes<'_>, what: &str, word: &str) -> Result<(), Problem> {
    let star = what != "the name";
    let good = |c: char| c.is_ascii_alphanumeric() || "+._:~^/-".contains(c) || (star && c == '*');
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(good) {
        return Ok(());
    }
    Err(from
        .problem(&format!("{what} `{}` is none of a package", word.escape_debug()))
        .expected("expected letters, digits and `+._:~^/-`"))
}

impl Resource for Package {
    common_methods!("package");

    fn requests(&self) -> Vec<Request> {
        let mut requests = vec![self.request()];
        if self.ensure == Ensure::Latest {
            requests.push(self.candidate_request());
        }
        requests
    }

    fn wanted(&self) -> Plain {
        let ensure = match self.ensure {
            Ensure::Present => "present",
            Ensure::Latest => "latest",
            Ensure::Absent => "absent",
            Ensure::Purged => "purged",
        };
        let mut wanted = Plain::from_iter([("name", Plain::from(self.name())), ("ensure", Plain::from(ensure))]);
        if let Some(version) = &self.version {
            wanted.set("version", version);
        }
        wanted
    }

    fn compare(&self, facts: &Facts, _ahead: &Ahead, force: bool) -> Result<Vec<Change>, Problem> {
        if !facts.family.is_empty() && !["debian", "redhat", "alpine"].contains(&facts.family.as_str()) {
            return Err(self.problem(&format!("packages are not supported yet on family `{}`", facts.family)));
        }
        let fields = facts.known(&self.request()).map_err(|words| self.unknown(&words))?;
        let found = Installed::read(fields).map_err(|words| self.unknown(&words))?;
        let tool = fields.text("tool").unwrap_or_default();
        match self.ensure {
            Ensure::Present | Ensure::Latest => self.install(facts, &found, &tool, force),
            Ensure::Absent | Ensure::Purged => self.remove(&found, &tool),
        }
    }

    fn settle(&self, facts: &mut Facts) {
        let candidate = facts.known(&self.candidate_request()).ok().and_then(|fields| fields.text("version"));
        let wanted = self.version.clone().or(candidate).filter(|version| !version.is_empty());
        let tool = match facts.family.as_str() {
            "redhat" => "rpm",
            "alpine" => "apk",
            _ => "apt",
        };
        settle(facts, &self.request(), &[("tool", tool)], |fields| {
            let absent = matches!(self.ensure, Ensure::Absent | Ensure::Purged);
            let found = Installed::read(fields).unwrap_or_default();
            let there = found.versions.first().filter(|_| found.state == State::Installed);
            let version = wanted.as_ref().or(there).map_or("0", String::as_str).replace('*', "");
            let name = &self.common.name;
            let line = match fields.text("tool").as_deref() {
                _ if absent => String::new(),
                Some("rpm") => {
                    let (epoch, rest) = version.split_once(':').unwrap_or(("0", &version));
                    let (version, release) = rest.split_once('-').unwrap_or((rest, "1"));
                    format!("=\t{name}\t{epoch}\t{version}\t{release}\tnoarch\n")
                }
                Some("apk") => format!("{name}\t{version}\tnoarch\n"),
                _ => format!("{name}\tinstall\tok\tinstalled\t{version}\tall\n"),
            };
            fields.set("lines", line);
        });
    }

    fn batch(&self) -> Option<&'static str> {
        Some("package")
    }
}

impl Package {
    fn request(&self) -> Request {
        Request::new("package", [self.common.name.as_str()])
    }

    fn candidate_request(&self) -> Request {
        Request::new("candidate", [self.common.name.as_str()])
    }

    fn problem(&self, what: &str) -> Problem {
        let problem = Problem::new(format!("package `{}`: {what}", self.name()));
        match self.common.place {
            Some(place) => problem.at(place),
            None => problem,
        }
    }

    fn unknown(&self, words: &str) -> Problem {
        self.problem("it is not known whether it is installed").note(format!("the node said: {}", words.trim()))
    }

    fn install(&self, facts: &Facts, found: &Installed, tool: &str, force: bool) -> Result<Vec<Change>, Problem> {
        let mut version = self.version.clone();
        let fits = match (&found.state, &self.version) {
            (State::Installed, Some(wanted)) => found.versions.iter().any(|there| version_fits(tool, wanted, there)),
            (State::Installed, None) => true,
            (State::Absent | State::Leftovers, None) => !found.provided_by.is_empty(),
            _ => false,
        };
        let mut newer = false;
        if self.ensure == Ensure::Latest && found.state == State::Installed {
            let fields = facts.known(&self.candidate_request()).map_err(|words| self.unknown(&words))?;
            let offered = fields.text("version").filter(|offered| !offered.is_empty());
            if let Some(offered) = offered.filter(|offered| !found.versions.contains(offered)) {
                newer = true;
                version = Some(offered);
            }
        }
        if fits && !newer && !force {
            return Ok(Vec::new());
        }
        let changes = !fits || newer;
        if found.held && changes && !self.allows("held") {
            return Err(self.held(found, &format!("cannot become {}", version.as_deref().unwrap_or("present"))));
        }
        let mut allow = self.allow.clone();
        if matches!(found.state, State::Broken(_)) && !self.allows("repair") {
            allow.push("repair".to_owned());
        }
        let spec = match &version {
            Some(version) => format!("{}={version}", self.name()),
            None => self.name().to_owned(),
        };
        let shown = version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
        let (verb, word) = match found.state {
            State::Absent | State::Leftovers => (Verb::Create, "install"),
            State::Installed => (Verb::Change, "install"),
            State::Broken(_) => (Verb::Change, "repair"),
        };
        let after = version.unwrap_or_else(|| "installed".to_owned());
        Ok(vec![self.change(
            verb,
            &format!("{word} {}{shown}", self.name()),
            found,
            Some(after),
            tool,
            "install",
            &allow,
            &spec,
        )])
    }

    fn remove(&self, found: &Installed, tool: &str) -> Result<Vec<Change>, Problem> {
        let purge = self.ensure == Ensure::Purged && tool == "apt";
        match found.state {
            State::Absent => return Ok(Vec::new()),
            State::Leftovers if !purge => return Ok(Vec::new()),
            _ => {}
        }
        if found.held && !self.allows("held") {
            return Err(self.held(found, "cannot be removed"));
        }
        let word = if purge { "purge" } else { "remove" };
        let title = format!("{word} {}", self.name());
        let change = self.change(Verb::Remove, &title, found, None, tool, word, &self.allow, self.name());
        Ok(vec![Change { brings: Vec::new(), ..change }])
    }

    #[allow(clippy::too_many_arguments)]
    fn change(
        &self,
        verb: Verb,
        title: &str,
        found: &Installed,
        after: Option<String>,
        tool: &str,
        action: &str,
        allow: &[String],
        spec: &str,
    ) -> Change {
        let tool = if tool == "rpm" { "dnf" } else { tool };
        let allow = if allow.is_empty() { "-".to_owned() } else { allow.join(",") };
        Change {
            verb,
            title: title.to_owned(),
            diff: Diff::default().attribute(self.name(), found.shown(), after),
            action: Action::script(format!("package_change {tool} {action} {allow} {spec}\n")),
            brings: vec![Brought::Package(self.name().to_owned())],
            guards_access: access::PACKAGES.contains(&self.name()),
            ..Change::default()
        }
    }

    fn allows(&self, word: &str) -> bool {
        self.allow.iter().any(|allowed| allowed == word)
    }

    fn held(&self, found: &Installed, what: &str) -> Problem {
        self.problem(&format!("it is held at {} on the node and {what}", found.versions.join(", ")))
            .help("release it there (`apt-mark unhold`), or set `allow = [\"held\"]`")
    }
}

/// Joins the changes of several packages: those that are asked for in the same way become one transaction.
fn join(changes: &[Change]) -> Change {
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    let mut titles: Vec<(String, Vec<String>)> = Vec::new();
    let mut out = Change::default();
    for change in changes {
        for line in change.action.script.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let (head, specs) = words.split_at(words.len().min(4));
            add(&mut lines, head.join(" "), specs.iter().map(|spec| (*spec).to_owned()));
        }
        let (word, rest) = change.title.split_once(' ').unwrap_or((&change.title, ""));
        add(&mut titles, word.to_owned(), [rest.to_owned()]);
        out.diff.attributes.extend(change.diff.attributes.iter().cloned());
        out.brings.extend(change.brings.iter().cloned());
        out.guards_access |= change.guards_access;
    }
    let same = changes.first().filter(|first| changes.iter().all(|change| change.verb == first.verb));
    out.verb = same.map_or(Verb::Change, |first| first.verb);
    out.title =
        titles.iter().map(|(word, names)| format!("{word} {}", names.join(", "))).collect::<Vec<_>>().join("; ");
    out.action.script = lines.iter().map(|(head, specs)| format!("{head} {}\n", specs.join(" "))).collect();
    out
}

fn add(groups: &mut Vec<(String, Vec<String>)>, key: String, items: impl IntoIterator<Item = String>) {
    match groups.iter_mut().find(|(known, _)| *known == key) {
        Some((_, list)) => list.extend(items),
        None => groups.push((key, items.into_iter().collect())),
    }
}
