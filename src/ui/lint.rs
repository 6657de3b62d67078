//! Findings about a tree of layers, as people read them: one line each that an editor can follow, and what it means below.

use super::Paint;
use super::text::{self, count};
use crate::base::Mask;
use crate::infra::Value;
use crate::infra::lint::Finding;

/// Lines are broken before this column.
const WIDTH: usize = 78;

/// Renders the findings and a summary line, of `layers` layers that were looked at.
pub fn render(findings: &[Finding], layers: usize, mask: &Mask, paint: Paint) -> String {
    let mut out = String::new();
    for found in findings {
        let at = found.place.map(|place| format!(":{}:{}", place.line, place.column)).unwrap_or_default();
        let file = text::clean(&found.file.display().to_string());
        out.push_str(&format!("{}: {}\n", paint.heading(&format!("{file}{at}")), paint.changed(found.rule.name())));
        for line in broken(&text::clean(&mask.apply(&found.what))) {
            out.push_str(&format!("  {line}\n"));
        }
        let width = WIDTH - 14;
        let show = |value: &Value| text::cut(&text::clean(&mask.apply(&value.to_json_line())), width);
        for (name, value) in [("here", &found.value), ("original", &found.original)] {
            if let Some(value) = value {
                out.push_str(&format!("    {name:<9} {}\n", show(value)));
            }
        }
        if let Some(help) = &found.help {
            for line in broken(&format!("help: {}", text::clean(&mask.apply(help)))) {
                out.push_str(&format!("  {}\n", paint.quiet(&line)));
            }
        }
    }
    let files: std::collections::BTreeSet<_> = findings.iter().map(|found| &found.file).collect();
    let of = count(layers, "layer");
    out.push_str(&match findings.len() {
        0 => format!("lint: nothing found in {of}\n"),
        n => format!("{}lint: {} in {}, of {of}\n", "\n", count(n, "finding"), count(files.len(), "file")),
    });
    out
}

/// The text in lines of at most [`WIDTH`] columns with their indentation, broken between words.
fn broken(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if text::width(line) + text::width(word) + 3 <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
