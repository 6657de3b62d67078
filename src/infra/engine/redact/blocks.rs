//! Texts over lines, lists and maps of a plan's text that stand under the name of a secret.

use crate::infra::secret::{COVER, NAMES};
use regex::{Captures, Regex};
use std::sync::LazyLock;

static OPENED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(r#"(?i)(?:{NAMES})s?"?[ \t]*(?:=|:)[ \t]*(?:<<[-~]?([A-Za-z_]+)|([\[{{]))$"#)).ok()
});

/// A text in quotes, and what makes it a name.
static QUOTED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#"("(?:[^"\\\n]|\\.)*")([ \t]*[=:])?"#).ok());

enum Block {
    /// Up to a line with this word.
    Text(String),
    /// Up to this bracket, no deeper than the name of the list or map.
    List(char, usize),
}

/// Covers them.
pub fn cover(text: String) -> String {
    let Some(opened) = OPENED.as_ref().filter(|opened| text.lines().any(|line| opened.is_match(line.trim_end())))
    else {
        return text;
    };
    let mut out = String::with_capacity(text.len());
    let mut within: Option<Block> = None;
    for line in text.split_inclusive('\n') {
        let plain = line.trim();
        let indent = line.len() - line.trim_start().len();
        let ends = match &within {
            None => false,
            Some(Block::Text(end)) => plain.split_whitespace().next() == Some(end),
            // A sign of change takes two columns before the name.
            Some(Block::List(end, from)) => plain.starts_with(*end) && indent <= from + 2,
        };
        let left = matches!(within, Some(Block::List(_, from)) if !plain.is_empty() && indent < from);
        if ends || left {
            within = None;
        }
        match &within {
            Some(Block::Text(_)) if !plain.is_empty() => out.push_str(&line.replacen(plain, COVER, 1)),
            Some(Block::List(..)) => out.push_str(&quoted(line)),
            _ => out.push_str(line),
        }
        if let Some(found) = opened.captures(line.trim_end()).filter(|_| within.is_none()) {
            within = found.get(1).map(|end| Block::Text(end.as_str().to_owned()));
            let end = if found.get(2).is_some_and(|open| open.as_str() == "[") { ']' } else { '}' };
            within = within.or(Some(Block::List(end, indent)));
        }
    }
    out
}

/// Covers what stands in quotes, but names.
fn quoted(line: &str) -> String {
    let cover = |found: &Captures<'_>| match found.get(2) {
        Some(_) => found.get(0).map_or_else(String::new, |all| all.as_str().to_owned()),
        None => COVER.to_owned(),
    };
    QUOTED.as_ref().map_or_else(|| COVER.to_owned(), |quoted| quoted.replace_all(line, cover).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_over_lines_under_the_name_of_a_secret_is_covered() {
        let text = r#"
      + db_password   = <<-EOT
            one
              - two

        EOT # forces replacement
      + user          = "bob"
      ~ tokens        = {
          + "a b" = "x"
          ~ c     = "y" -> "z"
          + deep  = {
              + d = "w"
            }
        }
      + passwords     = [
          + "v",
        ]
      + plain         = [
          + "u",
        ]
"#;
        let want = r#"
      + db_password   = <<-EOT
            ***
              ***

        EOT # forces replacement
      + user          = "bob"
      ~ tokens        = {
          + "a b" = ***
          ~ c     = *** -> ***
          + deep  = {
              + d = ***
            }
        }
      + passwords     = [
          + ***,
        ]
      + plain         = [
          + "u",
        ]
"#;
        assert_eq!(cover(text.to_owned()), want);
        let cut = "secret = <<EOT\nleft open";
        assert_eq!(cover(cut.to_owned()), "secret = <<EOT\n***");
        let left = "      tokens = [\n          \"x\",\n  # other\n  + a = \"b\"\n";
        assert_eq!(cover(left.to_owned()), left.replace("\"x\"", "***"));
    }
}
