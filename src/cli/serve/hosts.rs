//! The nodes of the workspace and the runs over them, read again when somebody asks and the last look is old.

use super::kept::Kept;
use crate::base::{Problem, Problems};
use crate::catalogue::{NodeRow, Workspace};
use crate::run::facts::read_at;
use crate::run::past::{End, Head, State};
use crate::run::{Run, Runs};
use chrono::{DateTime, Utc};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// So long a look is good.
const FRESH: Duration = Duration::from_secs(5);
/// In so many of the newest runs the last one of a node is looked for.
const RUNS: usize = 500;

/// One run as it was read: a record that ended does not change any more.
#[derive(Clone)]
pub struct Past {
    pub run: Run,
    pub head: Result<Head, Problem>,
    pub ends: Vec<(String, End)>,
}

/// A node, and what is known of it.
pub struct NodeLine {
    pub row: NodeRow,
    /// When its facts were last read.
    pub facts: Option<DateTime<Utc>>,
    /// The newest run that had it: its number in [`Seen::runs`], and how it ended.
    pub last: Option<(usize, End)>,
}

/// What a look saw.
pub struct Seen {
    /// By name.
    pub nodes: Vec<NodeLine>,
    /// The newest first.
    pub runs: Vec<Arc<Past>>,
}

pub struct Hosts {
    root: PathBuf,
    last: Kept<Seen>,
    ended: Mutex<HashMap<String, Arc<Past>>>,
}

impl Hosts {
    pub fn new(root: PathBuf) -> Hosts {
        Hosts { root, last: Kept::new(FRESH), ended: Mutex::default() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The nodes and their runs.
    ///
    /// # Errors
    /// The inventory or the folder of runs cannot be read.
    pub fn seen(&self) -> Result<Arc<Seen>, Problems> {
        self.last.get(|| self.look())
    }

    fn look(&self) -> Result<Seen, Problems> {
        let rows = Workspace::open(&self.root)?.nodes()?;
        let runs: Vec<Arc<Past>> = Runs::open(&self.root)?.all().iter().take(RUNS).map(|run| self.past(run)).collect();
        let mut newest: HashMap<&str, (usize, &End)> = HashMap::new();
        for (number, past) in runs.iter().enumerate() {
            for (node, end) in &past.ends {
                newest.entry(node).or_insert((number, end));
            }
        }
        let line = |row: NodeRow| NodeLine {
            facts: read_at(&self.root, &row.name),
            last: newest.get(row.name.as_str()).map(|(number, end)| (*number, (*end).clone())),
            row,
        };
        let nodes = rows.into_iter().map(line).collect();
        let known: std::collections::HashSet<&str> = runs.iter().map(|past| past.run.id.as_str()).collect();
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).retain(|id, _| known.contains(id.as_str()));
        Ok(Seen { nodes, runs })
    }

    fn past(&self, run: &Run) -> Arc<Past> {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(past) = ended.get(&run.id) {
            return past.clone();
        }
        let past = Arc::new(Past { run: run.clone(), head: run.head(), ends: run.ends().unwrap_or_default() });
        if past.head.as_ref().is_ok_and(|head| head.state == State::Ended) {
            ended.insert(run.id.clone(), past.clone());
        }
        past
    }
}
