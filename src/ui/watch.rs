//! Shows what a run tells while it goes on.

use super::{Ending, Progress, text};
use crate::run::{Event, Outcome, Watch};
use std::sync::{Mutex, PoisonError};

/// The live picture of the stage that a run is in; none between stages and where there is no terminal.
#[derive(Default)]
pub struct Screen {
    progress: Mutex<Option<Progress>>,
}

impl Screen {
    /// Begins a stage with work on `total` nodes.
    pub fn begin(&self, title: &str, total: usize) {
        self.set(Some(Progress::new(title, total)));
    }

    /// Takes the picture away.
    pub fn end(&self) {
        self.set(None);
    }

    /// Takes the picture away while `ask` talks with a person.
    pub fn pause<T>(&self, ask: impl FnOnce() -> T) -> T {
        let progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        match &*progress {
            Some(progress) => progress.pause(ask),
            None => ask(),
        }
    }

    fn set(&self, next: Option<Progress>) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        drop(progress.take());
        *progress = next;
    }
}

impl Watch for Screen {
    fn event(&self, event: &Event<'_>) {
        let progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(progress) = &*progress else { return };
        match event {
            Event::Phase { node, phase } => progress.phase(node, phase),
            Event::Planned { node, well } => {
                progress.finished(node, if *well { Ending::Nothing } else { Ending::NotReached });
            }
            Event::Starting { node, operation, of } => {
                progress.phase(node, &format!("{}/{of} {}", operation.id, operation.title));
            }
            Event::Ended { .. } | Event::Applying { .. } => {}
            Event::Batch { batch, of, begins, .. } => {
                if *begins {
                    progress.title(&format!("applying batch {batch} of {of}"));
                }
            }
            Event::Hook { hook, batch, of, ended, .. } => match ended {
                None => progress.title(&format!("{hook} of batch {batch} of {of}")),
                Some((_, _, output)) => {
                    let lines = output.lines().filter(|line| !line.trim().is_empty());
                    let lines = lines.map(|line| format!("{hook} {batch}/{of}: {}\n", text::clean(line)));
                    let said: String = lines.collect();
                    if !said.is_empty() {
                        progress.say(&said);
                    }
                }
            },
            Event::Finished { node, outcome } => progress.finished(node, ending(outcome)),
        }
    }
}

/// The last word on a node.
pub fn ending(outcome: &Outcome) -> Ending {
    match outcome {
        Outcome::Done { .. } => Ending::Done,
        Outcome::Nothing => Ending::Nothing,
        Outcome::Failed { .. } => Ending::Failed,
        Outcome::InDoubt { .. } => Ending::InDoubt,
        Outcome::NotReached { .. } => Ending::NotReached,
        Outcome::Planned { .. } => Ending::Planned,
    }
}
