//! `timer`: a command that systemd runs at given times: a timer unit, the service that it starts, both kept as one.

use super::*;
use crate::common_methods;

pub const KIND: Kind = Kind {
    name: "timer",
    attributes: &[
        "ensure",
        "command",
        "on_calendar",
        "on_boot",
        "every",
        "user",
        "description",
        "persistent",
        "random_delay",
        "enabled",
    ],
    build,
    join: None,
};

#[derive(Debug)]
struct Timer {
    common: Common,
    /// In the order in which they are handled.
    parts: Vec<Arc<dyn Resource>>,
}

fn build(from: &Attributes<'_>) -> Result<Arc<dyn Resource>, Problem> {
    let name = from.name.strip_suffix(".timer").unwrap_or(from.name);
    let (service, timer) = (format!("{name}.service"), format!("{name}.timer"));
    let make = |kind: &str, name: &str, values: Plain| build::build(kind, name, &values, None, from.place);
    let parts = if from.present()? {
        let unit = |content: String| Plain::from_iter([("content", Plain::from(content))]);
        let enabled = from.boolean("enabled")?.unwrap_or(true);
        let states = Plain::from_iter([("running", Plain::from(enabled)), ("enabled", Plain::from(enabled))]);
        vec![
            make("unit", &service, unit(service_text(from, name)?))?,
            make("unit", &timer, unit(timer_text(from, name)?))?,
            make("service", &timer, states)?,
        ]
    } else {
        let absent = || Plain::from_iter([("ensure", Plain::from("absent"))]);
        vec![make("unit", &timer, absent())?, make("unit", &service, absent())?]
    };
    Ok(Arc::new(Timer { common: from.common(name)?, parts }))
}

fn service_text(from: &Attributes<'_>, name: &str) -> Result<String, Problem> {
    let command = from.line("command")?.filter(|command| !command.trim().is_empty());
    let Some(command) = command else {
        return Err(from.problem("`command` is missing").expected("expected `command = \"…\"`"));
    };
    let description = from.line("description")?.unwrap_or_else(|| name.to_owned());
    let user = from.account("user")?.map(|user| format!("User={user}\n")).unwrap_or_default();
    // systemd expands `%` and `$` itself, and knows no pipes: a shell gets the command as it is written.
    let quoted = command.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    Ok(format!(
        "[Unit]\nDescription={description}\n\n[Service]\nType=oneshot\n{user}ExecStart=/bin/sh -c \"{quoted}\"\n"
    ))
}

fn timer_text(from: &Attributes<'_>, name: &str) -> Result<String, Problem> {
    let mut times = String::new();
    for when in from.list("on_calendar")?.unwrap_or_default() {
        times.push_str(&format!("OnCalendar={when}\n"));
    }
    if let Some(after) = from.line("on_boot")? {
        times.push_str(&format!("OnBootSec={after}\n"));
    }
    if let Some(every) = from.line("every")? {
        times.push_str(&format!("OnUnitActiveSec={every}\n"));
        if from.value("on_boot").is_none() {
            // Without a first run there would never be a second.
            times.push_str("OnActiveSec=0\n");
        }
    }
    if times.is_empty() {
        return Err(from
            .problem("it says no time")
            .expected("expected one of `on_calendar = \"daily\"`, `every = \"1h\"` and `on_boot = \"5min\"`"));
    }
    if times.contains('\r') || times.lines().any(|line| !line.starts_with("On")) {
        return Err(from.problem("a time holds a line break").expected("expected one line"));
    }
    if from.boolean("persistent")?.unwrap_or(false) {
        times.push_str("Persistent=true\n");
    }
    if let Some(delay) = from.line("random_delay")? {
        times.push_str(&format!("RandomizedDelaySec={delay}\n"));
    }
    let description = from.line("description")?.unwrap_or_else(|| name.to_owned());
    Ok(format!("[Unit]\nDescription={description}\n\n[Timer]\n{times}\n[Install]\nWantedBy=timers.target\n"))
}

impl Resource for Timer {
    common_methods!("timer");

    fn requests(&self) -> Vec<Request> {
        self.parts.iter().flat_map(|part| part.requests()).collect()
    }

    fn wanted(&self) -> Plain {
        let parts = self.parts.iter().map(|part| (part.id().to_string(), part.wanted()));
        parts.collect()
    }

    fn texts(&self) -> Vec<(String, String)> {
        self.parts.iter().flat_map(|part| part.texts()).collect()
    }

    fn compare(&self, facts: &Facts, ahead: &Ahead, force: bool) -> Result<Vec<Change>, Problem> {
        let (mut facts, mut ahead) = (facts.clone(), ahead.clone());
        let mut all: Vec<Change> = Vec::new();
        for part in &self.parts {
            let changes = part.compare(&facts, &ahead, force)?;
            let timer = part.id() == Id::new("service", &format!("{}.timer", self.name()));
            if timer && changes.is_empty() && all.iter().any(|change| change.verb != Verb::Run) {
                // An active timer keeps its old times until it is started again.
                all.extend(part.fire(Fire::Restart, &facts, &changes));
            }
            if !changes.is_empty() {
                ahead.brought.extend(changes.iter().flat_map(|change| change.brings.iter().cloned()));
                part.settle(&mut facts);
            }
            all.extend(changes);
        }
        Ok(all)
    }

    fn settle(&self, facts: &mut Facts) {
        for part in &self.parts {
            part.settle(facts);
        }
    }
}
