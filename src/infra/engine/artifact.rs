//! Plan files: one for each stack and commit, with what must still hold when they are applied.

use super::Summary;
use crate::base::{Problem, clock, digest, file};
use crate::infra::graph::key;
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

const ASIDE: &str = ".tfplan.aside";
/// Plan files that are older are removed: they hold what is secret, and nobody will apply them.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// The word for the commit of a tree that is in no git repository.
pub const LOCAL: &str = "local";

/// The files of one plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Artifact {
    folder: PathBuf,
    name: String,
}

/// What is known of a plan file, written beside it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Card {
    pub version: u32,
    pub stack: String,
    /// The commit, or `local`.
    pub sha: String,
    /// The digest of the files that the plan was made of.
    pub tree: String,
    /// The digest of the plan file; empty where a provisional plan has none.
    pub plan: String,
    pub run: String,
    /// When, as a stamp.
    pub made: String,
    /// True for a plan of `destroy`.
    pub destroys: bool,
    /// Values that are not known before other stacks are applied: `<stack>: <output>`. Such a plan is not applied.
    pub unknown: Vec<String>,
    /// False where these keep the stack from being planned at all.
    #[serde(default = "yes")]
    pub planned: bool,
    pub summary: Summary,
}

fn yes() -> bool {
    true
}

impl Card {
    /// What the plan would do; `None` where there is none.
    pub fn shown(&self) -> Option<&Summary> {
        self.planned.then_some(&self.summary)
    }

    /// True where the plan waits for others to be applied.
    pub fn is_provisional(&self) -> bool {
        !self.unknown.is_empty()
    }
}

impl Artifact {
    /// The files of the plan of `stack` at the commit `sha`, in `folder`.
    pub fn new(folder: &Path, stack: &str, sha: &str) -> Artifact {
        Artifact { folder: folder.to_owned(), name: key::artifact(stack, Some(sha)) }
    }

    /// The files of the plan of `stack` in the hands of one run: others may plan it meanwhile, and what was shown stays.
    pub fn of_run(folder: &Path, stack: &str, run: &str) -> Artifact {
        let run = digest::sha256(run.as_bytes());
        Artifact::new(folder, stack, run.get(..12).unwrap_or(&run))
    }

    /// The name, as others that fetch and keep plan files know it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What Terraform applies.
    pub fn plan(&self) -> PathBuf {
        self.file("tfplan")
    }

    /// The plan as JSON, redacted.
    pub fn json(&self) -> PathBuf {
        self.file("json")
    }

    fn card(&self) -> PathBuf {
        self.file("card.json")
    }

    fn file(&self, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", self.name))
    }

    /// Where Terraform writes the plan before it is known to be whole: another process may plan the same stack.
    pub fn aside(&self) -> PathBuf {
        self.file(&format!("{}{ASIDE}", std::process::id()))
    }

    /// Removes what processes that are gone left aside.
    fn sweep(&self) {
        for entry in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let of =
                name.to_str().and_then(|name| name.strip_prefix(&self.name)?.strip_suffix(ASIDE)?.strip_prefix('.'));
            let pid = of.and_then(|pid| pid.parse().ok()).and_then(Pid::from_raw);
            if pid.is_some_and(|pid| test_kill_process(pid) == Err(rustix::io::Errno::SRCH)) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    /// Makes the folder, for the owner's eyes; one that is there, which may be anybody's, stays as it is. A plan that is
    /// there stays until the new one is whole.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn prepare(&self) -> Result<(), Problem> {
        file::new_private_folder(&self.folder)?;
        self.sweep();
        gone(&self.aside())
    }

    /// Takes the new plan file over, and writes what is known of it. The card comes last: without it there is no plan.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn settle(&self, card: &mut Card, json: &[u8]) -> Result<(), Problem> {
        let (aside, plan) = (self.aside(), self.plan());
        // From here to the end there is no plan: neither the old one nor half of the new one.
        gone(&self.card())?;
        if card.is_provisional() {
            gone(&aside)?;
            gone(&plan)?;
        } else {
            let failed = |e: std::io::Error| Problem::io("write", &plan, &e);
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(&aside, mode).map_err(failed)?;
            let file = File::open(&aside).map_err(failed)?;
            file.sync_data().map_err(failed)?;
            card.plan = digest::sha256_of(file).map_err(failed)?.1;
            std::fs::rename(&aside, &plan).map_err(failed)?;
        }
        file::write(&self.json(), json, 0o600)?;
        self.write(card)
    }

    fn write(&self, card: &Card) -> Result<(), Problem> {
        let text = serde_json::to_vec_pretty(card)
            .map_err(|e| Problem::new(format!("cannot write down the plan of `{}`: {e}", card.stack)))?;
        file::write(&self.card(), &text, 0o600)
    }

    /// Puts the plan to the files of `to`, too, in place of the one that is there. What somebody changes in one place does not
    /// reach the other.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn put(&self, to: &Artifact, card: &Card) -> Result<(), Problem> {
        to.prepare()?;
        gone(&to.card())?;
        match card.is_provisional() {
            true => gone(&to.plan())?,
            false => linked(&self.plan(), &to.aside(), &to.plan())?,
        }
        linked(&self.json(), &to.aside(), &to.json())?;
        to.write(card)
    }

    /// What is known of the plan; nothing where there is none.
    ///
    /// # Errors
    /// The card is there and cannot be read.
    pub fn read(&self) -> Result<Option<Card>, Problem> {
        let path = self.card();
        let bytes = match file::read(&path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Problem::io("read", &path, &e)),
        };
        let card = serde_json::from_slice(&bytes).map_err(|e| {
            Problem::new(format!("`{}` is no card of a plan: {e}", path.display())).help("plan the stack again")
        })?;
        Ok(Some(card))
    }

    /// True where the plan file is the one that the card tells of.
    ///
    /// # Errors
    /// It is there and cannot be read.
    pub fn is_whole(&self, card: &Card) -> Result<bool, Problem> {
        let path = self.plan();
        match File::open(&path).and_then(digest::sha256_of) {
            Ok((_, found)) => Ok(found == card.plan),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(e) => Err(Problem::io("read", &path, &e)),
        }
    }

    /// True where the plan file is there.
    pub fn has_plan(&self) -> bool {
        self.plan().is_file()
    }

    /// Removes all files of the plan, the card first.
    ///
    /// # Errors
    /// One of them cannot be removed.
    pub fn remove(&self) -> Result<(), Problem> {
        [self.card(), self.json(), self.plan(), self.aside()].iter().try_for_each(|path| gone(path))
    }
}

/// Removes the plan files in `folder` that are too old to be applied. What cannot be removed stays.
pub fn prune(folder: &Path) {
    let now = clock::now();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with("stackorder-plan-"));
        let changed = entry.metadata().and_then(|found| found.modified()).ok();
        let age = changed.and_then(|at| (now - chrono::DateTime::<chrono::Utc>::from(at)).to_std().ok());
        if ours && age.is_some_and(|age| age > KEPT) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Makes `to` a second name of the file `from`, by way of `aside`; where the file system knows none, a copy.
fn linked(from: &Path, aside: &Path, to: &Path) -> Result<(), Problem> {
    gone(aside)?;
    let made = std::fs::hard_link(from, aside).or_else(|_| std::fs::copy(from, aside).map(drop));
    made.and_then(|()| std::fs::rename(aside, to)).map_err(|e| Problem::io("write", to, &e))?;
    // Where both were names of one file already, a rename leaves both.
    gone(aside)
}

fn gone(path: &Path) -> Result<(), Problem> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Problem::io("remove", path, &e)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card() -> Card {
        Card {
            version: 1,
            stack: "stacks/a".to_owned(),
            sha: LOCAL.to_owned(),
            tree: "t".to_owned(),
            plan: String::new(),
            run: "r".to_owned(),
            made: "2026-11-30T00:00:00Z".to_owned(),
            destroys: false,
            unknown: Vec::new(),
            planned: true,
            summary: Summary::default(),
        }
    }

    #[test]
    fn a_plan_file_is_called_as_others_call_it() {
        let artifact = Artifact::new(Path::new("/p"), "stacks/prod/vpc", "abc");
        assert_eq!(artifact.plan(), Path::new("/p/stackorder-plan-stacks-prod-vpc-69df0ef0-abc.tfplan"));
        assert_eq!(artifact.json(), Path::new("/p/stackorder-plan-stacks-prod-vpc-69df0ef0-abc.json"));
        let long = Artifact::new(Path::new("/p"), &"é/".repeat(400), "abc");
        assert!(long.name().len() < 200, "{}", long.name());
    }

    #[test]
    fn a_plan_is_whole_or_it_is_none() {
        let room = tempfile::tempdir().expect("a folder");
        let artifact = Artifact::new(&room.path().join("plans"), "stacks/a", LOCAL);
        artifact.prepare().expect("prepared");
        assert_eq!(artifact.read().expect("no card"), None);
        std::fs::write(artifact.aside(), "PLAN").expect("a plan");
        let mut card = card();
        artifact.settle(&mut card, b"{}").expect("settled");
        let read = artifact.read().expect("a card").expect("a card");
        assert_eq!(read, card);
        assert!(artifact.is_whole(&read).expect("read"));
        std::fs::write(artifact.plan(), "PLAN2").expect("another plan");
        assert!(!artifact.is_whole(&read).expect("read"));
        let mode = |path: &Path| {
            std::os::unix::fs::PermissionsExt::mode(&path.metadata().expect("there").permissions()) & 0o777
        };
        assert_eq!((mode(&artifact.folder), mode(&artifact.json())), (0o700, 0o600));
        // A folder that somebody else made is theirs.
        let shared = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&artifact.folder, shared).expect("a mode");
        artifact.prepare().expect("prepared");
        assert_eq!(mode(&artifact.folder), 0o755);
        artifact.remove().expect("removed");
        assert_eq!(std::fs::read_dir(&artifact.folder).expect("a folder").count(), 0);
    }

    #[test]
    fn what_a_run_took_stays_as_it_was_when_another_one_plans() {
        let room = tempfile::tempdir().expect("a folder");
        let (shared, own) =
            (Artifact::new(room.path(), "stacks/a", LOCAL), Artifact::of_run(room.path(), "stacks/a", "r"));
        let mut card = card();
        std::fs::write(shared.aside(), "PLAN").expect("a plan");
        shared.settle(&mut card, b"{}").expect("settled");
        for _ in 0..2 {
            shared.put(&own, &card).expect("put");
        }
        let mut other = Card { run: "s".to_owned(), ..self::card() };
        std::fs::write(shared.aside(), "ANOTHER").expect("a plan");
        shared.settle(&mut other, b"[]").expect("settled");
        assert_eq!(own.read().expect("a card"), Some(card.clone()));
        assert!(own.is_whole(&card).expect("read") && shared.is_whole(&other).expect("read"));
        assert_eq!(std::fs::read(own.json()).expect("JSON"), b"{}");
        own.remove().expect("removed");
        assert_eq!(std::fs::read_dir(room.path()).expect("a folder").count(), 3, "nothing lies aside");
    }
}
