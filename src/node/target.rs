//! How one node is reached.

use crate::base::{Place, Plain, Problem};
use std::time::Duration;

/// The connection settings of a node, typed. Built from the node's `deployment`.
#[derive(Clone, PartialEq, Debug)]
pub struct Target {
    /// The node's name in the workspace.
    pub node: String,
    /// What is connected to; the node's name where the data does not say.
    pub host: String,
    pub port: Option<u16>,
    pub user: Option<String>,
    pub key: Option<String>,
    pub accept_unknown_hosts: bool,
    /// `Option=value` for ssh, each as it follows `-o`.
    pub options: Vec<String>,
    /// How long a master connection outlives the run; zero keeps none.
    pub persist: Duration,
    pub transport: Transport,
    /// The command that gives a shell, for [`Transport::Exec`].
    pub exec: Vec<String>,
    pub raise: Raise,
    pub connect_timeout: Duration,
    /// Where a person wrote the address, or else named the node, for the messages.
    pub place: Option<Place>,
    /// The same of the login user.
    pub login_place: Option<Place>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Transport {
    #[default]
    Openssh,
    Russh,
    Local,
    Exec,
}

/// How the session becomes root where the login user is not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Raise {
    #[default]
    Sudo,
    /// `sudo: doas`; only for users whom doas asks no password.
    Doas,
    /// `sudo: false`: stays the login user.
    No,
}

const PERSIST: Duration = Duration::from_secs(600);
const CONNECT: Duration = Duration::from_secs(10);

impl Target {
    /// A target that is reached through the system's ssh, with every default.
    pub fn new(node: &str) -> Target {
        Target {
            node: node.to_owned(),
            host: node.to_owned(),
            port: None,
            user: None,
            key: None,
            accept_unknown_hosts: false,
            options: Vec::new(),
            persist: PERSIST,
            transport: Transport::default(),
            exec: Vec::new(),
            raise: Raise::default(),
            connect_timeout: CONNECT,
            place: None,
            login_place: None,
        }
    }

    /// Reads the `deployment` mapping of `node`.
    ///
    /// # Errors
    /// Every key whose value cannot be meant.
    pub fn from_plain(node: &str, deployment: &Plain) -> Result<Target, Vec<Problem>> {
        let mut target = Target::new(node);
        let mut problems = Vec::new();
        for (key, value) in deployment.as_map().into_iter().flatten() {
            if value.is_null() {
                continue;
            }
            if let Err(expected) = target.set(key, value) {
                let what = format!("node `{node}`: `{key}` in `deployment` cannot be used");
                problems.push(Problem::new(what).expected(format!("expected {expected}, found {}", shown(value))));
            }
        }
        if target.transport == Transport::Exec && target.exec.is_empty() {
            let what = format!("node `{node}`: the transport `exec` needs the key `exec`");
            problems.push(Problem::new(what).help("for example `exec: docker exec -i web sh`"));
        }
        if problems.is_empty() { Ok(target) } else { Err(problems) }
    }

    fn set(&mut self, key: &str, value: &Plain) -> Result<(), &'static str> {
        match key {
            "ssh_host" => self.host = value.as_str().filter(|text| !text.is_empty()).ok_or("a host name")?.to_owned(),
            "ssh_port" => {
                let port = value.as_int().and_then(|n| u16::try_from(n).ok()).filter(|n| *n > 0);
                self.port = Some(port.ok_or("a port from 1 to 65535")?);
            }
            "ssh_user" => self.user = Some(value.as_str().ok_or("a user name")?.to_owned()),
            "ssh_key" => self.key = Some(value.as_str().ok_or("a path")?.to_owned()),
            "ssh_accept_unknown_hosts" => self.accept_unknown_hosts = value.as_bool().ok_or("true or false")?,
            "ssh_options" => self.options = options(value).ok_or("a list of `Option=value`")?,
            "ssh_persist" => self.persist = duration(value).ok_or("a time such as `10m`, or false")?,
            "connect_timeout" => {
                self.connect_timeout = duration(value).filter(|d| !d.is_zero()).ok_or("a time such as `10s`")?;
            }
            "transport" => {
                self.transport = match value.as_str() {
                    Some("openssh") => Transport::Openssh,
                    Some("russh") => Transport::Russh,
                    Some("local") => Transport::Local,
                    Some("exec") => Transport::Exec,
                    _ => return Err("one of `openssh`, `russh`, `local`, `exec`"),
                }
            }
            "exec" => self.exec = words(value).ok_or("a command")?,
            "sudo" => {
                self.raise = match value {
                    Plain::Bool(true) => Raise::Sudo,
                    Plain::Bool(false) => Raise::No,
                    Plain::Str(word) if word == "sudo" => Raise::Sudo,
                    Plain::Str(word) if word == "doas" => Raise::Doas,
                    _ => return Err("true, false or `doas`"),
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// `user@host`, or `host` alone.
    pub fn login(&self) -> String {
        match &self.user {
            Some(user) => format!("{user}@{}", self.host),
            None => self.host.clone(),
        }
    }

    /// `host:port` as messages name the far end.
    pub fn address(&self) -> String {
        format!("{}:{}", self.host, self.port.unwrap_or(22))
    }

    /// The command that a person can type to try the same: it only logs in.
    pub fn trial(&self) -> String {
        match self.transport {
            Transport::Local => "/bin/sh -c true".to_owned(),
            Transport::Exec => {
                format!("echo true | {}", crate::base::shell::join(self.exec.iter().map(String::as_str)))
            }
            Transport::Openssh | Transport::Russh => format!("{} true", self.by_hand()),
        }
    }

    /// The command that gives a person a shell on the node.
    pub fn by_hand(&self) -> String {
        let mut words = vec!["ssh".to_owned()];
        if let Some(port) = self.port {
            words.extend(["-p".to_owned(), port.to_string()]);
        }
        if let Some(key) = &self.key {
            words.extend(["-i".to_owned(), key.clone()]);
        }
        words.extend(self.options.iter().flat_map(|option| ["-o".to_owned(), option.clone()]));
        words.push(self.login());
        crate::base::shell::join(words.iter().map(String::as_str))
    }
}

fn shown(value: &Plain) -> String {
    match value.as_str() {
        Some(text) => format!("`{text}`"),
        None => value.to_json_line(),
    }
}

/// A list of `Option=value`, a mapping of options, or one option.
fn options(value: &Plain) -> Option<Vec<String>> {
    let one = |text: &str| {
        let text = text.trim();
        let text = text.strip_prefix("-o").map_or(text, str::trim_start);
        (!text.is_empty() && !text.starts_with('-')).then(|| text.to_owned())
    };
    match value {
        Plain::Str(text) => Some(vec![one(text)?]),
        Plain::List(list) => list.iter().map(|item| one(item.as_str()?)).collect(),
        Plain::Map(map) => map.iter().map(|(key, item)| Some(format!("{key}={}", scalar(item)?))).collect(),
        _ => None,
    }
}

fn scalar(value: &Plain) -> Option<String> {
    match value {
        Plain::Str(text) => Some(text.clone()),
        Plain::Int(n) => Some(n.to_string()),
        Plain::Bool(true) => Some("yes".to_owned()),
        Plain::Bool(false) => Some("no".to_owned()),
        _ => None,
    }
}

/// A list of words, or a line that `/bin/sh` splits.
fn words(value: &Plain) -> Option<Vec<String>> {
    match value {
        Plain::Str(line) if !line.trim().is_empty() => {
            Some(vec!["/bin/sh".to_owned(), "-c".to_owned(), format!("exec {line}")])
        }
        Plain::List(list) if !list.is_empty() => list.iter().map(scalar).collect(),
        _ => None,
    }
}

/// Seconds, or a number with `s`, `m` or `h`; `false` is zero.
fn duration(value: &Plain) -> Option<Duration> {
    let seconds = match value {
        Plain::Bool(false) => 0,
        Plain::Int(n) => u64::try_from(*n).ok()?,
        Plain::Str(text) => {
            let text = text.trim();
            let digits = text.trim_end_matches(['s', 'm', 'h']);
            let factor = match &text[digits.len()..] {
                "" | "s" => 1,
                "m" => 60,
                "h" => 3600,
                _ => return None,
            };
            digits.parse::<u64>().ok()?.checked_mul(factor)?
        }
        _ => return None,
    };
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Target, Vec<Problem>> {
        Target::from_plain("web.example.net", &Plain::from_json(json).expect("json"))
    }

    #[test]
    fn a_node_without_settings_is_reached_by_its_name() {
        let target = read("{}").expect("target");
        assert_eq!((target.host.as_str(), target.transport), ("web.example.net", Transport::Openssh));
    }

    #[test]
    fn every_key_of_deployment_is_read() {
        let target = read(
            r#"{"ssh_host":"192.0.2.7","ssh_port":2200,"ssh_user":"diver","ssh_key":"~/.ssh/k","ssh_persist":"5m",
            "ssh_accept_unknown_hosts":true,"ssh_options":["ProxyJump=gate"],"sudo":"doas","connect_timeout":"3s"}"#,
        )
        .expect("target");
        assert_eq!(target.by_hand(), "ssh -p 2200 -i '~/.ssh/k' -o ProxyJump=gate diver@192.0.2.7");
        assert_eq!((target.persist.as_secs(), target.connect_timeout.as_secs()), (300, 3));
        assert_eq!(target.raise, Raise::Doas);
    }

    #[test]
    fn every_value_that_cannot_be_meant_is_reported() {
        let problems = read(r#"{"ssh_port":70000,"transport":"telnet","sudo":"su"}"#).expect_err("problems");
        assert_eq!(problems.len(), 3);
        assert!(read(r#"{"ssh_options":["-J gate"]}"#).is_err());
        assert!(read(r#"{"transport":"exec"}"#).is_err());
    }
}
