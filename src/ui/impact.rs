//! The impact of a change as people read it: per node what differs. Nodes that differ alike stand together.

use super::plan::{content, values, wrapped};
use super::text::{self, count};
use super::{Paint, columns};
use crate::base::{Place, Plain};
use crate::catalogue::impact::{Difference, What};
use crate::data::{Value, Vault};
use crate::plan::impact::{Changed, LayerChange, LayerImpact, LayerRead, NodeImpact, Revisions, Unknown, public};
use crate::resource::{TextDiff, Verb};

/// Lines are broken before this column.
const WIDTH: usize = 78;

/// Renders the impact on `nodes` and a summary line, of `all` nodes that were compared.
pub fn render(nodes: &[NodeImpact], all: usize, revisions: &Revisions, vault: &Vault, paint: Paint) -> String {
    // A screen forgets what has left it; whoever reads from a pipe wants all.
    let page = Page { lines: if columns().is_some() { content::LINES } else { usize::MAX }, revisions, vault, paint };
    let mut groups: Vec<(Vec<&str>, String)> = Vec::new();
    for node in nodes {
        let body = page.node(node);
        match groups.iter_mut().find(|(_, known)| *known == body) {
            Some((names, _)) => names.push(&node.node),
            None => groups.push((vec![&node.node], body)),
        }
    }
    let mut out = String::new();
    for (names, body) in groups {
        out.push_str(&wrapped("", &names, paint));
        out.push_str(&body);
        out.push('\n');
    }
    out.push_str(&format!("{}\n", summary(nodes, all)));
    out
}

/// `impact: 3 nodes changed, 1 added, 96 as before`.
fn summary(nodes: &[NodeImpact], all: usize) -> String {
    let mut parts = Vec::new();
    for word in ["changed", "added", "removed"] {
        let n = nodes.iter().filter(|node| node.change() == word).count();
        if n > 0 {
            parts.push(format!("{} {word}", if parts.is_empty() { count(n, "node") } else { n.to_string() }));
        }
    }
    match all.saturating_sub(nodes.len()) {
        0 => {}
        n if parts.is_empty() => parts.push(format!("{} as before", count(n, "node"))),
        n => parts.push(format!("{n} as before")),
    }
    format!("impact: {}", parts.join(", "))
}

struct Page<'a> {
    lines: usize,
    revisions: &'a Revisions,
    vault: &'a Vault,
    paint: Paint,
}

impl Page<'_> {
    fn show(&self, text: &str) -> String {
        text::clean(&self.vault.mask().apply(text))
    }

    fn node(&self, node: &NodeImpact) -> String {
        let mut out = String::new();
        let mut line = |text: String| out.push_str(&format!("  {text}\n"));
        match (&node.role_before, &node.role_after) {
            (None, Some(role)) => {
                line(self.paint.added(&format!("+ the node is new: role {role}")));
                line(format!("  modules: {}", node.modules_after.join(", ")));
                return out;
            }
            (Some(role), None) => {
                line(self.paint.removed(&format!("- the node is gone: it had role {role}")));
                return out;
            }
            (Some(before), Some(after)) if before != after => {
                line(format!("{} role: {}", self.paint.changed("~"), self.arrow(before, after)));
            }
            _ => {}
        }
        let (before, after) = (&node.modules_before, &node.modules_after);
        for name in after.iter().filter(|name| !before.contains(name)) {
            line(self.paint.added(&format!("+ module {name}")));
        }
        for name in before.iter().filter(|name| !after.contains(name)) {
            line(self.paint.removed(&format!("- module {name}")));
        }
        let kept = |list: &[String], other: &[String]| -> Vec<String> {
            list.iter().filter(|name| other.contains(name)).cloned().collect()
        };
        if kept(before, after) != kept(after, before) {
            let order = kept(after, before).join(", ");
            line(format!("{} the modules run in another order: {order}", self.paint.changed("~")));
        }
        for code in &node.code {
            let head = self.paint.changed(&format!("~ code of {}", code.module));
            line(format!("{head}: {}", self.show(&code.files.join(", "))));
        }
        for value in &node.values {
            out.push_str(&self.value(value));
        }
        if !node.unseen.is_empty() {
            let words = "? the node was never probed, and may read an OS layer that differs:";
            let files = node.unseen.iter().map(|path| format!("      {}\n", self.show(path))).collect::<String>();
            out.push_str(&format!("  {}\n{}", self.paint.quiet(words), files));
        }
        for LayerImpact { layer, change } in &node.layers {
            let name = self.show(layer);
            let text = match change {
                LayerChange::Added => self.paint.added(&format!("+ layer {name}")),
                LayerChange::Removed => self.paint.removed(&format!("- layer {name}")),
                LayerChange::Changed(files) => {
                    format!("{}: {}", self.paint.changed(&format!("~ layer {name}")), self.show(&files.join(", ")))
                }
                LayerChange::Unknown(why) => {
                    self.paint.quiet(&format!("? layer {name} cannot be compared: {}", self.show(why)))
                }
            };
            out.push_str(&format!("  {text}\n"));
        }
        for LayerRead { node, field } in &node.reads {
            let words = format!("? {field} of {node} may be another value");
            out.push_str(&format!("  {}\n", self.paint.quiet(&self.show(&words))));
        }
        for (module, found) in &node.resources {
            match found {
                Ok(changed) => changed.iter().for_each(|changed| out.push_str(&self.resource(changed))),
                Err(why) => {
                    let words = self.show(&why.words());
                    let words = match why {
                        Unknown::Sealed => format!("? resources of {module} are not known: they may hold {words}"),
                        _ => format!("? resources of {module} are not known: {words}"),
                    };
                    out.push_str(&format!("  {}\n", self.paint.quiet(&words)));
                }
            }
        }
        out
    }

    fn arrow(&self, before: &str, after: &str) -> String {
        format!("{} → {}", self.paint.removed(before), self.paint.added(after))
    }

    /// `~ nginx.workers: 2 → 4`, and both places below it.
    fn value(&self, found: &Difference) -> String {
        let key = self.show(&found.path.join("."));
        let (sign, words) = match found.what {
            What::Added => (self.paint.added(&format!("+ {key}")), ""),
            What::Removed => (self.paint.removed(&format!("- {key}")), ""),
            What::Changed => (self.paint.changed(&format!("~ {key}")), ""),
            What::Reordered => (self.paint.changed(&format!("~ {key}")), ": its keys stand in another order"),
            What::Sealed => (self.paint.changed(&format!("~ {key}")), ": secret encrypted again, or changed"),
        };
        let mut out = format!("  {sign}{words}");
        let sides = (found.before.as_ref(), found.after.as_ref());
        if words.is_empty() {
            out.push_str(&self.sides(&key, sides.0, sides.1));
        } else {
            out.push('\n');
        }
        let shown = |file: String, place: Place| text::clean(&format!("{file}:{}:{}", place.line, place.column));
        let before = sides.0.map(|value| shown(self.revisions.before(value.place), value.place));
        let after = sides.1.map(|value| shown(self.revisions.after(value.place), value.place));
        match (before, after) {
            (Some(before), Some(after)) if text::width(&before) + text::width(&after) + 9 <= WIDTH => {
                out.push_str(&format!("      {}\n", self.paint.quiet(&format!("{before} → {after}"))));
            }
            (Some(before), Some(after)) => {
                out.push_str(&format!("      {}\n", self.paint.quiet(&before)));
                out.push_str(&format!("      {}\n", self.paint.quiet(&format!("→ {after}"))));
            }
            (one, other) => {
                let place = one.or(other).unwrap_or_default();
                out.push_str(&format!("      {}\n", self.paint.quiet(&place)));
            }
        }
        out
    }

    /// `: 2 → 4`; what needs more room stands below as a diff.
    fn sides(&self, key: &str, before: Option<&Value>, after: Option<&Value>) -> String {
        let plain = |value: Option<&Value>| value.map(|value| public(value, self.vault));
        let (before, after) = (plain(before), plain(after));
        let short = |value: &Plain| match value {
            Plain::List(_) | Plain::Map(_) => self.show(&value.to_json_line()),
            value => self.show(value.to_yaml().trim_end()),
        };
        let is_long = |value: &Option<Plain>| value.as_ref().and_then(Plain::as_str).is_some_and(|t| t.contains('\n'));
        let line = match (&before, &after) {
            (Some(before), Some(after)) => {
                let (before, after) = (short(before), short(after));
                (text::width(&before) + text::width(&after) + 3, self.arrow(&before, &after))
            }
            (Some(one), None) | (None, Some(one)) => (text::width(&short(one)), short(one)),
            (None, None) => (0, String::new()),
        };
        if text::width(key) + line.0 + 6 <= WIDTH && !is_long(&before) && !is_long(&after) {
            return format!(": {}\n", line.1);
        }
        let lines = |value: Option<Plain>| match value {
            Some(Plain::Str(text)) if text.contains('\n') => text,
            Some(value) => value.to_yaml(),
            None => String::new(),
        };
        let text = TextDiff { before: lines(before), after: lines(after), shared: false };
        format!(":\n{}", content::render(self.lines, &text, self.vault.mask(), self.paint))
    }

    fn resource(&self, changed: &Changed) -> String {
        let id = self.show(&changed.id.0);
        let head = match changed.verb {
            Verb::Create => self.paint.added(&format!("+ {id}")),
            Verb::Remove => self.paint.removed(&format!("- {id}")),
            Verb::Change | Verb::Run => self.paint.changed(&format!("~ {id}")),
        };
        let more = match changed.verb {
            Verb::Remove => " · not managed any more, and left as it is",
            _ => "",
        };
        let mut out = format!("  {head}  {}\n", self.paint.quiet(&format!("· {}{more}", changed.module)));
        let attributes = &changed.attributes.attributes;
        let names = attributes.iter().map(|attribute| text::width(&attribute.name)).max().unwrap_or(0);
        for attribute in attributes {
            out.push_str(&values(attribute, names, self.vault.mask(), self.paint));
        }
        for (name, text) in &changed.texts {
            if changed.texts.len() > 1 {
                out.push_str(&format!("      {}\n", self.show(name)));
            }
            out.push_str(&content::render(self.lines, text, self.vault.mask(), self.paint));
        }
        out
    }
}
