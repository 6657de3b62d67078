//! Quoting for POSIX sh.

/// Quotes `word` so that any POSIX shell reads it as one word. Plain words stay as they are.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Quotes each word and joins them with blanks.
pub fn join<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// Splits a command as a shell would: blanks part words, quotes and backslashes keep them together. `None` where a quote
/// stays open.
pub fn split(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.chars();
    let mut quote = None;
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"'), '\\') => {
                let next = chars.next()?;
                let word = word.get_or_insert_default();
                if !matches!(next, '"' | '\\' | '$' | '`') {
                    word.push('\\');
                }
                word.push(next);
            }
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().push(chars.next()?),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_is_closed_and_opened_again() {
        assert_eq!(quote("it's"), r"'it'\''s'");
        assert_eq!(quote(""), "''");
        assert_eq!(join(["chmod", "0644", "/a b"]), "chmod 0644 '/a b'");
    }

    #[test]
    fn a_command_is_split_as_a_shell_does() {
        for (command, want) in [
            ("vi", &["vi"][..]),
            ("  code  --wait ", &["code", "--wait"]),
            (
                r#"'/opt/my editor/ed' -c "set \"x\"" a\ b '' "\n""#,
                &["/opt/my editor/ed", "-c", r#"set "x""#, "a b", "", r"\n"],
            ),
            ("", &[]),
        ] {
            assert_eq!(
                split(command).as_deref(),
                Some(want.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>().as_slice())
            );
        }
        for open in ["'x", "\"x", "x\\"] {
            assert_eq!(split(open), None);
        }
    }
}
