//! Stacks of a run: where each stands, while it goes on and in the end.

use super::{Ending, Paint, Progress, Table, text};
use crate::base::{Mask, Plain, Problem};
use crate::infra::engine::{Follow, Stand, Summary};
use crate::infra::graph::key;
use crate::infra::store::{Mode, Run, StackState};
use std::sync::{Mutex, PoisonError};

/// The live picture of a run over stacks; none where there is no terminal.
#[derive(Default)]
pub struct Screen {
    progress: Mutex<Option<Progress>>,
}

impl Screen {
    /// Begins a stage with work on `total` stacks.
    pub fn begin(&self, title: &str, total: usize) {
        self.set(Some(Progress::of(title, total, "stack")));
    }

    /// Takes the picture away.
    pub fn end(&self) {
        self.set(None);
    }

    /// A stack is done with.
    pub fn finished(&self, stack: &str, ending: Ending) {
        self.with(|progress| progress.finished(stack, ending));
    }

    fn set(&self, next: Option<Progress>) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        drop(progress.take());
        *progress = next;
    }

    fn with(&self, tell: impl FnOnce(&Progress)) {
        if let Some(progress) = &*self.progress.lock().unwrap_or_else(PoisonError::into_inner) {
            tell(progress);
        }
    }
}

impl Follow for Screen {
    fn begun(&self, stack: &str) {
        self.with(|progress| progress.started(stack));
    }

    fn is_watched(&self) -> bool {
        let progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.as_ref().is_some_and(Progress::is_live)
    }

    fn phase(&self, stack: &str, what: &str) {
        self.with(|progress| progress.phase(stack, what));
    }

    fn ended(&self, stand: &Stand) {
        let ending = match stand.state() {
            StackState::Failed | StackState::Unknown | StackState::Applying => Ending::Failed,
            StackState::Blocked => Ending::NotReached,
            StackState::Planned => Ending::Planned,
            StackState::Noop | StackState::Skipped => Ending::Nothing,
            _ => Ending::Done,
        };
        self.finished(&stand.row.stack, ending);
    }
}

/// The word for where a stack stands.
fn word(stand: &Stand) -> &'static str {
    match stand.state() {
        _ if stand.left => "still runs",
        StackState::Planned if stand.is_provisional() => "provisional",
        StackState::Noop => "nothing to do",
        StackState::Pending => "not begun",
        state => state.word(),
    }
}

/// The table of a run: one line for each stack, by wave and name. Inputs that are not known stand below it.
pub fn table(stands: &[Stand], columns: Option<usize>, mask: &Mask, paint: Paint) -> String {
    if stands.is_empty() {
        return "no stacks\n".to_owned();
    }
    let mut sorted: Vec<&Stand> = stands.iter().collect();
    sorted.sort_by(|a, b| (a.row.wave, &a.row.stack).cmp(&(b.row.wave, &b.row.stack)));
    let mut table = Table::new(["WAVE", "STACK", "STATE", ""]);
    for stand in &sorted {
        table.row([
            stand.row.wave.to_string(),
            stand.row.stack.clone(),
            word(stand).to_owned(),
            mask.apply(&stand.words()),
        ]);
    }
    let mut out = table.render(columns, paint);
    let waits = |stand: &&&Stand| stand.is_provisional() && stand.state() == StackState::Planned;
    let mut open = sorted.iter().filter(waits).peekable();
    if open.peek().is_some() {
        out.push_str("\nnot known before others are applied:\n");
        for stand in open {
            out.push_str(&format!("  {}\n", text::clean(&stand.row.stack)));
            for value in &stand.unknown {
                out.push_str(&format!("    {}\n", text::clean(&mask.apply(value))));
            }
        }
    }
    out
}

/// The texts of all plans, each under the name of its stack.
pub fn texts(stands: &[Stand], mask: &Mask, paint: Paint) -> String {
    let mut sorted: Vec<&Stand> = stands.iter().collect();
    sorted.sort_by(|a, b| (a.row.wave, &a.row.stack).cmp(&(b.row.wave, &b.row.stack)));
    let mut out = String::new();
    for stand in sorted {
        let Some(words) = stand.text.as_deref().filter(|text| !text.trim().is_empty()) else { continue };
        out.push_str(&paint.heading(&text::clean(&stand.row.stack)));
        out.push('\n');
        for line in mask.apply(words).lines() {
            out.push_str(coloured(&text::clean(line), paint).trim_end());
            out.push('\n');
        }
        out.push('\n');
    }
    out
}

fn coloured(line: &str, paint: Paint) -> String {
    match line.trim_start().split(' ').next() {
        Some("+") => paint.added(line),
        Some("-") => paint.removed(line),
        Some("~" | "-/+" | "+/-") => paint.changed(line),
        _ => line.to_owned(),
    }
}

/// `{run, mode, state, commit, stacks}`.
pub fn run(run: &Run, stands: &[Stand], with_text: bool, mask: &Mask) -> Plain {
    Plain::from_iter([
        ("run", Plain::from(run.id.as_str())),
        ("mode", Plain::from(run.mode.word())),
        ("state", Plain::from(run.state.word())),
        ("commit", Plain::from(run.commit.clone())),
        ("stacks", stands.iter().map(|stand| plain(run, stand, with_text, mask)).collect()),
    ])
}

fn plain(run: &Run, stand: &Stand, with_text: bool, mask: &Mask) -> Plain {
    let row = &stand.row;
    let list = |words: &[String]| words.iter().map(Plain::from).collect::<Plain>();
    let text = |text: &Option<String>| Plain::from(text.clone());
    let mut out = Plain::from_iter([
        ("stack", Plain::from(row.stack.as_str())),
        ("wave", Plain::Int(i64::from(row.wave))),
        ("state", Plain::from(row.state.word())),
        ("environment", text(&row.environment)),
        ("reasons", list(&row.reasons)),
        ("via", list(&row.via)),
        ("blocked_by", text(&row.blocked_by)),
        ("provisional", Plain::from(stand.is_provisional())),
        ("unknown", list(&stand.unknown)),
        ("artifact", artifact(run, stand)),
        ("summary", stand.summary.as_ref().map_or(Plain::Null, summary)),
        ("seconds", stand.seconds().map_or(Plain::Null, Plain::Float)),
        ("problems", stand.problems.iter().map(|problem: &Problem| super::output::problem(problem, mask)).collect()),
    ]);
    if with_text {
        out.set("text", text(&stand.text));
    }
    mask.plain(&out)
}

/// The name of the plan file that is kept, without its extension.
fn artifact(run: &Run, stand: &Stand) -> Plain {
    let kept = run.mode == Mode::Plan && stand.state() == StackState::Planned && !stand.is_provisional();
    Plain::from(kept.then(|| key::artifact(&stand.row.stack, run.commit.as_deref())))
}

/// Counts, and the addresses behind them.
fn summary(summary: &Summary) -> Plain {
    let mut addresses = summary.addresses.to_plain();
    addresses.set("outputs", summary.outputs.iter().map(Plain::from).collect::<Plain>());
    let mut out = summary.counts().to_plain();
    out.set("addresses", addresses);
    out
}
