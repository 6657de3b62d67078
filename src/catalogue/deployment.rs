//! The keys of `deployment`: checked here, where each value still has its place. `node` types them.

use super::build::Catalogue;
use super::entry::Entry;
use crate::base::{Place, Plain, Problem, Problems, Result, nearest::nearest, problem};
use crate::data::schema as form;
use crate::data::secret::Vault;
use crate::data::{Kind, Resolved, Value};

/// What a key of `deployment` may hold.
#[derive(Clone, Copy)]
enum Form {
    Text,
    Port,
    Flag,
    Options,
    Time,
    Command,
    Sudo,
    Transport,
}

/// Each key, what it may hold, and what it is for.
const KEYS: [(&str, Form, &str); 11] = [
    ("ssh_host", Form::Text, "name or address; default: the node's name"),
    ("ssh_port", Form::Port, "the port of its sshd"),
    ("ssh_user", Form::Text, "who logs in"),
    ("ssh_key", Form::Text, "the file of the private key"),
    (
        "ssh_accept_unknown_hosts",
        Form::Flag,
        "take the key of a host that is not known yet; a changed key is refused all the same",
    ),
    ("ssh_options", Form::Options, "a list of `Option=value`, or a mapping, as after `ssh -o`"),
    ("ssh_persist", Form::Time, "how long the connection is kept for the next run: `10m`, `90s`, seconds, or `no`"),
    (
        "transport",
        Form::Transport,
        "how the node is reached: the system's ssh, the one built in, this machine, or a command",
    ),
    ("exec", Form::Command, "the command that gives a shell, for `transport: exec`"),
    ("sudo", Form::Sudo, "become root where the login user is not root: `yes`, `no`, or `doas`"),
    ("connect_timeout", Form::Time, "as long as a node may take to answer: `10s`"),
];

const TRANSPORTS: [&str; 4] = ["openssh", "russh", "local", "exec"];

impl Entry {
    /// Finds keys of `deployment` that mean nothing, and values that their keys cannot have.
    pub fn check_deployment(&self) -> Problems {
        let mut problems = Problems::new();
        let Some(deployment) = self.deployment() else { return problems };
        let Some(map) = deployment.map() else {
            let what = format!("`deployment` is {}", deployment.type_name());
            return Problem::new(what)
                .at(deployment.place)
                .expected("expected a mapping of connection settings")
                .into();
        };
        for (key, slot) in map.iter() {
            match KEYS.iter().find(|(known, ..)| *known == &**key) {
                None => problems.push(unknown(key, slot.key)),
                Some((_, form, _)) if form.fits(&slot.value) => {}
                Some((_, form, _)) => {
                    let found = match slot.value.scalar() {
                        Some(scalar) => format!("`{}`", scalar.text),
                        None => slot.value.type_name().to_owned(),
                    };
                    let problem =
                        Problem::new(format!("`{key}` in `deployment` cannot be {found}")).at(slot.value.place);
                    problems.push(problem.expected(form.expected()));
                }
            }
        }
        problems
    }

    /// The checked `deployment` with its secrets revealed: for the connection, never for an output.
    ///
    /// # Errors
    /// As [`Entry::check_deployment`], and secrets that no key opens.
    pub fn settings(&self, vault: &Vault) -> Result<Plain> {
        let mut problems = self.check_deployment();
        let mut settings = Plain::map();
        for (key, slot) in self.deployment().as_ref().and_then(Value::map).into_iter().flatten() {
            let path = format!("deployment.{key}");
            let plain = slot.value.to_plain(&mut |cipher, place| match vault.reveal(cipher, &path, place) {
                Ok(plaintext) => Plain::Str(String::from_utf8_lossy(plaintext.as_bytes()).into_owned()),
                Err(problem) => {
                    problems.push(problem.note(format!("it is part of the data of node `{}`", self.name)));
                    Plain::Null
                }
            });
            settings.set(key.to_string(), plain);
        }
        if problems.is_empty() { Ok(settings) } else { Err(problems) }
    }

    /// Where a key of `deployment` has its value.
    pub fn deployment_place(&self, key: &str) -> Option<Place> {
        self.deployment()?.get(key).map(|value| value.place)
    }
}

impl Catalogue {
    /// Checks the `deployment` of every entry. What a shared layer says is reported once.
    pub fn check_deployments(&self) -> Problems {
        let mut problems: Problems = self.entries.iter().flat_map(Entry::check_deployment).collect();
        problem::sort(&mut problems);
        problems
    }
}

/// What `deployment` may hold, as JSON Schema for an editor.
pub fn deployment_schema() -> Plain {
    form::closed(KEYS.iter().map(|(name, form, doc)| (*name, form::described(form.schema(), doc))).collect())
}

fn unknown(key: &str, place: Place) -> Problem {
    let problem = Problem::new(format!("unknown key `{key}` in `deployment`")).at(place);
    match nearest(key, KEYS.map(|(known, ..)| known)) {
        Some(near) => problem.expected("expected a connection setting").help(format!("did you mean `{near}`?")),
        None => {
            let known = KEYS.map(|(known, ..)| format!("`{known}`")).join(", ");
            problem.expected(format!("expected one of {known}"))
        }
    }
}

impl Form {
    fn schema(self) -> Plain {
        let text = || form::either([form::typed("string"), form::secret()]);
        let words = || Plain::from_iter([("type", Plain::from("array")), ("items", form::text())]);
        match self {
            Form::Text => text(),
            Form::Port => {
                let mut port = form::integer();
                port.set("minimum", 1);
                port.set("maximum", 65535);
                port
            }
            Form::Flag => form::boolean(),
            Form::Options => {
                let mapping = form::mapping(Plain::from_iter([("additionalProperties", form::text())]));
                form::either([words(), mapping, text()])
            }
            Form::Time => {
                form::types(&["string", "integer", "boolean"], "^(no|No|NO|off|Off|OFF|false|[0-9]+[smh]?)?$")
            }
            Form::Command => form::either([words(), text()]),
            Form::Sudo => form::either([form::boolean(), form::words(&["sudo", "doas"])]),
            Form::Transport => form::words(&TRANSPORTS),
        }
    }

    /// A secret may stand wherever a text may.
    fn fits(self, value: &Value) -> bool {
        let text = |value: &Value| match &value.kind {
            Kind::Scalar(scalar) => scalar.resolved == Resolved::Str && !scalar.text.is_empty(),
            Kind::Secret(_) => true,
            _ => false,
        };
        let word = |value: &Value| text(value) || matches!(resolved(value), Some(Resolved::Int(_) | Resolved::Bool(_)));
        match self {
            Form::Text => text(value),
            Form::Port => matches!(resolved(value), Some(Resolved::Int(1..=65535))),
            Form::Flag => matches!(resolved(value), Some(Resolved::Bool(_))),
            Form::Options => match &value.kind {
                Kind::List(list) => list.iter().all(text),
                Kind::Map(map) => map.values().all(|slot| word(&slot.value)),
                _ => text(value),
            },
            Form::Time => match resolved(value) {
                Some(Resolved::Int(seconds)) => seconds >= 0,
                Some(Resolved::Bool(keep)) => !keep,
                _ => value.as_str().is_some_and(is_time),
            },
            Form::Command => value.list().map_or(text(value), |list| !list.is_empty() && list.iter().all(word)),
            Form::Sudo => match resolved(value) {
                Some(Resolved::Bool(_)) => true,
                _ => matches!(value.as_str(), Some("sudo" | "doas")),
            },
            Form::Transport => value.as_str().is_some_and(|name| TRANSPORTS.contains(&name)),
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Form::Text => "expected a text",
            Form::Port => "expected a port from 1 to 65535",
            Form::Flag => "expected true or false",
            Form::Options => "expected a list of `Option=value`",
            Form::Time => "expected a time such as `10s` or `10m`",
            Form::Command => "expected a command that gives a shell, such as `docker exec -i web sh`",
            Form::Sudo => "expected true, false or `doas`",
            Form::Transport => "expected one of `openssh`, `russh`, `local`, `exec`",
        }
    }
}

fn resolved(value: &Value) -> Option<Resolved> {
    value.scalar().map(|scalar| scalar.resolved)
}

fn is_time(text: &str) -> bool {
    let digits = text.strip_suffix(['s', 'm', 'h']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}
