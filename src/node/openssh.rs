//! The system's ssh: `~/.ssh/config`, agents, jump hosts, certificates and hardware keys work as at the prompt.

use super::link::{Later, Link, Transport, Words};
use super::{Access, Failure, HostKey, Reason, Target, command, hostkey, program, socket};
use crate::base::Problem;
use std::path::PathBuf;

pub(super) struct Openssh;

/// A link that says nothing is given up after three of these.
const ALIVE: u32 = 15;

impl Transport for Openssh {
    fn open<'a>(&'a self, target: &'a Target, access: &'a Access) -> Later<'a, Result<Link, Failure>> {
        Box::pin(async move {
            let mut args = arguments(target)?;
            args.extend(["--".to_owned(), target.login(), program::LINE.to_owned()]);
            command::start("ssh", &args, Words::new(&target.node, access))
                .map_err(|error| Failure::start(target, "ssh", &error))
        })
    }

    fn host_key<'a>(&'a self, target: &'a Target, _access: &'a Access) -> Later<'a, Result<HostKey, Problem>> {
        Box::pin(learn(target))
    }

    fn forget<'a>(&'a self, target: &'a Target) -> Later<'a, ()> {
        Box::pin(async move {
            let Ok(mut args) = arguments(target) else { return };
            args.extend(["-O", "exit", "--"].map(str::to_owned));
            args.push(target.login());
            // No master, no matter.
            let _ = command::run("ssh", &args).await;
            if let Ok(path) = socket::path(target) {
                let _ = std::fs::remove_file(path);
            }
        })
    }
}

/// Lets ssh write the key into a file of our own: so every setting of the person counts, jump hosts too.
async fn learn(target: &Target) -> Result<HostKey, Problem> {
    let failed = |words: &str| {
        let what = format!("node `{}`: its host key cannot be learned", target.node);
        Problem::new(what).note(format!("ssh said: {}", words.trim()))
    };
    let aside = tempfile::tempdir().map_err(|error| failed(&error.to_string()))?;
    let file = aside.path().join("known_hosts");
    // ssh takes the first value of an option: these come before the person's own.
    let first = [
        format!("UserKnownHostsFile={}", file.display()),
        "GlobalKnownHostsFile=/dev/null".to_owned(),
        "StrictHostKeyChecking=accept-new".to_owned(),
        "PreferredAuthentications=none".to_owned(),
    ];
    let mut plain = target.clone();
    plain.persist = std::time::Duration::ZERO;
    let rest = arguments(&plain).map_err(|failure| *failure.problem)?;
    let mut args: Vec<String> = first.into_iter().flat_map(|option| ["-o".to_owned(), option]).collect();
    args.extend(rest.clone());
    args.extend(["--".to_owned(), target.login(), "true".to_owned()]);
    let output = command::run("ssh", &args).await.map_err(|error| failed(&error.to_string()))?;
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let line = text.lines().last().unwrap_or_default().to_owned();
    let Some((kind, fingerprint)) = hostkey::described(&line) else {
        return Err(failed(&String::from_utf8_lossy(&output.stderr)));
    };
    let file = known_hosts(target, rest).await.ok_or_else(|| failed("no known-hosts file in the configuration"))?;
    Ok(HostKey { node: target.node.clone(), address: target.address(), kind, fingerprint, line, file })
}

/// The file that ssh would add a key to.
async fn known_hosts(target: &Target, mut args: Vec<String>) -> Option<PathBuf> {
    args.extend(["-G".to_owned(), "--".to_owned(), target.login()]);
    let output = command::run("ssh", &args).await.ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let files = text.lines().find_map(|line| line.strip_prefix("userknownhostsfile "))?;
    files.split_whitespace().next().map(PathBuf::from)
}

/// What a person's configuration wants at the prompt, but not for a channel of a program.
const CHANNEL: [&str; 6] = [
    "BatchMode=yes",
    "RequestTTY=no",
    "RemoteCommand=none",
    "ClearAllForwardings=yes",
    "ForwardX11=no",
    "PermitLocalCommand=no",
];

/// The options of ssh, without the host. Nothing is said about key exchange: that choice is the operator's.
pub(super) fn arguments(target: &Target) -> Result<Vec<String>, Failure> {
    let mut args = vec!["-T".to_owned()];
    args.extend(options(target, "yes", &CHANNEL)?);
    Ok(args)
}

/// The options for a person at a terminal, whom ssh may ask.
///
/// # Errors
/// There is no place for the socket of the master connection.
pub(super) fn by_hand(target: &Target) -> Result<Vec<String>, Failure> {
    options(target, "ask", &[])
}

fn options(target: &Target, unknown_hosts: &str, more: &[&str]) -> Result<Vec<String>, Failure> {
    let checking = if target.accept_unknown_hosts { "accept-new" } else { unknown_hosts };
    let mut options = vec![
        format!("StrictHostKeyChecking={checking}"),
        // Rewriting one known-hosts file from many processes at once would lose lines.
        "UpdateHostKeys=no".to_owned(),
        format!("ConnectTimeout={}", target.connect_timeout.as_secs().max(1)),
        format!("ServerAliveInterval={ALIVE}"),
        "ServerAliveCountMax=3".to_owned(),
        // The classification of failures reads what ssh says.
        "LogLevel=INFO".to_owned(),
    ];
    options.extend(more.iter().map(|option| (*option).to_owned()));
    if target.persist.is_zero() {
        options.extend(["ControlMaster=no", "ControlPath=none"].map(str::to_owned));
    } else {
        let path = socket::path(target).map_err(|problem| Failure::new(target, Reason::Local, problem))?;
        options.push("ControlMaster=auto".to_owned());
        options.push(format!("ControlPath={}", path.display()));
        options.push(format!("ControlPersist={}", target.persist.as_secs()));
    }
    let mut args = Vec::new();
    // The person's own options come first: ssh takes the first value it gets. Checking host keys is not theirs to drop.
    let own = target.options.iter().filter(|option| !guarded(option)).cloned();
    for option in own.chain(options) {
        args.extend(["-o".to_owned(), option]);
    }
    if let Some(port) = target.port {
        args.extend(["-p".to_owned(), port.to_string()]);
    }
    if let Some(key) = &target.key {
        args.extend(["-o".to_owned(), "IdentitiesOnly=yes".to_owned(), "-i".to_owned(), key.clone()]);
    }
    Ok(args)
}

/// Options that are suil's alone.
fn guarded(option: &str) -> bool {
    let name = option.split(['=', ' ', '\t']).next().unwrap_or_default();
    ["StrictHostKeyChecking", "BatchMode", "ControlMaster", "ControlPath", "ControlPersist", "RequestTTY"]
        .iter()
        .any(|own| own.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_keys_are_checked_whatever_the_data_says() {
        let mut target = Target::new("web");
        target.options = vec!["StrictHostKeyChecking=no".to_owned(), "ProxyJump=gate".to_owned()];
        let args = arguments(&target).expect("arguments").join(" ");
        assert!(args.contains("StrictHostKeyChecking=yes") && !args.contains("StrictHostKeyChecking=no"));
        assert!(args.contains("ProxyJump=gate") && !args.contains("KexAlgorithms"));
        target.accept_unknown_hosts = true;
        assert!(arguments(&target).expect("arguments").join(" ").contains("StrictHostKeyChecking=accept-new"));
    }
}
