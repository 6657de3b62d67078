//! Text as a terminal shows it: widths, tabs, and nothing that could steer the terminal.

/// What a tab becomes. Diffs and source lines are read, not edited, so a short one keeps lines on the screen.
const TAB: &str = "    ";

/// The columns that `text` takes.
pub fn width(text: &str) -> usize {
    console::measure_text_width(text)
}

/// Returns one line without tabs and without anything that could steer a terminal: control characters become
/// their pictures, and characters that turn the writing direction become `�`.
pub fn clean(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        match c {
            '\t' => out.push_str(TAB),
            '\u{7f}' => out.push('\u{2421}'),
            c if (c as u32) < 0x20 => out.push(char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}')),
            '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => {
                out.push('\u{fffd}')
            }
            c => out.push(c),
        }
    }
    out
}

/// Cleans each line of `text` and keeps the line ends.
pub fn clean_lines(text: &str) -> String {
    text.split('\n').map(|line| clean(line.strip_suffix('\r').unwrap_or(line))).collect::<Vec<_>>().join("\n")
}

/// Cuts a cleaned line to `columns`, ending in `…` where something is missing.
pub fn cut(line: &str, columns: usize) -> String {
    if width(line) <= columns {
        return line.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for c in line.chars() {
        let w = width(c.encode_utf8(&mut [0; 4]));
        if used + w + 1 > columns {
            break;
        }
        used += w;
        out.push(c);
    }
    out.push('…');
    out
}

/// `1 node`, `2 nodes`.
pub fn count(n: usize, one: &str) -> String {
    let stem = one.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    match (n, stem) {
        (1, _) => format!("1 {one}"),
        (n, Some(stem)) => format!("{n} {stem}ies"),
        (n, None) => format!("{n} {one}s"),
    }
}

/// How long ago something was, in the largest unit that still says enough: `now`, `5 min`, `3 h`, `12 days`. What a
/// clock that runs ahead wrote is `now`.
pub fn age(seconds: i64) -> String {
    match seconds {
        ..120 => "now".to_owned(),
        120..3600 => format!("{} min", seconds / 60),
        3600..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// How long something took: `0.4 s`, `12 s`, `3 min 5 s`, `1 h 4 min`.
pub fn took(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        _ if seconds < 9.95 => format!("{:.1} s", seconds.max(0.0)),
        ..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_comes_through() {
        assert_eq!(clean("a\tb\u{1b}[2Jc\u{202e}"), "a    b␛[2Jc�");
        assert_eq!(clean_lines("a\r\nb\r"), "a\nb");
    }

    #[test]
    fn a_cut_line_ends_in_an_ellipsis_and_never_splits_a_wide_character() {
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("abcd", 4), "abcd");
    }

    #[test]
    fn ages_and_durations_are_in_words() {
        let ages = [-5, 119, 120, 3599, 3600, 172_799, 172_800, 864_000].map(age);
        assert_eq!(ages, ["now", "now", "2 min", "59 min", "1 h", "47 h", "2 days", "10 days"]);
        let spans = [0.04, 9.94, 9.96, 59.4, 61.0, 3840.0].map(took);
        assert_eq!(spans, ["0.0 s", "9.9 s", "10 s", "59 s", "1 min 1 s", "1 h 4 min"]);
    }

    #[test]
    fn counts_are_in_words() {
        assert_eq!(count(1, "node"), "1 node");
        assert_eq!(count(2, "entry"), "2 entries");
        assert_eq!(count(0, "node"), "0 nodes");
    }
}
