//! `terraform init`: once for each stack and what it depends on, and never two that fill one cache of plugins.

use super::{Site, Unit};
use crate::base::problem::Kind;
use crate::base::{FileId, Problem, digest, file};
use crate::infra::hcl::{self, RemoteState};
use crate::infra::terraform::Stop;
use rustix::fs::{FlockOperation, flock};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the code of a unit says about its `init`.
pub struct Needs {
    /// The digest of everything that an `init` depends on.
    digest: String,
    /// A module comes from elsewhere, and may need any provider.
    far: bool,
    /// Providers that are fetched, by the first words of types; not those that Terraform has built in.
    providers: BTreeSet<String>,
    /// The remote states that the code reads, and the outputs of each.
    pub states: Vec<(PathBuf, RemoteState)>,
    pub reads: BTreeSet<(String, String)>,
}

impl Needs {
    /// Reads the code of a unit and of the local modules that it uses.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn of(unit: &Unit) -> Result<Needs, Problem> {
        let mut needs = Needs {
            digest: String::new(),
            far: false,
            providers: BTreeSet::new(),
            states: Vec::new(),
            reads: BTreeSet::new(),
        };
        let mut lines: Vec<String> = unit.backend().to_vec();
        lines.push(unit.tool.program.display().to_string());
        for entry in unit.backend().iter().filter(|entry| !entry.contains('=')) {
            lines.push(fs::read(entry).map_or_else(|_| String::new(), |bytes| digest::sha256(&bytes)));
        }
        for folder in unit.parts.iter().filter(|part| part.is_dir()) {
            let own = *folder == unit.folder;
            for path in code(folder)? {
                let text = file::read_text(&path).map_err(|e| Problem::io("read", &path, &e))?;
                let json = path.extension().is_some_and(|extension| extension == "json");
                let id = FileId::new(&path, text.as_str());
                let setup = if json { hcl::setup_json(id) } else { hcl::setup(id) };
                lines.extend(setup.texts);
                lines.extend(setup.providers.iter().cloned());
                needs.providers.extend(setup.providers);
                needs.far |= setup.far;
                if own {
                    needs.states.extend(setup.states.into_iter().map(|state| (path.clone(), state)));
                    needs.reads.extend(setup.reads);
                }
            }
        }
        // Built in.
        needs.providers.remove("terraform");
        needs.digest = digest::sha256(lines.join("\0").as_bytes());
        Ok(needs)
    }

    /// True where an `init` of before still holds.
    pub fn are_met(&self, unit: &Unit) -> bool {
        fs::read_to_string(stamp(unit)).is_ok_and(|found| found == self.stamped(unit))
    }

    /// Remembers that an `init` ended well.
    ///
    /// # Errors
    /// It cannot be written down.
    pub fn remember(&self, unit: &Unit) -> Result<(), Problem> {
        let data = unit.data();
        fs::create_dir_all(&data).map_err(|e| Problem::io("make folder", &data, &e))?;
        file::write_quick(&stamp(unit), self.stamped(unit).as_bytes(), 0o644)
    }

    /// The needs, and what `init` left: one that somebody else ran since, with another backend say, is seen.
    fn stamped(&self, unit: &Unit) -> String {
        let mut text = format!("{}\n{}\n", self.digest, unit.stack.workspace);
        let data = unit.data();
        for path in [
            data.join("terraform.tfstate"),
            data.join("environment"),
            data.join("modules/modules.json"),
            unit.folder.join(".terraform.lock.hcl"),
        ] {
            let hash = fs::read(path).map_or_else(|_| "-".to_owned(), |bytes| digest::sha256(&bytes));
            text.push_str(&format!("{hash}\n"));
        }
        text
    }

    /// Waits for the right to run `init`: alone in the folder; and alone in the cache of plugins, unless all that it
    /// needs is there.
    ///
    /// # Errors
    /// A lock cannot be taken.
    pub fn turn(&self, site: &Site, unit: &Unit) -> Result<Turn, Problem> {
        let work = site.work();
        file::private_folder(&work)?;
        let folder = digest::sha256(unit.place(site).as_os_str().as_encoded_bytes());
        let name = format!("init-{}.lock", folder.get(..16).unwrap_or(&folder));
        let folder = locked(&work.join(name), FlockOperation::NonBlockingLockExclusive, &site.stop)?;
        if let Some(plugins) = &site.plugins {
            file::private_folder(plugins)?;
        }
        let cache = match self.providers.is_empty() && !self.far {
            true => None,
            false => {
                let filled = !self.far && site.plugins.as_deref().is_some_and(|plugins| self.are_cached(unit, plugins));
                let how = match filled {
                    true => FlockOperation::NonBlockingLockShared,
                    false => FlockOperation::NonBlockingLockExclusive,
                };
                Some(locked(&work.join("plugins.lock"), how, &site.stop)?)
            }
        };
        Ok(Turn { _folder: folder, _cache: cache })
    }

    /// True where every provider of the folder's lock file lies in the cache, and the lock file names all of them.
    fn are_cached(&self, unit: &Unit, plugins: &Path) -> bool {
        let text = fs::read_to_string(unit.folder.join(".terraform.lock.hcl")).unwrap_or_default();
        let mut names = BTreeSet::new();
        let mut source: Option<String> = None;
        for line in text.lines().map(str::trim) {
            if let Some(rest) = line.strip_prefix("provider \"") {
                source = rest.split('"').next().map(str::to_owned);
            } else if let (Some(version), Some(at)) = (line.strip_prefix("version"), &source) {
                let version = version.trim_matches(|c: char| c == '=' || c == '"' || c.is_whitespace());
                if !plugins.join(at).join(version).is_dir() {
                    return false;
                }
                names.insert(at.rsplit('/').next().unwrap_or(at).to_owned());
                source = None;
            }
        }
        !names.is_empty() && self.providers.is_subset(&names)
    }
}

/// The right to run `init`, as long as it lives.
pub struct Turn {
    _folder: File,
    _cache: Option<File>,
}

fn stamp(unit: &Unit) -> PathBuf {
    unit.data().join("suil-init")
}

/// Between two looks whether a lock is free.
const PAUSE: Duration = Duration::from_millis(20);

/// Waits for a lock, unless a stop is asked for: another process may hold it for minutes.
fn locked(path: &Path, how: FlockOperation, stop: &Stop) -> Result<File, Problem> {
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
    let file = file.map_err(|e| Problem::io("open", path, &e))?;
    loop {
        match flock(&file, how) {
            Ok(()) => return Ok(file),
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::WOULDBLOCK) if stop.asked() => {
                let problem = Problem::new("interrupted while another `init` was waited for");
                return Err(problem.kind(Kind::Interrupted));
            }
            Err(rustix::io::Errno::WOULDBLOCK) => std::thread::sleep(PAUSE),
            Err(e) => return Err(Problem::io("lock", path, &std::io::Error::from(e))),
        }
    }
}

/// The files of Terraform code directly in a folder, sorted.
pub fn code(folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let failed = |e: std::io::Error| Problem::io("list", folder, &e);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let code = [".tf", ".tf.json", ".tofu", ".tofu.json"].iter().any(|end| name.ends_with(end));
        if code && !name.starts_with('.') && path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_another_holds_is_waited_for_until_a_stop_is_asked_for() {
        let room = tempfile::tempdir().expect("a folder");
        let (path, stop) = (room.path().join("lock"), Stop::default());
        let take = || locked(&path, FlockOperation::NonBlockingLockExclusive, &stop);
        let held = take().expect("free");
        std::thread::scope(|scope| {
            let waits = scope.spawn(take);
            std::thread::sleep(PAUSE * 3);
            assert!(!waits.is_finished());
            drop(held);
            let held = waits.join().expect("no panic").expect("free again");
            stop.ask();
            assert_eq!(take().expect_err("held").kind, Kind::Interrupted);
            drop(held);
        });
    }
}
