//! In which order a run comes to its nodes, as people read it.

use super::wrapped;
use crate::base::{Mask, shell};
use crate::catalogue::Hook;
use crate::plan::{Plan, Wave};
use crate::ui::Paint;
use crate::ui::text::{self, count};
use std::collections::BTreeSet;

/// Renders the batches, where there is more than one, and the hooks around those that have work to do.
pub(super) fn render(most: usize, plan: &Plan, mask: &Mask, paint: Paint) -> String {
    let waves = &plan.roll.waves;
    let mut out = String::new();
    if waves.len() > 1 {
        let stop = match plan.roll.most_failures {
            Some(0) => "; none begins once a node has failed".to_owned(),
            Some(most) => format!("; none begins once {} have failed", count(most.saturating_add(1), "node")),
            None => String::new(),
        };
        let lead = format!("{} batches, one after the other{stop}", waves.len());
        out.push_str(&format!("{}\n", paint.heading(&lead)));
        let digits = waves.len().to_string().len();
        for (n, wave) in waves.iter().enumerate().take(most) {
            let nodes: Vec<&str> = wave.nodes().collect();
            out.push_str(&wrapped(&format!("  {:>digits$}  ", n + 1), &nodes, Paint::OFF));
        }
        if waves.len() > most {
            out.push_str(&format!("  … and {} more\n", waves.len() - most));
        }
    }
    let each = if waves.len() > 1 { "each batch" } else { "the batch" };
    for (lead, words, roles) in hooks(plan, waves) {
        let lead = format!("{lead} {each} of {}:", roles.join(", "));
        out.push_str(&format!("{} {}\n", paint.heading(&lead), text::clean(&mask.apply(&words))));
    }
    out
}

/// Each hook once, those before first, with the roles for which it is run.
fn hooks<'a>(plan: &Plan, waves: &'a [Wave]) -> Vec<(&'static str, String, Vec<&'a str>)> {
    let working: BTreeSet<&str> = plan.working().collect();
    let mut found: Vec<(&str, String, Vec<&str>)> = Vec::new();
    let mut add = |lead, hook: Option<&Hook>, roles: &[&'a str]| {
        let Some(hook) = hook else { return };
        let words = shown(hook);
        let at = found.iter().position(|(known, text, _)| *known == lead && *text == words);
        let at = at.unwrap_or_else(|| {
            found.push((lead, words, Vec::new()));
            found.len() - 1
        });
        for (_, _, known) in found.iter_mut().skip(at).take(1) {
            known.extend(roles.iter().filter(|role| !known.contains(*role)).copied().collect::<Vec<_>>());
        }
    };
    let groups: Vec<_> = waves.iter().flat_map(|wave| wave.groups(|node| working.contains(node))).collect();
    groups.iter().for_each(|group| add("before", group.hooks.before.as_ref(), &group.roles));
    groups.iter().for_each(|group| add("after", group.hooks.after.as_ref(), &group.roles));
    found
}

/// As a person wrote it.
fn shown(hook: &Hook) -> String {
    match hook.words.as_slice() {
        [sh, c, text] if sh == "sh" && c == "-c" => text.trim().to_owned(),
        words => shell::join(words.iter().map(String::as_str)),
    }
}
