//! What the YAML parser refuses, in words for the person who wrote the file.

use crate::base::{FileId, Place, Problem};
use granit_parser::{ErrorKind, Marker, ScanError};

/// Turns a parser's error into a problem.
pub fn problem(file: FileId, source: &str, error: &ScanError) -> Problem {
    let place = place(file, error.marker());
    if let Some(problem) = marker_problem(source, error.marker(), place) {
        return problem;
    }
    let (what, help) = words(error.kind());
    let problem = Problem::new(what).at(place);
    match help {
        Some(help) => problem.help(help),
        None => problem,
    }
}

/// The place of a parser's mark.
pub fn place(file: FileId, mark: &Marker) -> Place {
    Place { file, line: mark.line() as u32, column: mark.col() as u32 + 1, width: 0 }
}

/// A line with a broken `!ENC[`, or with two tags, breaks in ways that only these words explain.
fn marker_problem(source: &str, mark: &Marker, place: Place) -> Option<Problem> {
    let line = source.lines().nth(mark.line().checked_sub(1)?)?;
    let from: String = line.chars().skip(mark.col()).collect();
    if from.starts_with('!') && line.trim_end_matches(&*from).trim_end().rsplit([' ', '\t']).next()?.starts_with('!') {
        return Some(
            Problem::new("two tags stand before one value")
                .at(place)
                .expected("expected a value: YAML allows one tag")
                .help("a secret under a tag is written in quotes: `!replace \"!ENC[…]\"`"),
        );
    }
    let open = line.find("!ENC[").or_else(|| line.to_ascii_uppercase().find("!ENC["))?;
    if line.get(open..).is_some_and(|rest| rest.starts_with("!ENC[") && rest.contains(']')) {
        return None;
    }
    let column = line.get(..open)?.chars().count() as u32 + 1;
    let unclosed = line.get(open..)?.starts_with("!ENC[");
    let what =
        if unclosed { "a secret is not closed on its line" } else { "a secret starts with `!ENC[`, in capitals" };
    let problem = Problem::new(what).at(Place { column, width: 5, ..place }).expected("expected `!ENC[<base64>]`");
    Some(if unclosed { problem.help("break it over lines in a folded block: `>-`") } else { problem })
}

fn words(kind: &ErrorKind) -> (String, Option<&'static str>) {
    use ErrorKind as E;
    let (what, help) = match kind {
        E::TabNotAllowed | E::TabInBlockIndentation | E::TabInIndentation | E::TabAtBlockScalarStart => {
            ("a tab stands in the indentation", Some("indent with blanks"))
        }
        E::InvalidIndentation | E::ExpectedBlockMappingKey | E::ExpectedBlockSequenceEntry => {
            ("this line fits no level of indentation", Some("line it up with the key or item it belongs beside"))
        }
        E::UnexpectedEofFlowSequence | E::ExpectedFlowSequenceSeparator | E::UnclosedFlowCollection { open: '[' } => {
            ("a list is not closed", Some("add `]`, or `,` between two items"))
        }
        E::UnexpectedEofFlowMapping
        | E::UnexpectedEofImplicitFlowMapping
        | E::ExpectedFlowMappingSeparator
        | E::UnclosedFlowCollection { .. } => ("a mapping is not closed", Some("add `}`, or `,` between two keys")),
        E::UnclosedQuotedScalar => ("a quote is not closed", None),
        E::SimpleKeyExpected | E::InvalidSimpleKey => (
            "this line is neither a key with a value nor a list item",
            Some("write `key: value`, with a blank after the colon"),
        ),
        E::MappingValueNotAllowed | E::InvalidColonPlacement => {
            ("a colon stands where no key can be", Some("put text that holds `: ` in quotes"))
        }
        E::RecursionLimitExceeded => ("the values nest too deep", Some("128 levels are the limit")),
        E::BomInsideDocument => ("a byte-order mark stands inside the file", None),
        E::UnexpectedCharacter { character } => {
            return (format!("text cannot start with `{}`", character.escape_default()), Some("put it in quotes"));
        }
        other => {
            let text = other.to_string();
            let text = text.rsplit_once(", ").map_or(&*text, |(_, last)| last).trim_end_matches('.');
            return (format!("this is not YAML: {}", text.replace("EOF", "end of file")), None);
        }
    };
    (what.to_owned(), help)
}
