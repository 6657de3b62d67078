//! One run over stacks.

use crate::infra::store::{Check, CheckState, Outcome, Phase, Run, RunStack, Summary};
use crate::ui::text::{age, clean, clean_lines, count, cut, took};
use crate::ui::{Paint, Table, columns};
use chrono::{DateTime, Utc};
use std::collections::BTreeMap;

/// So many of the last lines of an error are shown.
const SAID: usize = 12;

/// A stack of a run, and what came of it.
pub struct StackRow {
    pub stack: RunStack,
    pub outcomes: Vec<Outcome>,
    pub checks: Vec<Check>,
}

/// The run as a whole, its stacks by wave, then what failed; `text` is a plan to show below.
pub fn show(run: &Run, rows: &[StackRow], text: Option<&str>, now: DateTime<Utc>, paint: Paint) -> String {
    let mut out = format!("{}\n", paint.heading(&format!("run {}", run.id)));
    let mut line = |label: &str, words: String| {
        if !words.is_empty() {
            let line = format!("  {label:<8} {}", clean(&words));
            out.push_str(&format!("{}\n", columns().map_or(line.clone(), |columns| cut(&line, columns))));
        }
    };
    let when = match age((now - run.started).num_seconds()).as_str() {
        "now" => "just now".to_owned(),
        age => format!("{age} ago"),
    };
    line("when", format!("{} ({when})", crate::base::clock::stamp(run.started)));
    line("who", format!("{}, process {} on {}", run.who, run.process.pid, run.process.host));
    line("why", run.reason.clone());
    line("mode", run.mode.to_string());
    line("state", run.state.to_string());
    line("commit", run.commit.clone().unwrap_or_default());
    line("took", run.seconds().map(took).unwrap_or_default());
    line("followed", run.successor.clone().unwrap_or_default());
    if rows.is_empty() {
        return out + "\nno stacks\n";
    }
    let mut table = Table::new(["WAVE", "STATE", "TOOK", "PLAN", "STACK"]);
    for row in rows {
        table.row([
            row.stack.wave.to_string(),
            row.stack.state.to_string(),
            seconds(&row.stack).map(took).unwrap_or_default(),
            row.outcomes
                .iter()
                .find(|outcome| outcome.phase == Phase::Plan)
                .map(|o| counts(&o.summary))
                .unwrap_or_default(),
            row.stack.stack.clone(),
        ]);
    }
    out.push('\n');
    out.push_str(&table.render(columns(), paint));
    let mut blocked: BTreeMap<&str, usize> = BTreeMap::new();
    for by in rows.iter().filter_map(|row| row.stack.blocked_by.as_deref()) {
        *blocked.entry(by).or_default() += 1;
    }
    if !blocked.is_empty() {
        out.push('\n');
    }
    for (by, n) in blocked {
        out.push_str(&format!("{}\n", clean(&format!("`{by}` blocks {}", count(n, "stack")))));
    }
    rows.iter().for_each(|row| below(row, paint, &mut out));
    if let Some(text) = text {
        out.push('\n');
        out.push_str(&clean_lines(text.trim_end()));
        out.push('\n');
    }
    out
}

fn seconds(stack: &RunStack) -> Option<f64> {
    Some((stack.ended? - stack.started?).num_milliseconds() as f64 / 1000.0)
}

/// `+1 ~2 -3 ±4`; `none` for a plan that touches nothing.
pub fn counts(summary: &Summary) -> String {
    let marks = [
        ('+', summary.adds),
        ('~', summary.changes),
        ('-', summary.destroys),
        ('±', summary.replaces),
        ('<', summary.imports),
        ('>', summary.moves),
        ('=', summary.output_changes),
    ];
    let told: Vec<String> = marks.iter().filter(|(_, n)| *n > 0).map(|(mark, n)| format!("{mark}{n}")).collect();
    if told.is_empty() { "none".to_owned() } else { told.join(" ") }
}

/// Why a stack is not as it should be.
fn below(row: &StackRow, paint: Paint, out: &mut String) {
    let key = &row.stack.stack;
    for check in row.checks.iter().filter(|check| check.state != CheckState::Pass) {
        out.push_str(&format!(
            "\n{}\n",
            clean(&format!("`{key}`: check `{}`: {}: {}", check.name, check.state, check.summary))
        ));
    }
    for outcome in &row.outcomes {
        let Some(error) = &outcome.error else { continue };
        out.push_str(&format!("\n{}\n", paint.heading(&clean(&format!("`{key}` failed in {}", outcome.phase)))));
        let lines: Vec<&str> = error.trim().lines().collect();
        let skipped = lines.len().saturating_sub(SAID);
        if skipped > 0 {
            out.push_str(&format!("    … {skipped} lines before\n"));
        }
        for line in lines.iter().skip(skipped) {
            let line = format!("    {}", clean(line)).trim_end().to_owned();
            out.push_str(&format!("{}\n", columns().map_or(line.clone(), |columns| cut(&line, columns))));
        }
    }
}
