//! The three forms of a result: text for people, JSON and YAML for programs.

use crate::base::{Plain, Problem};

/// The form of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
pub enum Output {
    #[default]
    Text,
    Json,
    Yaml,
}

/// Prints a result: `text` for people, or `value`, which is only built where a program asks for it.
///
/// # Errors
/// The output cannot be written.
pub fn show(output: Output, text: impl FnOnce() -> String, value: impl FnOnce() -> Plain) -> Result<(), Problem> {
    super::out(&match output {
        Output::Text => text(),
        Output::Json => value().to_json() + "\n",
        Output::Yaml => value().to_yaml(),
    })
}
