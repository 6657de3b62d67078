//! What tells a file from the one that was there before, without reading it.

use super::clock;
use serde::{Deserialize, Serialize};
use std::fs::{self, Metadata};
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

impl Mark {
    pub fn of(meta: &Metadata) -> Mark {
        let nanos = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
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
        assert!(!first.is_settled(Moment::now()));
        std::thread::sleep(std::time::Duration::from_millis(80));
        assert!(first.is_settled(Moment::now()));
        fs::write(&path, "b").expect("written");
        assert_ne!(Mark::at(&path), Some(first));
    }
}
