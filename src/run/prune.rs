//! Takes old records of runs away.

use super::past::{Run, Runs};
use crate::base::Problem;
use crate::catalogue::Keep;
use chrono::{DateTime, TimeDelta, Utc};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

/// What was taken away, and what stayed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pruned {
    /// The ids, newest first.
    pub removed: Vec<String>,
    pub kept: usize,
}

/// Before its name, a record that is being removed: a prune that dies leaves no half record under its own name.
const GONE: &str = ".gone-";
/// What a run that died left aside is nobody's after this time.
const LEFT: Duration = Duration::from_secs(24 * 3600);

/// Removes the records that `keep` does not keep. Never removed are the latest run, the last one that applied a plan, the
/// last one that says what the lookups found, a run that goes on, and what is no record. `dry` only tells.
///
/// # Errors
/// `.runs/` cannot be read, or a record not be removed; then the older ones are still there.
pub fn prune(root: &Path, keep: Keep, now: DateTime<Utc>, dry: bool) -> Result<Pruned, Problem> {
    let runs = Runs::open(root)?;
    let mut gone: Vec<&Run> =
        runs.all().iter().enumerate().filter(|(nth, run)| !kept(*nth, run, keep, now)).map(|(_, run)| run).collect();
    if !gone.is_empty() {
        let needed = needed(&runs);
        gone.retain(|run| !needed.contains(run) && !run.is_going());
    }
    for run in gone.iter().filter(|_| !dry) {
        remove(root, run)?;
    }
    if !dry {
        sweep(&root.join(".runs"), now);
    }
    let kept = runs.all().len() - gone.len();
    Ok(Pruned { removed: gone.into_iter().map(|run| run.id.clone()).collect(), kept })
}

fn kept(nth: usize, run: &Run, keep: Keep, now: DateTime<Utc>) -> bool {
    let young = |days: u32| now - run.started() < TimeDelta::days(days.into());
    keep.count.is_some_and(|count| nth < count) || keep.days.is_some_and(young)
}

/// The runs that the next one reads.
fn needed(runs: &Runs) -> Vec<&Run> {
    let lookups = runs.all().iter().find(|run| run.path().join(super::pool::NAME).exists());
    // A record that is broken serves nobody.
    let applied = runs.last_applied().unwrap_or_default();
    [runs.latest(), runs.all().first(), lookups, applied].into_iter().flatten().collect()
}

fn remove(root: &Path, run: &Run) -> Result<(), Problem> {
    let failed = |e: &std::io::Error| Problem::io("remove", run.path(), e);
    let aside = root.join(".runs").join(format!("{GONE}{}", run.id));
    absent(fs::remove_dir_all(&aside)).map_err(|e| failed(&e))?;
    absent(fs::rename(run.path(), &aside)).map_err(|e| failed(&e))?;
    absent(fs::remove_dir_all(&aside)).map_err(|e| failed(&e))
}

/// Somebody else may have removed it a moment before.
fn absent(done: std::io::Result<()>) -> std::io::Result<()> {
    done.or_else(|error| if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

/// Removes what runs and prunes that died left aside. What cannot be removed hurts nobody.
fn sweep(runs: &Path, now: DateTime<Utc>) {
    for entry in fs::read_dir(runs).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let changed = entry.metadata().and_then(|found| found.modified()).map(DateTime::<Utc>::from);
        let old = changed.is_ok_and(|at| (now - at).to_std().is_ok_and(|age| age > LEFT));
        let _ = match () {
            () if name.starts_with(GONE) || (old && name.starts_with(".new-")) => fs::remove_dir_all(entry.path()),
            () if old && name.starts_with(".latest-") => fs::remove_file(entry.path()),
            () => Ok(()),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock;

    /// Runs at noon of these days of October 2026.
    fn room(days: &[u32]) -> tempfile::TempDir {
        let room = tempfile::tempdir().expect("a folder");
        for day in days {
            fs::create_dir_all(room.path().join(format!(".runs/2026-10-{day:02}T12-00-00Z/node"))).expect("a folder");
        }
        room
    }

    /// The days whose runs are still there after a prune on the 31st.
    fn after(room: &tempfile::TempDir, count: Option<usize>, days: Option<u32>) -> Vec<String> {
        let now = DateTime::parse_from_rfc3339("2026-10-31T13:00:00Z").expect("a time").to_utc();
        prune(room.path(), Keep { count, days }, now, false).expect("pruned");
        Runs::open(room.path()).expect("runs").all().iter().map(|run| run.id[8..10].to_owned()).collect()
    }

    #[test]
    fn a_run_stays_where_its_age_or_its_number_keeps_it() {
        assert_eq!(after(&room(&[1, 2, 29, 30, 31]), Some(2), Some(3)), ["31", "30", "29"]);
        assert_eq!(after(&room(&[1, 2, 29, 30, 31]), Some(4), Some(1)), ["31", "30", "29", "02"]);
        assert_eq!(after(&room(&[1, 2, 29, 30, 31]), None, Some(30)), ["31", "30", "29", "02"]);
        assert_eq!(after(&room(&[1, 2]), Some(0), None), ["02"], "the latest stays");
    }

    #[test]
    fn what_is_needed_or_foreign_is_never_removed() {
        let room = room(&[1, 2, 3, 4, 5]);
        let at = |path: &str| room.path().join(".runs").join(path);
        std::os::unix::fs::symlink("2026-10-02T12-00-00Z", at("latest")).expect("a link");
        fs::write(at("2026-10-03T12-00-00Z/lookups.yaml"), "{}").expect("a file");
        let log = fs::File::create(at("2026-10-04T12-00-00Z/events.jsonl")).expect("a file");
        rustix::fs::flock(&log, rustix::fs::FlockOperation::LockExclusive).expect("a lock");
        fs::create_dir(at("2026-10-notes")).expect("a folder");
        fs::create_dir(at(".new-x")).expect("a folder");
        fs::create_dir(at(".gone-2026-09-01T12-00-00Z")).expect("a folder");
        assert_eq!(after(&room, Some(0), None), ["05", "04", "03", "02"]);
        assert!(at("2026-10-notes").exists() && at(".new-x").exists() && !at(".gone-2026-09-01T12-00-00Z").exists());
        drop(log);
        assert_eq!(after(&room, Some(0), None), ["05", "03", "02"]);
    }

    #[test]
    fn a_dry_prune_only_tells() {
        let room = room(&[1, 2]);
        let keep = Keep { count: Some(1), days: None };
        let told = prune(room.path(), keep, clock::now(), true).expect("told");
        assert_eq!(told, Pruned { removed: vec!["2026-10-01T12-00-00Z".to_owned()], kept: 1 });
        assert_eq!(Runs::open(room.path()).expect("runs").all().len(), 2);
    }
}
