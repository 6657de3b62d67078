//! A new ciphertext in the layout of the old one.

/// Writes `base64` where `old` stood between the brackets: the same breaks and blanks, lines of the same width, the
/// last line as short as it comes.
pub fn refill(old: &str, base64: &str) -> String {
    let (runs, gaps) = split(old);
    let ([lead, between @ .., tail], false) = (gaps.as_slice(), runs.is_empty()) else { return base64.to_owned() };
    let Some(gap) = between.first() else { return format!("{lead}{base64}{tail}") };
    // The first line is shorter by the `!ENC[` before it; the widest is the measure of lines that are added.
    let widest = runs.iter().map(|run| run.len()).max().unwrap_or(1).max(1);
    let mut out = String::with_capacity(old.len().max(base64.len()) + 16);
    out.push_str(lead);
    let mut rest = base64;
    let mut line = 0;
    loop {
        let width = match runs.get(line) {
            Some(run) if line + 1 < runs.len() => run.len(),
            _ => widest,
        };
        let (now, later) = rest.split_at_checked(width).unwrap_or((rest, ""));
        out.push_str(now);
        rest = later;
        if rest.is_empty() {
            break;
        }
        out.push_str(between.get(line).unwrap_or(gap));
        line += 1;
    }
    out.push_str(tail);
    out
}

/// The runs of a text without white space, and the white space before, between and behind them.
fn split(text: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut runs, mut gaps) = (Vec::new(), Vec::new());
    let mut rest = text;
    loop {
        let run = rest.trim_start();
        gaps.push(rest.get(..rest.len() - run.len()).unwrap_or_default());
        if run.is_empty() {
            return (runs, gaps);
        }
        let (word, later) = run.split_at(run.find(char::is_whitespace).unwrap_or(run.len()));
        runs.push(word);
        rest = later;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_the_same_length_keeps_every_break() {
        for old in ["YWJj", " YW Jj ", "YWJj\n  YWJj\n  YWJjYWJjYWJj\n  YW==\n", "\n  YWJj\r\n\tYWJj\r\n  "] {
            let base64: String = old.chars().filter(|c| !c.is_whitespace()).collect();
            assert_eq!(refill(old, &base64), old);
        }
    }

    #[test]
    fn a_longer_or_shorter_text_keeps_the_width_and_has_a_short_last_line() {
        let old = "aaaa\n  aaaaaaaa\n  aaaaaaaa\n  aa";
        assert_eq!(refill(old, &"b".repeat(31)), "bbbb\n  bbbbbbbb\n  bbbbbbbb\n  bbbbbbbb\n  bbb");
        assert_eq!(refill(old, &"b".repeat(20)), "bbbb\n  bbbbbbbb\n  bbbbbbbb");
        assert_eq!(refill(old, "bb"), "bb");
        assert_eq!(refill("", "bb"), "bb");
    }
}
