//! The runs of a workspace, read back from `.runs/`. Records of the Python suil, which hold the public configs alone,
//! are read as far as they go.

mod applied;
pub mod diff;
pub mod end;
pub mod head;
pub mod story;

pub use end::{End, Summary};
pub use head::{Head, State};
pub use story::Story;

use super::record::VERSION;
use crate::base::{Plain, Problem, file, nearest::nearest};
use chrono::{DateTime, NaiveDateTime, Utc};
use rustix::fs::{FlockOperation, flock};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The runs of a workspace.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    /// Newest first.
    runs: Vec<Run>,
    /// Where `.runs/latest` points.
    latest: Option<String>,
}

/// The record of one run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// The name of its folder.
    pub id: String,
    path: PathBuf,
}

impl Runs {
    /// Lists the runs of the workspace at `root`. What else lies in `.runs/` is none.
    ///
    /// # Errors
    /// `.runs/` is there and cannot be read.
    pub fn open(root: &Path) -> Result<Runs, Problem> {
        let folder = root.join(".runs");
        let failed = |e: &std::io::Error| Problem::io("read", &folder, e);
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Runs::default()),
            Err(error) => return Err(failed(&error)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|e| failed(&e))?;
            let id = entry.file_name().to_string_lossy().into_owned();
            if let Some(when) = when(&id).filter(|_| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
                found.push((when, Run { id, path: entry.path() }));
            }
        }
        found.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| one.id.cmp(&other.id)));
        let latest = fs::read_link(folder.join("latest")).ok().and_then(|link| Some(link.to_str()?.to_owned()));
        Ok(Runs { runs: found.into_iter().map(|(_, run)| run).collect(), latest })
    }

    /// All of them, newest first.
    pub fn all(&self) -> &[Run] {
        &self.runs
    }

    /// The run that `.runs/latest` names, else the newest.
    pub fn latest(&self) -> Option<&Run> {
        self.runs.get(self.position())
    }

    fn position(&self) -> usize {
        self.runs.iter().position(|run| Some(&run.id) == self.latest.as_ref()).unwrap_or(0)
    }

    /// The run that `name` means: `latest`, `-1` for the one before it, or the beginning of an id that no other has.
    ///
    /// # Errors
    /// It means none, or several.
    pub fn find(&self, name: &str) -> Result<&Run, Problem> {
        if self.runs.is_empty() {
            return Err(
                Problem::new("the workspace has no run yet").help("`suil apply --dry-run --node '*'` makes one")
            );
        }
        let back = match name.strip_prefix('-').map(str::parse::<usize>) {
            None if name == "latest" => Some(0),
            Some(Ok(n)) => Some(n),
            _ => None,
        };
        if let Some(n) = back {
            let known = self.runs.len() - self.position();
            return self.runs.get(self.position().saturating_add(n)).ok_or_else(|| {
                Problem::new(format!("there is no run {n} before the latest: {known} are recorded"))
                    .help("`suil runs` lists them")
            });
        }
        if let Some(run) = self.runs.iter().find(|run| run.id == name) {
            return Ok(run);
        }
        let meant: Vec<&Run> = self.runs.iter().filter(|run| !name.is_empty() && run.id.starts_with(name)).collect();
        match meant.as_slice() {
            [run] => Ok(run),
            [] => {
                let problem = Problem::new(format!("there is no run `{name}`"));
                Err(match nearest(name, self.runs.iter().map(|run| run.id.as_str())) {
                    Some(near) => problem.help(format!("did you mean `{near}`? `suil runs` lists all")),
                    None => {
                        problem.help("`suil runs` lists all; `latest`, `-1` and the beginning of an id will do, too")
                    }
                })
            }
            [first, .., last] => Err(Problem::new(format!("`{name}` is the beginning of {} runs", meant.len()))
                .note(format!("the newest is `{}`, the oldest `{}`", first.id, last.id))
                .help("give more of the id")),
        }
    }
}

/// The moment in the name of a run's folder, and which of that second it is.
fn when(id: &str) -> Option<(DateTime<Utc>, usize)> {
    let (time, rest) = id.split_at_checked("2026-11-30T02-54-46Z".len())?;
    let at = NaiveDateTime::parse_from_str(time, "%Y-%m-%dT%H-%M-%SZ").ok()?;
    let nth = match rest.strip_prefix('-') {
        None if rest.is_empty() => 1,
        Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => digits.parse().ok()?,
        _ => return None,
    };
    Some((at.and_utc(), nth))
}

impl Run {
    /// The run whose record is this folder.
    pub fn at(path: &Path) -> Run {
        let id = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Run { id, path: path.to_owned() }
    }

    /// When it began.
    pub fn started(&self) -> DateTime<Utc> {
        when(&self.id).map(|(at, _)| at).unwrap_or_default()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True while the suil that writes it lives.
    pub fn is_going(&self) -> bool {
        let Ok(log) = fs::File::open(self.path.join("events.jsonl")) else { return false };
        flock(&log, FlockOperation::NonBlockingLockShared) == Err(rustix::io::Errno::WOULDBLOCK)
    }

    /// `run.yaml`: who ran what, from where, on which commit. `None` in an older record.
    ///
    /// # Errors
    /// It is there and cannot be read.
    pub fn about(&self) -> Result<Option<Plain>, Problem> {
        self.yaml("run.yaml")?.map(|about| self.understood("run.yaml", about)).transpose()
    }

    /// `summary.yaml`: how each node ended. `None` for a run that goes on or was killed.
    ///
    /// # Errors
    /// It is there and cannot be read.
    pub fn summary(&self) -> Result<Option<Summary>, Problem> {
        let Some(summary) = self.yaml("summary.yaml")? else { return Ok(None) };
        let summary = self.understood("summary.yaml", summary)?;
        Summary::read(&summary).map(Some).ok_or_else(|| {
            self.broken("summary.yaml", "it has no `nodes`").note("the other files of the record may still be good")
        })
    }

    /// `plan.json`: `{version, nodes: [{node, operations, problems}]}`. `None` in an older record.
    ///
    /// # Errors
    /// It is there and cannot be read.
    pub fn plan(&self) -> Result<Option<Plain>, Problem> {
        let Some(text) = self.text("plan.json")? else { return Ok(None) };
        let plan = Plain::from_json(&text).map_err(|why| self.broken("plan.json", &why))?;
        self.understood("plan.json", plan).map(Some)
    }

    /// The events, in the order in which they happened. A last line that was not written whole is left out.
    ///
    /// # Errors
    /// `events.jsonl` is there and cannot be read.
    pub fn events(&self) -> Result<Vec<Plain>, Problem> {
        let Some(text) = self.text("events.jsonl")? else { return Ok(Vec::new()) };
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let event = |(n, line): (usize, &str)| {
            let event = Plain::from_json(line);
            event.map_err(|why| {
                self.broken(&format!("events.jsonl:{}", n + 1), why.split(" at line ").next().unwrap_or(&why))
            })
        };
        whole.lines().enumerate().map(event).collect()
    }

    /// The nodes whose configs are recorded, by name.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn nodes(&self) -> Result<Vec<String>, Problem> {
        let entries = fs::read_dir(&self.path).map_err(|e| Problem::io("read", &self.path, &e))?;
        let folders = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let mut names: Vec<String> = folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        Ok(names)
    }

    /// `node.yaml` of a node: role, family, release, deployment, modules.
    ///
    /// # Errors
    /// It is there and cannot be read.
    pub fn entry(&self, node: &str) -> Result<Option<Plain>, Problem> {
        self.yaml(&format!("{node}/node.yaml"))
    }

    /// The public config of each recorded module of a node, by name.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub fn configs(&self, node: &str) -> Result<Vec<(String, Plain)>, Problem> {
        let mut configs = Vec::new();
        let folder = self.path.join(node);
        let mut names: Vec<String> = fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".yaml")?.to_owned()))
            .filter(|name| name != "node")
            .collect();
        names.sort();
        for name in names {
            if let Some(config) = self.yaml(&format!("{node}/{name}.yaml"))? {
                configs.push((name, config));
            }
        }
        Ok(configs)
    }

    /// How each node ended. For a run without a summary this is what its events tell: who was in the middle of an
    /// operation is in doubt.
    ///
    /// # Errors
    /// A file of the record cannot be read.
    pub fn ends(&self) -> Result<Vec<(String, End)>, Problem> {
        if let Some(summary) = self.summary()? {
            return Ok(summary.nodes);
        }
        let (plan, events) = (self.plan()?, self.events()?);
        Ok(plan.map(|plan| end::of_killed(&plan, &events)).unwrap_or_default())
    }

    fn text(&self, name: &str) -> Result<Option<String>, Problem> {
        let path = self.path.join(name);
        match file::read_text(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Problem::io("read", Path::new(&self.shown(name)), &error)),
        }
    }

    fn yaml(&self, name: &str) -> Result<Option<Plain>, Problem> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        Plain::from_yaml(&text).map(Some).map_err(|why| self.broken(name, &why))
    }

    /// A shape that a newer suil wrote may mean anything.
    fn understood(&self, name: &str, document: Plain) -> Result<Plain, Problem> {
        match document.get("version").and_then(Plain::as_int) {
            Some(version) if version > VERSION => Err(Problem::new(format!(
                "`{}` has version {version}, and this suil reads up to {VERSION}",
                self.shown(name)
            ))
            .help("use the newer suil that wrote it")),
            _ => Ok(document),
        }
    }

    fn broken(&self, name: &str, why: &str) -> Problem {
        Problem::new(format!("`{}` is broken: {why}", self.shown(name)))
    }

    fn shown(&self, name: &str) -> String {
        format!(".runs/{}/{name}", self.id)
    }
}

#[cfg(test)]
#[path = "past/test.rs"]
mod tests;
