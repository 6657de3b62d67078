//! `service`: a systemd unit running, enabled, masked; restarted or reloaded when something it depends on changes.

use super::moment::Moment;
use super::settle::settle;
use super::*;
use crate::common_methods;

pub const KIND: Kind = Kind {
    name: "service",
    attributes: &["running", "enabled", "masked", "restart_on", "reload_on"],
    build,
    join: None,
};

#[derive(Debug)]
pub struct Service {
    common: Common,
    /// The name with its suffix.
    unit: String,
    running: Option<bool>,
    enabled: Option<bool>,
    masked: Option<bool>,
    triggers: Vec<Trigger>,
}

fn build(from: &Attributes<'_>) -> Result<Arc<dyn Resource>, Problem> {
    let of = |key: &str, fire: Fire| Ok::<_, Problem>(from.ids(key)?.into_iter().map(move |on| Trigger { on, fire }));
    let mut triggers: Vec<Trigger> = of("restart_on", Fire::Restart)?.collect();
    triggers.extend(of("reload_on", Fire::Reload)?);
    let mut common = from.common(from.name)?;
    // A service is handled after what it reacts to: a start then finds the new files.
    for trigger in &triggers {
        if !common.needs.contains(&trigger.on) {
            common.needs.push(trigger.on.clone());
        }
    }
    let (running, masked) = (from.boolean("running")?, from.boolean("masked")?);
    if masked == Some(true) && (running == Some(true) || from.boolean("enabled")? == Some(true)) {
        return Err(from.problem("it is masked and shall run or be enabled").expected("expected one of the two"));
    }
    Ok(Arc::new(Service {
        unit: unit_name(from)?,
        common,
        running,
        enabled: from.boolean("enabled")?,
        masked,
        triggers,
    }))
}

/// The name of a unit, with `.service` where it has no suffix.
pub fn unit_name(from: &Attributes<'_>) -> Result<String, Problem> {
    const SUFFIXES: &[&str] =
        &["service", "socket", "timer", "path", "mount", "automount", "target", "swap", "slice", "scope"];
    let good = |c: char| c.is_ascii_alphanumeric() || ":-_.\\@".contains(c);
    if from.name.starts_with('-') || !from.name.chars().all(good) {
        return Err(from.problem("this is no name of a unit").expected("expected letters, digits and `:-_.\\@`"));
    }
    let suffixed = from.name.rsplit_once('.').is_some_and(|(_, suffix)| SUFFIXES.contains(&suffix));
    Ok(if suffixed { from.name.to_owned() } else { format!("{}.service", from.name) })
}

impl Resource for Service {
    common_methods!("service");

    fn requests(&self) -> Vec<Request> {
        let files = self.triggers.iter().filter_map(|trigger| watched(&trigger.on));
        let mut requests = vec![request(&self.unit)];
        requests.extend(files.map(|path| Request::new("mtime", [path.as_str()])));
        requests
    }

    fn wanted(&self) -> Plain {
        let mut wanted = Plain::from_iter([("unit", Plain::from(&self.unit))]);
        for (name, value) in [("running", self.running), ("enabled", self.enabled), ("masked", self.masked)] {
            if let Some(value) = value {
                wanted.set(name, value);
            }
        }
        wanted
    }

    fn compare(&self, facts: &Facts, ahead: &Ahead, _force: bool) -> Result<Vec<Change>, Problem> {
        let found = Found::read(facts, &self.unit).map_err(|words| path::unknown(self, &words))?;
        if found.load == "not-found" {
            return self.compare_missing(ahead);
        }
        if !["loaded", "masked"].contains(&found.load.as_str()) && ahead.has(&Brought::Unit(self.unit.clone())) {
            return self.compare_missing(ahead);
        }
        if !["loaded", "masked"].contains(&found.load.as_str()) {
            return Err(self.problem(&format!("systemd cannot load its unit (`{}`)", found.load)));
        }
        if found.masked() && self.masked.is_none() && (self.running == Some(true) || self.enabled == Some(true)) {
            return Err(self
                .problem("it is masked on the node, which forbids to start it")
                .help("set `masked = False` if it shall run"));
        }
        let steps = self.steps(&found);
        let mut changes = Vec::new();
        if found.need_reload || self.unit_changes(ahead) {
            changes.push(self.change(&["reload-units"], Verb::Run, "reload systemd's unit files for", Diff::default()));
        }
        if !steps.verbs.is_empty() {
            let words = steps.title();
            changes.push(Change {
                guards_access: self.guards(),
                ..self.change(&steps.verbs, Verb::Change, &words, steps.diff)
            });
        }
        Ok(changes)
    }

    fn triggers(&self) -> Vec<Trigger> {
        self.triggers.clone()
    }

    fn fire(&self, what: Fire, facts: &Facts, own_changes: &[Change]) -> Option<Change> {
        let script = |words: &[&str]| {
            own_changes
                .iter()
                .flat_map(|change| change.action.script.split_whitespace())
                .any(|word| words.contains(&word))
        };
        // A start of this plan comes after what it reacts to, and `start-anew` never leaves an old process.
        if script(&["start", "start-anew", "stop", "mask"]) {
            return None;
        }
        let found = Found::read(facts, &self.unit).unwrap_or_default();
        if self.running == Some(false) || (!found.is_up() && self.running != Some(true)) {
            return None;
        }
        let try_only = self.running != Some(true);
        let (verb, word) = match (what, try_only) {
            (Fire::Reload, false) => ("reload", "reload"),
            (Fire::Reload, true) => ("try-reload", "reload"),
            (_, false) => ("restart", "restart"),
            (_, true) => ("try-restart", "restart"),
        };
        Some(Change { guards_access: self.guards(), ..self.change(&[verb], Verb::Run, word, Diff::default()) })
    }

    fn owed(&self, facts: &Facts) -> Option<(Fire, String)> {
        let found = Found::read(facts, &self.unit).ok().filter(Found::is_up)?;
        if self.running == Some(false) {
            return None;
        }
        let newer = |trigger: &Trigger, since: Option<Moment>| {
            let path = watched(&trigger.on)?;
            let fields = facts.known(&Request::new("mtime", [path.as_str()])).ok()?;
            let written = Moment::read(&fields.text("at")?)?;
            written.is_after(since?).then_some(path)
        };
        let mut owed: Vec<(Fire, String)> = self
            .triggers
            .iter()
            .filter_map(|trigger| match trigger.fire {
                Fire::Reload => newer(trigger, found.changed_at)
                    .map(|path| (Fire::Reload, format!("{} was last loaded before {path} was written", self.name()))),
                fire => newer(trigger, found.started_at)
                    .map(|path| (fire, format!("{} has run since before {path} was written", self.name()))),
            })
            .collect();
        owed.sort_by_key(|(fire, _)| std::cmp::Reverse(*fire));
        owed.into_iter().next()
    }

    fn settle(&self, facts: &mut Facts) {
        settle(facts, &request(&self.unit), &[("load", "loaded"), ("active", "inactive")], |fields| {
            fields.set("need_reload", "no");
            fields.set("load", if self.masked == Some(true) { "masked" } else { "loaded" });
            match self.running {
                Some(true) => {
                    fields.set("active", "active");
                    fields.set("sub", "running");
                    // After everything that this run writes.
                    fields.set("started_at", "253402300799");
                    fields.set("changed_at", "253402300799");
                }
                Some(false) => fields.set("active", "inactive"),
                None => {}
            }
            let was_masked = fields.text("enabled").as_deref() == Some("masked");
            match (self.masked, self.enabled) {
                (Some(true), _) => fields.set("enabled", "masked"),
                (_, Some(true)) => fields.set("enabled", "enabled"),
                (_, Some(false)) => fields.set("enabled", "disabled"),
                (Some(false), None) if was_masked => fields.set("enabled", "disabled"),
                _ => {}
            }
        });
    }
}

/// What has to be done, as words of `service_change`, as words of a title, and as a diff.
#[derive(Default)]
struct Steps {
    verbs: Vec<&'static str>,
    words: Vec<&'static str>,
    diff: Diff,
}

impl Steps {
    /// `enable and start`
    fn title(&self) -> String {
        match self.words.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, first)) => format!("{} and {last}", first.join(", ")),
            None => String::new(),
        }
    }

    fn add(&mut self, verb: &'static str, word: &'static str, attribute: &str, before: &str, after: &str) {
        self.verbs.push(verb);
        self.words.push(word);
        let diff = std::mem::take(&mut self.diff);
        self.diff = diff.attribute(attribute, Some(before.to_owned()), Some(after.to_owned()));
    }
}

impl Service {
    fn steps(&self, found: &Found) -> Steps {
        let mut steps = Steps::default();
        let yes_no = |yes: bool| if yes { "yes" } else { "no" };
        if self.masked == Some(false) && found.masked() {
            steps.add("unmask", "unmask", "masked", "yes", "no");
        }
        match self.enabled {
            Some(true) if !found.is_enabled() => steps.add("enable", "enable", "enabled", found.enabled_word(), "yes"),
            Some(false) if found.can_be_disabled() => {
                steps.add("disable", "disable", "enabled", found.enabled_word(), "no");
            }
            _ => {}
        }
        let running = if found.active == "failed" { "failed" } else { yes_no(found.is_up()) };
        match self.running {
            Some(true) if !found.is_up() => steps.add(self.start(), "start", "running", running, "yes"),
            Some(false) if found.is_up() || found.active == "activating" => {
                steps.add("stop", "stop", "running", running, "no");
            }
            _ => {}
        }
        if self.masked == Some(true) && !found.masked() {
            steps.add("mask", "mask", "masked", "no", "yes");
        }
        steps
    }

    /// A package may have started it on the files that it brought, before those of this plan were there.
    fn start(&self) -> &'static str {
        if self.triggers.is_empty() { "start" } else { "start-anew" }
    }

    /// No such unit: well where nothing is wanted of it, or where a package of this plan may bring it.
    fn compare_missing(&self, ahead: &Ahead) -> Result<Vec<Change>, Problem> {
        let wants = self.running == Some(true) || self.enabled == Some(true);
        if !wants && self.masked != Some(true) {
            // What a package of this plan brings may run by its own accord.
            if !self.may_come(ahead) || (self.running.is_none() && self.enabled.is_none()) {
                return Ok(Vec::new());
            }
        } else if !self.may_come(ahead) && self.masked != Some(true) {
            return Err(self
                .problem("there is no such unit on the node")
                .help("list the package or the unit that brings it before the service"));
        }
        let steps = self.steps(&Found::coming(self.running == Some(false), self.enabled == Some(false)));
        let judged = (self.masked != Some(true)).then(|| format!("the unit {} comes with this plan", self.unit));
        let words = steps.title();
        Ok(vec![Change {
            guards_access: self.guards(),
            judged_then: judged,
            ..self.change(&steps.verbs, Verb::Create, &words, steps.diff)
        }])
    }

    fn may_come(&self, ahead: &Ahead) -> bool {
        let template = self
            .unit
            .split_once('@')
            .map(|(name, rest)| format!("{name}@.{}", rest.rsplit_once('.').map_or("service", |(_, suffix)| suffix)));
        ahead.any_package()
            || ahead.has(&Brought::Unit(self.unit.clone()))
            || template.is_some_and(|template| ahead.has(&Brought::Unit(template)))
    }

    /// True where this plan writes a file of the unit: systemd has to read it again.
    fn unit_changes(&self, ahead: &Ahead) -> bool {
        let drop_ins = format!("/{}.d/", self.unit);
        let own = format!("/{}", self.unit);
        ahead.brought.iter().any(|brought| match brought {
            Brought::Path(path) => {
                path.contains("/systemd/system/") && (path.contains(&drop_ins) || path.ends_with(&own))
            }
            _ => false,
        })
    }

    fn change(&self, verbs: &[&str], verb: Verb, words: &str, diff: Diff) -> Change {
        Change {
            verb,
            title: format!("{words} {}", self.name()),
            diff,
            action: Action::script(format!(
                "service_change {} {}\n",
                crate::base::shell::quote(&self.unit),
                verbs.join(" ")
            )),
            ..Change::default()
        }
    }

    fn guards(&self) -> bool {
        let name = self.unit.rsplit_once('.').map_or(self.unit.as_str(), |(name, _)| name);
        access::UNITS.contains(&name)
    }

    fn problem(&self, what: &str) -> Problem {
        let problem = Problem::new(format!("service `{}`: {what}", self.name()));
        match self.common.place {
            Some(place) => problem.at(place),
            None => problem,
        }
    }
}

/// The request for what systemd says of a unit.
pub fn request(unit: &str) -> Request {
    Request::new("service", [unit])
}

/// The file whose age tells whether a reaction is still owed.
fn watched(id: &Id) -> Option<String> {
    let (kind, name) = id.0.split_once(' ')?;
    match kind {
        "unit" => Some(format!("/etc/systemd/system/{name}")),
        "sudoer" => Some(format!("/etc/sudoers.d/{name}")),
        // A line or a block is named by its file, and may go on with what tells it from others there.
        _ if name.starts_with('/') => Some(name.split(": ").next().unwrap_or(name).to_owned()),
        _ => None,
    }
}

/// A unit as it was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub load: String,
    pub active: String,
    sub: String,
    enabled: String,
    pub need_reload: bool,
    started_at: Option<Moment>,
    changed_at: Option<Moment>,
}

impl Found {
    /// Reads the answer to [`request`].
    ///
    /// # Errors
    /// The node's words where it is unknown.
    pub fn read(facts: &Facts, unit: &str) -> Result<Found, String> {
        let fields = facts.known(&request(unit))?;
        let text = |name: &str| fields.text(name).unwrap_or_default();
        Ok(Found {
            load: text("load"),
            active: text("active"),
            sub: text("sub"),
            enabled: text("enabled"),
            need_reload: text("need_reload") == "yes",
            started_at: Moment::read(&text("started_at")),
            changed_at: Moment::read(&text("changed_at")),
        })
    }

    /// A unit that a package will bring, and start and enable or not: the worst is assumed.
    fn coming(runs: bool, enabled: bool) -> Found {
        let word =
            |yes: bool, yes_word: &str, no_word: &str| if yes { yes_word.to_owned() } else { no_word.to_owned() };
        Found {
            load: "loaded".to_owned(),
            active: word(runs, "active", "inactive"),
            enabled: word(enabled, "enabled", "disabled"),
            ..Found::default()
        }
    }

    fn masked(&self) -> bool {
        self.load == "masked" || self.enabled.starts_with("masked")
    }

    /// A service that systemd starts again and again is not up.
    pub fn is_up(&self) -> bool {
        match self.active.as_str() {
            "active" | "reloading" | "refreshing" => true,
            "activating" => self.sub != "auto-restart",
            _ => false,
        }
    }

    /// A unit that nothing can enable (static, generated) counts as enabled: there is nothing to be done.
    pub fn is_enabled(&self) -> bool {
        matches!(self.enabled.as_str(), "enabled" | "alias" | "static" | "generated" | "transient" | "indirect")
    }

    fn can_be_disabled(&self) -> bool {
        matches!(self.enabled.as_str(), "enabled" | "enabled-runtime" | "linked" | "linked-runtime" | "alias")
    }

    fn enabled_word(&self) -> &str {
        match self.enabled.as_str() {
            "enabled" => "yes",
            "disabled" | "" => "no",
            other => other,
        }
    }
}
