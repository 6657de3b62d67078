//! What tells a file from the one that was there before, without reading it.

use super::clock;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, open, statat};
use serde::{Deserialize, Serialize};
use std::fs::{self, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What changed so short a time before somebody looked may change again within one tick of the disk's clock.
const TICK: i64 = 50_000_000;

/// What the disk says about a file or a folder: nobody changes a file, or what stands in a folder, and leaves all of these.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Mark {
    pub size: u64,
    pub inode: u64,
    /// In nanoseconds.
    pub modified: i64,
    /// In nanoseconds; nothing but the clock sets it.
    pub changed: i64,
}

/// A moment, before which everything is looked at that is compared with marks later.
#[derive(Clone, Copy, Debug)]
pub struct Moment(i64);

impl Moment {
    pub fn now() -> Moment {
        Moment(clock::now().timestamp_nanos_opt().unwrap_or(i64::MIN))
    }
}

/// A folder that is held open, so that what stands below it is found without the way to it.
#[derive(Debug)]
pub struct Top(OwnedFd);

impl Top {
    /// # Errors
    /// There is no such folder.
    pub fn open(path: &Path) -> io::Result<Top> {
        Ok(Top(open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?))
    }

    /// The mark of what stands at a path below, and whether it is a folder. An empty path is the folder itself.
    ///
    /// # Errors
    /// Nothing stands there, or it cannot be reached.
    pub fn mark(&self, path: &str, follow: bool) -> io::Result<(Mark, bool)> {
        let flags = if follow { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
        let stat = statat(&self.0, if path.is_empty() { "." } else { path }, flags)?;
        Ok((Mark::of_stat(&stat), FileType::from_raw_mode(stat.st_mode).is_dir()))
    }
}

fn nanos(seconds: i64, nanos: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

impl Mark {
    #[allow(clippy::unnecessary_cast, clippy::cast_possible_wrap, reason = "machines differ in these types")]
    fn of_stat(stat: &Stat) -> Mark {
        Mark {
            size: stat.st_size as u64,
            inode: stat.st_ino as u64,
            modified: nanos(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: nanos(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }

    pub fn of(meta: &Metadata) -> Mark {
        Mark {
            size: meta.len(),
            inode: meta.ino(),
            modified: nanos(meta.mtime(), meta.mtime_nsec()),
            changed: nanos(meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// The mark of what stands at `path`, links followed; `None` where nothing does.
    pub fn at(path: &Path) -> Option<Mark> {
        fs::metadata(path).ok().map(|meta| Mark::of(&meta))
    }

    /// True where the mark was old enough at `moment` to tell every later change.
    pub fn is_settled(&self, moment: Moment) -> bool {
        self.changed.max(self.modified) < moment.0.saturating_sub(TICK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_just_written_is_not_settled_and_tells_its_change_later() {
        let room = tempfile::tempdir().expect("a folder");
        let path = room.path().join("x");
        assert_eq!(Mark::at(&path), None);
        fs::write(&path, "a").expect("written");
        let first = Mark::at(&path).expect("there");
        let top = Top::open(room.path()).expect("a folder");
        assert_eq!(top.mark("x", false).expect("there"), (first, false));
        assert_eq!(top.mark("", true).expect("there"), (Mark::at(room.path()).expect("there"), true));
        assert!(top.mark("y", true).is_err());
        assert!(!first.is_settled(Moment::now()));
        std::thread::sleep(std::time::Duration::from_millis(80));
        assert!(first.is_settled(Moment::now()));
        fs::write(&path, "b").expect("written");
        assert_ne!(Mark::at(&path), Some(first));
    }
}
