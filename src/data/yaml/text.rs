//! From bytes to text: UTF-8, and no characters that YAML forbids.

use crate::base::{FileId, Place, Problem, Problems, Result};
use std::path::Path;
use std::sync::Arc;

/// Returns the text of a file.
///
/// # Errors
/// The first byte that is no UTF-8, with its line and column.
pub fn decode(path: &Path, bytes: &[u8]) -> Result<(Arc<str>, Problems)> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return Ok((Arc::from(text), Problems::new())),
        Err(error) => error,
    };
    let file = FileId::new(path, String::from_utf8_lossy(bytes).into_owned());
    let good = bytes.get(..error.valid_up_to()).and_then(|b| std::str::from_utf8(b).ok()).unwrap_or_default();
    let byte = bytes.get(error.valid_up_to()).copied().unwrap_or_default();
    let place = end_of(file, good);
    Err(Problem::new(format!("`{}` is not UTF-8", path.display()))
        .at(place)
        .expected(format!("expected UTF-8, found the byte 0x{byte:02x} at offset {}", good.len()))
        .help("save the file as UTF-8")
        .into())
}

/// The place right behind `text`, where it is the start of the file.
fn end_of(file: FileId, text: &str) -> Place {
    let line = text.bytes().filter(|b| *b == b'\n').count() + 1;
    let last = text.rsplit('\n').next().unwrap_or_default();
    Place { file, line: line as u32, column: last.chars().count() as u32 + 1, width: 1 }
}

/// Every character that a YAML file may not contain raw; one problem a line.
pub fn control_characters(file: FileId, text: &str) -> Problems {
    let mut problems = Problems::new();
    for (line, content) in (1..).zip(text.split('\n')) {
        let content = content.strip_suffix('\r').unwrap_or(content);
        let Some((column, c)) = (1..).zip(content.chars()).find(|(_, c)| !printable(*c)) else {
            continue;
        };
        problems.push(
            Problem::new(format!("the character U+{:04X} may not stand in YAML", u32::from(c)))
                .at(Place { file, line, column, width: 1 })
                .expected("expected text without control characters")
                .help(format!("write it as \"\\u{:04X}\" in double quotes", u32::from(c))),
        );
        if problems.len() == super::MAX_PROBLEMS {
            break;
        }
    }
    problems
}

fn printable(c: char) -> bool {
    !matches!(c, '\0'..='\x08' | '\x0b'..='\x1f' | '\x7f' | '\u{80}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')
        || c == '\r'
}
