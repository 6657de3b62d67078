//! Old records go, and what they are needed for stays.

use crate::room::Room;
use serde_json::Value;
use std::fs;

fn room(days: &[u32]) -> Room {
    let room = Room::new(&["demo"]);
    room.module("demo", "", "def resources(config):\n    return [file(\"@/a\", content = \"a\\n\")]\n");
    for day in days {
        room.write(&format!(".runs/2010-01-{day:02}T08-00-00Z/{}/node.yaml", crate::room::NODE), "role: demo\n");
    }
    room
}

fn ids(room: &Room) -> Vec<String> {
    let entries = fs::read_dir(room.path().join(".runs")).expect(".runs").flatten();
    let mut ids: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    ids.retain(|id| id != "latest" && !id.starts_with(char::is_alphabetic));
    ids.sort();
    ids
}

fn common(room: &Room, runs: &str) {
    let text = room.read("data/common.yaml");
    room.write("data/common.yaml", &format!("{text}runs: {runs}\n"));
}

#[test]
fn every_apply_takes_old_records_away_as_the_workspace_says() {
    let room = room(&[1, 2, 3, 4]);
    common(&room, "{keep: 3}");
    room.write(".runs/notes/mine.txt", "mine");
    room.apply(&["--dry-run"]).expect(0);
    let left = ids(&room);
    assert_eq!(left.len(), 3, "{left:?}");
    assert_eq!(left[..2], ["2010-01-03T08-00-00Z", "2010-01-04T08-00-00Z"]);
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(ids(&room).len(), 3);
    assert!(room.path().join(".runs/notes/mine.txt").exists());
    assert!(room.path().join(".runs/latest/summary.yaml").exists());
}

#[test]
fn without_a_word_the_last_two_hundred_stay_however_old_they_are() {
    let room = room(&[1, 2, 3, 4]);
    room.apply(&["--confirm"]).expect(0);
    assert_eq!(ids(&room).len(), 5);
}

#[test]
fn a_prune_by_hand_can_be_looked_at_before() {
    let room = room(&[1, 2, 3, 4]);
    let want = "would remove 2 runs from `2010-01-01T08-00-00Z` to `2010-01-02T08-00-00Z`; 2 kept\n";
    assert_eq!(room.suil(&["runs", "prune", "--keep", "2", "--dry-run"]).expect(0).stdout, want);
    assert_eq!(ids(&room).len(), 4);
    let ran = room.suil(&["runs", "prune", "--keep", "2", "--output", "json"]).expect(0);
    let value: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((&value["kept"], &value["dry_run"]), (&2.into(), &false.into()));
    assert_eq!(value["removed"], serde_json::json!(["2010-01-02T08-00-00Z", "2010-01-01T08-00-00Z"]));
    assert_eq!(ids(&room).len(), 2);
    assert_eq!(
        room.suil(&["runs", "prune", "--days", "3"]).expect(0).stdout,
        "removed 1 run, `2010-01-03T08-00-00Z`; 1 kept\n"
    );
    assert_eq!(room.suil(&["runs", "prune", "--days", "3"]).expect(0).stdout, "nothing to remove; 1 kept\n");
}

#[test]
fn what_the_workspace_says_of_its_runs_is_checked() {
    let room = room(&[]);
    common(&room, "{kep: 3, days: soon}");
    let want = "\
suil: `runs` has no key `kep`
 --> data/common.yaml:3:8
  |
3 | runs: {kep: 3, days: soon}
  |        ^^^ expected `keep` or `days`
help: did you mean `keep`?

suil: `runs.days` is no number
 --> data/common.yaml:3:22
  |
3 | runs: {kep: 3, days: soon}
  |                      ^^^^ expected a number of days
";
    assert_eq!(room.suil(&["runs", "prune"]).expect(1).stderr, want);
    room.write("data/roles/demo.yaml", "modules: []\nruns: {keep: 3}\n");
    room.write("data/common.yaml", "hierarchy: [\"roles/{role}.yaml\", \"nodes/{node}.yaml\"]\n");
    let refused = room.suil(&["validate"]).expect(1);
    assert!(
        format!("{}{}", refused.stdout, refused.stderr).contains("expected it in data/common.yaml only"),
        "{refused:?}"
    );
}
