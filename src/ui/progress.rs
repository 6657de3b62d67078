//! Progress on a terminal: one line for each node that is at work, who is awaited, how many are done. In a pipe
//! nothing is shown.

use super::Paint;
use super::text::{self, count};
use crate::base::clock;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Ten pictures a second: a person sees no more, and the link to the terminal may be slow.
const TICK: Duration = Duration::from_millis(100);
/// Who takes longer than this is named as awaited.
const PATIENCE: Duration = Duration::from_secs(2);

/// How a node's part of a run ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Ending {
    Done,
    Nothing,
    Failed,
    /// The link broke in the middle of an operation.
    InDoubt,
    NotReached,
    /// Operations wait: a dry run, or an answer of no.
    Planned,
}

impl Ending {
    /// The words that end a node's run.
    pub fn words(self) -> &'static str {
        match self {
            Ending::Done => "done",
            Ending::Nothing => "nothing to do",
            Ending::Failed => "failed",
            Ending::InDoubt => "in doubt",
            Ending::NotReached => "not reached",
            Ending::Planned => "planned",
        }
    }

    fn is_bad(self) -> bool {
        !matches!(self, Ending::Done | Ending::Nothing | Ending::Planned)
    }

    fn paint(self, paint: Paint) -> String {
        match self {
            Ending::Done => paint.added(self.words()),
            Ending::Nothing | Ending::Planned => self.words().to_owned(),
            Ending::Failed | Ending::InDoubt | Ending::NotReached => paint.bad(self.words()),
        }
    }
}

/// The picture of a run. Its methods may be called from any thread; dropping it takes the picture away.
pub struct Progress {
    live: Option<Live>,
}

struct Live {
    shared: Arc<(Mutex<State>, Condvar)>,
    bar: ProgressBar,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    title: String,
    /// What is counted.
    noun: &'static str,
    total: usize,
    done: usize,
    bad: usize,
    running: Vec<Running>,
    over: bool,
}

struct Running {
    node: String,
    phase: String,
    since: Instant,
}

impl Progress {
    /// Starts the picture of work on `total` nodes; without a terminal behind stderr there is none.
    pub fn new(title: &str, total: usize) -> Progress {
        Progress::of(title, total, "node")
    }

    /// The same for other things than nodes: `stack`, say.
    pub fn of(title: &str, total: usize, noun: &'static str) -> Progress {
        if !console::Term::stderr().is_term() {
            return Progress { live: None };
        }
        let state = State { title: title.to_owned(), noun, total, ..State::default() };
        let shared = Arc::new((Mutex::new(state), Condvar::new()));
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            bar.set_style(style);
        }
        let thread = std::thread::Builder::new().name("progress".to_owned()).spawn({
            let (shared, bar) = (shared.clone(), bar.clone());
            move || draw(&shared, &bar)
        });
        Progress { live: Some(Live { shared, bar, thread: thread.ok() }) }
    }

    /// Changes what the last line says the work is.
    pub fn title(&self, title: &str) {
        self.change(|state| state.title = title.to_owned());
    }

    /// True where there is a terminal that shows it.
    pub fn is_live(&self) -> bool {
        self.live.is_some()
    }

    /// Work on `node` began.
    pub fn started(&self, node: &str) {
        self.phase(node, "");
    }

    /// `node` is busy with `what` from now on.
    pub fn phase(&self, node: &str, what: &str) {
        self.change(|state| {
            let (phase, since) = (text::clean(what), clock::instant());
            match state.running.iter_mut().find(|r| r.node == node) {
                Some(running) => (running.phase, running.since) = (phase, since),
                None => state.running.push(Running { node: node.to_owned(), phase, since }),
            }
        });
    }

    /// Work on `node` is over.
    pub fn finished(&self, node: &str, ending: Ending) {
        self.change(|state| {
            state.running.retain(|r| r.node != node);
            state.done += 1;
            state.bad += usize::from(ending.is_bad());
        });
    }

    /// Prints lines that stay, above the picture.
    pub fn say(&self, text: &str) {
        match &self.live {
            Some(live) => live.bar.suspend(|| super::err(text)),
            None => super::err(text),
        }
    }

    /// Takes the picture away while `talk` talks with a person.
    pub fn pause<T>(&self, talk: impl FnOnce() -> T) -> T {
        match &self.live {
            Some(live) => live.bar.suspend(talk),
            None => talk(),
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        if let Some(live) = &self.live {
            change(&mut lock(&live.shared.0));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let Some(live) = &mut self.live else { return };
        lock(&live.shared.0).over = true;
        live.shared.1.notify_all();
        if let Some(thread) = live.thread.take() {
            let _ = thread.join();
        }
        live.bar.finish_and_clear();
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Draws until the run is over.
fn draw(shared: &(Mutex<State>, Condvar), bar: &ProgressBar) {
    let mut state = lock(&shared.0);
    while !state.over {
        let (rows, columns) = console::Term::stderr().size();
        let frame = frame(&state, clock::instant(), rows.into(), columns.into());
        // The state is free while the terminal takes its time.
        drop(state);
        bar.set_message(frame.join("\n"));
        bar.tick();
        state = lock(&shared.0);
        if !state.over {
            state = shared.1.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// The picture: the nodes at work by name, those that are longest at one thing where not all fit; then the count.
fn frame(state: &State, now: Instant, rows: usize, columns: usize) -> Vec<String> {
    let columns = columns.saturating_sub(1).max(20);
    let mut running: Vec<&Running> = state.running.iter().collect();
    running.sort_by(|a, b| (a.since, &a.node).cmp(&(b.since, &b.node)));
    let room = rows.saturating_sub(3).max(1);
    let shown = if running.len() > room { room - 1 } else { running.len() };
    let first = running.first().copied();
    let more = running.len() - shown;
    running.truncate(shown);
    running.sort_by(|a, b| a.node.cmp(&b.node));
    let names = running.iter().map(|r| text::width(&r.node)).max().unwrap_or(0).min(columns / 2);
    let mut lines: Vec<String> = running
        .iter()
        .map(|r| {
            let gap = " ".repeat(names.saturating_sub(text::width(&r.node)) + 2);
            let time = seconds(now.saturating_duration_since(r.since)).map(|s| format!("{s}  ")).unwrap_or_default();
            text::cut(format!("  {}{gap}{time}{}", text::cut(&r.node, names), r.phase).trim_end(), columns)
        })
        .collect();
    if more > 0 {
        lines.push(format!("  … and {} at work", count(more, &format!("more {}", state.noun))));
    }
    let mut last = format!("{}: {} of {}", state.title, state.done, count(state.total, state.noun));
    if state.bad > 0 {
        last.push_str(&format!(", {} not done", state.bad));
    }
    if let Some(first) = first {
        let waited = now.saturating_duration_since(first.since);
        if waited >= PATIENCE {
            last.push_str(&format!(", waiting for {} ({} s)", first.node, waited.as_secs()));
        }
    }
    lines.push(text::cut(&last, columns));
    lines
}

fn seconds(time: Duration) -> Option<String> {
    (time.as_secs() > 0).then(|| format!("{} s", time.as_secs()))
}

/// The lines that end a run, one for each node, in the order given: name, ending, and a few words.
pub fn endings<'a>(nodes: impl IntoIterator<Item = (&'a str, Ending, &'a str)>, paint: Paint) -> String {
    let nodes: Vec<_> = nodes.into_iter().collect();
    let names = nodes.iter().map(|(node, ..)| text::width(node)).max().unwrap_or(0);
    let widest = nodes.iter().map(|(_, ending, _)| ending.words().len()).max().unwrap_or(0);
    let mut out = String::new();
    for (node, ending, words) in nodes {
        let gap = " ".repeat(names.saturating_sub(text::width(node)) + 2);
        let pad = if words.is_empty() { String::new() } else { " ".repeat(widest - ending.words().len() + 2) };
        out.push_str(&format!("{node}{gap}{}{pad}{}\n", ending.paint(paint), text::clean(words)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(now: Instant, nodes: usize) -> State {
        let running = (0..nodes)
            .map(|n| Running {
                node: format!("web-{n:02}.example.com"),
                phase: "facts".to_owned(),
                since: now - Duration::from_secs(n as u64),
            })
            .collect();
        State { title: "facts".to_owned(), noun: "node", total: 50, done: 7, bad: 1, running, over: false }
    }

    #[test]
    fn the_one_that_is_awaited_longest_is_named() {
        let now = clock::instant();
        let want = [
            "  web-00.example.com  facts",
            "  web-01.example.com  1 s  facts",
            "  web-02.example.com  2 s  facts",
            "  web-03.example.com  3 s  facts",
            "facts: 7 of 50 nodes, 1 not done, waiting for web-03.example.com (3 s)",
        ];
        assert_eq!(frame(&state(now, 4), now, 24, 80), want);
    }

    #[test]
    fn fifty_nodes_fit_the_screen() {
        let now = clock::instant();
        let lines = frame(&state(now, 43), now, 24, 60);
        assert_eq!(lines.len(), 22);
        assert_eq!(lines[20], "  … and 23 more nodes at work");
        assert!(lines.iter().all(|line| text::width(line) < 60), "{lines:?}");
    }

    #[test]
    fn every_node_ends_with_one_aligned_line() {
        let want = "\
web-01  done           3 operations
db-01   nothing to do
db-02   not reached    no answer in 10 s
";
        let nodes = [
            ("web-01", Ending::Done, "3 operations"),
            ("db-01", Ending::Nothing, ""),
            ("db-02", Ending::NotReached, "no answer in 10 s"),
        ];
        assert_eq!(endings(nodes, Paint::OFF), want);
    }

    #[test]
    fn without_a_terminal_nothing_is_drawn_and_nothing_breaks() {
        let progress = Progress { live: None };
        progress.started("a");
        progress.phase("a", "x");
        progress.finished("a", Ending::Done);
    }
}
