//! A plaintext as a view shows it.

use super::super::yaml::spot::OPEN;
use zeroize::Zeroizing;

/// `!SECRET "…"`, or a block where the text has lines and may stand in one. `indent` is that of its lines, `None` where
/// no block can stand.
pub fn tagged(text: &str, indent: Option<usize>, line_end: &str) -> Zeroizing<String> {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let fits = |line: &str| line.chars().all(|c| printable(c) && c != '\r') && line.trim_end() == line;
    let block = body.contains('\n')
        && body.split('\n').all(fits)
        && !body.starts_with([' ', '\n', '\t'])
        && !body.ends_with('\n');
    let Some(indent) = indent.filter(|_| block) else {
        return Zeroizing::new(format!("{OPEN} {}", *quoted(text)));
    };
    let mut out = Zeroizing::new(String::with_capacity(text.len() * 2 + 64));
    out.push_str(OPEN);
    out.push_str(if body.len() == text.len() { " |-" } else { " |" });
    for line in body.split('\n') {
        out.push_str(line_end);
        if !line.is_empty() {
            out.extend(std::iter::repeat_n(' ', indent));
            out.push_str(line);
        }
    }
    out
}

/// `"!SECRET …"`, for what stands under another tag.
pub fn as_text(text: &str) -> Zeroizing<String> {
    quoted(&Zeroizing::new(format!("{OPEN} {text}")))
}

/// The text in double quotes.
fn quoted(text: &str) -> Zeroizing<String> {
    let mut out = Zeroizing::new(String::with_capacity(text.len() * 2 + 2));
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if printable(c) => out.push(c),
            c if u32::from(c) < 0x100 => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c if u32::from(c) < 0x10000 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push_str(&format!("\\U{:08x}", u32::from(c))),
        }
    }
    out.push('"');
    out
}

/// True for what is seen, and what every reader of YAML takes as it is.
fn printable(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}
