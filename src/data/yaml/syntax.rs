//! What the YAML parser refuses, in words for the person who wrote the file.

use crate::base::{FileId, Place, Problem};
use granit_parser::{ErrorKind, Marker, ScanError};

/// Turns a parser's error into a problem.
pub fn problem(file: FileId, source: &str, error: &ScanError) -> Problem {
    let place = place(file, error.marker());
    if let Some(problem) = marker_problem(source, error.marker(), place) {
        return problem;
    }
    let words = words(error.kind());
    Problem { place: Some(place), expected: words.expected, help: words.help, ..Problem::new(words.what) }
}

/// The place of a parser's mark.
pub fn place(file: FileId, mark: &Marker) -> Place {
    Place { file, line: mark.line() as u32, column: mark.col() as u32 + 1, width: 0 }
}

/// A line with a broken `!ENC[`, or with two tags, breaks in ways that only these words explain.
fn marker_problem(source: &str, mark: &Marker, place: Place) -> Option<Problem> {
    let line = source.lines().nth(mark.line().checked_sub(1)?)?;
    let from: String = line.chars().skip(mark.col()).collect();
    let before = line.trim_end_matches(&*from).trim_end();
    let behind_a_tag = before.rsplit([' ', '\t']).next()?.starts_with('!');
    if from.starts_with('!') && behind_a_tag {
        return Some(
            Problem::new("two tags stand before one value")
                .at(place)
                .expected("expected a value: YAML allows one tag")
                .help("a secret under a tag is written in quotes: `!replace \"!ENC[…]\"`"),
        );
    }
    if from.starts_with('*') && behind_a_tag {
        return Some(
            Problem::new("a tag stands before an alias")
                .at(place)
                .expected("expected a value: YAML takes an alias as it is")
                .help("write the value out, or put the tag to the anchor"),
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

struct Words {
    what: String,
    expected: Option<String>,
    help: Option<String>,
}

fn words(kind: &ErrorKind) -> Words {
    use ErrorKind as E;
    let (what, expected, help) = match kind {
        E::TabNotAllowed
        | E::TabInBlockIndentation
        | E::TabInIndentation
        | E::TabAtBlockScalarStart
        | E::TabInPlainScalar => ("a tab stands in the indentation", "expected blanks", ""),
        E::InvalidIndentation | E::ExpectedBlockMappingKey | E::ExpectedBlockSequenceEntry => (
            "this line fits no level of indentation",
            "expected it in line with the key or item that it belongs beside",
            "",
        ),
        E::UnexpectedEofFlowSequence | E::ExpectedFlowSequenceSeparator | E::UnclosedFlowCollection { open: '[' } => {
            let help = "put text that holds `{`, `[` or `,` in quotes";
            ("a list is not closed", "expected `]`, or `,` between two items", help)
        }
        E::UnexpectedEofFlowMapping
        | E::UnexpectedEofImplicitFlowMapping
        | E::ExpectedFlowMappingSeparator
        | E::UnclosedFlowCollection { .. } => ("a mapping is not closed", "expected `}`, or `,` between two keys", ""),
        E::MismatchedFlowCollectionEnd { .. } => {
            ("brackets do not match", "expected each `[` to end in `]`, each `{` in `}`", "")
        }
        E::UnclosedQuotedScalar => ("a quote is not closed", "expected the same quote at the end", ""),
        E::UnknownQuotedScalarEscape | E::InvalidQuotedScalarHexEscape | E::InvalidUnicodeEscape => (
            "a backslash starts no known escape",
            "expected an escape such as `\\n` or `\\u00e9`",
            "in single quotes a backslash is only itself",
        ),
        E::SimpleKeyExpected | E::InvalidSimpleKey => (
            "this line is neither a key with a value nor a list item",
            "expected `key: value` or `- item`",
            "a key needs a blank behind its colon",
        ),
        E::MappingValueNotAllowed | E::InvalidColonPlacement => {
            ("a colon stands where no key can be", "expected a value", "put text that holds `: ` in quotes")
        }
        E::RecursionLimitExceeded => ("the values nest too deep", "expected at most 128 levels", ""),
        E::BomInsideDocument => {
            ("a byte-order mark stands inside the file", "expected it at the start, or not at all", "")
        }
        E::UnexpectedCharacter { character: '`' } => {
            ("text cannot start with a backtick", "expected a value", "put it in quotes")
        }
        E::UnexpectedCharacter { character } => {
            let what = format!("text cannot start with `{}`", character.escape_default());
            let help = Some("put it in quotes".to_owned());
            return Words { what, expected: Some("expected a value".to_owned()), help };
        }
        other => {
            let text = other.to_string();
            let text = text.rsplit_once(", ").map_or(&*text, |(_, last)| last).trim_end_matches('.');
            let what = format!("this is not YAML: {}", text.replace("EOF", "end of file"));
            return Words { what, expected: None, help: None };
        }
    };
    let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    Words { what: what.to_owned(), expected: some(expected), help: some(help) }
}
