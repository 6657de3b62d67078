//! The survey: every fact of a node, and what the modules' own collectors say, in one round trip.

use super::answer::{self, Raw};
use super::session::Session;
use super::{Access, Failure, Target, program};
use crate::base::Plain;
use crate::resource::{Facts, Request, fact};
use std::collections::BTreeMap;
use std::time::Duration;

/// A module's own collector: a program by its shebang, or a `Facter` of the Python suil.
#[derive(Clone, PartialEq, Debug)]
pub struct Collector {
    pub module: String,
    /// The file's name, for messages of its interpreter: `collector.py`.
    pub file: String,
    pub text: String,
    /// The public config, given as JSON on stdin.
    pub config: Plain,
}

/// What a survey brought home.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Survey {
    pub facts: Facts,
    /// By module: what its collector printed, or why its facts are unknown.
    pub collected: BTreeMap<String, Result<Plain, String>>,
}

const FACTER: &str = include_str!("../../collector/facter.py");

impl Session {
    /// Connects and surveys at once: on a node that matches, a whole run is one connection and one round trip.
    ///
    /// # Errors
    /// As [`Session::open`] and [`Session::survey`].
    pub async fn open_with_survey(
        target: &Target,
        access: &Access,
        requests: &[Request],
        collectors: &[Collector],
    ) -> Result<(Session, Survey), Failure> {
        let early = |token: &str| text(token, requests, collectors);
        let mut session = Session::begin(target, access, Some(&early)).await?;
        let survey = session.surveyed(requests, collectors).await?;
        Ok((session, survey))
    }

    /// Reads the facts that are asked for and runs the collectors, in one round trip. A collector that fails or goes
    /// over its limit spoils only its own module's facts.
    ///
    /// # Errors
    /// The channel broke, or the whole took longer than all limits together.
    pub async fn survey(&mut self, requests: &[Request], collectors: &[Collector]) -> Result<Survey, Failure> {
        self.ready("the facts")?;
        self.send_job("ask", |token| text(token, requests, collectors)).await;
        self.surveyed(requests, collectors).await
    }

    async fn surveyed(&mut self, requests: &[Request], collectors: &[Collector]) -> Result<Survey, Failure> {
        let limits = self.access.limits;
        let mut steps = vec![limits.facts];
        steps.resize(collectors.len() + 1, limits.collector);
        let whole: Duration = steps.iter().sum::<Duration>() + limits.facts;
        let (_, answers) = self.answer("the facts", whole, &steps).await?;
        let mut facts = match answers.first() {
            Some(raw) if !requests.is_empty() => fact::parse(requests, &raw.stdout),
            _ => Facts::default(),
        };
        facts.ssh_user = self.user().to_owned();
        if let Ok(probe) = self.probe() {
            facts.family = probe.family;
        }
        let answers = answers.iter().skip(1).zip(collectors);
        let collected = answers.map(|(raw, collector)| (collector.module.clone(), self.collected(raw, collector)));
        Ok(Survey { facts, collected: collected.collect() })
    }

    fn collected(&self, raw: &Raw, collector: &Collector) -> Result<Plain, String> {
        if raw.late {
            return Err(format!("took longer than {} s and was ended", self.access.limits.collector.as_secs()));
        }
        if raw.status == "127" {
            let words = interpreter(collector);
            return Err(format!("needs `{}` on the node", words.last().map_or("", String::as_str)));
        }
        answer::document(raw, &self.access.mask)
    }
}

/// The script of a survey. Inner answers are numbered: the facts are 0, the collectors follow.
fn text(token: &str, requests: &[Request], collectors: &[Collector]) -> String {
    let facts = if requests.is_empty() { String::new() } else { fact::script(requests) };
    let mut out = format!("suil_open {token}.0\n(\n{facts}\n:\n) 2>\"$suil_folder/said\"\nsuil_shut {token}.0 $?\n");
    if collectors.iter().any(is_facter) {
        out.push_str(&format!("suil_keep facter.py {}\n", program::word(FACTER)));
    }
    for (i, collector) in collectors.iter().enumerate() {
        let file =
            format!("collector-{}", collector.file.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "_"));
        let words = [token.to_owned() + "." + &(i + 1).to_string(), file, collector.text.clone()];
        let words: Vec<String> = words.iter().map(|word| program::word(word)).collect();
        let config = program::word(&collector.config.to_json_line());
        let mut command = interpreter(collector);
        command.iter_mut().for_each(|word| *word = program::word(word));
        if is_facter(collector) {
            command.push("\"$suil_folder/facter.py\"".to_owned());
        }
        out.push_str(&format!("suil_collect {} {config} {}\n", words.join(" "), command.join(" ")));
    }
    out
}

/// A `collector.py` with no shebang, or one that imports the Python suil, is run through the bootstrap.
fn is_facter(collector: &Collector) -> bool {
    let python = collector.file.ends_with(".py");
    python && (collector.text.contains("suil.sdk") || !collector.text.starts_with("#!"))
}

/// The command that runs a collector. The file itself is never executed: its folder may be mounted noexec.
fn interpreter(collector: &Collector) -> Vec<String> {
    if is_facter(collector) {
        return vec!["python3".to_owned()];
    }
    let first = collector.text.lines().next().unwrap_or_default();
    let words: Vec<String> =
        first.strip_prefix("#!").unwrap_or_default().split_whitespace().map(str::to_owned).collect();
    match words.first().map(String::as_str) {
        None => vec!["sh".to_owned()],
        // `env` finds the interpreter in PATH, which is what the session's shell does as well.
        Some(env) if env.ends_with("/env") => {
            let rest: Vec<String> = words.into_iter().skip(1).filter(|word| word != "-S").collect();
            if rest.is_empty() { vec!["sh".to_owned()] } else { rest }
        }
        // The kernel gives everything behind the interpreter as one word.
        Some(_) => {
            let (head, tail) = words.split_at(1);
            let tail = tail.join(" ");
            head.iter().cloned().chain((!tail.is_empty()).then_some(tail)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Mask;
    use crate::node::scan::{Mark, Piece, Scanner};
    use std::path::Path;

    /// Reads a case of O05 as the session reads an answer.
    fn case(name: &str) -> Result<Plain, String> {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/open/O05-noise-around-an-answer/input/stdout");
        let mut scanner = Scanner::new("7f3a", "no prompt");
        scanner.push(&std::fs::read(folder.join(name)).expect("the case"));
        let (mut raw, mut open, mut noise) = (Raw::default(), false, Vec::new());
        while let Some(piece) = scanner.next() {
            match piece {
                Piece::Mark(Mark::Begin(_)) => open = true,
                Piece::Mark(Mark::End(_, status)) => (raw.status, raw.ended, open) = (status, true, false),
                Piece::Text(text) if open => raw.stdout.extend(text),
                Piece::Text(text) => noise.extend(text),
                Piece::Mark(_) => {}
            }
        }
        noise.extend(scanner.rest());
        if !raw.ended && !open {
            let noise = String::from_utf8_lossy(&noise).into_owned();
            return Err(Failure::before_greeting(&Target::new("web"), Some(1), "", &noise).problem.what);
        }
        answer::document(&raw, &Mask::new())
    }

    #[test]
    fn noise_around_an_answer_is_never_part_of_it() {
        let want = Plain::from_json(r#"{"os": "debian", "n": 1}"#).expect("json");
        for name in [
            "01-clean",
            "02-motd-before",
            "03-logout-after",
            "04-colours",
            "05-pty-crlf",
            "10-old-marker",
            "12-bad-utf8",
            "14-sudo-prompt",
        ] {
            assert_eq!(case(&format!("{name}.txt")), Ok(want.clone()), "{name}");
        }
    }

    #[test]
    fn an_answer_that_is_spoilt_says_how() {
        for (name, words) in [
            ("06-warning-in-the-middle", "cannot change locale"),
            ("07-cut-off", "connection closed in the middle of the answer"),
            ("08-no-marker", "login shell refused: This account is currently not available."),
            ("09-password-change", "required to change your password"),
            ("11-status", "status 41"),
            ("13-two-documents", "more than one document"),
        ] {
            let error = case(&format!("{name}.txt")).expect_err(name);
            assert!(error.contains(words), "{name}: {error}");
        }
    }

    #[test]
    fn the_interpreter_is_the_one_of_the_shebang() {
        let of = |file: &str, text: &str| {
            let (file, text) = (file.to_owned(), text.to_owned());
            interpreter(&Collector { module: "m".into(), file, text, config: Plain::map() }).join("|")
        };
        assert_eq!(of("collector", "#!/usr/bin/env python3\n"), "python3");
        assert_eq!(of("collector.sh", "#!/bin/sh -e x\n"), "/bin/sh|-e x");
        assert_eq!(of("collector.sh", "echo {}\n"), "sh");
        assert_eq!(of("collector.py", "from suil.sdk import Facter\n"), "python3");
    }
}
