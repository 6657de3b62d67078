//! What sudo and doas refuse.

use super::{Failure, Raise, Reason, Target, failure};
use crate::base::Problem;

/// There is no password and nobody to ask.
pub(super) fn no_password(target: &Target) -> Failure {
    let problem = Problem::new(format!("node `{}`: sudo needs a password", target.node))
        .expected("expected one from a person or from the environment")
        .help("set SUIL_SUDO_PASSWORD, or run suil on a terminal and it asks");
    Failure::new(target, Reason::Sudo, problem)
}

/// The password was not the right one, or it was and that was not enough.
pub(super) fn refused(target: &Target, noise: &str) -> Failure {
    if noise.contains("not in the sudoers file") || noise.contains("not allowed to") || noise.contains("may not run") {
        return failed(target, "refused", noise);
    }
    let problem = Problem::new(format!("node `{}`: sudo refused the password", target.node))
        .note("it was tried once, so that no account is locked")
        .help("give the right one in SUIL_SUDO_PASSWORD or on the terminal");
    Failure::new(target, Reason::Sudo, problem)
}

/// It is missing, or does not let the user run the session.
pub(super) fn failed(target: &Target, word: &str, noise: &str) -> Failure {
    let node = &target.node;
    let tool = if target.raise == Raise::Doas { "doas" } else { "sudo" };
    let line = failure::last_line(noise).unwrap_or_else(|| "it said nothing".to_owned());
    let rights = "suil needs `/bin/sh` as root: `<user> ALL=(root) NOPASSWD: /bin/sh` is the least right in sudoers";
    let problem = if word == "missing" {
        let problem = Problem::new(format!("node `{node}`: there is no `{tool}` to become root with"));
        match tool {
            "sudo" => problem.help("log in as root, install sudo, or set `sudo: doas` or `sudo: false`"),
            _ => problem.help("log in as root, or set `sudo: true` or `sudo: false`"),
        }
    } else if noise.contains("must have a tty") {
        Problem::new(format!("node `{node}`: sudo wants a terminal (`requiretty`)"))
            .note(format!("it said: {line}"))
            .help("add `Defaults:<user> !requiretty` to its sudoers; suil never opens a terminal")
    } else if tool == "doas" {
        Problem::new(format!("node `{node}`: doas refused: {line}"))
            .help("suil cannot answer doas: permit the user with `nopass` in doas.conf")
    } else {
        Problem::new(format!("node `{node}`: sudo refused to run `/bin/sh` as root: {line}")).help(rights)
    };
    Failure::new(target, Reason::Sudo, problem)
}
