//! What the store keeps: runs and what became of their stacks, checks, drift, stacks that were seen, the audit.

use super::process::Process;
use super::word::{Action, CheckState, DriftState, Mode, Phase, RunState, StackState, Trigger};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// The longest text of an error that is kept, in bytes.
pub const ERROR_CAP: usize = 64 * 1024;
/// The longest text of a plan that is kept, in bytes.
pub const PLAN_CAP: usize = 256 * 1024;

/// One run over a set of stacks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// A UUID of version 7, so that ids sort by age: [`super::new_id`].
    pub id: String,
    /// `owner/name`, or empty where the tree has no name. Locks of stores that several repositories share are kept apart
    /// by it; letter case does not count.
    pub repo: String,
    pub trigger: Trigger,
    pub mode: Mode,
    pub state: RunState,
    /// The commit of the tree, or nothing outside git.
    pub commit: Option<String>,
    /// The hash of everything that the graph depends on.
    pub tree: Option<String>,
    /// `anna@desk`.
    pub who: String,
    /// Why it was begun, in the words of who did.
    pub reason: String,
    /// The change that it is for: the number of a pull request, say. Locks go from one run to the next of the same change.
    pub change: Option<String>,
    /// The process that works on it.
    pub process: Process,
    /// The run that took its place, or that it continues.
    pub successor: Option<String>,
    pub started: DateTime<Utc>,
    pub ended: Option<DateTime<Utc>>,
}

/// What a run has to do with one stack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunStack {
    pub run: String,
    /// The key of the stack.
    pub stack: String,
    pub wave: u32,
    /// Why it is in the run: `changed`, `dependent`, …
    pub reasons: Vec<String>,
    /// The stacks or modules through which it came in.
    pub via: Vec<String>,
    pub environment: Option<String>,
    pub state: StackState,
    /// The predecessor that failed.
    pub blocked_by: Option<String>,
    pub started: Option<DateTime<Utc>>,
    pub ended: Option<DateTime<Utc>>,
}

/// How many resources a plan touches, and in which way. A replacement is not an addition nor a destruction as well.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Summary {
    pub adds: u32,
    pub changes: u32,
    pub destroys: u32,
    pub replaces: u32,
    pub imports: u32,
    pub moves: u32,
    pub output_changes: u32,
}

/// The addresses behind a [`Summary`]. Reads of data and what is forgotten are no change.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Addresses {
    pub adds: Vec<String>,
    pub changes: Vec<String>,
    pub destroys: Vec<String>,
    /// Destroyed and made again; neither among `adds` nor among `destroys`.
    pub replaces: Vec<String>,
    /// Brought under Terraform; what is changed with it stands in its own list, too.
    pub imports: Vec<String>,
    /// Renamed and otherwise as it was.
    pub moves: Vec<String>,
}

impl Addresses {
    /// The lists, each with its word.
    pub fn lists(&self) -> [(&'static str, &Vec<String>); 6] {
        let Addresses { adds, changes, destroys, replaces, imports, moves } = self;
        [
            ("adds", adds),
            ("changes", changes),
            ("destroys", destroys),
            ("replaces", replaces),
            ("imports", imports),
            ("moves", moves),
        ]
    }

    /// How many there are in each list, with so many outputs.
    pub fn summary(&self, outputs: usize) -> Summary {
        let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let Addresses { adds, changes, destroys, replaces, imports, moves } = self;
        let [adds, changes, destroys, replaces, imports, moves] =
            [adds, changes, destroys, replaces, imports, moves].map(|list| count(list.len()));
        Summary { adds, changes, destroys, replaces, imports, moves, output_changes: count(outputs) }
    }
}

/// What came of one phase of one stack. Written again it replaces what was there for (run, stack, phase).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    pub run: String,
    pub stack: String,
    pub phase: Phase,
    pub summary: Summary,
    pub addresses: Addresses,
    /// The SHA-256 of the plan file.
    pub digest: Option<String>,
    /// The plan file, relative to the root.
    pub file: Option<String>,
    /// Redacted text of the plan, at most [`PLAN_CAP`]; kept for thirty days. [`super::Store::outcomes`] leaves it out.
    pub text: Option<String>,
    /// Redacted words of what failed, at most [`ERROR_CAP`].
    pub error: Option<String>,
    /// Inputs that are not known before another stack is applied; a plan that has any cannot be applied.
    pub unknown: Vec<String>,
    pub started: DateTime<Utc>,
    pub ended: DateTime<Utc>,
}

/// A named check of a stack in a run. The latest of (run, stack, name) counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    pub run: String,
    pub stack: String,
    pub name: String,
    pub state: CheckState,
    pub summary: String,
    pub details: String,
    pub url: Option<String>,
    pub who: String,
    pub at: DateTime<Utc>,
}

/// One look for drift at one stack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Drift {
    pub id: String,
    pub repo: String,
    pub stack: String,
    pub state: DriftState,
    pub summary: Summary,
    pub addresses: Addresses,
    pub error: Option<String>,
    pub commit: Option<String>,
    pub run: Option<String>,
    pub at: DateTime<Utc>,
    /// When the state was found first, of all looks in a row that found it. The store sets it.
    pub since: DateTime<Utc>,
}

/// A stack as it was last seen in the tree, so that one whose directory is gone can still be found and destroyed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    /// Stays the same for (repo, key). The store gives it to a new one.
    pub id: String,
    pub repo: String,
    pub key: String,
    /// The type of the backend, where it has one.
    pub backend: Option<String>,
    /// The identity of the state: `s3://bucket/object`.
    pub state: Option<String>,
    /// The last commit that had it.
    pub commit: Option<String>,
    pub first: DateTime<Utc>,
    pub last: DateTime<Utc>,
    /// When a complete scan did not find it any more.
    pub removed: Option<DateTime<Utc>>,
}

/// One line of the audit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    pub id: String,
    pub at: DateTime<Utc>,
    pub action: Action,
    pub who: String,
    pub repo: String,
    pub stack: String,
    pub run: Option<String>,
    pub reason: String,
}

/// Which runs are asked for; each field that is set narrows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filter {
    pub repo: Option<String>,
    pub mode: Option<Mode>,
    pub state: Option<RunState>,
    /// Runs that have this stack.
    pub stack: Option<String>,
    /// Runs whose id begins so.
    pub prefix: Option<String>,
    /// Runs older than this one, for paging.
    pub before: Option<String>,
    pub limit: Option<u32>,
}

/// What was removed because it was old.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pruned {
    pub plan_texts: u64,
    pub drifts: u64,
}

/// Cuts a text to `cap` bytes at the end of a character, and says so.
pub fn capped(text: &str, cap: usize) -> String {
    const MARK: &str = "\n… cut here\n";
    if text.len() <= cap {
        return text.to_owned();
    }
    let end = (0..=cap.saturating_sub(MARK.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}{MARK}", text.get(..end).unwrap_or_default())
}
