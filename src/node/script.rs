//! What a person wants run on a node: words, a line for sh, or a file with an interpreter of its own.

use super::session::{Outcome, Session};
use super::{Failure, program};
use crate::base::shell;
use std::time::Duration;

/// A script and what reads it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Script {
    pub text: String,
    /// The interpreter and its argument; empty for sh.
    pub interpreter: Vec<String>,
}

impl Script {
    /// A command and its arguments, each of them exactly as given. One word alone is a line for sh.
    pub fn of_words(words: &[String]) -> Script {
        let text = match words {
            [line] => line.clone(),
            [name, rest @ ..] => {
                // Unquoted, sh would take `A=1` for an assignment and `if` for a keyword.
                let name = match name.contains('=') || KEYWORDS.contains(&name.as_str()) {
                    true => format!("'{}'", name.replace('\'', r"'\''")),
                    false => shell::quote(name),
                };
                [name].into_iter().chain(rest.iter().map(|word| shell::quote(word))).collect::<Vec<_>>().join(" ")
            }
            [] => String::new(),
        };
        Script { text, interpreter: Vec::new() }
    }

    /// The text of a file: read by what its first line names (`#!/usr/bin/env python3`), else by sh.
    pub fn of_file(text: String) -> Script {
        let first = text.lines().next().unwrap_or_default();
        let interpreter = first.strip_prefix("#!").map(str::trim).unwrap_or_default();
        let (name, argument) = interpreter.split_once(char::is_whitespace).unwrap_or((interpreter, ""));
        let interpreter: Vec<String> = match name {
            "/bin/sh" if argument.is_empty() => Vec::new(),
            _ => [name, argument.trim()].into_iter().filter(|word| !word.is_empty()).map(str::to_owned).collect(),
        };
        Script { text, interpreter }
    }

    fn render(&self) -> String {
        if self.interpreter.is_empty() {
            return program::forget() + &self.text;
        }
        let interpreter = shell::join(self.interpreter.iter().map(String::as_str));
        format!("suil_keep script {} && exec {interpreter} \"$suil_folder/script\"", program::word(&self.text))
    }
}

const KEYWORDS: [&str; 16] =
    ["if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "{", "}", "!", "in"];

impl Session {
    /// Runs a script of a person, with nothing of suil's in its way and `/dev/null` as stdin. Its status is not judged.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub async fn command(&mut self, script: &Script, limit: Duration) -> Result<Outcome, Failure> {
        self.run("the command", &script.render(), limit).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> String {
        Script::of_words(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()).text
    }

    #[test]
    fn several_words_are_arguments_and_one_is_a_line_for_sh() {
        assert_eq!(words(&["df -h | tail -1"]), "df -h | tail -1");
        assert_eq!(words(&["grep", "a b", "$HOME", "x;y"]), "grep 'a b' '$HOME' 'x;y'");
        assert_eq!(words(&["A=1", "env"]), "'A=1' env");
        assert_eq!(words(&["if", "x"]), "'if' x");
    }

    #[test]
    fn the_first_line_of_a_file_names_what_reads_it() {
        let reads = |text: &str| Script::of_file(text.to_owned()).interpreter.join("|");
        assert_eq!(reads("#!/usr/bin/env python3\nprint(1)\n"), "/usr/bin/env|python3");
        assert_eq!(reads("#! /bin/bash -eu\n"), "/bin/bash|-eu");
        assert_eq!(reads("#!/bin/sh\ntrue\n"), "");
        assert_eq!(reads("true\n"), "");
    }
}
