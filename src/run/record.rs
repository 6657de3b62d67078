//! What a run leaves behind: `.runs/<timestamp>/`. Everything in it is public; `docs/runs.md` has every shape.

use super::commit;
use super::outcome::{Outcome, WORDS};
use super::past::Run;
use super::watch::{Event, Watch};
use crate::base::{Mask, Plain, Problem, clock, file};
use chrono::{DateTime, Utc};
use rustix::fs::{FlockOperation, flock};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The version of every shape of a record; it grows when a reader would have to change.
pub const VERSION: i64 = 1;

/// The folder of one run, while it is written.
#[derive(Debug)]
pub struct Record {
    folder: PathBuf,
    mask: Mask,
    events: Mutex<fs::File>,
    begun: Instant,
    before: Duration,
    /// What went wrong beside the nodes.
    beside: Mutex<Vec<String>>,
}

/// What `run.yaml` says of a run before anything changes.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// `anna@desk: suil apply --role web`, or with a reason `anna@desk: new kernel (suil apply --role web)`.
    pub purpose: String,
    /// What was selected: `{roles, nodes, modules, affected, failed}`.
    pub selection: Plain,
    /// True where nothing may be changed, whatever the answer.
    pub dry_run: bool,
    /// So long it took before there was anything to record.
    pub before: Duration,
}

/// What is recorded of a node before anything changes.
#[derive(Clone, Debug, Default)]
pub struct NodeRecord {
    pub node: String,
    /// Role, family, release, deployment and modules.
    pub entry: Plain,
    /// The public config of each module, in run order.
    pub configs: Vec<(String, Plain)>,
}

impl Record {
    /// Writes `.runs/<timestamp>/` aside, moves it into its place and points `.runs/latest` at it. Its `events.jsonl`
    /// stays locked until the run ends: so others tell a run that goes on from one that was killed.
    ///
    /// # Errors
    /// Something of it cannot be written.
    pub fn write(
        root: &Path,
        at: DateTime<Utc>,
        about: &About,
        nodes: &[NodeRecord],
        plan: &Plain,
        mask: &Mask,
    ) -> Result<Record, Problem> {
        let runs = root.join(".runs");
        file::private_folder(&runs)?;
        let aside = tempfile::Builder::new()
            .prefix(".new-")
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(&runs)
            .map_err(|e| Problem::io("make a folder in", &runs, &e))?;
        for node in nodes {
            let folder = aside.path().join(&node.node);
            file::private_folder(&folder)?;
            put(&folder.join("node.yaml"), &mask.plain(&node.entry).to_yaml())?;
            for (module, config) in &node.configs {
                put(&folder.join(format!("{module}.yaml")), &mask.plain(config).to_yaml())?;
            }
        }
        put(&aside.path().join("plan.json"), &(mask.plain(plan).to_json() + "\n"))?;
        put(&aside.path().join("run.yaml"), &mask.plain(&about.to_plain(at, commit::of(root))).to_yaml())?;
        let events = aside.path().join("events.jsonl");
        put(&events, "")?;
        let log = fs::OpenOptions::new().append(true).open(&events).map_err(|e| Problem::io("open", &events, &e))?;
        // Not every file system has locks; a run without one only looks killed while it goes on.
        let _ = flock(&log, FlockOperation::NonBlockingLockExclusive);
        let folder = place(&runs, aside, &clock::folder(at), |id| begin(&log, id, at, about, mask))?;
        point(&runs, &folder)?;
        Ok(Record {
            folder,
            mask: mask.clone(),
            events: Mutex::new(log),
            begun: clock::instant(),
            before: about.before,
            beside: Mutex::default(),
        })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The record as it is read back.
    pub fn run(&self) -> Run {
        Run::at(&self.folder)
    }

    /// Ends `events.jsonl`, and writes `summary.yaml`: one entry a node, in the order of the catalogue. `exit` is what
    /// suil will tell its caller.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(&self, outcomes: &[(String, Outcome)], exit: u8) -> Result<(), Problem> {
        let ended = Plain::from(clock::stamp(clock::now()));
        let seconds = thousandths((self.before + self.begun.elapsed()).as_secs_f64());
        let counts: Plain = WORDS
            .into_iter()
            .map(|word| (word, Plain::from(outcomes.iter().filter(|(_, outcome)| outcome.word() == word).count())))
            .collect();
        let nodes: Plain = outcomes.iter().map(|(node, outcome)| (node.clone(), outcome.to_plain())).collect();
        let figures = [("seconds", Plain::Float(seconds)), ("exit", Plain::Int(exit.into())), ("counts", counts)];
        let first = [("event", Plain::from("end")), ("at", ended.clone())];
        self.append(&first.into_iter().chain(figures.clone()).collect());
        let first = [("version", Plain::Int(VERSION)), ("ended", ended)];
        let beside: Plain = self.beside.lock().iter().flat_map(|beside| beside.iter()).map(Plain::from).collect();
        let last = [("problems", beside), ("nodes", nodes)];
        let summary: Plain = first.into_iter().chain(figures).chain(last).collect();
        let path = self.folder.join("summary.yaml");
        file::write(&path, self.mask.plain(&summary).to_yaml().as_bytes(), 0o600)
    }

    /// Appends one line of JSON with one write. A full disk must not end a run in the middle of an operation, so that a
    /// line that cannot be written is left out; `summary.yaml` then reports the disk.
    fn append(&self, line: &Plain) {
        if let Ok(mut log) = self.events.lock() {
            let _ = log.write_all((self.mask.plain(line).to_json_line() + "\n").as_bytes());
        }
    }
}

impl Watch for Record {
    fn event(&self, event: &Event<'_>) {
        if let Event::Hook { ended: Some((_, Some(problem), _)), .. } = event
            && let Ok(mut beside) = self.beside.lock()
        {
            beside.push((*problem).to_owned());
        }
        self.append(&describe(event));
    }
}

impl About {
    fn to_plain(&self, at: DateTime<Utc>, commit: Option<String>) -> Plain {
        let (by, work) = self.purpose.split_once(": ").unwrap_or(("", &self.purpose));
        let (reason, command) = match work.strip_suffix(')').and_then(|work| work.rsplit_once(" (suil ")) {
            Some((reason, arguments)) if !work.starts_with("suil ") => (Some(reason), format!("suil {arguments}")),
            _ => (None, work.to_owned()),
        };
        Plain::from_iter([
            ("version", Plain::Int(VERSION)),
            ("suil", Plain::from(env!("CARGO_PKG_VERSION"))),
            ("started", Plain::from(clock::stamp(at))),
            ("mode", Plain::from(if self.dry_run { "dry run" } else { "apply" })),
            ("by", Plain::from(by)),
            ("command", Plain::from(command)),
            ("reason", Plain::from(reason)),
            ("selection", self.selection.clone()),
            ("commit", Plain::from(commit)),
        ])
    }
}

/// Writes the first line of `events.jsonl`: which run this is.
fn begin(mut log: &fs::File, id: &str, at: DateTime<Utc>, about: &About, mask: &Mask) -> std::io::Result<()> {
    let line = Plain::from_iter([
        ("event", Plain::from("run")),
        ("at", Plain::from(clock::stamp(at))),
        ("version", Plain::Int(VERSION)),
        ("id", Plain::from(id)),
        ("purpose", Plain::from(&about.purpose)),
        ("suil", Plain::from(env!("CARGO_PKG_VERSION"))),
    ]);
    log.set_len(0)?;
    log.write_all((mask.plain(&line).to_json_line() + "\n").as_bytes())
}

fn thousandths(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

fn describe(event: &Event<'_>) -> Plain {
    let mut line = Plain::from_iter([("at", Plain::from(clock::stamp(clock::now())))]);
    match event {
        Event::Phase { node, phase } => {
            line.set("event", "phase");
            line.set("node", *node);
            line.set("phase", *phase);
        }
        Event::Planned { node, well } => {
            line.set("event", "planned");
            line.set("node", *node);
            line.set("well", *well);
        }
        Event::Starting { node, operation, .. } => {
            line.set("event", "starting");
            line.set("node", *node);
            line.set("operation", operation.id);
            line.set("title", &operation.title);
        }
        Event::Ended { node, operation, seconds, problem, output } => {
            line.set("event", "ended");
            line.set("node", *node);
            line.set("operation", operation.id);
            line.set("title", &operation.title);
            line.set("seconds", thousandths(*seconds));
            line.set("problem", problem.map(Plain::from));
            line.set("output", last(output));
        }
        Event::Applying { batches } => {
            line.set("event", "applying");
            line.set("batches", *batches);
        }
        Event::Batch { batch, of, nodes, begins } => {
            line.set("event", "batch");
            line.set("batch", *batch);
            line.set("of", *of);
            line.set("state", if *begins { "begun" } else { "ended" });
            line.set("nodes", nodes.iter().map(Plain::from).collect::<Plain>());
        }
        Event::Hook { hook, batch, of, nodes, ended } => {
            line.set("event", "hook");
            line.set("hook", *hook);
            line.set("batch", *batch);
            line.set("of", *of);
            line.set("state", if ended.is_none() { "begun" } else { "ended" });
            line.set("nodes", nodes.iter().map(Plain::from).collect::<Plain>());
            if let Some((seconds, problem, output)) = ended {
                line.set("seconds", (seconds * 1000.0).round() / 1000.0);
                line.set("problem", problem.map(Plain::from));
                line.set("output", last(output));
            }
        }
        Event::Finished { node, outcome } => {
            line.set("event", "finished");
            line.set("node", *node);
            line.set("outcome", outcome.word());
        }
    }
    line
}

/// So much of what an operation printed is kept.
const KEPT: usize = 64 * 1024;

/// The end of a text that is too long: what went wrong is said last.
fn last(text: &str) -> String {
    let from = text.ceil_char_boundary(text.len().saturating_sub(KEPT));
    match from {
        0 => text.to_owned(),
        from => format!("… {}", text.get(from..).unwrap_or_default()),
    }
}

fn put(path: &Path, text: &str) -> Result<(), Problem> {
    let made = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    made.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|e| Problem::io("write", path, &e))
}

/// Moves the finished folder to its name; a second run in the same second gets `-2` behind it. `begin` is told each
/// name before it is taken.
fn place(
    runs: &Path,
    aside: tempfile::TempDir,
    name: &str,
    begin: impl Fn(&str) -> std::io::Result<()>,
) -> Result<PathBuf, Problem> {
    let aside = aside.keep();
    for n in 1.. {
        let id = if n == 1 { name.to_owned() } else { format!("{name}-{n}") };
        let folder = runs.join(&id);
        if folder.exists() {
            continue;
        }
        begin(&id).map_err(|e| Problem::io("write", &aside, &e))?;
        match fs::rename(&aside, &folder) {
            Ok(()) => return Ok(folder),
            Err(_) if folder.exists() => {}
            Err(error) => return Err(Problem::io("make folder", &folder, &error)),
        }
    }
    Ok(aside)
}

/// Points `.runs/latest` at the folder, by a link made aside and renamed over the old one.
fn point(runs: &Path, folder: &Path) -> Result<(), Problem> {
    let name = folder.file_name().unwrap_or_default();
    let aside = runs.join(format!(".latest-{}", name.to_string_lossy()));
    let latest = runs.join("latest");
    let _ = fs::remove_file(&aside);
    std::os::unix::fs::symlink(name, &aside)
        .and_then(|()| fs::rename(&aside, &latest))
        .map_err(|e| Problem::io("write", &latest, &e))
}
