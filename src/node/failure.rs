//! Why a node could not be worked with, told from the words of ssh, of shells and of sudo.

use super::Target;
use crate::base::Problem;

/// A problem with a node, and the reason that decides what a run does about it.
#[derive(Clone, Debug)]
pub struct Failure {
    pub reason: Reason,
    pub problem: Box<Problem>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// No answer, refused, no such name.
    Unreachable,
    /// The login was refused.
    Login,
    /// The host key is in no known-hosts file; see `hostkey`.
    UnknownHost,
    /// The host key is another than the known one.
    ChangedHost,
    /// The server is too busy for another login; it was tried again.
    Busy,
    /// The login shell did not start the session.
    Shell,
    /// sudo refused, or needs a password that nobody gives.
    Sudo,
    /// A time limit passed.
    Limit,
    /// The channel broke.
    Lost,
    /// Somebody else changes the node.
    Locked,
    /// Something on the control machine, or in the session itself.
    Local,
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Problem {
        *failure.problem
    }
}

impl Failure {
    pub(super) fn new(target: &Target, reason: Reason, problem: Problem) -> Failure {
        let problem = match target.place {
            Some(place) if problem.place.is_none() => problem.at(place),
            _ => problem,
        };
        Failure { reason, problem: Box::new(problem) }
    }

    /// A program of this machine that cannot be started.
    pub(super) fn start(target: &Target, program: &str, error: &std::io::Error) -> Failure {
        let what = format!("node `{}`: cannot start `{program}`: {error}", target.node);
        Failure::new(target, Reason::Local, Problem::new(what))
    }

    /// The channel ended before the session said its first word. `words` is what was said on stderr, `noise` what
    /// came on stdout.
    pub(super) fn before_greeting(target: &Target, status: Option<i32>, words: &str, noise: &str) -> Failure {
        let node = &target.node;
        let said = shown(words, noise);
        if let Some(text) = must_change_password(&format!("{noise}\n{words}")) {
            let what = format!("node `{node}`: the login user must change the password first: {text}");
            let help = format!("try `{}` and change it, or give the user a key and no password age", target.by_hand());
            return Failure::new(target, Reason::Login, Problem::new(what).help(help));
        }
        if status == Some(255)
            && let Some(failure) = ssh(target, words)
        {
            return failure;
        }
        let shell = last_line(noise).or_else(|| last_line(words));
        let what = match (&shell, status) {
            (Some(line), _) => format!("node `{node}`: the login shell refused: {line}"),
            (None, Some(status)) => format!("node `{node}`: the login shell ended with status {status} and no word"),
            (None, None) => format!("node `{node}`: the connection closed before the session began"),
        };
        let mut problem = Problem::new(what).expected("expected a login shell that runs `exec /bin/sh -c …`");
        if said.lines().count() > 1 {
            problem = problem.note(format!("it said:\n{said}"));
        }
        let help = format!("look at the login shell of the user: `{}`", target.trial());
        Failure::new(target, Reason::Shell, problem.help(help))
    }

    /// The first word of the session did not come in time.
    pub(super) fn no_greeting(target: &Target, seconds: u64, words: &str, noise: &str) -> Failure {
        let node = &target.node;
        let said = shown(words, noise);
        if let Some(text) = must_change_password(&said) {
            return Failure::before_greeting(target, None, &text, "");
        }
        let what = format!("node `{node}`: no session after {seconds} s");
        let mut problem = Problem::new(what).expected("expected the login shell to start it");
        problem = match said.is_empty() {
            true => problem.note("the node said nothing: a slow login (directory service, DNS), or a shell that hangs"),
            false => problem.note(format!("the login shell said:\n{said}")),
        };
        let help = format!("try `{}`; where it is only slow, raise the login limit", target.trial());
        Failure::new(target, Reason::Limit, problem.help(help))
    }

    /// The channel broke later.
    pub(super) fn lost(target: &Target, doing: &str, words: &str) -> Failure {
        let what = format!("node `{}`: connection closed in the middle of {doing}", target.node);
        let mut problem = Problem::new(what);
        if let Some(line) = last_line(words) {
            problem = problem.note(format!("ssh said: {line}"));
        }
        let help = format!("find out what the node did with it, then `suil apply --node {}`", target.node);
        Failure::new(target, Reason::Lost, problem.help(help))
    }

    /// What was to answer is not there any more.
    pub(super) fn gone(target: &Target, doing: &str) -> Failure {
        let node = &target.node;
        let problem = Problem::new(format!("node `{node}`: the shell that ran {doing} was killed on the node"))
            .note("by somebody there, or by the kernel, for want of memory or of processes")
            .note("what it had started may still be running")
            .help(format!("find out what the node did with it, then `suil apply --node {node}`"));
        // The node was reached: it is not how to reach it that is wrong.
        Failure { reason: Reason::Lost, problem: Box::new(problem) }
    }
}

/// What ssh itself complains about.
fn ssh(target: &Target, words: &str) -> Option<Failure> {
    let node = &target.node;
    let has = |needles: &[&str]| needles.iter().any(|needle| words.contains(needle));
    let by_hand = format!("try `{}`, then `suil apply --node {node}`", target.trial());
    let line = last_line(words).unwrap_or_default();
    let unreachable = |why: &str| {
        let what = format!("node `{node}` is unreachable: {why}");
        let expected = match target.host == target.node {
            true => "expected `ssh_host` in `deployment`, unless the name is the address",
            false => "expected an SSH server here",
        };
        let problem = Problem::new(what).expected(expected).help(by_hand.clone());
        Some(Failure::new(target, Reason::Unreachable, problem))
    };
    if has(&["REMOTE HOST IDENTIFICATION HAS CHANGED", "REVOKED HOST KEY", "is revoked"]) {
        return Some(changed_host(target, words));
    }
    if has(&["host key is known for", "Host key verification failed"]) {
        let what = format!("node `{node}`: the host key of {} is not known", target.address());
        let problem = Problem::new(what)
            .expected("expected it in a known-hosts file")
            .help("compare its fingerprint and add it, or set `ssh_accept_unknown_hosts: true` to accept new keys");
        return Some(Failure::new(target, Reason::UnknownHost, problem));
    }
    if has(&["Permission denied", "Too many authentication failures", "No supported authentication methods"]) {
        let what = format!("node `{node}`: the login as `{}` was refused: {line}", target.login());
        let problem = Problem::new(what)
            .expected("expected a key that the node accepts")
            .help(format!("try `{}`; look at `ssh_user`, `ssh_key` and the agent", target.trial()));
        let problem = target.login_place.into_iter().fold(problem, Problem::at);
        return Some(Failure::new(target, Reason::Login, problem));
    }
    if has(&["Could not resolve hostname", "Name or service not known"]) {
        return unreachable(&format!("no address for the name `{}`", target.host));
    }
    if has(&["Connection timed out", "Operation timed out", "timed out during banner exchange"]) {
        return unreachable(&format!("no answer from {} in {} s", target.address(), target.connect_timeout.as_secs()));
    }
    if has(&["Connection refused"]) {
        return unreachable(&format!("{} refuses connections", target.address()));
    }
    if has(&["No route to host", "Network is unreachable", "Host is down"]) {
        return unreachable(&format!("no route to {}", target.address()));
    }
    if has(&[
        "kex_exchange_identification",
        "ssh_exchange_identification",
        "Connection reset by",
        "Connection closed by",
        "Session open refused",
        "session request failed",
        "Exceeded MaxStartups",
        // A master connection that broke under us: the next try makes a new one.
        "Shared connection to",
        "master is dead",
        "Not allowed at this time",
        "open failed: administratively prohibited",
    ]) {
        let what = format!("node `{node}`: {} closes new connections: {line}", target.address());
        let problem = Problem::new(what)
            .note("sshd drops logins at random above `MaxStartups`; it was tried again, each time later")
            .help("lower --parallel, or raise `MaxStartups` on the node or the jump host");
        return Some(Failure::new(target, Reason::Busy, problem));
    }
    if has(&["not responding"]) {
        return Some(Failure::lost(target, "the login", words));
    }
    if line.is_empty() {
        return None;
    }
    let problem = Problem::new(format!("node `{node}`: ssh failed: {line}")).help(by_hand);
    Some(Failure::new(target, Reason::Unreachable, problem.note(format!("ssh said:\n{}", words.trim()))))
}

/// A key that is not the known one: both fingerprints and the line of the file.
fn changed_host(target: &Target, words: &str) -> Failure {
    let what = format!("node `{}`: the host key of {} has changed", target.node, target.address());
    let mut problem = Problem::new(what).expected("expected the key that is known");
    if let Some(found) = words.split_whitespace().find(|word| word.starts_with("SHA256:")) {
        problem = problem.note(format!("the node shows {}", found.trim_end_matches('.')));
    }
    let offending = words.lines().find(|line| line.contains("ffending") && line.contains(" in "));
    let file = offending.and_then(|line| line.rsplit_once(" in ")).map(|(_, at)| at.trim().to_owned());
    if let Some(file) = &file {
        let known = file.rsplit_once(':').and_then(|(path, line)| known_fingerprint(path, line.parse().ok()?));
        let known = known.map(|print| format!("{print} is known, from ")).unwrap_or_default();
        problem = problem.note(format!("{known}{file}"));
    }
    let help = "if the node was installed anew, check the fingerprint on its console, then remove that line; \
                otherwise somebody may be listening";
    Failure::new(target, Reason::ChangedHost, problem.help(help))
}

/// The fingerprint of the key in line `line` of a known-hosts file.
fn known_fingerprint(path: &str, line: usize) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let entry = text.lines().nth(line.checked_sub(1)?)?;
    super::hostkey::described(entry).map(|(_, print)| print)
}

/// sshd and PAM want a new password before anything else; a session without a terminal cannot give one.
fn must_change_password(text: &str) -> Option<String> {
    const SIGNS: &[&str] = &[
        "required to change your password",
        "password has expired",
        "Password change required",
        "Current password:",
        "account has expired",
    ];
    text.lines().find(|line| SIGNS.iter().any(|sign| line.contains(sign))).map(|line| line.trim().to_owned())
}

pub(super) fn wants_a_new_password(noise: &str) -> bool {
    must_change_password(noise).is_some()
}

fn shown(words: &str, noise: &str) -> String {
    let text = format!("{}\n{}", noise.trim(), words.trim());
    let text: String = text.trim().chars().filter(|c| !c.is_control() || *c == '\n').collect();
    text.lines().rev().take(12).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("\n")
}

pub(super) fn last_line(text: &str) -> Option<String> {
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().filter(|c| !c.is_control()).take(300).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(words: &str) -> (Reason, String) {
        let mut target = Target::new("web.example.net");
        (target.host, target.user) = ("192.0.2.7".into(), Some("deploy".into()));
        let failure = Failure::before_greeting(&target, Some(255), words, "motd\n");
        (failure.reason, failure.problem.what)
    }

    #[test]
    fn the_words_of_ssh_are_told_apart() {
        for (words, reason, what) in [
            ("ssh: connect to host 192.0.2.7 port 22: Connection timed out", Reason::Unreachable, "no answer from"),
            ("Connection timed out during banner exchange", Reason::Unreachable, "no answer from 192.0.2.7:22 in 10 s"),
            ("ssh: connect to host 192.0.2.7 port 22: Connection refused", Reason::Unreachable, "refuses connections"),
            ("ssh: connect to host 192.0.2.7 port 22: No route to host", Reason::Unreachable, "no route to"),
            ("ssh: Could not resolve hostname web: Name or service not known", Reason::Unreachable, "no address"),
            ("deploy@192.0.2.7: Permission denied (publickey).", Reason::Login, "Permission denied (publickey)."),
            ("Received disconnect from 192.0.2.7: Too many authentication failures", Reason::Login, "was refused"),
            (
                "No ED25519 host key is known for 192.0.2.7\nHost key verification failed.",
                Reason::UnknownHost,
                "not known",
            ),
            ("kex_exchange_identification: Connection closed by remote host", Reason::Busy, "closes new connections"),
            ("kex_exchange_identification: read: Connection reset by peer", Reason::Busy, "closes new connections"),
            (
                "mux_client_request_session: session request failed: Session open refused by peer",
                Reason::Busy,
                "closes",
            ),
            ("Shared connection to 192.0.2.7 closed.", Reason::Busy, "closes new connections"),
            ("Timeout, server 192.0.2.7 not responding.", Reason::Lost, "connection closed in the middle of the login"),
            (
                "command-line: line 0: Bad configuration option: foo",
                Reason::Unreachable,
                "Bad configuration option: foo",
            ),
        ] {
            let (found, text) = told(&format!("banner\n{words}\n"));
            assert!(found == reason && text.contains(what), "{words}: {found:?} {text}");
            assert!(text.starts_with("node `web.example.net`"), "{text}");
        }
    }

    #[test]
    fn a_changed_key_is_shown_with_the_known_one_and_its_line() {
        let folder = tempfile::tempdir().expect("folder");
        let file = folder.path().join("known_hosts");
        let key = "AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ";
        std::fs::write(&file, format!("# ours\n192.0.2.7 ssh-ed25519 {key}\n")).expect("written");
        let words = format!(
            "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nThe fingerprint for the ED25519 key sent by the remote \
             host is\nSHA256:abc.\nOffending ED25519 key in {}:2\nHost key verification failed.\n",
            file.display()
        );
        let failure = Failure::before_greeting(&Target::new("web"), Some(255), &words, "");
        let notes: Vec<&str> = failure.problem.notes.iter().map(|note| note.text.as_str()).collect();
        assert_eq!(failure.reason, Reason::ChangedHost);
        assert_eq!(notes.first(), Some(&"the node shows SHA256:abc"));
        let known = hostkey_print(key);
        assert_eq!(notes.get(1), Some(&format!("{known} is known, from {}:2", file.display()).as_str()));
    }

    fn hostkey_print(key: &str) -> String {
        crate::node::hostkey::fingerprint(key).expect("a key")
    }

    #[test]
    fn a_shell_that_refuses_is_not_called_unreachable() {
        let target = Target::new("web");
        let failure =
            Failure::before_greeting(&target, Some(1), "banner\n", "This account is currently not available.\n");
        assert_eq!(failure.reason, Reason::Shell);
        let what = "node `web`: the login shell refused: This account is currently not available.";
        assert_eq!(failure.problem.what, what);
        let failure = Failure::before_greeting(&target, Some(2), "invalid option -- 'c'\n", "");
        assert!(failure.problem.what.ends_with("refused: invalid option -- 'c'"));
        let silent = Failure::before_greeting(&target, Some(3), "", "");
        assert!(silent.problem.what.ends_with("ended with status 3 and no word"));
    }

    #[test]
    fn colours_of_a_node_never_reach_the_terminal() {
        let failure = Failure::no_greeting(&Target::new("web"), 9, "", "\u{1b}[31mred\u{1b}[0m\u{7}\n");
        assert!(failure.problem.notes.iter().all(|note| !note.text.contains(['\u{1b}', '\u{7}'])));
    }
}
