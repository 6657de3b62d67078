//! Looks for drift, as people and programs read them.

use super::stacks::Screen;
use super::text::{self, count};
use super::{Ending, Paint, Table, output};
use crate::base::{Mask, Plain};
use crate::infra::drift::{Look, News, Told};
use crate::infra::store::DriftState;
use chrono::{DateTime, SecondsFormat, Utc};

impl Told for Screen {
    fn looked(&self, stack: &str, state: DriftState) {
        self.finished(
            stack,
            match state {
                DriftState::Clean => Ending::Nothing,
                DriftState::Drifted => Ending::Planned,
                DriftState::Failed => Ending::Failed,
            },
        );
    }
}

/// The table of looks, what drifted, and a summary line.
pub fn render(looks: &[Look], now: DateTime<Utc>, columns: Option<usize>, mask: &Mask, paint: Paint) -> String {
    let mut table = Table::new(["STACK", "STATE", "SINCE", "LOOKED", "NEW"]);
    let age = |at: DateTime<Utc>| text::age((now - at).num_seconds());
    for look in looks {
        let drift = &look.drift;
        let new = match look.news() {
            News::Nothing => String::new(),
            News::Drifted => "drifted".to_owned(),
            News::Other => "other drift".to_owned(),
            News::Gone => "no drift any more".to_owned(),
            News::Failed => "failed".to_owned(),
        };
        table.row([drift.stack.clone(), drift.state.word().to_owned(), age(drift.since), age(drift.at), new]);
    }
    let mut out = if looks.is_empty() { String::new() } else { table.render(columns, paint) + "\n" };
    for look in looks.iter().filter(|look| look.drift.state == DriftState::Drifted) {
        out.push_str(&format!("{}\n", paint.heading(&text::clean(&look.drift.stack))));
        let lists = &look.drift.addresses;
        let show = |address: &String| text::clean(&mask.apply(address));
        for address in &lists.adds {
            out.push_str(&format!("  {}\n", paint.added(&format!("+ {}", show(address)))));
        }
        for address in lists.changes.iter().chain(&lists.replaces) {
            out.push_str(&format!("  {}\n", paint.changed(&format!("~ {}", show(address)))));
        }
        for address in &lists.destroys {
            out.push_str(&format!("  {}\n", paint.removed(&format!("- {}", show(address)))));
        }
        for address in lists.moves.iter().chain(&lists.imports) {
            out.push_str(&format!("  {}\n", show(address)));
        }
        match look.drift.summary.output_changes {
            0 => {}
            n => out.push_str(
                &format!("  {} differ\n", count(n as usize, "output")).replace("1 output differ", "1 output differs"),
            ),
        }
        out.push('\n');
    }
    out.push_str(&summary(looks));
    out
}

/// `drift: 1 stack drifted, 2 clean; 1 is new`.
fn summary(looks: &[Look]) -> String {
    let of = |state| looks.iter().filter(|look| look.drift.state == state).count();
    let mut parts: Vec<String> = Vec::new();
    for (state, word) in
        [(DriftState::Drifted, "drifted"), (DriftState::Failed, "failed"), (DriftState::Clean, "clean")]
    {
        match of(state) {
            0 => {}
            n if parts.is_empty() => parts.push(format!("{} {word}", count(n, "stack"))),
            n => parts.push(format!("{n} {word}")),
        }
    }
    if parts.is_empty() {
        parts.push("no stacks".to_owned());
    }
    let new = looks.iter().filter(|look| matches!(look.news(), News::Drifted | News::Other)).count();
    let kept = looks.iter().filter(|look| !look.fresh).count();
    let mut line = format!("drift: {}", parts.join(", "));
    if new > 0 {
        line.push_str(&format!("; {new} new"));
    }
    if kept > 0 {
        line.push_str(&format!("; {kept} looked at before"));
    }
    line + "\n"
}

/// `{stack, state, new, looked, at, since, commit, error, summary, addresses, problems}`.
pub fn value(look: &Look, mask: &Mask) -> Plain {
    let drift = &look.drift;
    let time = |at: DateTime<Utc>| Plain::from(at.to_rfc3339_opts(SecondsFormat::Secs, true));
    mask.plain(&Plain::from_iter([
        ("stack", Plain::from(&drift.stack)),
        ("state", Plain::from(drift.state.word())),
        ("new", Plain::from(look.news().word())),
        ("looked", Plain::from(look.fresh)),
        ("at", time(drift.at)),
        ("since", time(drift.since)),
        ("commit", Plain::from(drift.commit.clone())),
        ("error", Plain::from(drift.error.clone())),
        ("summary", drift.summary.to_plain()),
        ("addresses", drift.addresses.to_plain()),
        ("problems", look.problems.iter().map(|problem| output::problem(problem, mask)).collect()),
    ]))
}
