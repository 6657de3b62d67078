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
    /// has a secret, a line that goes away is not shown either, unless it holds a secret of this run.
    pub fn covered(&self, mask: &Mask) -> (String, String) {
        let after = mask.apply(&self.after);
        if after == self.after {
            return (mask.apply(&self.before), after);
        }
        let lines = similar::TextDiff::from_lines(&self.before, &self.after);
        let mut before = String::with_capacity(self.before.len());
        for change in lines.iter_all_changes() {
            let line = change.value();
            match change.tag() {
                ChangeTag::Insert => {}
                ChangeTag::Delete if !line.trim().is_empty() && mask.apply(line) == line => {
                    before.push_str(HIDDEN);
                    before.push_str(if line.ends_with('\n') { "\n" } else { "" });
                }
                ChangeTag::Delete | ChangeTag::Equal => before.push_str(line),
            }
        }
        (mask.apply(&before), after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_of_an_earlier_run_is_not_shown_and_other_lines_are() {
        let mask = Mask::new();
        mask.add("new-secret");
        let text = |before: &str, after: &str| TextDiff { before: before.to_owned(), after: after.to_owned() };
        let (before, after) = text("a\nkey=old\nb\n", "a\nkey=new-secret\nb\n").covered(&mask);
        assert_eq!(before, format!("a\n{HIDDEN}\nb\n"));
        assert!(after.starts_with("a\nkey=‹secret ") && after.ends_with("\nb\n"));
        let (before, _) = text("a\nkey=new-secret\nb\n", "key=new-secret\n").covered(&mask);
        assert!(before.starts_with(&format!("{HIDDEN}\nkey=‹secret ")), "{before}");
        assert_eq!(text("a\n", "b\n").covered(&mask), ("a\n".to_owned(), "b\n".to_owned()));
    }
}
