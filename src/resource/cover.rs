//! Covers what a diff must not tell.

use super::TextDiff;
use crate::base::Mask;
use similar::ChangeTag;

/// Stands for a line of the node's own text.
const HIDDEN: &str = "‹not shown: it may hold an earlier secret›";

impl TextDiff {
    /// Returns both texts with every known secret covered.
    ///
    /// The mask knows the secrets of this run, and the node may still hold the ones before them: where the wanted text
    /// has a secret, a line that goes away is not shown either, unless it holds a secret of this run. In a file that
    /// others own too the same is true of a line that stays: a later edit of the plan may be what replaces it.
    pub fn covered(&self, mask: &Mask) -> (String, String) {
        let masked = mask.apply(&self.after);
        if masked == self.after {
            return (mask.apply(&self.before), masked);
        }
        let lines = similar::TextDiff::from_lines(&self.before, &self.after);
        let mut before = String::with_capacity(self.before.len());
        let mut after = String::with_capacity(self.after.len());
        for change in lines.iter_all_changes() {
            let line = change.value();
            let old = !line.trim().is_empty() && mask.apply(line) == line;
            match change.tag() {
                ChangeTag::Insert => after.push_str(line),
                ChangeTag::Delete if old => hide(line, &mut before),
                ChangeTag::Delete => before.push_str(line),
                ChangeTag::Equal if old && self.shared => {
                    hide(line, &mut before);
                    hide(line, &mut after);
                }
                ChangeTag::Equal => {
                    before.push_str(line);
                    after.push_str(line);
                }
            }
        }
        (mask.apply(&before), mask.apply(&after))
    }
}

fn hide(line: &str, into: &mut String) {
    into.push_str(HIDDEN);
    into.push_str(if line.ends_with('\n') { "\n" } else { "" });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_of_an_earlier_run_is_not_shown_and_other_lines_are() {
        let mask = Mask::new();
        mask.add("new-secret");
        let text =
            |before: &str, after: &str| TextDiff { before: before.to_owned(), after: after.to_owned(), shared: false };
        let (before, after) = text("a\nkey=old\nb\n", "a\nkey=new-secret\nb\n").covered(&mask);
        assert_eq!(before, format!("a\n{HIDDEN}\nb\n"));
        assert!(after.starts_with("a\nkey=‹secret ") && after.ends_with("\nb\n"));
        let (before, _) = text("a\nkey=new-secret\nb\n", "key=new-secret\n").covered(&mask);
        assert!(before.starts_with(&format!("{HIDDEN}\nkey=‹secret ")), "{before}");
        assert_eq!(text("a\n", "b\n").covered(&mask), ("a\n".to_owned(), "b\n".to_owned()));
    }

    /// The block of a file has an old secret until the next operation; a line of the same file comes first.
    #[test]
    fn in_a_file_of_others_a_line_that_stays_is_not_shown_beside_a_secret() {
        let mask = Mask::new();
        mask.add("new-secret");
        let text = |after: &str| TextDiff { before: "old\n".to_owned(), after: after.to_owned(), shared: true };
        let (before, after) = text("old\nkey=new-secret\n").covered(&mask);
        assert_eq!(before, format!("{HIDDEN}\n"));
        assert!(after.starts_with(&format!("{HIDDEN}\nkey=‹secret ")), "{after}");
        assert_eq!(text("old\nno\n").covered(&mask), ("old\n".to_owned(), "old\nno\n".to_owned()));
    }
}
