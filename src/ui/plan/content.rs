//! The difference of two texts, as a unified diff.

use crate::base::Mask;
use crate::resource::TextDiff;
use crate::ui::Paint;
use crate::ui::text::{self, count};
use similar::ChangeTag;

/// How many lines of one diff are shown on a screen.
pub const LINES: usize = 100;
/// How many lines that stay the same are shown around a change.
const CONTEXT: usize = 3;

/// Renders the diff, indented below its operation. The texts are masked before they are compared, so that a secret
/// shows as its digest and a changed one as two digests.
pub fn render(limit: usize, diff: &TextDiff, mask: &Mask, paint: Paint) -> String {
    let (before, after) = diff.covered(mask);
    let mut lines = lines(&before, &after, paint);
    shorten(&mut lines, limit, paint);
    lines.iter().map(|line| format!("      {line}").trim_end().to_owned() + "\n").collect()
}

/// Leaves out what is beyond `limit`, and says so.
pub fn shorten(lines: &mut Vec<String>, limit: usize, paint: Paint) {
    let hidden = lines.len().saturating_sub(limit);
    if hidden > 1 {
        lines.truncate(limit);
        let how = if limit == LINES { "; a pipe shows all" } else { "" };
        lines.push(paint.quiet(&format!("… {}{how}", count(hidden, "more line"))));
    }
}

/// The lines of a unified diff of two texts that hold no secret.
pub fn lines(before: &str, after: &str, paint: Paint) -> Vec<String> {
    let compared = similar::TextDiff::from_lines(before, after);
    let mut lines = Vec::new();
    for hunk in compared.unified_diff().context_radius(CONTEXT).iter_hunks() {
        if !before.is_empty() && !after.is_empty() {
            lines.push(paint.run(&hunk.header().to_string()));
        }
        for change in hunk.iter_changes() {
            let shown = text::clean(change.value().trim_end_matches(['\n', '\r']));
            lines.push(match change.tag() {
                ChangeTag::Delete => paint.removed(&format!("-{shown}")),
                ChangeTag::Insert => paint.added(&format!("+{shown}")),
                ChangeTag::Equal => format!(" {shown}").trim_end().to_owned(),
            });
            if change.missing_newline() {
                lines.push(paint.quiet("\\ no line end here"));
            }
        }
    }
    lines
}
