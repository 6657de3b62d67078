//! Reads the command line, and says what is wrong with it in suil's own words.

use super::Cli;
use super::lazy::lazily;
use crate::base::{Mask, Problem};
use crate::ui::{self, Exit, Output};
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{CommandFactory, Parser, ValueEnum};
use std::ffi::OsString;

/// Parses the arguments, or prints what was asked for instead (`--help`, `--version`) or what is wrong.
pub fn parse(args: &[OsString]) -> Result<Cli, Exit> {
    // Whoever is told what is wrong, or asks for help, is told of all options.
    let parsed = lazily(|| Cli::try_parse_from(args)).or_else(|error| match error.kind() {
        ErrorKind::DisplayVersion => Err(error),
        _ => Cli::try_parse_from(args),
    });
    parsed.map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match ui::out(&error.render().ansi().to_string()) {
            Ok(()) => Exit::Done,
            Err(problem) => ui::fail(&[problem], &Mask::new()),
        },
        _ => ui::fail(&[problem(&error, args)], &Mask::new()),
    })
}

/// The form that a command line seems to ask for, whatever else is wrong with it.
pub fn form(args: &[OsString]) -> Output {
    let words = args.iter().skip(1).map(|arg| arg.to_str().unwrap_or_default()).take_while(|arg| *arg != "--");
    let mut form = Output::Text;
    let mut asked = false;
    for word in words {
        let name = match word.strip_prefix("--output") {
            Some("") => None,
            Some(rest) => rest.strip_prefix('='),
            None => asked.then_some(word),
        };
        asked = word == "--output";
        form = name.and_then(|name| Output::from_str(name, false).ok()).unwrap_or(form);
    }
    form
}

/// clap's error as a problem.
fn problem(error: &Error, args: &[OsString]) -> Problem {
    let text = |kind| error.get(kind).and_then(words);
    let arg = text(ContextKind::InvalidArg).map(|arg| short(&arg)).unwrap_or_default();
    let value = text(ContextKind::InvalidValue).unwrap_or_default();
    let choice = || text(ContextKind::ValidValue).map(|all| format!("expected one of {all}"));
    let (what, expected) = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            (format!("unknown command `{}`", text(ContextKind::InvalidSubcommand).unwrap_or_default()), None)
        }
        ErrorKind::UnknownArgument if arg.starts_with('-') => (format!("unknown option `{arg}`"), None),
        ErrorKind::UnknownArgument => (format!("unexpected argument `{arg}`"), None),
        ErrorKind::InvalidValue if value.is_empty() => (format!("`{arg}` needs a value"), choice()),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let why = std::error::Error::source(error).map(|e| expected(&e.to_string()));
            (format!("`{value}` is no value for `{arg}`"), choice().or(why))
        }
        ErrorKind::MissingRequiredArgument => (format!("{} is missing", ticked(&arg)), None),
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            ("a command is missing".to_owned(), None)
        }
        ErrorKind::ArgumentConflict => match text(ContextKind::PriorArg) {
            Some(other) if short(&other) == arg => (format!("`{arg}` is given twice"), None),
            Some(other) => (format!("`{arg}` and {} exclude each other", ticked(&short(&other))), None),
            None => (format!("`{arg}` cannot be used here"), None),
        },
        ErrorKind::NoEquals => (format!("`{arg}` needs `=` before its value"), None),
        ErrorKind::TooManyValues | ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => {
            (format!("`{arg}` has the wrong number of values"), None)
        }
        ErrorKind::InvalidUtf8 => ("an argument is not UTF-8".to_owned(), None),
        _ => (first_line(error), None),
    };
    let guess = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue]
        .into_iter()
        .find_map(|kind| error.get(kind).and_then(first).map(|guess| short(&guess)));
    let manual = format!("`{} --help` lists what there is", path(args));
    let help = guess.map_or(manual.clone(), |guess| format!("did you mean `{guess}`? {manual}"));
    let problem = Problem::usage(what).help(help);
    match expected {
        Some(expected) => problem.expected(expected),
        None => problem,
    }
}

/// What a value was expected to be, by the words of who parsed it.
fn expected(words: &str) -> String {
    let range = words.split_once(" is not in ").and_then(|(_, range)| range.split_once("..="));
    let number = ["digit found in string", "integer from empty string", "number too large"];
    match range {
        // What the type holds at most is no limit that anybody meant.
        Some((from, "65535" | "4294967295" | "18446744073709551615")) => format!("expected a whole number from {from}"),
        Some((from, to)) => format!("expected a whole number from {from} to {to}"),
        None if number.iter().any(|end| words.contains(end)) => "expected a whole number".to_owned(),
        None => format!("expected {words}"),
    }
}

/// The words of a context value; several are joined by commas.
fn words(value: &ContextValue) -> Option<String> {
    match value {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(all) => Some(all.join(", ")),
        ContextValue::StyledStr(text) => Some(text.to_string()),
        _ => None,
    }
}

fn first(value: &ContextValue) -> Option<String> {
    match value {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(all) => all.first().cloned(),
        _ => None,
    }
}

/// `--role <ROLE>` is `--role`, and `<NODE>` is `NODE`: what a person types or reads in the usage line.
fn short(arg: &str) -> String {
    let plain = |word: &str| {
        let word = word.trim_matches(|c| "[]".contains(c)).trim_end_matches("...");
        if word.starts_with('-') {
            word.split([' ', '=']).next().unwrap_or(word).to_owned()
        } else {
            word.trim_matches(|c| "<>[]".contains(c)).to_owned()
        }
    };
    arg.split(", ").map(plain).collect::<Vec<_>>().join(", ")
}

fn ticked(words: &str) -> String {
    words.split(", ").map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" and ")
}

fn first_line(error: &Error) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

/// The command as far as it was understood: `suil`, `suil apply`, `suil infra plan`.
fn path(args: &[OsString]) -> String {
    let mut path = "suil".to_owned();
    let mut command = &Cli::command();
    for word in args.iter().skip(1).take_while(|word| *word != "--") {
        if let Some(next) = command.get_subcommands().find(|next| next.get_name() == word.as_os_str()) {
            command = next;
            path = format!("{path} {}", next.get_name());
        }
    }
    path
}
