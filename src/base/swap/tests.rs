use super::*;
use std::os::unix::fs::MetadataExt;
use tempfile::TempDir;

struct Room(TempDir);

impl Room {
    /// A folder with files `0`, `1`, `2`, which say `old 0` and so on.
    fn new() -> Room {
        let room = Room(tempfile::tempdir().expect("a folder"));
        for name in 0..3 {
            fs::write(room.path(name), format!("old {name}")).expect("a file");
        }
        room
    }

    fn path(&self, name: usize) -> PathBuf {
        self.0.path().join(name.to_string())
    }

    fn changes(&self) -> Vec<Change> {
        let change = |name: usize| Change {
            shown: name.to_string().into(),
            path: self.path(name),
            old: format!("old {name}").into_bytes(),
            new: format!("new {name}").into_bytes(),
        };
        (0..3).map(change).collect()
    }

    fn begin(&self) -> (Swap, Left) {
        Swap::begin(&self.0.path().join(".suil")).expect("the lock")
    }

    /// The first word of each file; nothing else may lie beside them.
    fn words(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.0.path())
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
            .filter(|name| name != ".suil")
            .collect();
        names.sort();
        assert_eq!(names, ["0", "1", "2"]);
        assert!(!self.0.path().join(".suil/swap.json").exists());
        (0..3).map(|name| fs::read_to_string(self.path(name)).expect("a file")[..3].to_owned()).collect()
    }
}

#[test]
fn all_files_are_written_with_the_mode_they_had() {
    let room = Room::new();
    fs::set_permissions(room.path(1), fs::Permissions::from_mode(0o640)).expect("mode");
    let (swap, left) = room.begin();
    assert_eq!(left, Left::Nothing);
    swap.write(&room.changes()).expect("written");
    assert_eq!(room.words(), ["new", "new", "new"]);
    assert_eq!(fs::metadata(room.path(1)).expect("a file").mode() & 0o7777, 0o640);
}

#[test]
fn one_that_changed_or_is_read_only_leaves_all_as_they_were() {
    let room = Room::new();
    let changes = room.changes();
    let before = fs::metadata(room.path(0)).expect("a file").ino();
    fs::write(room.path(1), "oh! 1").expect("a file");
    fs::set_permissions(room.path(2), fs::Permissions::from_mode(0o444)).expect("mode");
    let problems = room.begin().0.write(&changes).expect_err("refused");
    let whats: Vec<&str> = problems.iter().map(|problem| problem.what.as_str()).collect();
    assert_eq!(whats, ["`1` changed in the meantime", "`2` is read-only"]);
    assert_eq!(room.words(), ["old", "oh!", "old"]);
    assert_eq!(fs::metadata(room.path(0)).expect("a file").ino(), before);
}

#[test]
fn a_rename_that_fails_takes_the_others_back() {
    let room = Room::new();
    let changes = room.changes();
    let inodes: Vec<u64> = (0..3).map(|name| fs::metadata(room.path(name)).expect("a file").ino()).collect();
    let (swap, _) = room.begin();
    let staged = swap.stage(&changes).expect("staged");
    staged.renamed(2).expect("renamed");
    assert_eq!(fs::read_to_string(room.path(1)).expect("a file"), "new 1");
    // Somebody saves the third file at this very moment.
    fs::write(room.path(2), "oh! 2").expect("a file");
    assert!(staged.renamed(3).is_err());
    staged.back().expect("taken back");
    assert_eq!(room.words(), ["old", "old", "oh!"]);
    let now: Vec<u64> = (0..3).map(|name| fs::metadata(room.path(name)).expect("a file").ino()).collect();
    assert_eq!(now, inodes, "the very files that were there before");
}

#[test]
fn a_death_between_two_renames_is_finished_by_the_next_one() {
    for done in 0..=3 {
        let room = Room::new();
        let changes = room.changes();
        let (swap, _) = room.begin();
        swap.stage(&changes).expect("staged").renamed(done).expect("renamed");
        drop(swap);
        let (_swap, left) = room.begin();
        assert_eq!(left, Left::Finished(3 - done));
        assert_eq!(room.words(), ["new", "new", "new"]);
    }
}

#[test]
fn a_death_before_the_first_rename_or_on_the_way_back_is_taken_back() {
    for (state, done) in [(State::Staging, 0), (State::Back, 2), (State::Back, 0)] {
        let room = Room::new();
        let changes = room.changes();
        let (swap, _) = room.begin();
        let staged = swap.stage(&changes).expect("staged");
        staged.renamed(done).expect("renamed");
        swap.journal.write(state, &staged.entries).expect("the journal");
        drop(staged);
        drop(swap);
        let (_swap, left) = room.begin();
        assert_eq!(left, Left::TakenBack);
        assert_eq!(room.words(), ["old", "old", "old"]);
    }
}

#[test]
fn what_somebody_wrote_after_a_death_counts() {
    let room = Room::new();
    let changes = room.changes();
    let (swap, _) = room.begin();
    swap.stage(&changes).expect("staged").renamed(1).expect("renamed");
    drop(swap);
    fs::write(room.path(2), "oh! 2").expect("a file");
    let (_swap, left) = room.begin();
    assert_eq!(left, Left::Finished(1));
    assert_eq!(room.words(), ["new", "new", "oh!"]);
}

#[test]
fn two_at_once_are_one_too_many() {
    let room = Room::new();
    let (_swap, _) = room.begin();
    let problem = Swap::begin(&room.0.path().join(".suil")).expect_err("refused");
    assert_eq!(problem.kind, Kind::Refused);
}

#[test]
fn what_is_in_the_way_is_left_alone_and_nothing_is_left_beside_it() {
    let room = Room::new();
    fs::write(room.0.path().join(".1.suil-old"), "somebody's").expect("a file in the way");
    let problems = room.begin().0.write(&room.changes()).expect_err("refused");
    assert!(problems[0].what.ends_with(".1.suil-old` is in the way"), "{problems:?}");
    assert_eq!(fs::read_to_string(room.0.path().join(".1.suil-old")).expect("still there"), "somebody's");
    fs::remove_file(room.0.path().join(".1.suil-old")).expect("removed");
    assert_eq!(room.words(), ["old", "old", "old"]);
}

#[test]
fn attributes_that_somebody_set_come_along() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    let room = Room::new();
    let set = setxattr(room.path(0), "user.suil", b"kept", XattrFlags::empty());
    if set == Err(rustix::io::Errno::NOTSUP) {
        return;
    }
    set.expect("an attribute");
    room.begin().0.write(&room.changes()).expect("written");
    let mut value = [0_u8; 16];
    let length = getxattr(room.path(0), "user.suil", value.as_mut_slice()).expect("an attribute");
    assert_eq!(&value[..length], b"kept");
}
