//! What differs between the output folders of layers, as people read it.

use super::plan::content;
use super::text::{self, count};
use super::{Paint, columns};
use crate::infra::compare::{Change, Compared, Side};
use std::path::Path;

/// Renders the unified diffs of the layers that differ, and a summary line. `failed` more could not be compared; `output`
/// is the name of the output folders.
pub fn render(compared: &[Compared], failed: usize, revision: &str, output: &Path, paint: Paint) -> String {
    // A screen forgets what has left it; whoever reads from a pipe wants all.
    let limit = if columns().is_some() { content::LINES } else { usize::MAX };
    let mut out = String::new();
    // Of a layer that is gone nobody needs every line.
    for layer in compared.iter().filter(|layer| layer.after) {
        let folder =
            if output.is_relative() { Path::new(&layer.layer).join(output) } else { layer.layer.clone().into() };
        for change in &layer.files {
            for line in file(&folder, change, limit, paint) {
                out.push_str(&line);
                out.push('\n');
            }
        }
    }
    if !out.is_empty() {
        out.push('\n');
    }
    for word in ["added", "removed", "changed"] {
        for layer in compared.iter().filter(|layer| layer.word() == word) {
            out.push_str(&format!("{}: {}\n", layer.layer, words(layer)));
        }
    }
    out.push_str(&summary(compared, failed, revision));
    out
}

/// `changed, 2 files; secrets differ in zzz.auto.tfvars.json`.
fn words(layer: &Compared) -> String {
    let secret: Vec<String> = layer.files.iter().filter(|change| change.secret).map(name).collect();
    let mut words = format!("{}, {}", layer.word(), count(layer.files.len(), "file"));
    if !secret.is_empty() && layer.word() == "changed" {
        words.push_str(&format!("; secrets differ in {}", secret.join(", ")));
    }
    words
}

fn name(change: &Change) -> String {
    text::clean(&change.path.display().to_string())
}

fn summary(compared: &[Compared], failed: usize, revision: &str) -> String {
    let mut parts = Vec::new();
    for word in ["changed", "added", "removed"] {
        match compared.iter().filter(|layer| layer.word() == word).count() {
            0 => {}
            n if parts.is_empty() => parts.push(format!("{} {word}", count(n, "layer"))),
            n => parts.push(format!("{n} {word}")),
        }
    }
    let more = [(compared.iter().filter(|layer| layer.word() == "same").count(), "as in"), (failed, "failed")];
    for (n, word) in more.into_iter().filter(|(n, _)| *n > 0) {
        let n = if parts.is_empty() { count(n, "layer") } else { n.to_string() };
        parts.push(if word == "as in" {
            format!("{n} as in {}", text::clean(revision))
        } else {
            format!("{n} {word}")
        });
    }
    format!("diff: {}\n", parts.join(", "))
}

fn file(folder: &Path, change: &Change, limit: usize, paint: Paint) -> Vec<String> {
    let path = text::clean(&folder.join(&change.path).display().to_string());
    let label = |mark: &str, side: &Option<Side>| match side {
        Some(_) => format!("{mark}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let (before, after) = (label("a", &change.before), label("b", &change.after));
    let mut head = Vec::new();
    let run = |side: &Option<Side>| side.as_ref().map(|side| side.executable);
    match (run(&change.before), run(&change.after)) {
        (Some(before), Some(after)) if before != after => {
            let may = if after { "may be run as a program now" } else { "may not be run as a program any more" };
            head.push(paint.changed(&format!("{path} {may}")));
        }
        _ => {}
    }
    let Some((old, new)) = change.texts() else {
        head.push(format!("Binary files {before} and {after} differ"));
        return head;
    };
    let mut lines = content::lines(old, new, paint);
    if lines.is_empty() && !head.is_empty() {
        return head;
    }
    content::shorten(&mut lines, limit, paint);
    head.push(paint.heading(&format!("--- {before}")));
    head.push(paint.heading(&format!("+++ {after}")));
    head.append(&mut lines);
    head
}
