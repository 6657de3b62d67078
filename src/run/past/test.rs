use super::*;
use crate::base::{Mask, clock};
use crate::run::outcome::Outcome;
use crate::run::{About, NodeRecord, Record};

fn room(ids: &[&str]) -> tempfile::TempDir {
    let room = tempfile::tempdir().expect("a folder");
    for id in ids {
        fs::create_dir_all(room.path().join(".runs").join(id)).expect("a folder");
    }
    room
}

fn write(room: &tempfile::TempDir, path: &str, text: &str) {
    let path = room.path().join(".runs").join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
    fs::write(path, text).expect("a file");
}

#[test]
fn runs_stand_newest_first_and_foreign_folders_are_none() {
    let ids = ["2026-11-30T02-54-46Z", "2026-11-30T02-54-46Z-2", "2026-11-30T02-54-46Z-10", "2025-01-01T00-00-00Z"];
    let room = room(&ids);
    for foreign in ["notes", ".new-x", "2026-11-30T02-54-46Z-x", "2026-13-30T02-54-46Z"] {
        fs::create_dir(room.path().join(".runs").join(foreign)).expect("a folder");
    }
    write(&room, "2027-01-01T00-00-00Z", "a file");
    let runs = Runs::open(room.path()).expect("runs");
    let found: Vec<&str> = runs.all().iter().map(|run| run.id.as_str()).collect();
    assert_eq!(found, [ids[2], ids[1], ids[0], ids[3]]);
    assert!(Runs::open(&room.path().join("none")).expect("no runs").all().is_empty());
}

#[test]
fn a_run_is_named_by_latest_by_its_distance_and_by_the_beginning_of_its_id() {
    let room = room(&["2026-11-30T02-54-46Z", "2026-11-30T02-54-46Z-2", "2025-01-01T00-00-00Z"]);
    let open = || Runs::open(room.path()).expect("runs");
    let find = |name: &str| open().find(name).map(|run| run.id.clone()).map_err(|problem| problem.what);
    assert_eq!(find("latest").as_deref(), Ok("2026-11-30T02-54-46Z-2"));
    assert_eq!(find("-1").as_deref(), Ok("2026-11-30T02-54-46Z"));
    assert_eq!(find("-2").as_deref(), Ok("2025-01-01T00-00-00Z"));
    assert_eq!(find("2025").as_deref(), Ok("2025-01-01T00-00-00Z"));
    assert_eq!(find("2026-11-30T02-54-46Z").as_deref(), Ok("2026-11-30T02-54-46Z"), "an id is no beginning");
    assert_eq!(find("-3").unwrap_err(), "there is no run 3 before the latest: 3 are recorded");
    assert_eq!(find("2026").unwrap_err(), "`2026` is the beginning of 2 runs");
    assert_eq!(find("2024").unwrap_err(), "there is no run `2024`");
    assert_eq!(find("").unwrap_err(), "there is no run ``");
    // The link knows better than a clock that was turned back.
    std::os::unix::fs::symlink("2026-11-30T02-54-46Z", room.path().join(".runs/latest")).expect("a link");
    assert_eq!(find("latest").as_deref(), Ok("2026-11-30T02-54-46Z"));
    assert_eq!(find("-1").as_deref(), Ok("2025-01-01T00-00-00Z"));
}

#[test]
fn what_a_record_writes_is_read_back_and_a_run_that_goes_on_is_told() {
    let room = room(&[]);
    let about = About {
        purpose: "anna@desk: a (new) kernel (suil apply: now)".to_owned(),
        selection: Plain::map(),
        ..About::default()
    };
    let nodes = [NodeRecord {
        node: "a".to_owned(),
        entry: Plain::from_iter([("role", Plain::from("web"))]),
        configs: vec![("motd".to_owned(), Plain::from_iter([("text", Plain::from("hi"))]))],
    }];
    let plan = Plain::from_iter([("version", Plain::Int(1)), ("nodes", Plain::List(vec![]))]);
    let record = Record::write(room.path(), clock::now(), &about, &nodes, &plan, &Mask::new()).expect("a record");
    let runs = Runs::open(room.path()).expect("runs");
    let run = runs.latest().expect("a run");
    assert!(run.is_going());
    assert_eq!(run.summary().expect("readable"), None);
    record.finish(&[("a".to_owned(), Outcome::Done { operations: 2 })], 0).expect("a summary");
    drop(record);
    assert!(!run.is_going());
    let about = run.about().expect("readable").expect("about");
    assert_eq!(about.get("by"), Some(&Plain::from("anna@desk")));
    assert_eq!(about.get("command"), Some(&Plain::from("suil apply: now")));
    assert_eq!(about.get("reason"), Some(&Plain::from("a (new) kernel")));
    let summary = run.summary().expect("readable").expect("a summary");
    assert_eq!(summary.exit, Some(0));
    // An older suil wrote no counts.
    let older = "ended: \"2026-01-01T00:00:00Z\"\nnodes:\n  a: {outcome: failed}\n  b: {outcome: done}\n";
    fs::write(run.path().join("summary.yaml"), older).expect("a file");
    let head = run.head().expect("readable");
    assert_eq!(head.counts, [("failed".to_owned(), 1), ("done".to_owned(), 1)]);
    assert_eq!(end::counts(&summary.nodes), [("done", 1)]);
    let kinds: Vec<String> = run.events().expect("events").iter().map(Plain::to_json_line).collect();
    assert!(kinds[0].starts_with("{\"event\":\"run\"") && kinds[0].contains(&run.id), "{kinds:?}");
    assert!(kinds[1].starts_with("{\"event\":\"end\"") && kinds.len() == 2, "{kinds:?}");
    assert_eq!(run.nodes().expect("nodes"), ["a"]);
    assert_eq!(run.configs("a").expect("configs"), nodes[0].configs);
}

#[test]
fn a_killed_run_tells_by_its_events_who_is_in_doubt() {
    let room = room(&["2026-11-30T02-54-46Z"]);
    let node =
        |name: &str, n: usize| format!("{{\"node\": \"{name}\", \"operations\": [{}]}}", vec!["{}"; n].join(","));
    let nodes = [node("a", 2), node("b", 2), node("c", 2), node("d", 1)].join(",");
    write(&room, "2026-11-30T02-54-46Z/plan.json", &format!("{{\"version\": 1, \"nodes\": [{nodes}]}}"));
    let events = r#"{"event":"starting","node":"a","title":"one"}
{"event":"ended","node":"a","title":"one","problem":null}
{"event":"starting","node":"b","title":"one"}
{"event":"starting","node":"a","title":"two"}
{"event":"ended","node":"a","title":"two","problem":null}
{"event":"finished","node":"a","outcome":"done"}
{"event":"starting","node":"c","title":"one"}
{"event":"ended","node":"c","title":"one","problem":null}
{"event":"finis"#;
    write(&room, "2026-11-30T02-54-46Z/events.jsonl", events);
    let ends = Runs::open(room.path()).expect("runs").all()[0].ends().expect("ends");
    let told: Vec<(&str, &str, usize)> =
        ends.iter().map(|(node, end)| (node.as_str(), end.outcome.as_str(), end.operations)).collect();
    assert_eq!(told, [("a", "done", 2), ("b", "in doubt", 0), ("c", "failed", 1), ("d", "not reached", 0)]);
    assert_eq!(ends[1].1.problems, ["the run ended in the middle of `one`"]);
}

#[test]
fn a_broken_or_newer_file_is_named() {
    let room = room(&["2026-11-30T02-54-46Z"]);
    write(&room, "2026-11-30T02-54-46Z/summary.yaml", "nodes: [");
    write(&room, "2026-11-30T02-54-46Z/run.yaml", "version: 2\n");
    write(&room, "2026-11-30T02-54-46Z/events.jsonl", "{\"event\": 1}\nx\n{}\n");
    let runs = Runs::open(room.path()).expect("runs");
    let run = &runs.all()[0];
    let what = run.summary().expect_err("broken").what;
    assert!(what.starts_with("`.runs/2026-11-30T02-54-46Z/summary.yaml` is broken: "), "{what}");
    let what = run.about().expect_err("newer").what;
    assert_eq!(what, "`.runs/2026-11-30T02-54-46Z/run.yaml` has version 2, and this suil reads up to 1");
    let what = run.events().expect_err("broken").what;
    assert_eq!(what, "`.runs/2026-11-30T02-54-46Z/events.jsonl:2` is broken: expected value");
}
