//! A session for a person: the command that reaches a node as suil does, with the terminal at its end.

use super::{Script, Target, Transport, openssh};
use crate::base::{Problem, shell};
use std::os::unix::process::CommandExt;

/// A command line that a person works in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hand {
    words: Vec<String>,
}

/// What gives a terminal to a program in a container where `-t` is asked for.
const CONTAINERS: [&str; 5] = ["docker", "podman", "nerdctl", "kubectl", "oc"];

impl Hand {
    /// The command line for `target`. `command` is what is run there; none: a shell. `own` is the shell of whoever
    /// asks, for a node that is this machine. `terminal`: there is one at both ends.
    ///
    /// # Errors
    /// No command can be handed to what `exec` names, or there is no place for a control socket.
    pub fn reach(target: &Target, command: &[String], own: &str, terminal: bool) -> Result<Hand, Problem> {
        let text = (!command.is_empty()).then(|| Script::of_words(command).text);
        let words = match target.transport {
            Transport::Openssh | Transport::Russh => {
                let mut words = vec!["ssh".to_owned()];
                words.extend(openssh::by_hand(target).map_err(|failure| *failure.problem)?);
                if text.is_some() && terminal {
                    words.push("-t".to_owned());
                }
                words.extend(["--".to_owned(), target.login()]);
                words.extend(text);
                words
            }
            Transport::Local => {
                let shell = target.exec.first().map_or(own, String::as_str).to_owned();
                let words = [shell].into_iter().chain(target.exec.iter().skip(1).cloned());
                words.chain(text.into_iter().flat_map(|text| ["-c".to_owned(), text])).collect()
            }
            Transport::Exec => exec(target, text, terminal)?,
        };
        Ok(Hand { words })
    }

    /// As a person would type it.
    pub fn line(&self) -> String {
        shell::join(self.words.iter().map(String::as_str))
    }

    /// Becomes that command: suil ends here, and its exit code is that of the command.
    pub fn take(self) -> Problem {
        let Some((program, args)) = self.words.split_first() else { return Problem::new("there is no command") };
        #[allow(clippy::disallowed_methods)]
        let mut command = std::process::Command::new(program);
        // Whoever works there inherits them otherwise.
        for name in ["SUIL_AGE_KEY", "SUIL_KEY_PASSPHRASE", "SUIL_STORE", "SUIL_SUDO_PASSWORD", "SUIL_TOKEN"] {
            command.env_remove(name);
        }
        let error = command.args(args).exec();
        match error.kind() {
            std::io::ErrorKind::NotFound => Problem::new(format!("no program `{program}` on this machine")),
            _ => Problem::io("start", program.as_ref(), &error),
        }
    }
}

/// What gives the shell, with a terminal where that is known to be had.
fn exec(target: &Target, text: Option<String>, terminal: bool) -> Result<Vec<String>, Problem> {
    let mut words = match target.exec.as_slice() {
        // A line that holds nothing but words can be looked into.
        [_, flag, line] if flag == "-c" && !line.contains(|c: char| "'\"\\$`|&;<>(){}*?[]~#\n".contains(c)) => {
            line.trim_start_matches("exec ").split_whitespace().map(str::to_owned).collect()
        }
        words => words.to_vec(),
    };
    let base = |word: &String| word.rsplit('/').next().unwrap_or_default().to_owned();
    let container = words.first().is_some_and(|first| CONTAINERS.contains(&base(first).as_str()));
    if let (true, true, Some(at)) = (terminal, container, words.iter().position(|word| word == "exec")) {
        words.insert(at + 1, "-t".to_owned());
    }
    if let Some(text) = text {
        if !words.last().is_some_and(|last| base(last).ends_with("sh")) {
            let line = shell::join(words.iter().map(String::as_str));
            let what = format!("node `{}`: no command can be handed to `{line}`", target.node);
            return Err(Problem::new(what)
                .note("the transport `exec` names a command that does not end in a shell")
                .help(format!("open it without a command: `suil ssh {}`", target.node)));
        }
        words.extend(["-c".to_owned(), text]);
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(transport: Transport, exec: &[&str], command: &[&str], terminal: bool) -> String {
        let mut target = Target::new("web");
        (target.transport, target.persist) = (transport, std::time::Duration::ZERO);
        target.exec = exec.iter().map(|word| (*word).to_owned()).collect();
        let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        Hand::reach(&target, &command, "/bin/zsh", terminal).map_or_else(|problem| problem.what, |hand| hand.line())
    }

    #[test]
    fn ssh_may_ask_a_person_and_gives_a_command_a_terminal() {
        let shell = line(Transport::Openssh, &[], &[], true);
        assert!(shell.starts_with("ssh -o StrictHostKeyChecking=ask ") && shell.ends_with(" -- web"), "{shell}");
        assert!(!shell.contains("BatchMode") && !shell.contains("RequestTTY") && !shell.contains(" -T"), "{shell}");
        let command = line(Transport::Russh, &[], &["ls", "a;b"], true);
        assert!(command.ends_with(&format!(" -t -- web {}", shell::quote("ls 'a;b'"))), "{command}");
        assert!(!line(Transport::Openssh, &[], &["ls"], false).contains(" -t "));
    }

    #[test]
    fn other_transports_give_their_own_shell() {
        assert_eq!(line(Transport::Local, &[], &[], true), "/bin/zsh");
        assert_eq!(line(Transport::Local, &[], &["ls -l | wc"], true), "/bin/zsh -c 'ls -l | wc'");
        let docker = ["/bin/sh", "-c", "exec docker exec -i web sh"];
        assert_eq!(line(Transport::Exec, &docker, &[], true), "docker exec -t -i web sh");
        assert_eq!(line(Transport::Exec, &docker, &["ls"], false), "docker exec -i web sh -c ls");
        assert_eq!(line(Transport::Exec, &["machinectl", "login", "web"], &[], true), "machinectl login web");
        assert!(line(Transport::Exec, &["serial", "web"], &["ls"], true).starts_with("node `web`: no command"));
    }
}
